"""Susceptibility of queries by how often a conflicting context leaves their greedy answer as it was.

Groups: fifths of the memorization ratio, of a query type. Unit of analysis: a query that has both scores. Beside them
the mean ratio of the queries that have one; `items` counts those that have none, too.
"""

import numpy as np

from data.records.statistics import Summary
from tasks.statistics.frames import sorted_by
from tasks.statistics.statistic import Frames, Row, Statistic
from tasks.statistics.summary import TYPE, summaries

RATIO = "memorization_ratio"
FIFTHS = ("0 to 0.2", "0.2 to 0.4", "0.4 to 0.6", "0.6 to 0.8", "0.8 to 1")
EDGES = (0.2, 0.4, 0.6, 0.8)


def compute(frames: Frames, seed: int) -> list[Row]:
    """The rows of `Summary` for susceptibility by memorization ratio, and for the ratio."""
    queries = sorted_by(frames["memorization_of_queries"], [*TYPE, "relation", "query_id"])
    ratios = summaries(
        queries, TYPE, RATIO, unit="", unit_of_analysis="query", skip_missing=True,
        others=lambda group: {"items": len(group)},
    )  # fmt: skip
    both = queries.dropna(subset=[RATIO, "susceptibility"])
    both = both.assign(of_type=both.groupby(list(TYPE), observed=True)[RATIO].transform("size"))
    both[RATIO] = np.array(FIFTHS)[np.digitize(both[RATIO], EDGES)]
    return ratios + summaries(
        both, [*TYPE, RATIO], "susceptibility", unit_of_analysis="query", quantiles=True,
        others=lambda group: {"share": len(group) / int(group["of_type"].iloc[0])},
    )  # fmt: skip


STATISTIC = Statistic("memorization_bins", 1, Summary, ("memorization_of_queries",), compute)
