"""Rows of the table `summaries`: means, intervals and quantiles of a quantity in the groups of a frame."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from swaymeter.data.records.statistics import QUANTILES, SHARE, Summary
from swaymeter.tasks.statistics.formulas.groups import Scores, scores
from swaymeter.tasks.statistics.formulas.intervals import clustered_mean, mean_interval, share_interval
from swaymeter.tasks.statistics.frames import ALL, iter_groups, means, sort_frame
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row, Statistic

if TYPE_CHECKING:
    import pandas as pd

MODEL = ("model", "dtype")
"""Columns that identify a model."""
QUERY_TYPE = (*MODEL, "query_type")
"""Columns that identify a query type of a model."""
RELATION = (*MODEL, "relation", "query_type")
"""Columns that identify a query type of a relation and a model."""

EMPTY = {field.name: None for field in fields(Summary)} | {"relation": ALL, "query_type": ALL}
"""A row of `Summary` without values."""


@dataclass(frozen=True)
class Mean:
    """Specification of means: a quantity, and the groups in which its mean is taken.

    Attributes:
        quantity: the name of the values.
        grouped_by: the columns of the groups: model, dtype, perhaps relation and query_type, and others.
        unit_of_analysis: the noun for what has one value, such as query.
        unit: the unit of the values; "" without a unit, `SHARE` for values that are 1 or 0.
        column: the column of the values; empty for the column with the name of `quantity`.
        frame: the name of the frame to read; empty for the frame of the first named query.
        required: columns; a row that lacks a value in one of them is left out.
        order: the columns by which rows are sorted, if the frame has another order.
        averaged: columns; rows that agree in these columns are first averaged to one value. Empty if each row is a
            value.
        labels: columns that every group has after `grouped_by`, with their constant values, such as
            {"beside": "fisher"}.
        interval: True for an interval of the mean: Wilson's interval for a share, a bootstrap interval for other units.
        interval_over: the name of the clusters, such as subject; values in a cluster depend on each other. The column
            `cluster` has the id of each row's cluster. Empty for independent values.
        quantiles: True to compute quantiles.
        skip_missing: True to leave out NaN, which stands for values that were not measured.
        larger_group: the columns of larger groups; the column `share` is the share of a group in its larger group.
            Empty without shares.
        extra_columns: (the rows of a group) -> columns of `Summary` that do not follow from the values. They replace
            computed columns of the same name.
    """

    quantity: str
    grouped_by: Sequence[str]
    unit_of_analysis: str
    unit: str = "nats"
    column: str = ""
    frame: str = ""
    required: Sequence[str] = ()
    order: Sequence[str] = ()
    averaged: Sequence[str] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    interval: bool = False
    interval_over: str = ""
    quantiles: bool = False
    skip_missing: bool = False
    larger_group: Sequence[str] = ()
    extra_columns: Callable[[Frame], Row] | None = None

    def rows(self, frame: Frame, seed: int = 0) -> list[Row]:
        """Return a row of `Summary` for every group, sorted; ScoreError for a value that is not finite.

        Args:
            frame: the rows with the values, in canonical order.
            seed: the seed of the bootstrap over clusters.
        """
        column = self.column or self.quantity
        frame = frame.dropna(subset=[*self.required]) if self.required else frame
        frame = sort_frame(frame, self.order) if self.order else frame
        frame = means(frame, self.averaged, column) if self.averaged else frame
        if self.larger_group:
            frame = frame.assign(larger=frame.groupby([*self.larger_group], observed=True)[column].transform("size"))
        columns = [column]
        if self.interval_over:
            columns.append("cluster")
        if self.larger_group:
            columns.append("larger")
        rows = []
        for keys, group in iter_groups(frame, self.grouped_by, () if self.extra_columns else columns):
            about = {name: keys.pop(name) for name in RELATION if name in keys}
            keys |= self.labels
            values = scores(group[column].dropna() if self.skip_missing else group[column])
            row = {
                **EMPTY,
                **about,
                "quantity": self.quantity,
                "unit": self.unit,
                "grouped_by": list(keys),
                "group_values": [str(value) for value in keys.values()],
                "unit_of_analysis": self.unit_of_analysis,
                "n": len(values),
            }
            if len(values):
                row["mean"] = float(values.mean())
                if self.quantiles:
                    quantiles = np.quantile(values, list(QUANTILES.values())).tolist()
                    row |= dict(zip(QUANTILES, quantiles, strict=True))
                if self.interval:
                    row |= self._interval(values, group["cluster"] if self.interval_over else None, seed)
            if self.larger_group:
                row["share"] = len(group) / int(group["larger"].iloc[0])
            if self.extra_columns:
                row |= self.extra_columns(group)
            rows.append(row)
        return rows

    def _interval(self, values: Scores, clusters: "pd.Series[Any] | None", seed: int) -> Row:
        """Return columns of `Summary`: `interval_over`, `low` and `high` of the mean of values (n,), and `items`."""
        row: Row = {"interval_over": self.interval_over or self.unit_of_analysis}
        if self.unit == SHARE:
            interval = share_interval(values, range(len(values)) if clusters is None else clusters)
        elif clusters is None:
            _, low, high = mean_interval(values)
            return row | {"low": low, "high": high}
        else:
            interval = clustered_mean(values, clusters, seed)
        row |= {"low": interval.low, "high": interval.high}
        return row if clusters is None else row | {"items": interval.clusters}


def statistic_of(
    name: str,
    version: int,
    queries: tuple[str, ...],
    specifications: Sequence[Mean] = (),
    prepare: Callable[[Frames], Frames] = dict,
) -> Statistic:
    """Return the statistic with the rows of several `Mean`s.

    Args:
        name: the name of the statistic.
        version: number to raise if the code gives other rows for the same frames.
        queries: the named queries.
        specifications: the `Mean`s; a `Mean` without the name of a frame reads the frame of the first query.
        prepare: (frames by named query) -> the frames that the means read; by default, the same frames.
    """

    def compute(frames: Frames, seed: int) -> list[Row]:
        prepared = prepare(frames)
        return [row for mean in specifications for row in mean.rows(prepared[mean.frame or queries[0]], seed)]

    return Statistic(name, version, Summary, queries, compute)
