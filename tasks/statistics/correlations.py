"""How well other measures agree with susceptibility about the same queries: correlations over queries and relations.

    fisher, fisher_top_k          Fisher susceptibility, over the whole vocabulary and over the likeliest answers
    answer_set_susceptibility     susceptibility over complete answers
    memorization_ratio            how often a query's answer is kept although a context states another
    log_degree                    how much a graph holds of a query's entity: log10 of its triples
    log_relation_degree           those of the query's relation alone
    susceptibility_reference      susceptibility of a sample of queries, in the reference precision

Pearson's and Spearman's correlation, two-sided. Groups: the pairs of a model and dtype, for open queries, closed ones
and all of them. Unit of analysis: a query, or at the level of relations the means of a relation's queries; a query
without one of the two scores is not a pair. A degree is the entity's, not the query's: there, a pair is a real entity
of a relation with the mean of its queries, over all relations and over each alone. Queries of a relation share its
contexts, so their p-values are too small; those over relations are few.

Source: Liu et al. 2024, Efficiently Computing Susceptibility to Context, who hold Fisher susceptibility against it;
Du et al. 2024, Context versus Prior Knowledge, who hold degrees against it.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from data.records.statistics import CorrelationRow
from tasks.statistics.statistic import Row, Statistic

if TYPE_CHECKING:
    import pandas as pd

HELD_AGAINST_SUSCEPTIBILITY: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "fisher_of_queries": ("fisher", "fisher_top_k"),
        "answer_set_of_queries": ("answer_set_susceptibility",),
        "memorization_of_queries": ("memorization_ratio",),
        "degree_of_queries": ("log_degree", "log_relation_degree"),
        "precision_of_queries": ("susceptibility_reference",),
    }
)
"""The scores that are correlated with susceptibility, by the named query that has both."""

SUSCEPTIBILITY = "susceptibility"
ALL = "all"
_ORDER = ("measure_a", "model", "dtype", "level", "relation", "query_type")


def compute(frames: "Mapping[str, pd.DataFrame]", seed: int) -> list[Row]:
    """The rows of `CorrelationRow`, sorted; ScoreError for a score that is infinite."""
    pairs_of = {"degree_of_queries": _of_entities, "precision_of_queries": _of_sample}
    rows = [
        row
        for query, measures in HELD_AGAINST_SUSCEPTIBILITY.items()
        for measure in measures
        for row in pairs_of.get(query, _of_queries)(frames[query], measure)
    ]
    return sorted(rows, key=lambda row: [row[name] for name in _ORDER])


def _of_sample(frame: "pd.DataFrame", measure: str) -> Iterator[Row]:
    for about, pairs in _by_model_and_type(frame, measure):
        yield {**about, "level": "query", "relation": ALL, **_correlated(pairs, measure)}


def _of_queries(frame: "pd.DataFrame", measure: str) -> Iterator[Row]:
    for about, pairs in _by_model_and_type(frame, measure):
        means = pairs.groupby("relation", sort=True)[[measure, SUSCEPTIBILITY]].mean()
        yield {**about, "level": "query", "relation": ALL, **_correlated(pairs, measure)}
        yield {**about, "level": "relation", "relation": ALL, **_correlated(means, measure)}


def _of_entities(frame: "pd.DataFrame", measure: str) -> Iterator[Row]:
    for about, pairs in _by_model_and_type(frame, measure):
        entities = pairs.groupby(["relation", "entity"], sort=True)[[measure, SUSCEPTIBILITY]].mean().reset_index()
        by_relation = {str(name): rows for name, rows in entities.groupby("relation", sort=True)}
        for relation, rows in {ALL: entities, **by_relation}.items():
            yield {**about, "level": "entity", "relation": relation, **_correlated(rows, measure)}


def _by_model_and_type(frame: "pd.DataFrame", measure: str) -> Iterator[tuple[Row, "pd.DataFrame"]]:
    """The queries with both scores: those of a model that are open, those that are closed, and all of them."""
    from tasks.statistics.frames import by, sorted_by

    both = sorted_by(frame.dropna(subset=[measure, SUSCEPTIBILITY]), ["model", "dtype", "relation", "query_id"])
    for of, pairs in by(both, ["model", "dtype"]):
        by_type = {str(name): of_type for name, of_type in pairs.groupby("query_type", observed=True)}
        for query_type, of_type in {**by_type, ALL: pairs}.items():
            yield {**of, "measure_a": measure, "measure_b": SUSCEPTIBILITY, "query_type": query_type}, of_type


def _correlated(pairs: "pd.DataFrame", measure: str) -> Row:
    from tasks.statistics.correlation import pearson, spearman
    from tasks.statistics.groups import Untestable

    a, b = pairs[measure], pairs[SUSCEPTIBILITY]
    linear, ranked = pearson(a, b), spearman(a, b)
    if isinstance(linear, Untestable) or isinstance(ranked, Untestable):
        reason = next(result.reason for result in (linear, ranked) if isinstance(result, Untestable))
        nothing = dict.fromkeys(("pearson", "pearson_p", "spearman", "spearman_p"))
        return {"n": len(a), **nothing, "untestable": reason}
    return {
        "n": len(a),
        "pearson": linear.coefficient,
        "pearson_p": linear.p,
        "spearman": ranked.coefficient,
        "spearman_p": ranked.p,
        "untestable": None,
    }


STATISTIC = Statistic("correlations", 3, CorrelationRow, tuple(HELD_AGAINST_SUSCEPTIBILITY), compute)
