"""A forced fetch that was killed goes on with the next run; one that has ended leaves nothing behind."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from flows.anew import is_wanted, since
from flows.plan import Selection
from tests.flows.small_plan import fetch, small_plan


def test_a_forced_fetch_begins_now_and_leaves_no_note(tmp_path: Path) -> None:
    plan = small_plan(tmp_path)
    with since(plan, force=True) as began:
        assert began is not None
        assert abs(datetime.now(UTC) - began) < timedelta(seconds=5)
    with since(plan, force=False) as none:
        assert none is None


def test_one_that_was_interrupted_goes_on_forced_or_not(tmp_path: Path) -> None:
    plan = small_plan(tmp_path)
    with pytest.raises(KeyboardInterrupt), since(plan, force=True) as began:
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt), since(plan, force=True) as again:
        raise KeyboardInterrupt
    with since(plan, force=False) as last:
        assert last == again == began
    with since(plan, force=False) as none:
        assert none is None


def test_another_selection_is_another_fetch(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), since(small_plan(tmp_path, Selection(("capital",))), force=True):
        raise KeyboardInterrupt
    with since(small_plan(tmp_path), force=False) as none:
        assert none is None


def test_a_note_that_says_nothing_is_none(tmp_path: Path) -> None:
    plan = small_plan(tmp_path)
    with pytest.raises(KeyboardInterrupt), since(plan, force=True):
        raise KeyboardInterrupt
    (note,) = (plan.workspace.root / "downloads").iterdir()
    note.write_text("yesterday")
    with since(plan, force=False) as none:
        assert none is None


def test_what_is_older_than_the_forced_fetch_is_wanted(tmp_path: Path) -> None:
    stored = fetch(small_plan(tmp_path)).facts("capital")
    assert not is_wanted(stored, None)
    assert is_wanted(stored, datetime.now(UTC) + timedelta(seconds=5))
    os.utime(stored.path, (0, 0))
    assert is_wanted(stored, datetime.now(UTC) - timedelta(days=1))
    stored.remove()
    assert is_wanted(stored, None)
