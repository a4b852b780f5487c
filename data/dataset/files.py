"""Which files of a workspace's facts count: of every part the newest, whichever study fetched it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data.errors import InputError
from data.records.table import Table
from data.storage.files import read_parquet, verify


@dataclass(frozen=True)
class NewestFiles:
    """The newest file of each part, in the order of the parts' names, and what a reader should know of the others."""

    files: tuple[Path, ...]
    warnings: tuple[str, ...]

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows of the files, verified; DamagedFile where one has changed."""
        for path in self.files:
            yield from read_parquet(path)[0].to_pylist()


def newest_files(root: Path, table: Table) -> NewestFiles:
    """The files in a workspace's `facts` that hold a table.

    A part is what a step fetched: the facts of a relation, the questions of a partition, a property or a page.

    Raises:
        DamagedFile: a file cannot be read.
        InputError: a file does not tell its part, or another version wrote it.
    """
    by_part: dict[tuple[str, ...], list[tuple[str, Path]]] = {}
    for path in sorted((root / "facts").glob("*.parquet")):
        metadata = verify(path)
        if metadata.get("table") != table.name:
            continue
        try:
            part = (*metadata["made_from"]["subject"], *metadata["made_from"]["step"])
            by_part.setdefault(tuple(map(str, part)), []).append((metadata["made_at"], path))
        except (KeyError, TypeError):
            raise InputError(f"{path} does not tell what it holds; remove it and fetch again") from None
    warnings = [
        f"{root}: {' '.join(filter(None, part[:2]))} has {len(files)} files of {table.name}; the newest counts, "
        f"{max(files)[1].name}"
        for part, files in sorted(by_part.items())
        if len(files) > 1
    ]
    return NewestFiles(tuple(max(files)[1] for _, files in sorted(by_part.items())), tuple(warnings))
