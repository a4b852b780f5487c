"""Recorded replies: columns of a user's file with the replies of an application to the questions.

A reply belongs to the passages of its row: one passage in a row with `context`, all passages in a row with a list of
`contexts`, no passage in a closed-book row. A reply within an object of `contexts` belongs only to the passage of this
object. A study finds a reply by the question and the texts of the passages before it, in the same order. Names, such as
ids of contexts and sets of `passages`, do not matter.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from swaymeter.data.errors import InputError, is_text
from swaymeter.data.sources.layouts.paths import exists_at, value_at

if TYPE_CHECKING:
    from swaymeter.data.sources.own.one_row import OwnRow

RepliesByPassages = Mapping[tuple[str, ...], str | None]
"""Replies by the texts of the passages before the question; None for a missing reply, "" for an empty reply."""
MAX_CHARACTERS = 1_000_000
"""Limit of the characters of a reply."""


def recorded_in_row(column: str, cells: Mapping[str, Any], row: "OwnRow") -> RepliesByPassages:
    """Return the replies of a row in a column.

    Args:
        column: The column of the replies in the file, or a path into nested cells.
        cells: The raw cells of the row.
        row: The validated row, for the texts of its passages.

    Raises:
        InputError: A reply is not a text, is too long or is not valid Unicode.
    """
    recorded: dict[tuple[str, ...], str | None] = {}
    for context in row.contexts:
        if (other_fields := context.model_extra) and _has(other_fields, column):
            recorded[(context.text,)] = _reply(column, _value(other_fields, column))
    if _has(cells, column) or not recorded:
        recorded[tuple(context.text for context in row.contexts)] = _reply(column, _value(cells, column))
    return recorded


def _has(cells: Mapping[str, Any], column: str) -> bool:
    return column in cells or exists_at(cells, column)


def _value(cells: Mapping[str, Any], column: str) -> Any:
    return cells[column] if column in cells else value_at(cells, column)


def _reply(column: str, value: Any) -> str | None:
    if value is None or value != value:  # NaN
        return None
    if isinstance(value, bool | int | float):
        return str(value)
    if not isinstance(value, str):
        raise InputError(
            f"{column}: is a {type(value).__name__} instead of a text; name the path of the text, such as {column}.text"
        )
    if len(value) > MAX_CHARACTERS or not is_text(value):
        raise InputError(
            f"{column}: the reply has more than {MAX_CHARACTERS:,} characters, or is not valid Unicode; shorten it, or "
            "remove its invalid characters"
        )
    return value
