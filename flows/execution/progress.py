"""Progress of a run by stage and step, and its display."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Self

from swaymeter.data.records.findings import Findings
from swaymeter.tasks.measures.stored_chunks import Cost

log = logging.getLogger(__name__)


@dataclass
class StageProgress:
    """Progress of a stage.

    Attributes:
        total: Number of its steps.
        ended: Names of the steps that have ended, done or failed.
        failed: Names of the steps that have failed.
        running: Numbers of finished and of all prompts (or other units) of each running step, by name of the step.
    """

    total: int = 0
    ended: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    running: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def progress(self) -> float:
        """Number of ended steps, plus the finished fraction of each running step."""
        return len(self.ended) + sum(done / total for done, total in [*self.running.values()] if total)


class Progress:
    """Progress of a run; subclasses show the progress within a `with` block. Any thread may call the methods.

    Attributes:
        stages: Progress of each stage.
        failures: Reasons of failed steps, by name.
    """

    def __init__(self) -> None:
        self.stages: dict[str, StageProgress] = {}
        self.failures: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """End the display."""

    def set_totals(self, totals: Mapping[str, int]) -> None:
        """Set the number of steps of each stage, finished or not; the number changes if the graph grows."""
        for stage, total in totals.items():
            self.stages.setdefault(stage, StageProgress()).total = total

    def begin_step(self, stage: str, name: str) -> None:
        self.stages[stage].running[name] = (0, 0)

    def advance_step(self, stage: str, name: str, done: int, total: int) -> None:
        self.stages[stage].running[name] = (done, total)

    def show_findings(self, findings: Findings) -> None:
        """Show the findings of the study, before its page is drawn."""

    def end_step(self, stage: str, name: str, failure: str | None, cost: Cost | None = None) -> None:
        """Record that a step is done, or the reason why it failed; a retried step ends more than once."""
        progress = self.stages[stage]
        progress.running.pop(name, None)
        progress.ended.add(name)
        progress.failed.discard(name)
        self.failures.pop(name, None)  # an earlier failure of a retried step does not count
        if failure:
            progress.failed.add(name)
            self.failures[name] = failure


_display = Progress()


def set_display(display: Progress) -> None:
    """Set the display of the runs of this process."""
    global _display
    _display = display


def current_display() -> Progress:
    """Return the display of the runs of this process."""
    return _display


def advance_step(stage: str, name: str, done: int, total: int) -> None:
    """Show the number of finished prompts of a step; unlike a display's method, this function can be pickled."""
    if stage in _display.stages:  # a worker process has no display, and no stages
        call_safely(_display.advance_step, stage, name, done, total)


def show_findings(findings: Findings) -> None:
    """Show the findings of the study; unlike a display's method, this function can be pickled."""
    call_safely(_display.show_findings, findings)


def call_safely(method: Callable[..., object], *arguments: object) -> None:
    """Call a method of a display and ignore its failure, such as rich's SystemExit at a closed pipe."""
    try:
        method(*arguments)
    except (Exception, SystemExit):
        log.debug("%s could not be shown", arguments, exc_info=True)
