"""The row of a statistic that a test is about."""

from collections.abc import Iterable
from typing import Any


def row_of(rows: Iterable[dict[str, Any]], **where: object) -> dict[str, Any]:
    """The row with these values; ValueError where there is none, or more than one."""
    (row,) = (row for row in rows if all(row[name] == value for name, value in where.items()))
    return row
