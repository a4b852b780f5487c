"""Susceptibility over sampled contexts (Monte Carlo) and Fisher susceptibility, over the queries of all relations.

    all queries of a model, and those of a type
    real and invented entities, of a query type
    questions and sentences to complete, of a query type
    Fisher susceptibility where susceptibility is from 0 to 0.2 nats, 0.2 to 0.4, ... 0.8 to 1, and over 1

Unit of analysis: a query, whatever its relation, as published. The queries of an entity are no independent values
(they are forms of one question, with the same contexts): the interval of a mean is that of whole entities, drawn with
all of their queries, whatever the relations; `items` counts these. A bin holds its lower edge; the last one up to 1
holds both.

Source: Liu et al. 2024, Efficiently Computing Susceptibility to Context, table 2 and figures 2 to 5.
"""

import numpy as np

from swaymeter.data.records.statistics import Summary
from swaymeter.tasks.statistics.frames import named, sorted_by
from swaymeter.tasks.statistics.means.beside_susceptibility import FISHER_UNIT
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import MODEL, TYPE, summaries

MEASURES = {"susceptibility": "nats", "fisher": FISHER_UNIT}
BINS = ("0 to 0.2", "0.2 to 0.4", "0.4 to 0.6", "0.6 to 0.8", "0.8 to 1", "over 1")
EDGES = (0.2, 0.4, 0.6, 0.8, np.nextafter(1, 2))
GROUPS = (MODEL, TYPE, (*TYPE, "entities"), (*TYPE, "wording"))


def compute(frames: Frames, seed: int) -> list[Row]:
    """The rows of `Summary` for both measures."""
    queries = sorted_by(frames["both_susceptibilities_of_queries"], [*MODEL, "relation", "query_id"])
    queries = queries.assign(
        entities=named(queries["invented"], "invented", "real"),
        cluster=queries.groupby("entity", observed=True).ngroup(),
    )
    rows = []
    for measure in MEASURES:
        measured = queries.dropna(subset=[measure])
        for keys in GROUPS:
            rows += _pooled(measured, keys, measure, seed)
    both = queries.dropna(subset=list(MEASURES))
    both = both.assign(
        susceptibility=np.array(BINS)[np.digitize(both["susceptibility"].astype("float64"), EDGES)],
        of_type=both.groupby(list(TYPE), observed=True)["fisher"].transform("size"),
        of_model=both.groupby(list(MODEL), observed=True)["fisher"].transform("size"),
    )
    for keys, total in ((MODEL, "of_model"), (TYPE, "of_type")):
        rows += _pooled(both, (*keys, "susceptibility"), "fisher", seed, total)
    return rows


def _pooled(queries: Frame, keys: tuple[str, ...], measure: str, seed: int, total: str = "") -> list[Row]:
    """A row for every group of queries; total: the column that says of how many queries the group is a share."""
    return summaries(
        queries, keys, measure, quantity=f"pooled_{measure}", unit=MEASURES[measure], unit_of_analysis="query",
        interval=True, clusters="cluster", over="entity", seed=seed, quantiles=True,
        others=(lambda group: {"share": len(group) / int(group[total].iloc[0])}) if total else None,
    )  # fmt: skip


STATISTIC = Statistic("both_susceptibilities", 3, Summary, ("both_susceptibilities_of_queries",), compute)
