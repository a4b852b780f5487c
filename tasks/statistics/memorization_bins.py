"""Susceptibility of queries by how often a conflicting context leaves their greedy answer as it was.

Groups: fifths of the memorization ratio, of a query type. Unit of analysis: a query that has both scores. Beside them
the mean ratio of a query type, over the queries that have one; `items` counts those that have none, too. There is no
test; see `correlations`.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from data.records.statistics import Summary
from tasks.statistics.statistic import Row, Statistic

if TYPE_CHECKING:
    import pandas as pd

FIFTHS = ("0 to 0.2", "0.2 to 0.4", "0.4 to 0.6", "0.6 to 0.8", "0.8 to 1")
EDGES = (0.2, 0.4, 0.6, 0.8)


def compute(frames: "Mapping[str, pd.DataFrame]", seed: int) -> list[Row]:
    """The rows of `Summary` for susceptibility by memorization ratio, and for the ratio."""
    import numpy as np

    from tasks.statistics.frames import by, sorted_by
    from tasks.statistics.summary import summary

    columns = ["model", "dtype", "query_type", "relation", "query_id", "memorization_ratio", "susceptibility"]
    rows = []
    for of, queries in by(sorted_by(frames["memorization_of_queries"][columns], columns[:5]), columns[:3]):
        ratios = queries["memorization_ratio"].dropna()
        rows.append(summary("memorization_ratio", "", of, ratios, unit_of_analysis="query", items=len(queries)))
        both = queries.dropna(subset=["memorization_ratio", "susceptibility"])
        fifth = np.digitize(both["memorization_ratio"], EDGES)
        for number, name in enumerate(FIFTHS):
            values = both.loc[fifth == number, "susceptibility"]
            if len(values):
                rows.append(
                    summary(
                        "susceptibility", "nats", of, values, unit_of_analysis="query",
                        grouped_by={"memorization_ratio": name}, quantiles=True, share=len(values) / len(both),
                    )
                )  # fmt: skip
    return rows


STATISTIC = Statistic("memorization_bins", 1, Summary, ("memorization_of_queries",), compute)
