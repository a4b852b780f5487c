"""How well other measures agree with susceptibility about the same queries: correlations over queries and relations.

    fisher, fisher_top_k          Fisher susceptibility, over the whole vocabulary and over the likeliest answers
    answer_set_susceptibility     susceptibility over complete answers
    memorization_ratio            how often a query's answer is kept although a context states another
    log_degree                    how much a graph holds of a query's entity: log10 of its triples
    log_relation_degree           those of the query's relation alone

A pair is a query, or at the level of relations the means of a relation's queries; a query without one of the two scores
is no pair. A degree is the entity's, not the query's: there, a pair is a real entity of a relation with the mean of its
queries, over all relations and over each alone. Per model and number format, for open queries, closed ones and all of
them. Queries of a relation share its contexts, so their p-values are too small; those over relations are few.

Source: Liu et al. 2024, Efficiently Computing Susceptibility to Context, who hold Fisher susceptibility against it;
Du et al. 2024, Context versus Prior Knowledge, who hold degrees against it.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import pandas as pd

from tasks.statistics.correlation import pearson, spearman
from tasks.statistics.groups import Untestable

Row = dict[str, Any]

HELD_AGAINST_SUSCEPTIBILITY: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "fisher_of_queries": ("fisher", "fisher_top_k"),
        "answer_set_of_queries": ("answer_set_susceptibility",),
        "memorization_of_queries": ("memorization_ratio",),
        "degree_of_queries": ("log_degree", "log_relation_degree"),
    }
)
"""The scores that are correlated with susceptibility, by the warehouse's question that has both."""

SUSCEPTIBILITY = "susceptibility"
ALL = "all"


def agree(frames: Mapping[str, pd.DataFrame]) -> list[Row]:
    """The rows of `data.records.tables.AGREEMENT`, sorted by measure, model, number format, level and query type.

    frames: the warehouse's answers to the questions of HELD_AGAINST_SUSCEPTIBILITY; any may be empty. The rows do not
    depend on the order of theirs. Raises ScoreError for a score that is infinite.
    """
    rows: list[Row] = []
    for question, measures in HELD_AGAINST_SUSCEPTIBILITY.items():
        for measure in measures:
            of_entities = question == "degree_of_queries"
            rows += _of_entities(frames[question], measure) if of_entities else _of_queries(frames[question], measure)
    order = ("measure_a", "model", "dtype", "level", "relation", "query_type")
    return sorted(rows, key=lambda row: [row[name] for name in order])


def _of_queries(frame: pd.DataFrame, measure: str) -> Iterator[Row]:
    for about, pairs in _by_model_and_type(frame, measure):
        means = pairs.groupby("relation", sort=True)[[measure, SUSCEPTIBILITY]].mean()
        yield {**about, "level": "query", "relation": ALL, **_correlated(pairs, measure)}
        yield {**about, "level": "relation", "relation": ALL, **_correlated(means, measure)}


def _of_entities(frame: pd.DataFrame, measure: str) -> Iterator[Row]:
    for about, pairs in _by_model_and_type(frame, measure):
        entities = pairs.groupby(["relation", "entity"], sort=True)[[measure, SUSCEPTIBILITY]].mean().reset_index()
        by_relation = {str(name): of_one for name, of_one in entities.groupby("relation", sort=True)}
        for relation, of_one in {ALL: entities, **by_relation}.items():
            yield {**about, "level": "entity", "relation": relation, **_correlated(of_one, measure)}


def _by_model_and_type(frame: pd.DataFrame, measure: str) -> Iterator[tuple[Row, pd.DataFrame]]:
    """The queries with both scores: those of a model that are open, those that are closed, and all of them."""
    both = frame.dropna(subset=[measure, SUSCEPTIBILITY])
    # Sorted before adding, since doubles added in another order end in other digits.
    ordered = both.sort_values(["model", "dtype", "relation", "query_id"])
    for (model, dtype), pairs in ordered.groupby(["model", "dtype"], sort=True):
        by_type = {str(name): of_type for name, of_type in pairs.groupby("query_type")}
        for query_type, of_type in {**by_type, ALL: pairs}.items():
            about = {"model": model, "dtype": dtype, "measure_a": measure, "measure_b": SUSCEPTIBILITY}
            yield {**about, "query_type": query_type}, of_type


def _correlated(pairs: pd.DataFrame, measure: str) -> Row:
    a, b = pairs[measure], pairs[SUSCEPTIBILITY]
    linear, ranked = pearson(a, b), spearman(a, b)
    if isinstance(linear, Untestable) or isinstance(ranked, Untestable):
        reason = next(one.reason for one in (linear, ranked) if isinstance(one, Untestable))
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
