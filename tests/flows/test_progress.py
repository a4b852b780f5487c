import io
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from flows import progress
from flows.cli.terminal import DOING, TerminalWatcher, log_to, status_table, summary
from flows.status import cells
from tasks.measurement.chunks import Spent
from tests.flows.small_plan import build, fetch, score, small_plan


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=400)


@pytest.fixture
def watcher(console: Console) -> TerminalWatcher:
    return TerminalWatcher(console)


@pytest.fixture
def nobody() -> Iterator[progress.Watcher]:
    """Who watches when nobody asked; put back after the test."""
    before = progress.watcher()
    yield before
    progress.watch(before)


def said(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def completed(watcher: TerminalWatcher) -> list[tuple[float, float | None]]:
    return [(bar.completed, bar.total) for bar in watcher.progress.tasks]


def test_nobody_may_be_told_everything(nobody: progress.Watcher) -> None:
    nobody.begin("score", 2)
    nobody.within("m x capital", 0, 4)
    nobody.spent("m x capital", Spent(1, 1, 1.0))
    nobody.finished("m x capital", "it failed")


def test_the_one_who_watches_is_told(nobody: progress.Watcher, watcher: TerminalWatcher) -> None:
    progress.watch(watcher)
    progress.watcher().spent("m x capital", Spent(3, 2, 1.0))
    assert watcher.total == Spent(3, 2, 1.0)


def test_a_bar_advances_with_every_piece_of_work(watcher: TerminalWatcher) -> None:
    watcher.begin("fetch", 2)
    watcher.finished("fetch x capital", None)
    assert completed(watcher) == [(1, 2)]
    watcher.finished("fetch x father", "no facts")
    assert completed(watcher) == [(2, 2)]


def test_work_that_is_tried_again_counts_once_and_did_not_fail(watcher: TerminalWatcher) -> None:
    watcher.begin("score", 1)
    watcher.finished("m x capital", "it failed")
    assert watcher.failures == {"m x capital": "it failed"}
    watcher.finished("m x capital", None)
    assert watcher.failures == {}
    assert completed(watcher) == [(1, 1)]


def test_every_stage_has_its_own_bar(watcher: TerminalWatcher) -> None:
    for stage in DOING:
        watcher.begin(stage, 1)
        watcher.finished("the same name", None)
    assert completed(watcher) == [(1, 1)] * len(DOING)
    assert [bar.description for bar in watcher.progress.tasks] == list(DOING.values())


def test_the_chunk_in_work_is_shown_and_never_more_than_there_are(watcher: TerminalWatcher) -> None:
    watcher.begin("score", 1)
    doing = []
    for done in range(3):
        watcher.within("m[x] x capital", done, 2)
        doing.append(watcher.progress.tasks[0].fields["doing"])
    assert [text.rpartition(": ")[2] for text in doing] == ["chunk 1 of 2", "chunk 2 of 2", "chunk 2 of 2"]


def test_what_was_spent_adds_up(watcher: TerminalWatcher) -> None:
    watcher.spent("a", Spent(10, 4, 1.5))
    watcher.spent("b", Spent(5, 2, 0.5))
    assert watcher.total == Spent(15, 6, 2.0)


def test_the_summary_says_what_was_done_and_how_fast(
    console: Console, watcher: TerminalWatcher, tmp_path: Path
) -> None:
    plan = build(fetch(small_plan(tmp_path)))
    watcher.spent("a", Spent(10, 4, 2.0))
    summary(console, plan, watcher, took=7.0)
    assert "2 relations with 2 real and 1 invented entities, 4 query forms and 6 contexts each" in said(console)
    assert "3 questions (3 static)" in said(console)
    assert "10 prompts, 4 forward passes in 2 s, 5 prompts a second; the run took 7 s" in said(console)
    assert "failed" not in said(console)
    assert "database" not in said(console)


def test_the_summary_names_what_failed_and_what_to_do(
    console: Console, watcher: TerminalWatcher, tmp_path: Path
) -> None:
    watcher.begin("score", 1)
    watcher.finished("m x capital", "m x capital: no [weights] here")
    summary(console, small_plan(tmp_path), watcher, took=1.0)
    assert "failed  m x capital: no [weights] here\n" in said(console)
    assert "run the same command again: only what failed is computed" in said(console)


def test_what_failed_for_one_reason_is_told_once_and_what_follows_from_it_not_at_all(
    console: Console, watcher: TerminalWatcher, tmp_path: Path
) -> None:
    watcher.begin("fetch", 5)
    for relation in ("capital", "father", "genre", "country", "director"):
        watcher.finished(f"fetch x {relation}", "no network")
        watcher.finished(f"build x {relation}", f"facts-{relation}.parquet is not there; run the step that makes it")
    summary(console, small_plan(tmp_path), watcher, took=1.0)
    assert "failed  fetch x capital, fetch x father, fetch x genre and 2 more: no network\n" in said(console)
    assert said(console).count("failed  ") == 1


def test_a_file_that_is_missing_is_told_where_nothing_else_failed(
    console: Console, watcher: TerminalWatcher, tmp_path: Path
) -> None:
    watcher.begin("build", 1)
    watcher.finished("build x capital", "facts-capital.parquet is not there; run the step that makes it")
    summary(console, small_plan(tmp_path), watcher, took=1.0)
    assert "failed  build x capital: facts-capital.parquet is not there" in said(console)


def test_the_summary_says_where_database_and_page_are(
    console: Console, watcher: TerminalWatcher, tmp_path: Path
) -> None:
    plan = small_plan(tmp_path)
    plan.workspace.report.mkdir(parents=True)
    (plan.workspace.report / "index.html").touch()
    plan.workspace.database.touch()
    summary(console, plan, watcher, took=1.0)
    assert str(plan.workspace.database) in said(console)
    assert str(plan.workspace.report / "index.html") in said(console)


def test_the_table_of_status_has_a_line_for_every_cell(console: Console, tmp_path: Path) -> None:
    plan = score(build(fetch(small_plan(tmp_path))))
    listed = list(cells(plan))
    console.print(status_table(listed))
    assert said(console).count(" done ") == len(listed)


def test_only_warnings_of_ours_reach_the_terminal(console: Console) -> None:
    rooms = [logging.getLogger(room) for room in ("data", "tasks", "reports", "flows")]
    before = [(room.level, list(room.handlers)) for room in rooms]
    try:
        log_to(console, verbose=False)
        logging.getLogger("tasks.x").info("a detail")
        logging.getLogger("tasks.x").warning("a [warning]")
        logging.getLogger("elsewhere").warning("a stranger")
        assert "a [warning]" in said(console)
        assert "detail" not in said(console)
        assert "stranger" not in said(console)
    finally:
        for room, (level, handlers) in zip(rooms, before, strict=True):
            room.setLevel(level)
            room.handlers = handlers
