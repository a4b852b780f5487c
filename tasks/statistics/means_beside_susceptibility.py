"""Fisher and answer-set susceptibility beside susceptibility over first tokens: means of relations.

Groups: the queries of a relation and query type. Unit of analysis: a query that has both scores, with the mean of
either; over all relations, a relation with its mean over the queries that have the measure. Beside them how exact a
Fisher susceptibility is, and the probability of whole answer sets. There is no test; see `correlations`.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from data.records.statistics import Summary
from tasks.statistics.statistic import Row, Statistic

if TYPE_CHECKING:
    import pandas as pd

FISHER_UNIT = "nats per squared embedding unit"
MEASURES = {
    "fisher": ("fisher_of_queries", FISHER_UNIT),
    "fisher_top_k": ("fisher_of_queries", FISHER_UNIT),
    "answer_set_susceptibility": ("answer_set_of_queries", "nats"),
}
_KEYS = ["model", "dtype", "relation", "query_type"]


def compute(frames: "Mapping[str, pd.DataFrame]", seed: int) -> list[Row]:
    """The rows of `Summary` for the measures of `MEASURES`, and for susceptibility beside each."""
    from tasks.statistics.frames import by, sorted_by
    from tasks.statistics.summary import summary

    rows = []
    for measure, (query, unit) in MEASURES.items():
        queries = sorted_by(frames[query], [*_KEYS, "query_id"]).dropna(subset=[measure])
        for of, group in by(queries.dropna(subset=["susceptibility"]), _KEYS):
            about: dict[str, Any] = {"unit_of_analysis": "query", "items": int(group["query_id"].nunique())}
            rows.append(summary(measure, unit, of, group[measure], **about))
            beside: dict[str, Any] = {"grouped_by": {"beside": measure}, **about}
            rows.append(summary("susceptibility", "nats", of, group["susceptibility"], **beside))
        means = queries.groupby(_KEYS, sort=True, observed=True)[measure].mean().reset_index()
        for of, group in by(means, ["model", "dtype", "query_type"]):
            rows.append(summary(measure, unit, of, group[measure], unit_of_analysis="relation"))
    for of, group in by(frames["answer_set_of_queries"], ["model", "dtype", "query_type"]):
        rows.append(summary("mass", "", of, group["mass"].sort_values(), unit_of_analysis="query"))
    fisher = frames["fisher_of_queries"].dropna(subset=["fisher", "susceptibility"])
    fisher = fisher.assign(relative=(fisher["fisher_standard_error"] / fisher["fisher"])).dropna(subset=["relative"])
    for of, group in by(fisher, ["model", "dtype"]):
        relative: dict[str, Any] = {"unit_of_analysis": "query", "quantiles": True}
        rows.append(summary("relative_standard_error_of_fisher", "", of, group["relative"].sort_values(), **relative))
    return rows


STATISTIC = Statistic(
    "means_beside_susceptibility", 1, Summary, ("fisher_of_queries", "answer_set_of_queries"), compute
)
