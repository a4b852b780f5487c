"""Rows of the table `summaries`: what a quantity is in the groups of a frame."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from swaymeter.data.records.statistics import QUANTILES, SHARE, Summary
from swaymeter.tasks.statistics.formulas.clustered import clustered_mean
from swaymeter.tasks.statistics.formulas.groups import Scores, scores
from swaymeter.tasks.statistics.formulas.interval import mean_interval
from swaymeter.tasks.statistics.formulas.share import share_interval
from swaymeter.tasks.statistics.frames import ALL, by
from swaymeter.tasks.statistics.statistic import Frame, Row

if TYPE_CHECKING:
    import pandas as pd

MODEL = ("model", "dtype")
TYPE = (*MODEL, "query_type")
RELATION = (*MODEL, "relation", "query_type")
"""What a group is about at three levels: a model, its queries of a type, and those of a relation."""

_EMPTY = {field.name: None for field in fields(Summary)} | {"relation": ALL, "query_type": ALL}


def summaries(
    frame: Frame,
    keys: Sequence[str],
    column: str,
    *,
    unit: str = "nats",
    unit_of_analysis: str,
    quantity: str = "",
    interval: bool = False,
    clusters: str = "",
    over: str = "",
    seed: int = 0,
    quantiles: bool = False,
    skip_missing: bool = False,
    others: Callable[[Frame], Row] | None = None,
) -> list[Row]:
    """A row of `Summary` for every group of equal keys, sorted by them; ScoreError for a value that is not finite.

    frame: a row per value, in an order of its own; keys: model, dtype, perhaps relation and query_type, and what else
    the groups are of; column: that of the values, also their quantity where none is named; unit: "" for counts, `SHARE`
    where values are 1 or 0; unit_of_analysis: what one value is about; interval: whether the mean has one: Wilson's of
    a share, else a bootstrap; clusters: the column of what the interval is over, where that is not single values, and
    over: its name; seed: of draws of clusters; skip_missing: whether NaN stands for what was not measured, and is left
    out; others: (the rows of a group) -> columns that do not follow from the values, or are counted otherwise.
    """
    rows = []
    for group_of, group in by(frame, keys, () if others else [column, *filter(None, [clusters])]):
        about = {name: group_of.pop(name) for name in RELATION if name in group_of}
        values = scores(group[column].dropna() if skip_missing else group[column])
        row = {
            **_EMPTY,
            **about,
            "quantity": quantity or column,
            "unit": unit,
            "grouped_by": list(group_of),
            "group_values": [str(value) for value in group_of.values()],
            "unit_of_analysis": unit_of_analysis,
            "n": len(values),
        }
        if len(values):
            row["mean"] = float(values.mean())
        if len(values) and quantiles:
            row |= dict(zip(QUANTILES, np.quantile(values, list(QUANTILES.values())).tolist(), strict=True))
        if interval and len(values):
            row |= _interval(values, group[clusters] if clusters else None, unit, seed)
            row["interval_over"] = over or unit_of_analysis
        rows.append(row | (others(group) if others else {}))
    return rows


def _interval(values: Scores, clusters: "pd.Series[Any] | None", unit: str, seed: int) -> Row:
    """The ends of the interval of a mean of values (n,), and how many clusters it is over, where it is over these."""
    if unit == SHARE:
        found = share_interval(values, range(len(values)) if clusters is None else clusters)
    elif clusters is None:
        _, low, high = mean_interval(values)
        return {"low": low, "high": high}
    else:
        found = clustered_mean(values, clusters, seed)
    return {"low": found.low, "high": found.high} | ({} if clusters is None else {"items": found.clusters})
