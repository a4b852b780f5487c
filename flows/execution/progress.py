"""What an execution reports while it runs: stages, steps, the chunks within a step, and what a step took."""

from collections.abc import Mapping
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

    def plan(self, totals: Mapping[str, int]) -> None:
        """So many steps of each stage are to run, or have; called again whenever more are known."""

    def started(self, stage: str, name: str) -> None:
        """A step of the stage is computed from now on."""

    def within(self, stage: str, name: str, done: int, total: int) -> None:
        """So many of a step's chunks are done."""

    def finished(self, stage: str, name: str, failed: str | None, spent: Spent | None = None) -> None:
        """A step is done, or failed for that reason; one that is retried finishes more than once."""


class Silent:
    """Progress that nobody looks at: scheduled runs, tests."""

    def plan(self, totals: Mapping[str, int]) -> None: ...
    def started(self, stage: str, name: str) -> None: ...
    def within(self, stage: str, name: str, done: int, total: int) -> None: ...
    def finished(self, stage: str, name: str, failed: str | None, spent: Spent | None = None) -> None: ...


_progress: Progress = Silent()


def report_to(progress: Progress) -> None:
    """From now on this one is told how far the run of this process is."""
    global _progress
    _progress = progress


def progress() -> Progress:
    """Whoever is told."""
    return _progress


def report_within(stage: str, name: str, done: int, total: int) -> None:
    """Tells it how far a step is; in a process where nobody asked to be told, nothing."""
    _progress.within(stage, name, done, total)
