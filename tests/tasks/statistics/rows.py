"""Selection of a row of a statistic."""

from collections.abc import Iterable
from typing import Any


def row_of(rows: Iterable[dict[str, Any]], **values: object) -> dict[str, Any]:
    """Return the only row with these values.

    Raises:
        ValueError: no row or several rows have these values.
    """
    (row,) = (row for row in rows if all(row[name] == value for name, value in values.items()))
    return row
