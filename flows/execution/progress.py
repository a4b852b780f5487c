"""Progress of an execution: stages, steps, prompts within a step, and the cost of a step."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Self

from swaymeter.data.records.findings import Findings
from swaymeter.tasks.measures.stored_chunks import Spent

log = logging.getLogger(__name__)


@dataclass
class StageProgress:
    """Progress of a stage.

    Attributes:
        total: Number of its steps.
        ended: Names of the steps that have ended, done or failed.
        failed: Names of the steps that have failed.
        running: Prompts (or other units of a step) that are done, and all of them, of each step that runs.
    """

    total: int = 0
    ended: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    running: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def done(self) -> float:
        """Progress in steps; running steps count as fractions."""
        return len(self.ended) + sum(done / total for done, total in [*self.running.values()] if total)


class Progress:
    """Progress of a run, and the base class of displays, which are context managers; any thread may call it.

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

    def plan(self, totals: Mapping[str, int]) -> None:
        """Set the number of steps of each stage, finished steps included; called again for further steps."""
        for stage, total in totals.items():
            self.stages.setdefault(stage, StageProgress()).total = total

    def started(self, stage: str, name: str) -> None:
        """Record that a step begins."""
        self.stages[stage].running[name] = (0, 0)

    def within(self, stage: str, name: str, done: int, total: int) -> None:
        """Record the number of finished prompts of a step."""
        self.stages[stage].running[name] = (done, total)

    def show_findings(self, findings: Findings) -> None:
        """Show the findings of the study, before its page is drawn."""

    def finished(self, stage: str, name: str, failed: str | None, spent: Spent | None = None) -> None:
        """Record that a step is done, or the reason why it failed; a step that is tried again ends more than once."""
        counts = self.stages[stage]
        counts.running.pop(name, None)
        counts.ended.add(name)
        counts.failed.discard(name)
        self.failures.pop(name, None)  # a step that was retried and is done did not fail
        if failed:
            counts.failed.add(name)
            self.failures[name] = failed


_progress = Progress()


def report_to(progress: Progress) -> None:
    """Set the receiver of this process's progress."""
    global _progress
    _progress = progress


def progress() -> Progress:
    """Return the receiver of this process's progress."""
    return _progress


def report_within(stage: str, name: str, done: int, total: int) -> None:
    """Report the done prompts of a step; unlike a bound method, it can be sent to a worker process."""
    if stage in _progress.stages:
        shown(_progress.within, stage, name, done, total)


def report_findings(findings: Findings) -> None:
    """Show the findings of the study."""
    shown(_progress.show_findings, findings)


def shown(show: Callable[..., object], *about: object) -> None:
    """Call `show`; its failure is logged and never stops the run. At a closed pipe rich raises SystemExit."""
    try:
        show(*about)
    except (Exception, SystemExit):
        log.debug("%s could not be shown", about, exc_info=True)
