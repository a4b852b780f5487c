"""What an execution reports while it runs: stages, steps, the chunks within a step, and what a step took."""

from collections.abc import Mapping

from swaymeter.tasks.measures.run import Spent


class Progress:
    """Progress that nobody looks at, and the base of what shows it; steps run in threads, each calls from its own."""

    def plan(self, totals: Mapping[str, int]) -> None:
        """So many steps of each stage are to run, or have; called again whenever more are known."""

    def started(self, stage: str, name: str) -> None:
        """A step of the stage is computed from now on."""

    def within(self, stage: str, name: str, done: int, total: int) -> None:
        """So many of a step's chunks are done."""

    def finished(self, stage: str, name: str, failed: str | None, spent: Spent | None = None) -> None:
        """A step is done, or failed for that reason; one that is retried finishes more than once."""


_progress = Progress()


def report_to(progress: Progress) -> None:
    """Where this process reports from now on."""
    global _progress
    _progress = progress


def progress() -> Progress:
    """Where this process reports."""
    return _progress


def report_within(stage: str, name: str, done: int, total: int) -> None:
    """Reports how far a step is; unlike a bound method, it can be sent to a worker process, where nobody looks."""
    _progress.within(stage, name, done, total)
