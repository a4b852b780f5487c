"""One row of the table `summaries`: what a quantity is in one group."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from data.records.statistics import Summary
from tasks.statistics.groups import scores
from tasks.statistics.interval import mean_interval
from tasks.statistics.statistic import Row

ALL = "all"
QUANTILES: Mapping[str, float] = {
    "smallest": 0,
    "percentile_5": 0.05,
    "lower_quartile": 0.25,
    "median": 0.5,
    "upper_quartile": 0.75,
    "percentile_95": 0.95,
    "largest": 1,
}
_EMPTY = {field.name: None for field in fields(Summary)}


def summary(
    quantity: str,
    unit: str,
    of: Mapping[str, Any],
    values: ArrayLike,
    *,
    unit_of_analysis: str,
    grouped_by: Mapping[str, Any] | None = None,
    interval: bool = False,
    quantiles: bool = False,
    **others: Any,
) -> Row:
    """A row of `Summary`.

    Args:
        quantity: what the values are.
        unit: of the values; "" for counts and shares.
        of: model and dtype; relation and query_type where they are not all.
        values: (n,) finite numbers; ScoreError for others.
        unit_of_analysis: what one value is about.
        grouped_by: what the group is of beside relation and query type, and its value of each.
        interval: whether the mean has a bootstrap interval.
        quantiles: whether the quantiles are of interest.
        **others: columns that do not follow from the values, or are counted otherwise.
    """
    vector = scores(values)
    grouped = dict(grouped_by or {})
    row = {
        **_EMPTY,
        "relation": ALL,
        "query_type": ALL,
        **of,
        "quantity": quantity,
        "unit": unit,
        "grouped_by": list(grouped),
        "group_values": [str(value) for value in grouped.values()],
        "unit_of_analysis": unit_of_analysis,
        "n": len(vector),
    }
    if len(vector):
        row["mean"] = float(vector.mean())
    if len(vector) and quantiles:
        row |= dict(zip(QUANTILES, np.quantile(vector, list(QUANTILES.values())).tolist(), strict=True))
    if interval:
        bounds = mean_interval(vector)
        row |= {"mean": bounds.mean, "low": bounds.low, "high": bounds.high}
    return row | others
