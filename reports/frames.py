"""Frames with the rows of named queries, and functions that select and sort rows and return their units."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from swaymeter.data.records import OWN_CONDITIONS, PARTITIONS
from swaymeter.data.records.statistics import QUANTILES

Frames = Mapping[str, pd.DataFrame]
"""Frames by the named query of the warehouse that gave their rows."""

_IN_UNIT = ("mean", "mean_a", "mean_b", "low", "high", *QUANTILES)
"""Columns of numbers whose unit is in the column `unit`."""


class LazyFrames(Mapping[str, pd.DataFrame]):
    """Frames by named query; a frame is read once, at its first use.

    Args:
        names: The named queries.
        read: Function that returns the frame of a query.
    """

    def __init__(self, names: Iterable[str], read: Callable[[str], pd.DataFrame]) -> None:
        self._names, self._read = dict.fromkeys(names), read
        self._frames: dict[str, pd.DataFrame] = {}

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._frames:
            if name not in self._names:
                raise KeyError(name)
            self._frames[name] = self._read(name)
        return self._frames[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def with_empty(frames: Frames, queries: Iterable[str]) -> Frames:
    """Return the frames of these queries, with an empty frame for a missing one."""
    return LazyFrames(queries, lambda name: frames[name] if name in frames else pd.DataFrame())


def units(frame: pd.DataFrame) -> dict[str, str]:
    """Return the units of the columns, as the warehouse declares them.

    Means, intervals and quantiles have the unit in the column `unit`. If this unit differs between rows, the units of
    means, intervals and quantiles are left out.
    """
    frame_units: dict[str, str] = dict(frame.attrs.get("units", {}))
    row_units = list(frame["unit"].unique()) if "unit" in frame else []
    return frame_units | (dict.fromkeys(_IN_UNIT, str(row_units[0])) if len(row_units) == 1 else {})


def unit_of(rows: pd.DataFrame, column: str = "unit") -> str:
    """Return the unit that rows share; empty without rows."""
    return str(rows[column].iloc[0]) if len(rows) else ""


def without_unit(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame of one model without its columns model, dtype and unit; the unit moves to `attrs["units"]`."""
    shown = frame.drop(columns=["model", "dtype", "unit"])
    shown.attrs["units"] = units(frame)
    return shown


@dataclass(frozen=True)
class FiniteRows:
    """Rows with finite scores."""

    rows: pd.DataFrame
    missing: int
    """Number of rows that were left out."""

    def note(self, items: str) -> str:
        """Return the caption's sentence on left-out `items`, such as "queries"; empty if no row was left out."""
        if not self.missing:
            return ""
        total = self.missing + len(self.rows)
        return f" {self.missing} of {total} {items} have a score that is missing or not finite and are not drawn."


def finite(frame: pd.DataFrame, *columns: str) -> FiniteRows:
    """Select the rows with a finite number in each of the columns, and count the other rows."""
    is_finite = np.ones(len(frame), dtype=bool)
    for column in columns if len(frame) else ():
        is_finite &= np.isfinite(frame[column].to_numpy(dtype=float, na_value=np.nan))
    rows = frame if is_finite.all() else frame[is_finite].reset_index(drop=True)
    return FiniteRows(rows, int((~is_finite).sum()))


def where(frame: pd.DataFrame, **values: object) -> pd.DataFrame:
    """Return the rows whose columns have these values; if a value is a list, a row needs one of its items.

    An empty frame, which may lack the columns, is returned as it is.
    """
    for column, value in values.items():
        if len(frame):
            frame = frame[frame[column].isin(value) if isinstance(value, list) else frame[column] == value]
    return frame


def as_published(tests: pd.DataFrame) -> pd.DataFrame:
    """Return the tests that the papers make: permutation tests that take queries or answers as independent."""
    return tests[(tests["test"] == "permutation") & (tests["unit_of_analysis"] != "entity")] if len(tests) else tests


def by_entity(tests: pd.DataFrame) -> pd.DataFrame:
    """Return the tests over entities; an entity has the mean over its queries or answers."""
    return where(tests, unit_of_analysis="entity")


def in_order(frame: pd.DataFrame, **orders: Iterable[object]) -> pd.DataFrame:
    """Return the rows sorted by columns, each with an order of its values; other values come last."""
    if frame.empty:
        return frame
    ranks = {column: {value: rank for rank, value in enumerate(order)} for column, order in orders.items()}
    by_rank = frame.sort_values(list(ranks), key=lambda column: column.map(ranks[str(column.name)]), kind="stable")
    return by_rank.reset_index(drop=True)


def present(rows: pd.DataFrame, column: str, order: Sequence[str]) -> list[str]:
    """Return the values that occur in a column: first values of `order` in this order, then other values, sorted."""
    values = set(rows[column].astype(str)) if len(rows) else set()
    return [value for value in order if value in values] + sorted(values - set(order))


def partitions(rows: pd.DataFrame) -> list[str]:
    """Return the partitions that occur: DynamicQA's in their fixed order, then the groups of own questions."""
    return present(rows, "partition", PARTITIONS)


def grouping(rows: pd.DataFrame) -> str:
    """Return the noun for partitions: "group" for own questions, else "partition". Rows have a column `condition`."""
    return "group" if are_own(rows) else "partition"


def are_own(rows: pd.DataFrame) -> bool:
    """Return True if a frame with a column `condition` is about a user's own questions."""
    return len(rows) > 0 and bool(rows["condition"].isin(OWN_CONDITIONS).any())


def is_audit(frames: Frames) -> bool:
    """Return True if a study is about a user's own questions, which have no published values."""
    return "outcomes" in frames and are_own(frames["outcomes"])


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as dictionaries, with numbers of Python, and None in place of pd.NA."""
    names = [str(name) for name in frame]
    # Columns as lists: `to_dict` takes four times as long for columns of text and of numbers with missing values.
    columns = [_plain(column) for _, column in frame.items()]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _plain(column: "pd.Series[Any]") -> list[Any]:
    values: list[Any] = column.tolist()
    if column.dtype == object:
        values = [value.item() if isinstance(value, np.generic) else value for value in values]
    return [None if value is pd.NA else value for value in values] if column.hasnans else values
