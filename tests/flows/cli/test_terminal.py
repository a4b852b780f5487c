import io
import logging
import re
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from swaymeter.data.records.findings import Findings
from swaymeter.flows.cli.terminal import TerminalProgress, log_to, speed, summary
from swaymeter.tasks.measures.stored_chunks import Cost


def new_console(*, is_terminal: bool) -> Console:
    return Console(file=io.StringIO(), width=400, force_terminal=is_terminal)


@pytest.fixture
def console() -> Console:
    return new_console(is_terminal=False)


@pytest.fixture
def progress(console: Console) -> TerminalProgress:
    return TerminalProgress(console)


def printed(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def plain_lines(console: Console) -> list[str]:
    """Return the printed lines without the codes that control a terminal."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", printed(console)).splitlines()


def bars(progress: TerminalProgress) -> list[tuple[str, float, float | None]]:
    return [(bar.description, bar.completed, bar.total) for bar in progress.bars.tasks]


def test_a_bar_advances_with_every_step_and_chunk(progress: TerminalProgress) -> None:
    progress.set_totals({"fetch": 1})
    progress.end_step("fetch", "capital", None)
    progress.set_totals({"fetch": 1, "score": 2})
    progress.begin_step("score", "capital")
    progress.advance_step("score", "capital", 1, 4)
    assert bars(progress) == [("fetch", 1, 1), ("score", 0.25, 2)]
    progress.end_step("score", "capital", None)
    progress.end_step("score", "father", "no facts")
    assert progress.failures == {"father": "no facts"}
    progress.end_step("score", "father", None)  # the retry succeeded
    assert progress.failures == {}
    assert bars(progress) == [("fetch", 1, 1), ("score", 2, 2)]


def test_without_a_terminal_stages_and_steps_have_lines(console: Console, progress: TerminalProgress) -> None:
    with progress:
        progress.set_totals({"score": 2})
        progress.begin_step("score", "m x capital")
        progress.end_step("score", "m x capital", None, Cost(10, 4, 2.0))
        progress.set_totals({"score": 3})
        progress.begin_step("score", "m x father")
        progress.end_step("score", "m x father", "no [facts]")
    lines = printed(console).splitlines()
    assert [re.sub(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  ", "", line) for line in lines] == [
        "score begins: 2 steps",
        "score 1 of 2  m x capital  done (10 prompts in 2 s)",
        "score goes on: 1 more step",
        "score 2 of 3  m x father  failed: no [facts]",
    ]
    assert all(line[:2] == "20" for line in lines)


def test_without_a_terminal_a_heartbeat_names_running_steps(console: Console) -> None:
    progress = TerminalProgress(console, heartbeat=0.01)
    with progress:
        pass
    with progress:  # starts the heartbeat again
        progress.set_totals({"score": 2})
        progress.begin_step("score", "m[x] x capital")
        progress.advance_step("score", "m[x] x capital", 3, 9)
        deadline = time.monotonic() + 10
        while "at work: 3 of 9 prompts  m[x] x capital\n" not in printed(console):
            assert time.monotonic() < deadline
            time.sleep(0.01)


def test_a_terminal_shows_bars_instead_of_lines() -> None:
    console = new_console(is_terminal=True)
    progress = TerminalProgress(console)
    with progress:
        progress.set_totals({"score": 1})
        progress.end_step("score", "m x capital", None, Cost(10, 4, 2.0))
    assert "1 of 1" in printed(console)
    assert "m x capital  done" not in printed(console)


def test_a_step_has_its_line_at_80_columns() -> None:
    console = Console(file=io.StringIO(), width=80, force_terminal=True)
    name = "score · smollm2-135m-instruct (float32) × officialLanguage"
    progress = TerminalProgress(console)
    with progress:
        progress.set_totals({"score": 2})
        progress.end_step("score", "m x capital", None, Cost(10, 4, 2.0))
        progress.begin_step("score", name)
        progress.bars.refresh()
    lines = plain_lines(console)
    assert {name, "10 prompts done, 5.0 prompts a second"} <= {line.strip() for line in lines}
    assert any("1 of 2" in line and name not in line for line in lines)


def test_a_running_step_shows_speed_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console(file=io.StringIO(), width=80, force_terminal=True)
    progress, clock = TerminalProgress(console), iter([0.0, 0.0])  # the second chunk comes after 50 s
    name = "score · questions · answers · smollm2-135m-instruct (float32)"
    with progress:
        progress.set_totals({"score": 1})
        progress.begin_step("score", name)
        monkeypatch.setattr("swaymeter.flows.cli.terminal.time", SimpleNamespace(monotonic=lambda: next(clock, 50.0)))
        progress.advance_step("score", name, 100, 1200)
        progress.advance_step("score", name, 350, 1200)
        assert progress.bars.lines == [f"350 of 1,200 prompts, 5.0/s, 0:02:50 left  {name}"]
        progress.bars.refresh()
    lines = plain_lines(console)
    assert "350 of 1,200 prompts, 5.0/s, 0:02:50 left  score · questions · answers · smollm…" in lines


@pytest.mark.parametrize(
    ("cost", "text"),
    [
        (Cost(31, 43, 23.0), ", 1.3 prompts a second"),
        (Cost(1, 1, 4.0), ", 4.0 s a prompt"),
        (Cost(900, 1, 2.0), ", 450 prompts a second"),
        (Cost(0, 0, 9.0), ""),
    ],
)
def test_a_speed_is_never_zero(cost: Cost, text: str) -> None:
    assert speed(cost) == text


def test_recorded_replies_have_no_speed(console: Console, progress: TerminalProgress) -> None:
    progress.set_totals({"score": 1})
    progress.end_step("score", "a", None, Cost(48, 0, 0.01))
    summary(console, "mine", progress, 7.0, {}, console)
    assert "computed now: no model was asked; the run took 7 s\n" in printed(console)


def test_the_summary_counts_and_names_reasons_and_outputs(
    console: Console, progress: TerminalProgress, tmp_path: Path
) -> None:
    page, database = tmp_path / "index.html", tmp_path / "study.duckdb"
    page.touch()
    progress.set_totals({"score": 7})
    progress.end_step("score", "a", None, Cost(10, 4, 1.5))
    progress.end_step("score", "b", None, Cost(5, 2, 0.5))
    summary(console, "small: 2 [relations]", progress, 7.0, {"page": page, "database": database}, console)
    assert "\nsmall: 2 [relations]\n" in printed(console)
    assert "15 prompts in 2 s, 7.5 prompts a second; the run took 7 s\n" in printed(console)
    assert str(page) in printed(console)
    assert not {"failed", str(database)} & {*printed(console).split()}
    for relation in ("capital", "father", "genre", "country", "director"):
        progress.end_step("score", relation, "no [network]")
    summary(Console(file=io.StringIO()), "small", progress, 1.0, {}, console)
    assert "failed  capital, father, genre and 2 more: no [network]\n" in printed(console)
    assert "run the same command again: only what failed is computed" in printed(console)


@pytest.mark.parametrize("is_terminal", [True, False])
def test_findings_come_once_before_the_notes(is_terminal: bool) -> None:
    console = new_console(is_terminal=is_terminal)
    progress = TerminalProgress(console, "mine")
    with progress:
        progress.set_totals({"report": 1})
        progress.begin_step("report", "page")
        progress.show_findings(Findings("Half of it."))
        progress.end_step("report", "page", None)
    summary(console, "mine: 2", progress, 1.0, {}, console, findings=Findings("Half of it."), notes=["not used: [a]"])
    lines = plain_lines(console)
    printed_lines = [line for line in lines if line in ("mine", "=> Half of it.", "note     not used: [a]", "mine: 2")]
    assert printed_lines == ["mine", "=> Half of it.", "note     not used: [a]"]  # findings replace the description
    assert progress.bars.live.transient  # the bars do not stay between the table and the paths


def test_only_our_warnings_reach_the_terminal(console: Console) -> None:
    logger = logging.getLogger("swaymeter")
    level, handlers = logger.level, list(logger.handlers)
    try:
        log_to(console, verbose=False)
        logging.getLogger("swaymeter.tasks.x").info("a detail")
        logging.getLogger("swaymeter.tasks.x").warning("a [warning]")
        logging.getLogger("elsewhere").warning("a stranger")
        assert "a [warning]" in printed(console)
        assert "detail" not in printed(console)
        assert "stranger" not in printed(console)
    finally:
        logger.setLevel(level)
        logger.handlers = handlers
