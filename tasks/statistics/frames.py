"""Frames of scores in an order of their own, cut by what they are about.

Doubles that are added in another order end in other digits: whatever adds sorts first, by what the rows are. Text is
sorted by its categories, of which there are few, and not row by row.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from data.errors import ScoreError
from tasks.statistics.statistic import Row


def records(frame: pd.DataFrame) -> list[Row]:
    """The rows as plain dicts."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def without_missing(frame: pd.DataFrame, measure: str) -> pd.DataFrame:
    """The frame; ScoreError where a score of the measure is missing."""
    if missing := int(frame[measure].isna().sum()):
        raise ScoreError(f"{measure}: {missing} rows have no score; run `swaymeter aggregate` again")
    return frame


def sorted_by(frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """The frame with its rows in the order of these columns."""
    if frame.empty:
        return frame
    order = np.lexsort([_codes(frame[name]) for name in reversed(columns)])
    in_order = bool((order[1:] > order[:-1]).all())
    return frame if in_order else frame.iloc[order]


def _codes(column: "pd.Series[str]") -> NDArray[np.int64]:
    """A number for every row (n,) that sorts like its value; a missing one comes first."""
    return np.asarray(pd.factorize(column, sort=True)[0], dtype=np.int64)


def by(frame: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple[Row, pd.DataFrame]]:
    """The groups of equal values in these columns, sorted, each with its values by name; order within a group stays."""
    if frame.empty:
        return
    frame = frame.copy(deep=False)
    frame.attrs = {}  # every piece would have a deep copy of the units
    for values, rows in frame.groupby(list(columns), sort=True, observed=True):
        yield dict(zip(columns, map(_plain, values), strict=True)), rows


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value


def weighted_means(frame: pd.DataFrame, keys: Sequence[str], measure: str, weight: str) -> pd.DataFrame:
    """A row for every group of equal keys: the mean of the measure, each row counted as often as `weight` says.

    The group's weight stands beside the mean. The frame is sorted.
    """
    counts = frame[weight].astype("float64")
    weighed = frame[list(keys)].assign(total=frame[measure].astype("float64") * counts, weight=counts)
    sums = weighed.groupby(list(keys), as_index=False, sort=True, observed=True)[["total", "weight"]].sum()
    return sums.assign(**{measure: sums["total"] / sums["weight"]})
