"""Means of scores in groups: tables of quantities, and the preparation of their frames."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.records.statistics import EDITS, SHARE
from swaymeter.tasks.statistics.frames import (
    ALL,
    COUNT_WITH,
    COUNT_WITHOUT,
    add_totals,
    drop_small_samples,
    name_flags,
    sort_frame,
)
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row
from swaymeter.tasks.statistics.summary import MODEL, QUERY_TYPE, RELATION, Mean, statistic_of

SUSCEPTIBILITY, COHERENT_PERSUASION = "susceptibility", "coherent_persuasion"
QUERIES, INSTANCES, QUESTIONS = "susceptibility_of_queries", "instances", "answers_of_questions"
"""Names of SQL queries, and of the frames with their results; an instance is a question with a context."""
BY_ENTITIES, BY_FORM_AND_ENTITIES = (*RELATION, "entities"), (*RELATION, "form", "entities")
"""Columns by which queries are grouped; the column `entities` has the value "invented" or "real"."""


def _count_distinct(column: str) -> Callable[[Frame], Row]:
    return lambda group: {"items": int(group[column].nunique())}


def _queries(frames: Frames) -> Frames:
    entities = name_flags(frames[QUERIES]["invented"], "invented", "real")
    return {QUERIES: sort_frame(frames[QUERIES].assign(entities=entities), [*BY_ENTITIES, "entity", "query_id"])}


SUSCEPTIBILITY_MEANS = statistic_of(
    "susceptibility_means",
    4,
    (QUERIES,),
    [
        Mean(SUSCEPTIBILITY, (*QUERY_TYPE, "entities"), "relation", averaged=BY_ENTITIES, interval=True),
        Mean(SUSCEPTIBILITY, BY_ENTITIES, "entity", averaged=(*BY_ENTITIES, "entity"), interval=True),
        Mean(
            SUSCEPTIBILITY,
            BY_FORM_AND_ENTITIES,
            "query",
            order=(*BY_FORM_AND_ENTITIES, "query_id"),
            interval=True,
            quantiles=True,
        ),
    ],
    prepare=_queries,
)
"""Susceptibility of queries about real and about invented entities.

Over all relations, a value is the mean of a relation. Within a relation, a value is the mean of an entity over the
query forms. Within a query form, a value is a query.
"""


def _names(frames: Frames) -> Frames:
    names = frames[QUERIES][[*MODEL, "relation", "entity", "invented"]].drop_duplicates().astype({"entity": str})
    names = names.assign(
        entities=name_flags(names["invented"], "invented", "real"),
        characters=[len(name) for name in names["entity"]],
        words=[len(name.split()) for name in names["entity"]],
    )
    return {QUERIES: sort_frame(names, [*MODEL, "relation", "entities", "entity"])}


def _lengths(*by: str) -> list[Mean]:
    units = ("characters", "words")
    return [Mean("name_length", (*MODEL, *by), "entity", unit, column=unit, quantiles=True) for unit in units]


NAME_LENGTHS = statistic_of(
    "name_lengths", 1, (QUERIES,), [*_lengths("entities"), *_lengths("relation", "entities")], prepare=_names
)
"""Lengths of the names of real and invented entities whose queries have a score."""

BEFORE_A_FORM, BY_FORM = "context before a query form", (*RELATION, "form")
KAPPA = Mean(
    "entity_independent_persuasion",
    RELATION,
    BEFORE_A_FORM,
    order=(*BY_FORM, "kind", "context_id"),
    quantiles=True,
    extra_columns=_count_distinct("context_id"),
)
"""Means of entity-independent persuasion, the kappa of Du et al. 2024 (not Cohen's kappa)."""
ENTITY_INDEPENDENT = statistic_of(
    "entity_independent_spread",
    4,
    ("entity_independent_of_contexts",),
    [
        *(replace(KAPPA, grouped_by=by) for by in ((*RELATION, "kind"), RELATION, (*QUERY_TYPE, "kind"), MODEL)),
        *(
            replace(KAPPA, grouped_by=by, unit_of_analysis="context", order=(*by, "context_id"), interval=True)
            for by in (BY_FORM, (*BY_FORM, "kind", "template"))
        ),
        Mean("entities", MODEL, BEFORE_A_FORM, "", order=KAPPA.order, quantiles=True),
    ],
)
"""Quantiles and means of the entity-independent persuasion of contexts.

    kappa(c)    of a context c before a query form: the mean persuasion of c over the form's entities
    gamma       of a query form: the mean of kappa over the contexts of the relation; a context that occurs twice
                counts twice
    entities    the number of entities over which kappa is a mean

Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, Appendix B.
"""

BINS = ("0 to 0.2", "0.2 to 0.4", "0.4 to 0.6", "0.6 to 0.8", "0.8 to 1", "over 1")
"""Names of the bins. A bin includes its lower edge; "0.8 to 1" includes both edges."""
RATIOS = ("memorization_ratio", "memorization_ratio_all")


def _bin_names(frame: Frame, column: str) -> NDArray[np.object_]:
    values = frame[column].astype("float64")
    # The last edge is the next number after 1, so that 1 itself is in the bin "0.8 to 1".
    return np.array(BINS, dtype=np.object_)[np.digitize(values, (0.2, 0.4, 0.6, 0.8, np.nextafter(1, 2)))]


def _with_clusters(frame: Frame) -> Frame:
    # The queries about an entity depend on each other.
    return frame.assign(cluster=frame.groupby("entity", observed=True).ngroup())


def _ratios(frames: Frames) -> Frames:
    """Return the frame of all queries, and for each ratio a frame of the queries with this ratio and a susceptibility.

    In the frame of a ratio, the column `fifth` is the bin of the ratio.
    """
    (name,) = frames
    queries = _with_clusters(sort_frame(frames[name], [*QUERY_TYPE, "relation", "query_id"]))
    both = {ratio: queries.dropna(subset=[ratio, SUSCEPTIBILITY]) for ratio in RATIOS}
    return {name: queries, **{ratio: frame.assign(fifth=_bin_names(frame, ratio)) for ratio, frame in both.items()}}


def _memorization(ratio: str) -> list[Mean]:
    return [
        Mean(ratio, QUERY_TYPE, "query", "", skip_missing=True, extra_columns=lambda group: {"items": len(group)}),
        Mean(
            SUSCEPTIBILITY,
            (*QUERY_TYPE, "fifth"),
            "query",
            frame=ratio,
            labels={"ratio": ratio},
            interval=True,
            interval_over="entity",
            quantiles=True,
            larger_group=QUERY_TYPE,
        ),
    ]


MEMORIZATION = statistic_of(
    "memorization_bins",
    5,
    ("memorization_of_queries",),
    [mean for ratio in RATIOS for mean in _memorization(ratio)],
    prepare=_ratios,
)
"""Susceptibility of queries by their memorization ratio, whose range is divided into fifths.

The replies to a query give its original answer, the answer of the context, or another answer. The ratio is the share of
the original answer among the replies of the first two kinds:

    memorization_ratio        after contexts that put another answer in place of the query's answer
    memorization_ratio_all    after each distinct context of any kind, as in the released code

The table also has the mean ratio, over the queries that have a ratio. `items` of this row counts all queries.

Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, figure 3 and Appendix D.
"""


def _with_bins_of_susceptibility(frames: Frames) -> Frames:
    """Return two frames: all queries, and `bins`, the queries that have both measures.

    In `bins`, the column `susceptibility` has the name of the bin in place of the score.
    """
    (name,) = frames
    queries = _with_clusters(sort_frame(frames[name], [*MODEL, "relation", "query_id"]))
    queries = queries.assign(entities=name_flags(queries["invented"], "invented", "real"))
    both = queries.dropna(subset=[SUSCEPTIBILITY, "fisher"])
    return {name: queries, "bins": both.assign(susceptibility=_bin_names(both, SUSCEPTIBILITY))}


FISHER_UNIT = "nats per squared embedding unit"
BOTH_SUSCEPTIBILITIES = statistic_of(
    "both_susceptibilities",
    4,
    ("both_susceptibilities_of_queries",),
    [
        Mean(
            f"pooled_{measure}",
            by,
            "query",
            unit,
            column=measure,
            frame=frame,
            required=[measure],
            interval=True,
            interval_over="entity",
            quantiles=True,
            larger_group=by[:-1] if frame else (),  # the share of a bin in all queries of the model, or of a query type
        )
        for measure, unit, frame, groups in (
            (SUSCEPTIBILITY, "nats", "", (MODEL, QUERY_TYPE, (*QUERY_TYPE, "entities"), (*QUERY_TYPE, "wording"))),
            ("fisher", FISHER_UNIT, "", (MODEL, QUERY_TYPE, (*QUERY_TYPE, "entities"), (*QUERY_TYPE, "wording"))),
            ("fisher", FISHER_UNIT, "bins", ((*MODEL, SUSCEPTIBILITY), (*QUERY_TYPE, SUSCEPTIBILITY))),
        )
        for by in groups
    ],
    prepare=_with_bins_of_susceptibility,
)
"""Susceptibility over contexts (the published Monte Carlo estimate) and Fisher susceptibility, over all relations.

As published, the queries of all relations are pooled. The wording of a query is a question, or a text to complete. The
edges of bins are in nats.

Source: Liu et al. 2024, Efficiently Computing Susceptibility to Context, table 2 and figures 2 to 5.
"""

ERROR = "relative_standard_error_of_fisher"


def _frames_with_errors(frames: Frames) -> Frames:
    frames = {query: sort_frame(frame, [*RELATION, "query_id"]) for query, frame in frames.items()}
    fisher = frames["fisher_of_queries"].dropna(subset=["fisher", SUSCEPTIBILITY])
    return {**frames, "errors": fisher.assign(**{ERROR: fisher["fisher_standard_error"] / fisher["fisher"]})}


def _beside_susceptibility(measure: str, frame: str, unit: str) -> list[Mean]:
    """Return means of a measure and of susceptibility over queries with both, and the measure's mean over relations."""
    both, count = (measure, SUSCEPTIBILITY), _count_distinct("query_id")
    measure_mean = Mean(measure, RELATION, "query", unit, frame=frame, required=both, extra_columns=count)
    return [
        measure_mean,
        replace(measure_mean, quantity=SUSCEPTIBILITY, unit="nats", labels={"beside": measure}),
        Mean(measure, QUERY_TYPE, "relation", unit, frame=frame, required=[measure], averaged=RELATION),
    ]


BESIDE_SUSCEPTIBILITY = statistic_of(
    "means_beside_susceptibility",
    1,
    ("fisher_of_queries", "answer_set_of_queries"),
    [
        *_beside_susceptibility("fisher", "fisher_of_queries", FISHER_UNIT),
        *_beside_susceptibility("fisher_top_k", "fisher_of_queries", FISHER_UNIT),
        *_beside_susceptibility("answer_set_susceptibility", "answer_set_of_queries", "nats"),
        Mean("mass", QUERY_TYPE, "query", "", frame="answer_set_of_queries", order=["mass"]),
        Mean(ERROR, MODEL, "query", "", frame="errors", required=[ERROR], order=[ERROR], quantiles=True),
    ],
    prepare=_frames_with_errors,
)
"""Means of Fisher susceptibility and of answer-set susceptibility, each beside the susceptibility of the same queries.

Within a relation, a query counts if it has both measures. `mass` is the probability of all answers of the answer set
together. The statistic `correlations` correlates the same pairs of measures.
"""


def _differences(frames: Frames) -> Frames:
    scores = ["susceptibility", "susceptibility_reference", "largest_difference", "mean_difference"]
    (name,) = frames
    frame = sort_frame(frames[name], [*QUERY_TYPE, "relation", "query_id"]).dropna(subset=scores)
    return {name: frame.assign(difference=(frame["susceptibility"] - frame["susceptibility_reference"]).abs())}


def _mean_difference(score: str, by: Sequence[str], column: str, largest: str) -> Mean:
    return Mean(
        f"difference_of_{score}",
        by,
        "query",
        column=column,
        extra_columns=lambda group: {"largest": float(group[largest].max())},
    )


PRECISION = statistic_of(
    "precision_cost",
    1,
    ("precision_of_queries",),
    [
        _mean_difference("susceptibility", QUERY_TYPE, "difference", "difference"),
        _mean_difference("persuasion", QUERY_TYPE, "mean_difference", "largest_difference"),
        _mean_difference("susceptibility", MODEL, "difference", "difference"),
        _mean_difference("persuasion", MODEL, "mean_difference", "largest_difference"),
    ],
    prepare=_differences,
)
"""The differences that a reduced precision makes, over a sample of the queries.

    difference_of_susceptibility    of a query: |its susceptibility - its susceptibility in the reference precision|
    difference_of_persuasion        of a query: the mean of |persuasion - persuasion in the reference precision| over
                                    its contexts

The column `largest` has the largest difference: of a query or, for persuasion, of a query with one of its contexts.
"""

RELIABILITY = statistic_of(
    "reliability_means",
    3,
    ("reliability_of_relations",),
    [
        Mean(
            "variance",
            (*QUERY_TYPE, "measure", "over"),
            "relation",
            "squared nats",
            required=["variance"],
            interval=True,
            order=(*QUERY_TYPE, "measure", "over", "relation"),
            quantiles=True,
            extra_columns=lambda group: {"items": int(group["n"].sum())},
        )
    ],
)
"""Variance of scores between seeds and between query forms (reliability.py), over all relations.

`items` counts the variances of all relations.
"""

OUTCOMES = ("persuaded", "stubborn", "persuaded_as_published", "stubborn_as_published")
"""Columns with 1 or 0 for an outcome of an instance.

Persuaded: only the reply with the context states the context's answer. Stubborn: the reply stays the same. The table
whose_answer has the exact definitions.
"""
ANSWER_UNIT = "question under a condition"
GROUPS = ("partition", "condition")
ENTROPIES = ("semantic_entropy", "semantic_entropy_length_normalised")
SAMPLED = (*ENTROPIES, "semantic_entropy_rao", "cluster_assignment_entropy")
"""Measures of uncertainty that are computed from sampled replies."""
PERSUASION_MEAN = Mean(
    COHERENT_PERSUASION,
    (*MODEL, "condition", "partition"),
    "instance",
    required=[COHERENT_PERSUASION],
    quantiles=True,
    order=(*MODEL, "condition", "partition", "relation", "question_id", "context_id"),
)


def _by_outcome(entropy: str) -> list[Mean]:
    persuasion = replace(
        PERSUASION_MEAN,
        grouped_by=(*PERSUASION_MEAN.grouped_by, "outcome"),
        required=[COHERENT_PERSUASION, entropy],
        quantiles=False,
        labels={"beside": entropy},
    )
    return [replace(persuasion, quantity=entropy, labels={}), persuasion]


ANSWERS = statistic_of(
    "answer_means",
    3,
    (INSTANCES, QUESTIONS),
    [
        PERSUASION_MEAN,
        *_by_outcome("semantic_entropy_without"),
        *_by_outcome("semantic_entropy_with"),
        *(
            Mean(error, MODEL, ANSWER_UNIT, frame=QUESTIONS, required=[error], order=[error])
            for error in ("semantic_entropy_standard_error", "coherent_persuasion_standard_error")
        ),
    ],
)
"""Coherent persuasion of a partition's instances, and the standard errors of coherent persuasion and semantic entropy.

By the outcome of the greedy reply, coherent persuasion stands beside the semantic entropy of the same instances.
"""


def _partitions(frames: Frames) -> Frames:
    import pandas as pd

    instances = _with_outcomes(frames[INSTANCES])
    rows_by_outcome = [instances.assign(outcome=ALL)]
    for name in OUTCOMES:
        has_outcome = instances[name].astype("float64") == 1
        rows_by_outcome.append(instances[has_outcome].assign(outcome=name.replace("_", " ")))
    outcomes = add_totals(pd.concat(rows_by_outcome))
    edited = outcomes[(outcomes["outcome"] == ALL) & (outcomes["partition"] == ALL)].dropna(subset=["edits"])
    # The bounds of EDITS are exclusive, so that 4 edits are in the class "4", whose bound is 5.
    classes = np.searchsorted([*EDITS.values()], edited["edits"].to_numpy(dtype="float64"), side="right")
    return {
        QUESTIONS: add_totals(drop_small_samples(frames[QUESTIONS], SAMPLED)),
        INSTANCES: add_totals(instances),
        "outcomes": outcomes,
        "edited": edited.assign(edits=np.array([*EDITS], dtype=object)[classes]),
    }


def _with_outcomes(frame: Frame) -> Frame:
    """Return the instances with outcomes as 1, 0 or missing, and with the change of each entropy through the context.

    `following` and `persuaded` are missing for an instance whose context states no answer.
    """
    frame = drop_small_samples(frame, [COHERENT_PERSUASION], (COUNT_WITH, COUNT_WITHOUT))
    frame = drop_small_samples(frame, ["coherent_persuasion_unchanged"], (COUNT_WITHOUT,), parts=2)
    for count, suffix in ((COUNT_WITH, "with"), (COUNT_WITHOUT, "without")):
        frame = drop_small_samples(frame, [f"{name}_{suffix}" for name in ENTROPIES], (count,))
    outcome = frame["outcome"].astype(object)
    measured = outcome != "unmeasured"
    stating = measured & frame["states_answer"].fillna(value=False).astype(bool)
    return frame.assign(
        following=outcome.isin(("persuaded", "agreed")).astype("float64").where(stating),
        persuaded=(outcome == "persuaded").astype("float64").where(stating),
        stubborn=(outcome == "stubborn").astype("float64").where(measured),
        **{f"{name}_change": frame[f"{name}_with"] - frame[f"{name}_without"] for name in ENTROPIES},
    )


PARTITIONS = statistic_of(
    "partition_means",
    9,
    (QUESTIONS, INSTANCES),
    [
        Mean(
            quantity,
            (*MODEL, *by),
            ANSWER_UNIT,
            unit,
            column="accurate" if quantity == "accuracy" else quantity,
            frame=frame,
            required=["accurate" if quantity == "accuracy" else quantity],
            interval=True,
            interval_over="subject",
        )
        for frame, by, unit, quantities in (
            (QUESTIONS, GROUPS, SHARE, ["accuracy"]),
            (QUESTIONS, GROUPS, "nats", SAMPLED),
            (INSTANCES, GROUPS, "nats", [COHERENT_PERSUASION, "coherent_persuasion_unchanged"]),
            (INSTANCES, GROUPS, SHARE, ["following", *OUTCOMES]),
            (
                "outcomes",
                (*GROUPS, "outcome"),
                "nats",
                [f"{name}_{suffix}" for name in ENTROPIES for suffix in ("without", "with", "change")],
            ),
            ("edited", ("condition", "edits"), "nats", [COHERENT_PERSUASION]),
        )
        for quantity in quantities
    ],
    prepare=_partitions,
)
"""Accuracy, uncertainty and persuasion of a partition's questions, and the change of uncertainty with a context.

An instance is a question with a context; DynamicQA has two contexts for each question. A group is a partition under a
condition, such as temporal questions under the counter-memory context. `all` stands for every partition, and for every
condition with a context. `following` is the share of replies that state the context's answer. Entropies of instances
are also grouped by the outcome of the greedy reply. Each outcome has two versions: by the verdict and, as published, by
ROUGE-L. Coherent persuasion is also grouped by the number of edits of the fact, its creation included; a disputable
question has no edits. Intervals resample whole subjects, because questions about one subject, and the contexts of one
question, depend on each other. Without a context, a disputable question has no right answer, and does not count for
accuracy. Scores of fewer than 5 sampled replies are in no mean.

Source: Marjanovic et al. 2024, DynamicQA, Tables 1 and 2, Figures 2 and 4, sections 1 and 6.5.
"""
