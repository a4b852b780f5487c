"""The rows of statistics, such as tests of groups, summaries, correlations and regressions.

A new statistic adds rows with a quantity of its own, and a table only if no table fits.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from swaymeter.data.records.row import Meaning, table

ALL = "all"
"""The value of a column, such as relation, query_type or condition, in a row over all values of the column."""
ALPHA = 0.05
"""Largest p-value of a significant test."""
SHARE = "share"
"""The unit of shares from 0 to 1, which pages and terminals show in percent."""
UNDECIDED, EQUAL = "undecided", "equal"
"""Directions of a difference, besides larger and smaller."""
FEWEST_SAMPLES = 5
"""Fewest sampled replies of a question that counts in means of entropies and coherent persuasion."""
FEWEST_FOR_INTERVAL = 5
"""Smallest number of values, or clusters of values, whose mean has an interval (decision 0014)."""
MAX_BOOTSTRAP_SAMPLES, MIN_BOOTSTRAP_SAMPLES, MAX_DRAWN_CLUSTERS = 10_000, 1_000, 5_000_000
"""Limits of a bootstrap; MIN_BOOTSTRAP_SAMPLES are drawn even if samples x clusters exceeds MAX_DRAWN_CLUSTERS."""

EDITS = {"1": 2, "2": 3, "3": 4, "4": 5, "5 to 9": 10, "10 or more": math.inf}
"""Classes of the number of edits of a fact, and their exclusive upper bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStatistic:
    """The columns of statistics over a relation and a query type."""

    model: Annotated[str, Meaning("the model's name")]
    dtype: Annotated[str, Meaning("the precision that the model computed in")]
    relation: Annotated[str, Meaning("the relation's name, or all")]
    query_type: Annotated[str, Meaning("open, closed or all")]


def bootstrap_samples(clusters: int) -> int:
    """Return the number of bootstrap samples of an interval: 10,000 for at most 500 clusters, fewer for more."""
    return max(MIN_BOOTSTRAP_SAMPLES, min(MAX_BOOTSTRAP_SAMPLES, MAX_DRAWN_CLUSTERS // max(clusters, 1)))


def end_error(clusters: int) -> float:
    """Return the Monte Carlo error of an end of a bootstrap interval, as a share of the interval's width.

    The standard error of the 2.5th percentile of m normal draws is sqrt(0.025 * 0.975 / m) / density, with the density
    of the normal distribution at 1.96. The width of the interval is 2 * 1.96 standard deviations.
    """
    density, quantile = 0.05844507, 1.959964
    return math.sqrt(0.025 * 0.975 / bootstrap_samples(clusters)) / density / (2 * quantile)


@table(
    "statistics",
    "one test on one relation",
    key=("comparison", "measure", "test", "unit_of_analysis", "model", "dtype", "relation", "query_type"),
)
class GroupTest(ModelStatistic):
    """A test of two groups; a row of a group is a query (as in the papers), an answer or an entity (decision 0014)."""

    comparison: Annotated[str, Meaning("name of the comparison, such as relevance")]
    measure: Annotated[str, Meaning("the score that is compared, such as persuasion")]
    test: Annotated[str, Meaning("permutation, sign flip (of pairs), or regression with a covariate")]
    unit: Annotated[str, Meaning("the unit of the means")]
    unit_of_analysis: Annotated[str, Meaning("unit of the rows of a group: query, answer or entity")]
    group_a: Annotated[str, Meaning("the first group")]
    group_b: Annotated[str, Meaning("the second group")]
    n_a: Annotated[int, Meaning("rows of the first group")]
    n_b: Annotated[int, Meaning("rows of the second group")]
    mean_a: Annotated[float | None, Meaning("mean of the first group; NULL if it is empty")]
    mean_b: Annotated[float | None, Meaning("mean of the second group; NULL if it is empty")]
    statistic: Annotated[float | None, Meaning("the t statistic, paired in a sign flip; NULL if untestable")]
    alternative: Annotated[str, Meaning("greater (the first group's mean) or two-sided")]
    p: Annotated[float | None, Meaning("the test's p-value; NULL if untestable")]
    p_adjusted: Annotated[float | None, Meaning("after Benjamini-Hochberg over relations; NULL if untestable")]
    effect_size: Annotated[
        float | None,
        Meaning(
            "Cohen's d with pooled standard deviation; with a covariate, of the adjusted difference; NULL: untestable"
        ),
    ]
    untestable: Annotated[
        str | None, Meaning("reason why there is no test, such as n too small; NULL if there is a test")
    ]


@table(
    "group_comparisons",
    "one test of two groups of entities, of two sets of contexts, or of two labels or strengths of contexts",
    key=("comparison", "within", "group_a", "group_b", "measure", "model", "dtype", "relation", "query_type"),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class GroupComparison(ModelStatistic):
    """A test between labels or types of entities, or between sets, labels or strengths of contexts.

    The unit of analysis is an entity.
    """

    comparison: Annotated[
        str, Meaning("property that differs between the groups: label, type, set, context or strength")
    ]
    within: Annotated[
        str, Meaning("the type or label of the entities, or the label of the contexts, in both groups; all: any")
    ]
    measure: Annotated[str, Meaning("the score that is compared: susceptibility or persuasion")]
    test: Annotated[str, Meaning("permutation of entities, or sign flip if both groups have the same entities")]
    unit: Annotated[str, Meaning("the unit of the means")]
    group_a: Annotated[str, Meaning("the first group")]
    group_b: Annotated[str, Meaning("the second group")]
    n_a: Annotated[int, Meaning("entities of the first group, each with the mean over its queries")]
    n_b: Annotated[int, Meaning("entities of the second group")]
    mean_a: Annotated[float | None, Meaning("mean of the first group; NULL if it is empty")]
    mean_b: Annotated[float | None, Meaning("mean of the second group; NULL if it is empty")]
    statistic: Annotated[float | None, Meaning("the t statistic, of pairs in a sign flip; NULL if untestable")]
    p: Annotated[float | None, Meaning("the two-sided p-value; NULL if untestable")]
    p_adjusted: Annotated[
        float | None, Meaning("after Benjamini-Hochberg over the tests of a model, query type and comparison")
    ]
    effect_size: Annotated[float | None, Meaning("Cohen's d with pooled standard deviation; NULL if untestable")]
    untestable: Annotated[str | None, Meaning("reason why there is no test; NULL if there is one")]


@table("summaries", "a quantity in one group of a model's scores: its mean with an interval, and its quantiles")
class Summary(ModelStatistic):
    """The distribution of a quantity in a group. The table has no key, because the group's values are lists."""

    quantity: Annotated[str, Meaning("name of the quantity, such as persuasion")]
    unit: Annotated[str, Meaning("the unit of the mean, its interval and the quantiles")]
    grouped_by: Annotated[tuple[str, ...], Meaning("columns that define the group, besides relation and query type")]
    group_values: Annotated[tuple[str, ...], Meaning("the group's values of these columns, in the same order")]
    unit_of_analysis: Annotated[str, Meaning("unit of the values, such as query or entity")]
    n: Annotated[int, Meaning("number of values")]
    items: Annotated[
        int | None,
        Meaning(
            "distinct queries, contexts, entities or subjects behind the values; number of variances in reliability", ""
        ),
    ] = None
    prompts: Annotated[int | None, Meaning("prompts or answers behind the values")] = None
    share: Annotated[float | None, Meaning("share of the group among all groups of its relation and query type")] = None
    mean: Annotated[float | None, Meaning("mean of the values; NULL without values")] = None
    low: Annotated[
        float | None,
        Meaning("lower end of the mean's 95% interval; Wilson's interval of a share; NULL for fewer than 5 values"),
    ] = None
    high: Annotated[float | None, Meaning("upper end of the mean's 95% interval")] = None
    interval_over: Annotated[
        str | None, Meaning("independent units that the bootstrap draws, such as question; NULL without an interval")
    ] = None
    smallest: Annotated[float | None, Meaning("the smallest value")] = None
    percentile_5: Annotated[float | None, Meaning("the 5th percentile")] = None
    lower_quartile: Annotated[float | None, Meaning("the 25th percentile")] = None
    median: Annotated[float | None, Meaning("the median")] = None
    upper_quartile: Annotated[float | None, Meaning("the 75th percentile")] = None
    percentile_95: Annotated[float | None, Meaning("the 95th percentile")] = None
    largest: Annotated[float | None, Meaning("the largest value")] = None


QUANTILES: Mapping[str, float] = {
    "smallest": 0,
    "percentile_5": 0.05,
    "lower_quartile": 0.25,
    "median": 0.5,
    "upper_quartile": 0.75,
    "percentile_95": 0.95,
    "largest": 1,
}
"""The quantiles among the columns of `Summary`, by column."""


@table(
    "correlations",
    "two measures of the same queries, correlated",
    key=("model", "dtype", "measure_a", "measure_b", "level", "relation", "query_type"),
)
class CorrelationRow(ModelStatistic):
    """The correlation of two measures."""

    measure_a: Annotated[str, Meaning("the first measure")]
    measure_b: Annotated[str, Meaning("the second measure")]
    level: Annotated[str, Meaning("unit of a pair: query, or entity or relation with the means of its queries")]
    n: Annotated[int, Meaning("number of pairs that have both scores")]
    pearson: Annotated[float | None, Meaning("Pearson's r; NULL if untestable")]
    pearson_p: Annotated[float | None, Meaning("the two-sided p-value of pearson")]
    spearman: Annotated[float | None, Meaning("Spearman's rho; NULL if untestable")]
    spearman_p: Annotated[float | None, Meaning("the two-sided p-value of spearman")]
    spearman_low: Annotated[float | None, Meaning("lower end of the 95% interval of spearman, pairs independent")]
    spearman_high: Annotated[float | None, Meaning("upper end of the interval of spearman")]
    untestable: Annotated[str | None, Meaning("reason why there is no correlation; NULL if there is one")]


@table(
    "envelopes",
    "a percentile of one quantity, over the entities whose second quantity is near a value",
    key=("model", "dtype", "quantity", "along", "relation", "query_type", "at"),
)
class EnvelopePoint(ModelStatistic):
    """A point of a curve, such as the 90th percentile of susceptibility of the entities with a degree near 100."""

    quantity: Annotated[str, Meaning("the quantity whose percentile is computed")]
    unit: Annotated[str, Meaning("the unit of the quantity")]
    along: Annotated[str, Meaning("name of the second quantity, without its unit")]
    at: Annotated[float, Meaning("a value of the second quantity")]
    percentile: Annotated[float, Meaning("the percentile, such as 90")]
    value: Annotated[float, Meaning("the value of the percentile")]
    n: Annotated[int, Meaning("entities near this value")]


@table(
    "model_differences",
    "two models compared on the same items",
    key=("model", "dtype", "against_model", "against_dtype", "quantity", "condition", "query_type"),
)
class ModelDifference(ModelStatistic):
    """The difference of two models in the mean of a quantity over the same items."""

    against_model: Annotated[str, Meaning("the other model's name")]
    against_dtype: Annotated[str, Meaning("the precision that the other model computed in")]
    quantity: Annotated[
        str,
        Meaning("the compared quantity, as in tasks/statistics/models.py: follows, keeps, correct and others"),
    ]
    condition: Annotated[str, Meaning("the context before the question; all: several conditions together, or queries")]
    unit: Annotated[str, Meaning("the unit of the means and of the difference")]
    n: Annotated[int, Meaning("answers, or queries, that both models have; each counts once")]
    clusters: Annotated[int, Meaning("subjects or questions of the answers, or entities, which the bootstrap draws")]
    mean: Annotated[float | None, Meaning("mean of the model over these items; NULL without items")]
    against_mean: Annotated[float | None, Meaning("mean of the other model over these items")]
    difference: Annotated[float | None, Meaning("the model's mean minus the other's")]
    low: Annotated[
        float | None, Meaning("lower end of the difference's 95% interval over clusters; Bonett and Price for shares")
    ]
    high: Annotated[float | None, Meaning("upper end of the interval")]
    p: Annotated[float | None, Meaning("two-sided p of a sign-flip test over clusters; NULL if untestable")]
    p_adjusted: Annotated[
        float | None,
        Meaning(
            "after Benjamini-Hochberg in two families: the quantities that variants are chosen by (follows_right, "
            "resists_wrong, abstains), and all others"
        ),
    ]
    margin: Annotated[float | None, Meaning("largest difference for which the models count as equal")]
    direction: Annotated[
        str | None,
        Meaning(
            "larger or smaller if p_adjusted is at most 0.05 and the interval lacks 0; else equal if the interval is "
            "within the margin, or undecided"
        ),
    ]
    untestable: Annotated[str | None, Meaning("reason why there is no test; NULL if there is one")]


@table(
    "passage_effects",
    "an effect of position, length, date or further passages on answers with several passages",
    key=(
        "model",
        "dtype",
        "effect",
        "evidence_set",
        "kind",
    ),
)
class PassageEffect:
    """The paired difference in how often replies state a passage's answer, by position, length, date or set."""

    model: Annotated[str, Meaning("the model's name")]
    dtype: Annotated[str, Meaning("the precision that the model computed in")]
    effect: Annotated[str, Meaning("position, length, date, or beside: tasks/statistics/passages.py says what each is")]
    evidence_set: Annotated[str, Meaning("the set of passages")]
    kind: Annotated[str, Meaning("the kind of the passage; both: a right and a wrong passage are compared")]
    a: Annotated[str, Meaning("the first side of the comparison: first, longer, newer, in the set")]
    b: Annotated[str, Meaning("the second side: last, shorter, older, alone")]
    unit: Annotated[str, Meaning("the unit of the means and of the difference")]
    n: Annotated[int, Meaning("questions with both sides")]
    clusters: Annotated[int, Meaning("subjects, or questions without a subject, which the bootstrap draws")]
    mean_a: Annotated[float, Meaning("share of replies that state the answer of side a, the mean over the questions")]
    mean_b: Annotated[float, Meaning("the same share for side b")]
    difference: Annotated[float | None, Meaning("the first mean minus the second")]
    low: Annotated[float | None, Meaning("lower end of the difference's 95% bootstrap interval over clusters")]
    high: Annotated[float | None, Meaning("upper end of the interval")]
    p: Annotated[float | None, Meaning("two-sided p of a sign-flip test over clusters; NULL if untestable")]
    p_adjusted: Annotated[float | None, Meaning("after Benjamini-Hochberg over all effects")]
    direction: Annotated[
        str | None, Meaning("larger or smaller if p_adjusted is at most 0.05 and the interval lacks 0; else undecided")
    ]
    untestable: Annotated[str | None, Meaning("reason why there is no test; NULL if there is one")]


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceStatistic:
    """The columns of statistics over instances, which are questions with a context."""

    model: Annotated[str, Meaning("the model's name")]
    dtype: Annotated[str, Meaning("the precision that the model computed in")]
    partition: Annotated[str, Meaning("the partition, or the group of a user's questions; all: all together")]
    condition: Annotated[str, Meaning("the kind of context; all: all together")]


@table(
    "instance_correlations",
    "two quantities of the same instances, correlated",
    key=("model", "dtype", "partition", "condition", "measure_a", "measure_b"),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceCorrelation(InstanceStatistic):
    """Pearson's r over instances, with an interval by Fisher's z and a bootstrap interval that draws subjects."""

    measure_a: Annotated[str, Meaning("the first quantity")]
    measure_b: Annotated[str, Meaning("the second quantity")]
    n: Annotated[int, Meaning("instances that have both")]
    subjects: Annotated[int, Meaning("number of subjects of these instances")]
    pearson: Annotated[float | None, Meaning("Pearson's r; NULL if untestable")]
    low: Annotated[float | None, Meaning("lower end of the 95% interval by Fisher's z, instances independent")]
    high: Annotated[float | None, Meaning("upper end of the interval by Fisher's z")]
    p: Annotated[float | None, Meaning("the two-sided p-value of pearson, instances independent")]
    subject_low: Annotated[float | None, Meaning("lower end of the 95% bootstrap interval, subjects drawn whole")]
    subject_high: Annotated[float | None, Meaning("upper end of the bootstrap interval")]
    untestable: Annotated[str | None, Meaning("reason why there is no correlation; NULL if there is one")]


@table(
    "regressions",
    "a predictor of a regression over instances; a regression that cannot be made has one row",
    key=("model", "dtype", "partition", "condition", "outcome", "entropies", "predictor"),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class RegressionRow(InstanceStatistic):
    """A coefficient of ordinary least squares on standardised predictors."""

    outcome: Annotated[str, Meaning("the predicted quantity")]
    entropies: Annotated[str, Meaning("the semantic entropies among the predictors: summed or length-normalised")]
    unit: Annotated[str, Meaning("the unit of the outcome, and so of the coefficients")]
    predictor: Annotated[str, Meaning("the predictor; constant for the intercept, none if untestable")]
    beta: Annotated[float | None, Meaning("the coefficient, for one standard deviation of the predictor")]
    standard_error: Annotated[float | None, Meaning("standard error of beta, instances independent")]
    low: Annotated[float | None, Meaning("lower end of the 95% interval of beta, instances independent")]
    high: Annotated[float | None, Meaning("upper end of the interval of beta")]
    p: Annotated[float | None, Meaning("two-sided p-value of beta, instances independent")]
    subject_standard_error: Annotated[
        float | None, Meaning("standard error of beta, instances of a subject dependent; NULL with too few subjects")
    ]
    subject_p: Annotated[float | None, Meaning("two-sided p-value of beta, instances of a subject dependent")]
    r_squared: Annotated[float | None, Meaning("the share of the outcome's variance that all predictors explain", "")]
    n: Annotated[int, Meaning("instances of the regression")]
    left_out: Annotated[int, Meaning("instances that lack the outcome or a predictor")]
    subjects: Annotated[int, Meaning("number of subjects of the n instances")]
    untestable: Annotated[str | None, Meaning("reason why there is no regression; NULL if there is one")]


@table(
    "class_words",
    "a word of the texts of a class of instances",
    key=("model", "dtype", "entropy_class", "text_kind", "rank"),
)
class ClassWord:
    """A word that distinguishes the texts of a class from the texts of other classes, by TF-IDF."""

    model: Annotated[str, Meaning("the model's name")]
    dtype: Annotated[str, Meaning("the precision that the model computed in")]
    entropy_class: Annotated[str, Meaning("the class of the instances by semantic entropy with the context")]
    text_kind: Annotated[str, Meaning("questions or contexts")]
    rank: Annotated[int, Meaning("1 for the word with the largest score")]
    word: Annotated[str, Meaning("the word, in small letters")]
    score: Annotated[float, Meaning("mean TF-IDF over the texts of the class, whose vectors have length 1", "")]
    texts: Annotated[int, Meaning("texts of the class that have the word")]
    texts_of_class: Annotated[int, Meaning("texts of the class")]


@table(
    "reliability",
    "how far a score of a relation's queries varies between seeds or query forms",
    key=("model", "dtype", "relation", "query_type", "measure", "over"),
)
class Reliability(ModelStatistic):
    """The variances of a score in a relation; each variance is over one item's scores with several seeds or forms."""

    measure: Annotated[str, Meaning("the score that varies: persuasion or susceptibility")]
    over: Annotated[str, Meaning("seeds or forms, between which the score varies")]
    compared: Annotated[
        str, Meaning("unit of a variance: a query, or an entity with all forms; for persuasion, with one context")
    ]
    scores: Annotated[int, Meaning("number of scores of each variance")]
    n: Annotated[int, Meaning("number of variances: of items that every seed draws, or that have every form")]
    of_first: Annotated[int, Meaning("number of items of the first seed or form, the largest possible n")]
    mean_score: Annotated[float | None, Meaning("mean of the scores; NULL without variances", "nats")]
    variance: Annotated[float | None, Meaning("mean of the variances, each divided by scores - 1", "squared nats")]
    median: Annotated[float | None, Meaning("median of the variances", "squared nats")]
    percentile_95: Annotated[float | None, Meaning("95th percentile of the variances", "squared nats")]
    largest: Annotated[float | None, Meaning("largest variance", "squared nats")]
    untestable: Annotated[str | None, Meaning("reason why there are no variances; NULL if there are")]


@table("agreement_of_annotators", "how far people agree on what several of them judged", key=("field",))
@dataclass(frozen=True, slots=True)
class AnnotatorAgreement:
    """Krippendorff's alpha of a field of judgements."""

    field: Annotated[
        str, Meaning("verdict, kind, or choice: what people decide about a question, such as accept or discard")
    ]
    items: Annotated[
        int, Meaning("texts that at least two people judged; for choices, only the first two people count")
    ]
    annotators: Annotated[tuple[str, ...], Meaning("names of these people")]
    alpha: Annotated[float | None, Meaning("Krippendorff's alpha, nominal; NULL if it is not defined")]
    undefined: Annotated[str | None, Meaning("reason why alpha is not defined; NULL if alpha is defined")]
