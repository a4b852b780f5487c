"""Snapshots of the completed runs of a study: one Parquet file a run, written once and never again.

    history/run-<number>-<digest>.parquet     rows of `HistoryRow`: the items that changed, and the headline numbers
    history/manifest.json                     digests of the files, and the key of the history

An item is a part of a run that may change, such as a fact or a reply (`ItemKind`). A snapshot has only changed items:
the state of an item in a run is the item's last state in the snapshots up to this run.
"""

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

from swaymeter.data.errors import DamagedFile
from swaymeter.data.records.history import HistoryRow, ItemKind
from swaymeter.data.records.row import as_row
from swaymeter.data.records.tables import HISTORY
from swaymeter.data.storage.files import read_parquet, verify, write_parquet

log = logging.getLogger(__name__)

ItemId = tuple[ItemKind, str, str, str]
"""The identity of an item: the columns `kind`, `model`, `dtype` and `item` of its row."""


def snapshot_files(folder: Path) -> list[Path]:
    """Return the undamaged snapshots of a folder, in the order of the runs; log a warning for any other snapshot."""
    files = []
    for path in sorted(folder.glob("run-*.parquet")):
        try:
            if verify(path)["columns"] == HISTORY.schema.names:
                files.append(path)
            else:
                log.warning("%s was made by an earlier version and is not read", path)
        except DamagedFile as error:
            log.warning("a snapshot is not read: %s", error)
    if any(folder.glob("items-*.parquet")):
        log.warning("the history in %s was made by an earlier version; a new history begins with this run", folder)
    return files


def last_items(files: Iterable[Path]) -> tuple[int, dict[ItemId, str]]:
    """Return the number of the last run, 0 without files, and the state of each item of this run.

    Raises:
        DamagedFile: a file has changed since it was written.
    """
    last_run, states = 0, dict[ItemId, str | None]()
    for path in files:
        columns = read_parquet(path)[0].to_pydict()
        last_run = max(columns["run"])  # never empty: each snapshot has a row of kind "run"
        rows = zip(*(columns[name] for name in ("kind", "model", "dtype", "item", "state")), strict=True)
        for kind, model, dtype, item, state in rows:
            states[kind, model, dtype, item] = state
    return last_run, {item_id: state for item_id, state in states.items() if state is not None}


def write_snapshot(folder: Path, rows: Sequence[HistoryRow]) -> Path:
    """Write the snapshot of a completed run and return its file."""
    stem = f"run-{rows[0].run:06d}"
    return write_parquet(folder, stem, HISTORY.of([*map(as_row, rows)]), {"columns": HISTORY.schema.names})
