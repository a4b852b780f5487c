"""Susceptibility of queries by how often a context leaves their greedy answer as it was: the memorization ratio.

    memorization_ratio        over the contexts that conflict with the query's answer
    memorization_ratio_all    over every context, as the released code has it

Groups: fifths of a ratio, of a query type. Unit of analysis: a query that has both scores; intervals are over
entities. Beside them the mean ratio
of the queries that have one; `items` counts those that have none, too.

Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, figure 3 and Appendix D.
"""

import numpy as np

from swaymeter.data.records.statistics import Summary
from swaymeter.tasks.statistics.frames import sorted_by
from swaymeter.tasks.statistics.statistic import Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import TYPE, summaries

RATIOS = ("memorization_ratio", "memorization_ratio_all")
FIFTHS = ("0 to 0.2", "0.2 to 0.4", "0.4 to 0.6", "0.6 to 0.8", "0.8 to 1")
EDGES = (0.2, 0.4, 0.6, 0.8)


def compute(frames: Frames, seed: int) -> list[Row]:
    """The rows of `Summary` for susceptibility by memorization ratio, and for the ratios."""
    queries = sorted_by(frames["memorization_of_queries"], [*TYPE, "relation", "query_id"])
    queries = queries.assign(cluster=queries.groupby("entity", observed=True).ngroup())
    rows = []
    for ratio in RATIOS:
        rows += summaries(
            queries, TYPE, ratio, unit="", unit_of_analysis="query", skip_missing=True,
            others=lambda group: {"items": len(group)},
        )  # fmt: skip
        both = queries.dropna(subset=[ratio, "susceptibility"])
        both = both.assign(of_type=both.groupby(list(TYPE), observed=True)[ratio].transform("size"), ratio=ratio)
        both["fifth"] = np.array(FIFTHS)[np.digitize(both[ratio].astype("float64"), EDGES)]
        rows += summaries(
            both, [*TYPE, "fifth", "ratio"], "susceptibility", unit_of_analysis="query", interval=True,
            clusters="cluster", over="entity", seed=seed, quantiles=True,
            others=lambda group: {"share": len(group) / int(group["of_type"].iloc[0])},
        )  # fmt: skip
    return rows


STATISTIC = Statistic("memorization_bins", 4, Summary, ("memorization_of_queries",), compute)
