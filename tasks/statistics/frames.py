"""Frames of scores in an order of their own, cut by what they are about.

Doubles that are added in another order end in other digits: whatever adds sorts first, by what the rows are. Text is
sorted by its categories, of which there are few, and not row by row.
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

WITH, WITHOUT = "answers", "answers_without"
"""Columns: how many sampled answers a question has with the row's context, and without one."""


def categorical(frame: Frame) -> Frame:
    """The frame with its text as categories, which are grouped and sorted as numbers are."""
    return frame.astype(dict.fromkeys(frame.select_dtypes("str").columns, "category"))


def sorted_by(frame: Frame, columns: Sequence[str]) -> Frame:
    """The frame with its rows in the order of these columns; a missing value comes first."""
    return frame.sort_values(list(columns), na_position="first", kind="stable")


def check_scored(frame: Frame, measure: str) -> None:
    """Raises ScoreError where a row of the frame lacks the measure."""
    if missing := int(frame[measure].isna().sum()):
        raise ScoreError(f"{measure}: {missing} rows have no score; run `swaymeter aggregate` again")


def of_enough_samples(frame: Frame, columns: Sequence[str], counts: Sequence[str] = (WITH,), parts: int = 1) -> Frame:
    """The frame with these columns missing where they rest on too few sampled answers.

    counts: the columns that count the answers, each of which has to be enough for so many parts.
    """
    enough = (frame[[*counts]].fillna(0) >= parts * FEWEST_SAMPLES).all(axis=1)
    return frame.assign(**{name: frame[name].where(enough) for name in columns})


def pooled(frame: Frame) -> Frame:
    """The rows, again for every context together, and all of these again for every partition together.

    Sorted by question and context; subjects are their clusters. Questions without a context are in no pool of contexts.
    """
    import pandas as pd

    frame = sorted_by(frame, ["model", "dtype", "relation", "question_id", "context_id"])
    frame = frame.astype(dict.fromkeys(("partition", "condition"), object))
    frame = frame.assign(cluster=pd.factorize(frame["subject_key"], sort=True)[0])
    frame = pd.concat([frame, frame[frame["condition"] != "none"].assign(condition=ALL)])
    return pd.concat([frame, frame.assign(partition=ALL)])


def named(flags: "pd.Series[Any]", yes: str, no: str) -> "pd.Categorical[str]":
    """Two names in place of true and false, as categories; none is missing."""
    import pandas as pd

    names = sorted([yes, no])
    codes = np.where(flags.to_numpy(dtype=bool), names.index(yes), names.index(no))
    return pd.Categorical.from_codes(codes, categories=pd.Index(names))


def by(frame: Frame, columns: Sequence[str], read: Sequence[str] = ()) -> Iterator[tuple[Row, Frame]]:
    """The groups of equal values in these columns, sorted, each with its values by name; order within a group stays.

    read: the columns that are read of a group, all where none is named: cutting out all takes three times as long.
    """
    if frame.empty:
        return
    frame = frame.copy(deep=False)
    frame.attrs = {}  # every piece would have a deep copy of the units
    groups = frame.groupby(list(columns), sort=True, observed=True)
    for values, rows in groups[list(read)] if read else groups:
        plain = (value.item() if isinstance(value, np.generic) else value for value in values)
        yield dict(zip(columns, plain, strict=True)), rows


def means(frame: Frame, keys: Sequence[str], measure: str) -> Frame:
    """A row for every group of equal keys: the mean of the measure over its rows. The frame is sorted, and scored."""
    check_scored(frame, measure)
    return frame.groupby(list(keys), as_index=False, sort=True, observed=True)[[measure]].mean()


def weighted_means(frame: Frame, keys: Sequence[str], measure: str, weight: str) -> Frame:
    """As `means`, each row counted as often as `weight` says; the group's weight stands beside the mean."""
    check_scored(frame, measure)
    counts = frame[weight].astype("float64")
    weighed = frame[list(keys)].assign(total=frame[measure].astype("float64") * counts, weight=counts)
    sums = weighed.groupby(list(keys), as_index=False, sort=True, observed=True)[["total", "weight"]].sum()
    return sums.assign(**{measure: sums["total"] / sums["weight"]})
