"""Which files of a workspace's facts count: of every part the newest, whichever study fetched it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from data.records.table import Table
from data.storage.workspace import Stored, read_metadata


@dataclass(frozen=True)
class NewestFiles:
    """The newest file of each part, in the order of the parts' names, and what a reader should know of the others."""

    files: tuple[Stored, ...]
    warnings: tuple[str, ...]


def newest_files(root: Path, table: Table, part_of: Callable[[Stored], Sequence[str]]) -> NewestFiles:
    """The files in a workspace's `facts` that hold a table.

    part_of: what tells a file's part from others, its name first. DamagedFile where a file does not say what it is.
    """
    by_part: dict[tuple[str, ...], list[Stored]] = {}
    for path in sorted((root / "facts").glob(f"{table.name}-*.parquet")):
        made_from = read_metadata(path).get("made_from")
        stored = Stored(path, table, made_from if isinstance(made_from, dict) else {})
        by_part.setdefault(tuple(part_of(stored)), []).append(stored)
    newest = []
    warnings = []
    for part, files in sorted(by_part.items()):
        newest.append(max(files, key=lambda stored: (stored.path.stat().st_mtime_ns, stored.path.name)))
        if len(files) > 1:
            said = f"{part[0]} has {len(files)} files of {table.name}; the newest counts, {newest[-1].path.name}"
            warnings.append(f"{root}: {said}")
    return NewestFiles(tuple(newest), tuple(warnings))
