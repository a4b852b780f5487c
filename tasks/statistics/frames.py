"""Frames of scores in a canonical order, and groups of their rows.

Floating-point sums depend on the order of their terms, so frames are sorted by their keys before anything is added.
Texts are sorted as categories: a column has few distinct texts, and only the distinct texts are compared.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from swaymeter.data.errors import ScoreError
from swaymeter.data.records.statistics import ALL as ALL
from swaymeter.data.records.statistics import FEWEST_SAMPLES
from swaymeter.tasks.statistics.statistic import Frame, Row

if TYPE_CHECKING:
    import pandas as pd

COUNT_WITH, COUNT_WITHOUT = "answers", "answers_without"
"""Columns that count the sampled replies to a question: with the context of the row, and closed-book."""


def categorical(frame: Frame) -> Frame:
    """Return the frame with text columns as categories and without units (`attrs`)."""
    frame = frame.astype(dict.fromkeys(frame.select_dtypes("str").columns, "category"))
    frame.attrs = {}  # pandas would copy the units in each operation: a tenth of the time of all statistics
    return frame


def sort_frame(frame: Frame, columns: Sequence[str]) -> Frame:
    """Return the frame sorted by these columns; missing values come first."""
    return frame.sort_values(list(columns), na_position="first", kind="stable")


def check_scored(frame: Frame, measure: str) -> None:
    """Raise ScoreError if a row of the frame lacks the measure."""
    if missing := int(frame[measure].isna().sum()):
        raise ScoreError(f"{measure}: {missing} of {len(frame)} rows lack a score; run again with --stage aggregate")


def drop_small_samples(
    frame: Frame, columns: Sequence[str], counts: Sequence[str] = (COUNT_WITH,), parts: int = 1
) -> Frame:
    """Return the frame without the scores of rows that have too few sampled replies; the rows stay.

    Args:
        frame: the frame.
        columns: the columns of scores.
        counts: the columns that count replies; a row needs `parts` times FEWEST_SAMPLES replies in each column.
        parts: number of parts of the replies that a score compares, such as 2 for a score between halves.
    """
    enough = (frame[[*counts]].fillna(0) >= parts * FEWEST_SAMPLES).all(axis=1)
    return frame.assign(**{name: frame[name].where(enough) for name in columns})


def add_totals(frame: Frame) -> Frame:
    """Append copies of the rows with the condition `all`, the partition `all`, or both.

    Closed-book rows (the condition `none`) have no copy with the condition `all`. The rows are sorted by question and
    context. The new column `cluster` has a number for each subject.
    """
    import pandas as pd

    frame = sort_frame(frame, ["model", "dtype", "relation", "question_id", "context_id"])
    frame = frame.astype(dict.fromkeys(("partition", "condition"), object))
    frame = frame.assign(cluster=pd.factorize(frame["subject_key"], sort=True)[0])
    frame = pd.concat([frame, frame[frame["condition"] != "none"].assign(condition=ALL)])
    return pd.concat([frame, frame.assign(partition=ALL)])


def name_flags(flags: "pd.Series[Any]", yes: str, no: str) -> "pd.Categorical[str]":
    """Return, as categories, the name `yes` for each true flag and `no` for each false flag."""
    import pandas as pd

    names = sorted([yes, no])
    codes = np.where(flags.to_numpy(dtype=bool), names.index(yes), names.index(no))
    return pd.Categorical.from_codes(codes, categories=pd.Index(names))


def iter_groups(frame: Frame, columns: Sequence[str], row_columns: Sequence[str] = ()) -> Iterator[tuple[Row, Frame]]:
    """Yield each group of rows with equal values in `columns`, as (values by column, rows), sorted by the values.

    Args:
        frame: the frame.
        columns: the columns that define groups.
        row_columns: the columns of the yielded rows; empty for all columns, which takes three times as long.
    """
    if frame.empty:
        return
    frame = frame.copy(deep=False)
    frame.attrs = {}  # each group would receive a deep copy of the units
    groups = frame.groupby(list(columns), sort=True, observed=True)
    for values, rows in groups[list(row_columns)] if row_columns else groups:
        plain = (value.item() if isinstance(value, np.generic) else value for value in values)
        yield dict(zip(columns, plain, strict=True)), rows


def means(frame: Frame, keys: Sequence[str], measure: str) -> Frame:
    """Return the mean of a measure in every group of equal keys; ScoreError for a missing score.

    The rows must be in canonical order, because sums depend on the order of their terms.
    """
    check_scored(frame, measure)
    return frame.groupby(list(keys), as_index=False, sort=True, observed=True)[[measure]].mean()


def weighted_means(frame: Frame, keys: Sequence[str], measure: str, weight: str) -> Frame:
    """Return the mean of a measure with weights from a column, and the total `weight`, in every group of equal keys."""
    check_scored(frame, measure)
    counts = frame[weight].astype("float64")
    weighted = frame[list(keys)].assign(total=frame[measure].astype("float64") * counts, weight=counts)
    sums = weighted.groupby(list(keys), as_index=False, sort=True, observed=True)[["total", "weight"]].sum()
    return sums.assign(**{measure: sums["total"] / sums["weight"]})
