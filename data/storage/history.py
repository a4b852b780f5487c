"""The snapshots of a study: files that are written once and stay, two of each completed run, in a folder of their own.

    numbers-<run>-<digest>.parquet     the headline numbers
    items-<run>-<digest>.parquet       the items that were not so in the run before
    manifest.json                      the files, and the key of what the last run was made from

What a run was is all items up to it, the last state of each. They cannot be made again: what is damaged is left out.
"""

import logging
from collections.abc import Container, Iterable
from pathlib import Path

from swaymeter.data.errors import DamagedFile
from swaymeter.data.records.table import Table
from swaymeter.data.records.tables import HISTORY, HISTORY_ITEMS
from swaymeter.data.storage.files import read_parquet, verify

log = logging.getLogger(__name__)

STEMS = {HISTORY: "numbers", HISTORY_ITEMS: "items"}
"""What the name of a file of each table begins with."""

Key = tuple[str, str, str, str]
"""kind, model, dtype and item."""


def history_files(folder: Path, names: Container[str] | None = None) -> dict[Table, list[Path]]:
    """The undamaged files of a folder, by their table, in the order of the runs; names: only these."""
    files: dict[Table, list[Path]] = {table: [] for table in STEMS}
    for table, stem in STEMS.items():
        for path in sorted(folder.glob(f"{stem}-*.parquet")):
            try:
                if names is not None and path.name not in names:
                    continue
                if verify(path)["columns"] == table.schema.names:
                    files[table].append(path)
                else:
                    log.warning("%s is of another version, and is left out of the history", path)
            except DamagedFile as error:
                log.warning("a snapshot is left out of the history: %s", error)
    return files


def state_of(files: Iterable[Path], run: int | None = None) -> tuple[int, dict[Key, str]]:
    """The number of the last run, up to `run` where that is named, in files of items; and what each item was then.

    Raises:
        DamagedFile: A file is not as it was written.
    """
    last, kept = 0, dict[Key, str]()
    for path in files:
        rows = read_parquet(path)[0].to_pydict()
        number = max(rows["run"])  # a row of the run itself is in each
        if run is not None and number > run:
            break
        last = number
        for *key, state in zip(*(rows[name] for name in ("kind", "model", "dtype", "item", "state")), strict=True):
            kept[tuple(key)] = state
    return last, {key: state for key, state in kept.items() if state is not None}
