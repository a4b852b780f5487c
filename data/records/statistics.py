"""Rows of tests and correlations on the scores."""

from dataclasses import dataclass
from typing import Annotated

from data.records.row import Meaning, table


@table(
    "statistics",
    "one test on one relation",
    key=("comparison", "measure", "model", "dtype", "relation", "query_type"),
)
@dataclass(frozen=True, slots=True)
class Statistic:
    """One test on one relation."""

    comparison: Annotated[str, Meaning("relevance, familiarity, assertiveness or negation")]
    measure: Annotated[str, Meaning("the score that is compared: persuasion or susceptibility")]
    model: Annotated[str, Meaning("the model's name")]
    dtype: Annotated[str, Meaning("the precision that the model computed in")]
    relation: Annotated[str, Meaning("the relation's name")]
    query_type: Annotated[str, Meaning("open or closed")]
    group_a: Annotated[str, Meaning("the first group")]
    group_b: Annotated[str, Meaning("the second group")]
    n_a: Annotated[int, Meaning("rows of the first group")]
    n_b: Annotated[int, Meaning("rows of the second group")]
    mean_a: Annotated[float | None, Meaning("mean of the first group; NULL where it is empty", "nats")]
    mean_b: Annotated[float | None, Meaning("mean of the second group; NULL where it is empty", "nats")]
    statistic: Annotated[float | None, Meaning("the t statistic; NULL where untestable")]
    alternative: Annotated[str, Meaning("greater (the first group's mean) or two-sided")]
    p: Annotated[float | None, Meaning("permutation p-value; NULL where untestable")]
    p_adjusted: Annotated[float | None, Meaning("after Benjamini-Hochberg over relations; NULL where untestable")]
    effect_size: Annotated[float | None, Meaning("Cohen's d with pooled standard deviation; NULL where untestable")]
    untestable: Annotated[str | None, Meaning("why there is no test; NULL where there is one")]


@table(
    "agreement",
    "two measures of the same queries, correlated",
    key=("model", "dtype", "measure_a", "measure_b", "level", "relation", "query_type"),
)
@dataclass(frozen=True, slots=True)
class Agreement:
    """Two measures of the same queries, correlated."""

    model: Annotated[str, Meaning("the model's name")]
    dtype: Annotated[str, Meaning("the precision that the model computed in")]
    measure_a: Annotated[
        str,
        Meaning(
            "fisher, fisher_top_k, answer_set_susceptibility, memorization_ratio, log_degree or log_relation_degree"
        ),
    ]
    measure_b: Annotated[str, Meaning("susceptibility")]
    level: Annotated[str, Meaning("what a pair is: a query, an entity or a relation with the means of its queries")]
    relation: Annotated[str, Meaning("the relation whose pairs these are; all where it is every relation's")]
    query_type: Annotated[str, Meaning("open, closed or all")]
    n: Annotated[int, Meaning("pairs that have both scores")]
    pearson: Annotated[float | None, Meaning("Pearson's r; NULL where untestable")]
    pearson_p: Annotated[float | None, Meaning("its two-sided p-value")]
    spearman: Annotated[float | None, Meaning("Spearman's rho; NULL where untestable")]
    spearman_p: Annotated[float | None, Meaning("its two-sided p-value")]
    untestable: Annotated[str | None, Meaning("why there is no correlation; NULL where there is one")]
