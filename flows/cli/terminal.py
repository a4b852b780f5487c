"""Display of a run in the terminal: bars or lines during the run, then results and paths."""

import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Self

from rich.console import Console, RenderableType
from rich.logging import RichHandler
from rich.markup import escape
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from rich.text import Text

from swaymeter.data.errors import first_few
from swaymeter.data.records.findings import Findings
from swaymeter.flows.cli.console import by_reason
from swaymeter.flows.cli.outcome import show_notes, show_outcome, show_paths
from swaymeter.flows.execution.progress import Progress
from swaymeter.tasks.measures.stored_chunks import Cost

SPEED_SECONDS = 600.0
"""Seconds over which the estimate of the remaining time averages the speed; long, because a step may take minutes."""
HEARTBEAT_SECONDS = 60.0
"""Seconds between two lines about running steps, in output without bars."""


MAX_RUNNING = 3
"""Upper bound on the running steps that have a line of their own below the bars."""


class _Bars(Bars):
    """Bars with lines below them, cut at the width of the terminal."""

    lines: Sequence[str] = ()

    def get_renderables(self) -> Iterator[RenderableType]:
        yield self.make_tasks_table(self.tasks)
        for line in self.lines:
            yield Text(line, overflow="ellipsis", no_wrap=True)


class TerminalProgress(Progress):
    """Display of a run: a bar for each stage on a terminal, or lines elsewhere (cron, CI), within a `with` block.

    Attributes:
        cost: Sum of the costs of the finished steps.
        bars: The bars of the stages.
        has_findings: True if the findings of the study were printed.
    """

    def __init__(
        self, console: Console, study: str = "", note_count: int = 0, heartbeat: float = HEARTBEAT_SECONDS
    ) -> None:
        """Prepare a display.

        Args:
            console: The terminal.
            study: Name of the study above its findings; "" to print no findings.
            note_count: Number of lines to leave free below the findings.
            heartbeat: Seconds between two lines about running steps, in output without bars.
        """
        super().__init__()
        self.cost, self.has_findings = Cost(), False
        self._console, self._study, self._note_count = console, study, note_count
        self._lock = threading.RLock()
        self._tasks: dict[str, TaskID] = {}
        # By running step: the time of its first report, and the number of its prompts that were done then.
        self._first_reports: dict[str, tuple[float, int]] = {}
        self.bars = _Bars(
            TextColumn("{task.description:<9}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[ended]} of {task.total:.0f}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            speed_estimate_period=SPEED_SECONDS,
            disable=not console.is_terminal,
        )
        self._is_over, self._heartbeat_seconds = threading.Event(), heartbeat

    def __enter__(self) -> Self:
        self.bars.start()
        if not self._console.is_terminal:
            self._is_over = threading.Event()  # a new event, because an audit may enter this block twice
            threading.Thread(target=self._print_running_steps, args=(self._is_over,), daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.bars.stop()
        self._is_over.set()

    def set_totals(self, totals: Mapping[str, int]) -> None:
        with self._lock:
            totals_before = {
                stage: progress.total for stage, progress in self.stages.items() if progress.ended or progress.running
            }
            super().set_totals(totals)
            for stage, total_before in totals_before.items():
                if (more := self.stages[stage].total - total_before) > 0:
                    self._print_line(f"{stage} goes on: {more} more step{'s' * (more != 1)}")
            for stage, total in totals.items():
                if stage not in self._tasks:
                    self._tasks[stage] = self.bars.add_task(stage, total=total, ended=0)
                self._update(stage)

    def begin_step(self, stage: str, name: str) -> None:
        with self._lock:
            progress = self.stages[stage]
            if not (progress.ended or progress.running):
                self._print_line(f"{stage} begins: {progress.total} step{'s' * (progress.total != 1)}")
            super().begin_step(stage, name)
            self._update(stage)

    def advance_step(self, stage: str, name: str, done: int, total: int) -> None:
        with self._lock:
            super().advance_step(stage, name, done, total)
            self._first_reports.setdefault(name, (time.monotonic(), done))
            self._update(stage)

    def show_findings(self, findings: Findings) -> None:
        """Print the findings once, and let the bars vanish at the end, so that paths follow the findings."""
        with self._lock:
            if self._study and not self.has_findings:
                self.has_findings = self.bars.live.transient = True
                self._console.print()
                show_outcome(self._console, self._study, findings, self._note_count)

    def end_step(self, stage: str, name: str, failure: str | None, cost: Cost | None = None) -> None:
        with self._lock:
            super().end_step(stage, name, failure, cost)
            self._first_reports.pop(name, None)
            if cost:
                self.cost = Cost.total([asdict(self.cost), asdict(cost)])
            self._update(stage)
            amount = f" ({cost.prompts} prompts in {cost.seconds:.0f} s)" if cost and cost.forward_passes else ""
            outcome = f"[red]failed[/red]: {escape(failure)}" if failure else f"done{amount}"
            progress = self.stages[stage]
            self._print_line(f"{stage} {len(progress.ended)} of {progress.total}  {escape(name)}  {outcome}")

    def _print_line(self, line: str) -> None:
        """Print a line with the time, only in output without bars."""
        if not self._console.is_terminal:
            self._console.print(f"{datetime.now():%Y-%m-%d %H:%M:%S}  {line}", soft_wrap=True, highlight=False)

    def _print_running_steps(self, is_over: threading.Event) -> None:
        while not is_over.wait(self._heartbeat_seconds):
            with self._lock:
                if running := self._running():
                    self._print_line(f"at work: {escape(first_few(running))}")

    def _running(self) -> list[str]:
        """Return a line for each running step: its progress, then its name, which may be cut at the end."""
        return [
            "  ".join(filter(None, (self._step_progress(stage, name), name)))
            for stage, progress in self.stages.items()
            for name in progress.running
        ]

    def _step_progress(self, stage: str, name: str) -> str:
        """Return the progress within a step: "48 of 1,200 prompts, 12/s, 0:01:36 left"."""
        done, total = self.stages[stage].running[name]
        if total < 2:  # a step without prompts
            return ""
        first_time, first_done = self._first_reports[name]  # the speed leaves out prompts of an earlier run
        new, seconds = done - first_done, time.monotonic() - first_time
        text = f"{done:,} of {total:,}{' prompts' * (stage == 'score')}"
        if not new or seconds < 1:
            return text
        left = timedelta(seconds=round((total - done) * seconds / new))
        return f"{text}, {rate(new, seconds)}, {left} left"

    def _update(self, stage: str) -> None:
        progress = self.stages[stage]
        running = self._running()
        more = [f"and {len(running) - MAX_RUNNING} more steps"] if len(running) > MAX_RUNNING else []
        cost = [f"{self.cost.prompts:,} prompts done{speed(self.cost)}"] if self.cost.forward_passes else []
        self.bars.lines = [*running[:MAX_RUNNING], *more, *cost]
        ended = len(progress.ended)
        self.bars.update(self._tasks[stage], completed=progress.progress, total=progress.total, ended=ended)


def speed(cost: Cost) -> str:
    """Return the rate of prompts after a comma, such as ", 12 prompts a second"; empty without prompts."""
    return f", {rate(cost.prompts, cost.seconds, 'prompt')}" if cost.prompts and cost.seconds else ""


def rate(count: float, seconds: float, unit: str = "") -> str:
    """Return a rate in words, such as "12/s", or "2.5 s each" for less than one unit a second."""
    per_second = count / seconds
    if per_second < 1:
        return f"{1 / per_second:.1f} s {f'a {unit}' if unit else 'each'}"
    decimals = 1 if per_second < 10 else 0
    return f"{per_second:.{decimals}f}{f' {unit}s a second' if unit else '/s'}"


def log_to(console: Console, verbose: bool) -> None:
    """Log Swaymeter's warnings to the terminal; with `verbose`, log all its messages."""
    handler = RichHandler(console=console, show_time=False, show_path=False, markup=False)
    handler.setLevel(logging.DEBUG if verbose else logging.WARNING)
    logger = logging.getLogger("swaymeter")
    logger.setLevel(logging.DEBUG if verbose else logging.INFO)
    logger.addHandler(handler)


def summary(
    console: Console,
    description: str,
    progress: TerminalProgress,
    took: float,
    outputs: Mapping[str, Path],
    errors: Console,
    *,
    findings: Findings | None = None,
    notes: Sequence[str] = (),
) -> None:
    """Print the result of a run: notes, failures and files, and findings that were not printed during the run.

    Args:
        console: The terminal.
        description: The study in one line.
        progress: The progress of the run, with its failures.
        took: Duration of the run in seconds.
        outputs: Files by their labels.
        errors: The console for failures.
        findings: Findings of the report's page; None if the page is not done.
        notes: Further lines about the run, below its findings.
    """
    cost = progress.cost
    if findings:
        progress.show_findings(findings)
    if progress.has_findings:
        show_notes(console, notes)
    else:
        console.print()
        console.print(escape(description), soft_wrap=True)
    without_model = cost.prompts and not cost.forward_passes  # stored replies or scores were enough
    computed = "no model was asked" if without_model else f"{cost.prompts} prompts in {cost.seconds:.0f} s{speed(cost)}"
    console.print(f"computed now: {computed}; the run took {took:.0f} s", soft_wrap=True)
    for reason, names in by_reason(progress.failures.items()).items():
        errors.print(f"[red]failed[/red]  {escape(names)}: {escape(reason)}", soft_wrap=True)
    show_paths(console, outputs)
    if progress.failures:
        errors.print(
            "Correct what is named above and run the same command again: only what failed is computed. "
            "`swaymeter status` lists every step."
        )
