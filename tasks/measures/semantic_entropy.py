"""Semantic entropy: over how many meanings sampled answers spread, from stored answers and clusters.

No model is needed. Four kinds; swaymeter.tasks.scoring.semantic_entropy has their formulas,
swaymeter.tasks.scoring.half_samples that of the standard errors.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated

from swaymeter.data.records import Question
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.clusters import HalfSampleParameters, clusters_of, equivalences, standard_error_of
from swaymeter.tasks.measures.measure import Inputs, Measure, Row
from swaymeter.tasks.measures.rows import QUESTION_KEY, QuestionScore
from swaymeter.tasks.measures.stored import of_cases, of_questions

KINDS = {
    "sum": "semantic_entropy",
    "length_normalised": "semantic_entropy_length_normalised",
    "rao": "semantic_entropy_rao",
    "assignment": "cluster_assignment_entropy",
}
"""The column of each kind of semantic entropy."""


@table("semantic_entropy", "a question alone, or with a context", key=QUESTION_KEY)
class SemanticEntropy(QuestionScore):
    """A row of semantic entropy."""

    groups: Annotated[int, Meaning("number of clusters of equivalent answers")]
    group_sizes: Annotated[tuple[int, ...], Meaning("the clusters' sizes in order of opening")]
    semantic_entropy: Annotated[float, Meaning("-1/V sum_v log sum_{k in v} p(a_k|x)", "nats")]
    semantic_entropy_length_normalised: Annotated[float, Meaning("the same with mean token log-probabilities", "nats")]
    semantic_entropy_rao: Annotated[float, Meaning("entropy of renormalised cluster probabilities", "nats")]
    cluster_assignment_entropy: Annotated[float, Meaning("entropy of the cluster sizes", "nats")]
    semantic_entropy_standard_error: Annotated[float | None, standard_error_of("semantic_entropy")]
    semantic_entropy_length_normalised_standard_error: Annotated[
        float | None, standard_error_of("semantic_entropy_length_normalised")
    ]
    semantic_entropy_rao_standard_error: Annotated[float | None, standard_error_of("semantic_entropy_rao")]
    cluster_assignment_entropy_standard_error: Annotated[float | None, standard_error_of("cluster_assignment_entropy")]


def compute(inputs: Inputs, model: None, questions: Sequence[Question]) -> Iterator[Row]:
    """The entropies of the stored answers to every question in each of its cases."""
    from swaymeter.tasks.scoring.semantic_entropy import last_group_of_each, semantic_entropy, semantic_entropy_error

    answers = of_questions(inputs, "answers", questions, "token_log_probs")
    origins = of_cases(inputs.scores["clusters"])
    equivalent = equivalences(inputs, questions)
    for key in ((question.question_id, case.context_id) for question in questions for case in question.cases):
        if not answers[key]:  # no answer got past its thoughts
            continue
        groups, groups_of_halves = clusters_of(inputs, "semantic_entropy", equivalent[key], key)
        clusters, halves = last_group_of_each(groups), [last_group_of_each(half) for half in groups_of_halves]
        log_probs = [row["token_log_probs"] for row in answers[key]]
        scores: dict[str, float | None] = {}
        for kind, column in KINDS.items():
            scores[column] = semantic_entropy(log_probs, clusters, kind=kind)
            scores[f"{column}_standard_error"] = semantic_entropy_error(log_probs, halves, kind=kind)
        yield {**origins[key], "groups": len(clusters), "group_sizes": [len(cluster) for cluster in clusters], **scores}


MEASURE = Measure(
    row=SemanticEntropy,
    version=2,
    unit="nats",
    meaning="how many meanings the sampled answers spread over",
    about="questions",
    compute=compute,
    needs=("answers", "clusters"),
    parameters=HalfSampleParameters,
)
