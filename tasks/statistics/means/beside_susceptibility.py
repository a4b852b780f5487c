"""Fisher and answer-set susceptibility beside susceptibility over first tokens; see `correlations`.

Groups: the queries of a relation and query type. Unit of analysis: a query that has both scores; over all relations, a
relation with its mean over the queries that have the measure. Beside them how exact a Fisher susceptibility is, and the
probability of whole answer sets.
"""

from swaymeter.data.records.statistics import Summary
from swaymeter.tasks.statistics.frames import means, sorted_by
from swaymeter.tasks.statistics.statistic import Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import MODEL, RELATION, TYPE, summaries

FISHER_UNIT = "nats per squared embedding unit"
MEASURES = {
    "fisher": ("fisher_of_queries", FISHER_UNIT),
    "fisher_top_k": ("fisher_of_queries", FISHER_UNIT),
    "answer_set_susceptibility": ("answer_set_of_queries", "nats"),
}


def compute(frames: Frames, seed: int) -> list[Row]:
    """The rows of `Summary` for the measures of `MEASURES`, and for susceptibility beside each."""
    rows = []
    for measure, (query, unit) in MEASURES.items():
        queries = sorted_by(frames[query], [*RELATION, "query_id"]).dropna(subset=[measure])
        both = queries.dropna(subset=["susceptibility"]).assign(beside=measure)
        for column, of, keys in ((measure, unit, RELATION), ("susceptibility", "nats", (*RELATION, "beside"))):
            rows += summaries(
                both, keys, column, unit=of, unit_of_analysis="query",
                others=lambda group: {"items": int(group["query_id"].nunique())},
            )  # fmt: skip
        rows += summaries(means(queries, RELATION, measure), TYPE, measure, unit=unit, unit_of_analysis="relation")
    sets = frames["answer_set_of_queries"].sort_values("mass")
    rows += summaries(sets, TYPE, "mass", unit="", unit_of_analysis="query")
    fisher = frames["fisher_of_queries"].dropna(subset=["fisher", "susceptibility"])
    error = "relative_standard_error_of_fisher"
    fisher = fisher.assign(**{error: fisher["fisher_standard_error"] / fisher["fisher"]})
    fisher = fisher.dropna(subset=[error]).sort_values(error)
    return rows + summaries(fisher, MODEL, error, unit="", unit_of_analysis="query", quantiles=True)


STATISTIC = Statistic(
    "means_beside_susceptibility", 1, Summary, ("fisher_of_queries", "answer_set_of_queries"), compute
)
