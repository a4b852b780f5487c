"""A user's file in a study: its path, its title and licence on the page, and its validated rows."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, Field

from swaymeter.data.errors import InputError
from swaymeter.data.options import NamedPath, Options
from swaymeter.data.records import RESERVED_RELATION_NAMES, Rejected
from swaymeter.data.records.statistics import ALL
from swaymeter.data.sources.own.files import read_file
from swaymeter.data.sources.own.one_row import Name, row_of

log = logging.getLogger(__name__)

MAX_ERRORS = 10
"""Limit of the different errors in a message."""
MAX_LOCATIONS = 3
"""Limit of the rows that a message names for an error."""
RowProblem = tuple[str, str]
"""The location of an unusable row, such as "line 4", and its problem."""
Row = TypeVar("Row")
RESERVED = RESERVED_RELATION_NAMES | {ALL, "disputable"}
"""Names with another meaning in a list of relations."""


class Origin(NamedTuple):
    """The source and licence of data."""

    source: str
    licence: str


class OwnFile(Options):
    """Study keys that describe a user's file; pydantic validates them first, because other keys may depend on them."""

    file: NamedPath
    """The file: CSV, JSON or Parquet (docs/own-data.md)."""
    title: str = Field(default="", max_length=200)
    """The name of the data on the page; empty: the name of the file."""
    licence: str = Field(default="not stated", min_length=1, max_length=200)
    """The licence of the data."""
    citation: str = Field(default="", max_length=1000)
    """The citation of the data."""

    @property
    def path(self) -> Path:
        """The path of the file."""
        return Path(self.file)

    @property
    def origin(self) -> Origin:
        """The source and licence of the data on the page."""
        return Origin(", ".join(filter(None, (self.title or self.path.name, self.citation))), self.licence)


def own_yaml(path: Any, read: Callable[[], Any], key: str, advice: str) -> Any:
    """Return the content of a user's YAML file of named relations or sets of contexts.

    Args:
        path: The study file's value for the path; not yet validated.
        read: Returns the content: a mapping by name, or an object whose attribute `key` is such a mapping.
        key: `relations` or `contexts`; in messages, it begins the path of a name, such as `contexts.all`.
        advice: Remedy at the end of messages.

    Raises:
        ValueError: The path is no text, the file cannot be read, or a name is reserved.
    """
    if not isinstance(path, str):
        raise ValueError(f"expected the path of a YAML file, as a text in quotes; {advice}")
    try:
        content: Any = read()
    except InputError as error:
        raise ValueError(f"{error}; {advice}") from None
    if reserved := sorted(RESERVED & set(getattr(content, key, content))):
        raise ValueError(f"{path}: {key}.{reserved[0]}: the name is reserved; choose another name")
    return content


class AliasRow(BaseModel):
    """A row of a file of aliases: a name of an entity or answer, and another name of this entity or answer."""

    name: Name
    alias: Name


def read_aliases(file: Path) -> Mapping[str, tuple[str, ...]]:
    """Return the sorted aliases of each name; InputError if a row cannot be used, or the file cannot be read."""
    rows, problem = _checked(file, "alias", lambda location, cells: row_of(AliasRow, cells))
    if problem:
        raise InputError(f"frequency.aliases: {problem}")
    aliases: dict[str, set[str]] = {}
    for row in rows:
        aliases.setdefault(row.name, set()).add(row.alias)
    return {name: tuple(sorted(texts)) for name, texts in aliases.items()}


def usable_rows(file: Path, needed: str, check: Callable[[str, Mapping[str, Any]], Row]) -> list[Row]:
    """Return the validated rows of a file; warn of the rows that `check` refuses.

    Args:
        file: The file.
        needed: A required column.
        check: Function of a row's location, such as "line 4", and of its cells by column in lower case. It returns the
            validated row, or raises InputError.

    Raises:
        InputError: No row can be used, or the file cannot be read.
    """
    rows, problem = _checked(file, needed, check)
    if problem and not rows:
        raise InputError(problem)
    if problem:
        log.warning(problem)
    return rows


def _checked(file: Path, needed: str, check: Callable[[str, Mapping[str, Any]], Row]) -> tuple[list[Row], str]:
    usable, wrong = list[Row](), list[RowProblem]()
    for location, cells, problem in read_file(file, needed):
        try:
            if problem:
                raise InputError(problem)
            by_column = {str(name).strip().lower(): cell for name, cell in cells.items()}
            if len(by_column) < len(cells):
                raise InputError(
                    "has two columns whose names differ only in capitals or spaces; rename one of the two columns"
                )
            usable.append(check(location, by_column))
        except InputError as error:
            wrong.append((location, str(error)))
    return usable, unusable_rows_message(file, wrong, len(usable) + len(wrong))


def wrong_rows(rejected: Iterable[Rejected]) -> list[RowProblem]:
    """Return the location and the problem of each rejected row."""
    return [(row.part, row.detail or "") for row in rejected]


def unusable_rows_message(file: Path, wrong: Sequence[RowProblem], total: int) -> str:
    """Return the message about unusable rows; empty without unusable rows.

    Rows with the same error share one part of the message. The most frequent errors come first.
    """
    if not wrong:
        return ""
    locations_of: dict[str, list[str]] = {}
    for location, message in wrong:
        locations_of.setdefault(message, []).append(location)
    messages = []
    for message, locations in sorted(locations_of.items(), key=lambda item: -len(item[1]))[:MAX_ERRORS]:
        # "line 4, 7, 9 and 2 more": only the first location has the word "line"
        numbers = [locations[0], *(location.rpartition(" ")[2] for location in locations[1:MAX_LOCATIONS])]
        more = f" and {len(locations) - MAX_LOCATIONS} more" if len(locations) > MAX_LOCATIONS else ""
        messages.append(f"{', '.join(numbers)}{more}: {message}")
    other_errors = f"; other errors: {len(locations_of) - MAX_ERRORS}" if len(locations_of) > MAX_ERRORS else ""
    return f"{file}: {len(wrong)} of {total} rows cannot be used: {'; '.join(messages)}{other_errors}"
