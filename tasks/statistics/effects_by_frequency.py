"""Is the effect of familiarity larger in relations whose real entities a corpus names more often?

    familiarity_effect_size   Cohen's d of a relation, as in the comparison familiarity: its invented entities against
                              its real ones, a row a query
    log_entity_count          of its real entities the mean of log10 of one more than an entity's count
    log_pair_count            the same of its occurrences near its answer

Groups: a model's relations that have both, by query type. Unit of analysis: a relation. Entities whose counts say
nothing of them are left out of the means.

Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, figure 18.
"""

from swaymeter.data.records.statistics import CorrelationRow
from swaymeter.tasks.statistics.comparisons.of_scores import FAMILIARITY
from swaymeter.tasks.statistics.correlations import correlated
from swaymeter.tasks.statistics.formulas.groups import cohens_d
from swaymeter.tasks.statistics.frames import ALL, by
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row, Statistic

COUNTS = ("log_entity_count", "log_pair_count")
EFFECT = "familiarity_effect_size"


def _compute(frames: Frames, seed: int) -> list[Row]:
    """The rows of `CorrelationRow`; none where nothing was counted."""
    counts = _means(frames["frequency_of_queries"])
    if counts.empty:
        return []
    both = counts.merge(_effects(frames["susceptibility_of_queries"]), on=["model", "dtype", "relation", "query_type"])
    return [
        {**about, "level": "relation", "relation": ALL, "measure_a": count, "measure_b": EFFECT,
         **correlated(relations.dropna(subset=[count, EFFECT]), count, EFFECT)}
        for about, relations in by(both, ["model", "dtype", "query_type"])
        for count in COUNTS
    ]  # fmt: skip


def _means(queries: Frame) -> Frame:
    """The mean of each count over the real entities of a relation, each once."""
    keys = ["model", "dtype", "relation", "query_type"]
    entities = queries.groupby([*keys, "entity", "answer"], observed=True, sort=True)[[*COUNTS]].first()
    return entities.groupby(keys, observed=True, sort=True).mean().reset_index()


def _effects(queries: Frame) -> Frame:
    import pandas as pd

    groups = FAMILIARITY.groups(FAMILIARITY.queries(queries))
    return pd.DataFrame([{**about, EFFECT: cohens_d(a, b)} for about, (a, b) in groups])


STATISTIC = Statistic(
    "effects_by_frequency", 2, CorrelationRow, ("frequency_of_queries", "susceptibility_of_queries"), _compute
)
