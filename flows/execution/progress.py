"""What an execution reports while it runs: stages, steps, the chunks within a step, and what a step took."""

from typing import Protocol


class Spent(Protocol):
    """What a step took: prompts, calls of the model, and time in seconds."""

    @property
    def prompts(self) -> int: ...
    @property
    def forward_passes(self) -> int: ...
    @property
    def seconds(self) -> float: ...


class Progress(Protocol):
    """Whoever wants to know how far an execution is; steps run in threads, so each call may come from another one."""

    def begin(self, stage: str, total: int) -> None:
        """A stage of `total` steps begins."""

    def started(self, name: str) -> None:
        """A step of the stage is computed from now on."""

    def within(self, name: str, done: int, total: int) -> None:
        """So many of a step's chunks are done."""

    def finished(self, name: str, failed: str | None, spent: Spent | None = None) -> None:
        """A step is done, or failed for that reason; one that is retried finishes more than once."""


class Silent:
    """Progress that nobody looks at: scheduled runs, tests."""

    def begin(self, stage: str, total: int) -> None: ...
    def started(self, name: str) -> None: ...
    def within(self, name: str, done: int, total: int) -> None: ...
    def finished(self, name: str, failed: str | None, spent: Spent | None = None) -> None: ...


_progress: Progress = Silent()


def report_to(progress: Progress) -> None:
    """From now on this one is told how far the run of this process is."""
    global _progress
    _progress = progress


def progress() -> Progress:
    """Whoever is told."""
    return _progress
