"""What is wrong with the rows of a file that cannot be used, equal errors together."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from swaymeter.data.records import Rejected

SHOWN = 10
"""Kinds of errors that a message has, and of each the first rows."""
FIRST = 3
Wrong = tuple[str, str]
"""Where a row stands that cannot be used, such as "line 4", and what is wrong with it."""


def wrong_rows(rejected: Iterable[Rejected]) -> list[Wrong]:
    """What is wrong with each rejected row."""
    return [(row.part, row.detail or "") for row in rejected]


def grouped(wrong: Iterable[Wrong]) -> list[str]:
    """What is wrong, each once with the first rows that it is wrong with and how many more; the most frequent first."""
    places: dict[str, list[str]] = {}
    for place, message in wrong:
        places.setdefault(message, []).append(place)
    said = []
    for message, rows in sorted(places.items(), key=lambda one: -len(one[1])):
        numbers = [rows[0], *(row.rpartition(" ")[2] for row in rows[1:FIRST])]
        more = f" and {len(rows) - FIRST} more" if len(rows) > FIRST else ""
        said.append(f"{', '.join(numbers)}{more}: {message}")
    return said


def rows_not_usable(file: Path, wrong: Sequence[Wrong], total: int) -> str:
    """The message of what is wrong with rows of a file, equal errors together; of many kinds, the most frequent."""
    said = grouped(wrong)
    more = f"; and {len(said) - SHOWN} other errors" if len(said) > SHOWN else ""
    return f"{file}: {len(wrong)} of {total} rows cannot be used: {'; '.join(said[:SHOWN])}{more}"
