"""Other names of entities and answers, from a file of one's own."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel

from swaymeter.data.errors import InputError
from swaymeter.data.sources.own.files import read_file
from swaymeter.data.sources.own.not_usable import Wrong, rows_not_usable
from swaymeter.data.sources.own.one_row import Name, row_of


class AliasRow(BaseModel):
    """A row of the file."""

    name: Name
    alias: Name


def read_aliases(file: Path) -> Mapping[str, tuple[str, ...]]:
    """The aliases of each name, sorted; InputError names the rows that cannot be used."""
    found, wrong = dict[str, set[str]](), list[Wrong]()
    rows = read_file(file, "alias")
    for place, cells, problem in rows:
        try:
            if problem:
                raise InputError(problem)
            row = row_of(AliasRow, cells)
            found.setdefault(row.name, set()).add(row.alias)
        except InputError as error:
            wrong.append((place, str(error)))
    if wrong:
        raise InputError(f"frequency.aliases: {rows_not_usable(file, wrong, len(rows))}")
    return {name: tuple(sorted(aliases)) for name, aliases in found.items()}
