"""A forced fetch that did not come to its end goes on with the next run; one that is done leaves nothing behind."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from flows.anew import GOES_ON, is_wanted, since
from flows.items import Selection

from tests.flows.small_plan import fetch, small_plan


def test_a_forced_fetch_begins_now_and_is_forgotten_when_it_is_done(tmp_path: Path) -> None:
    plan = small_plan(tmp_path)
    forced = since(plan, force=True)
    assert forced.began is not None
    assert abs(datetime.now(UTC) - forced.began) < timedelta(seconds=5)
    forced.done()
    assert since(plan, force=False).began is None


def test_one_that_ended_early_goes_on_forced_or_not(tmp_path: Path) -> None:
    plan = small_plan(tmp_path)
    began = since(plan, force=True).began
    assert since(plan, force=True).began == since(plan, force=False).began == began
    since(plan, force=False).done()
    assert since(plan, force=False).began is None


def test_one_that_ended_early_long_ago_is_not_gone_on_with(tmp_path: Path) -> None:
    plan = small_plan(tmp_path)
    forced = since(plan, force=True)
    forced.note.write_text((datetime.now(UTC) - GOES_ON - timedelta(hours=1)).isoformat())
    assert since(plan, force=False).began is None
    began = since(plan, force=True).began
    assert began is not None
    assert datetime.now(UTC) - began < timedelta(seconds=5)


def test_a_refresh_and_a_forced_fetch_are_two(tmp_path: Path) -> None:
    plan = small_plan(tmp_path)
    assert since(plan, force=True, name="refresh").began
    assert since(plan, force=False).began is None


def test_another_selection_is_another_fetch(tmp_path: Path) -> None:
    since(small_plan(tmp_path, Selection(("capital",))), force=True)
    assert since(small_plan(tmp_path), force=False).began is None


@pytest.mark.parametrize("said", ["yesterday", "", "2026-01-01T00:00:00"])
def test_a_note_that_says_nothing_is_none(said: str, tmp_path: Path) -> None:
    plan = small_plan(tmp_path)
    since(plan, force=True).note.write_text(said)
    assert since(plan, force=False).began is None


def test_what_is_older_than_the_forced_fetch_is_wanted(tmp_path: Path) -> None:
    stored = fetch(small_plan(tmp_path)).facts("capital")
    assert not is_wanted(stored, None)
    assert is_wanted(stored, datetime.now(UTC) + timedelta(seconds=5))
    os.utime(stored.path, (0, 0))
    assert is_wanted(stored, datetime.now(UTC) - timedelta(days=1))
    stored.remove()
    assert is_wanted(stored, None)
