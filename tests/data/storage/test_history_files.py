from pathlib import Path

import pytest

from swaymeter.data.records.history import HistoryRow
from swaymeter.data.storage.history_files import last_items, snapshot_files, write_snapshot


def row(run: int, item: str, state: str | None) -> HistoryRow:
    return HistoryRow(run, "fact", "", "", item, state)


def test_items_have_their_last_states(tmp_path: Path) -> None:
    write_snapshot(tmp_path, [row(1, "capital", "Oslo"), row(1, "river", "Glomma"), row(1, "lake", "Femund")])
    write_snapshot(tmp_path, [row(2, "river", "Tana"), row(2, "lake", None)])
    files = snapshot_files(tmp_path)
    states = {("fact", "", "", "capital"): "Oslo", ("fact", "", "", "river"): "Tana"}
    assert (len(files), last_items(files), last_items([])) == (2, (2, states), (0, {}))


def test_a_damaged_snapshot_is_not_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    kept, damaged = (write_snapshot(tmp_path, [row(run, "capital", "Oslo")]) for run in (1, 2))
    damaged.write_bytes(damaged.read_bytes()[:-9])
    assert snapshot_files(tmp_path) == [kept]
    assert "a snapshot is not read" in caplog.text
