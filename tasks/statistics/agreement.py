"""How well other measures agree with susceptibility about the same queries: correlations over queries and relations.

    fisher, fisher_top_k          Fisher susceptibility, over the whole vocabulary and over the likeliest answers
    answer_set_susceptibility     susceptibility over complete answers
    memorization_ratio            how often a query's answer is kept although a context states another

A pair is a query, or at the level of relations the means of a relation's queries; a query without one of the two scores
is no pair. Per model and number format, for open queries, closed ones and all of them. Queries of a relation share its
contexts, so their p-values are too small; those over relations are few.

Source: Liu et al. 2024, Efficiently Computing Susceptibility to Context, who hold Fisher susceptibility against it.
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
    }
)
"""The scores that are correlated with susceptibility, by the warehouse's question that has both."""

SUSCEPTIBILITY = "susceptibility"


def agree(frames: Mapping[str, pd.DataFrame]) -> list[Row]:
    """The rows of `data.tables.AGREEMENT`, sorted by measure, model, number format, level and query type.

    frames: the warehouse's answers to the questions of HELD_AGAINST_SUSCEPTIBILITY; any may be empty. The rows do not
    depend on the order of theirs. Raises ScoreError for a score that is infinite.
    """
    rows: list[Row] = []
    for question, measures in HELD_AGAINST_SUSCEPTIBILITY.items():
        for measure in measures:
            rows += _of_measure(frames[question], measure)
    order = ("measure_a", "model", "dtype", "level", "query_type")
    return sorted(rows, key=lambda row: [row[name] for name in order])


def _of_measure(frame: pd.DataFrame, measure: str) -> Iterator[Row]:
    both = frame.dropna(subset=[measure, SUSCEPTIBILITY])
    # Sorted before adding, since doubles added in another order end in other digits.
    ordered = both.sort_values(["model", "dtype", "relation", "query_id"])
    for (model, dtype), pairs in ordered.groupby(["model", "dtype"], sort=True):
        by_type = {str(name): of_type for name, of_type in pairs.groupby("query_type")}
        for query_type, of_type in {**by_type, "all": pairs}.items():
            means = of_type.groupby("relation", sort=True)[[measure, SUSCEPTIBILITY]].mean()
            for level, scores in (("query", of_type), ("relation", means)):
                yield {
                    "model": model,
                    "dtype": dtype,
                    "measure_a": measure,
                    "measure_b": SUSCEPTIBILITY,
                    "level": level,
                    "query_type": query_type,
                    **_correlated(scores[measure], scores[SUSCEPTIBILITY]),
                }


def _correlated(a: pd.Series, b: pd.Series) -> Row:
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
