"""Semantic entropy: over how many meanings sampled answers spread, from stored answers and clusters.

No model is needed. Four kinds; tasks.scoring.semantic_entropy has their formulas, tasks.scoring.half_samples that
of the standard errors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from data.records import CONDITIONS, Question
from data.records.row import Meaning, table
from tasks.measures.clusters import equivalences
from tasks.measures.half_samples import HalfSampleParameters, clusters_of, standard_error_of
from tasks.measures.measure import Chunk, Computed, Inputs, Measure, Row, Rows
from tasks.measures.provenance import inherited
from tasks.measures.rows import QuestionScore
from tasks.measures.stored import of_questions, rows_of

KINDS = {
    "sum": "semantic_entropy",
    "length_normalised": "semantic_entropy_length_normalised",
    "rao": "semantic_entropy_rao",
    "assignment": "cluster_assignment_entropy",
}
"""The column of each kind of semantic entropy."""


@table(
    "semantic_entropy",
    "a question under a condition",
    key=("model", "dtype", "relation", "question_id", "condition"),
)
@dataclass(frozen=True, slots=True, kw_only=True)
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


def compute(inputs: Inputs, model: None, chunks: Sequence[Chunk]) -> Computed:
    """The entropies of the stored answers to every question under every condition."""
    for questions in chunks:
        yield Rows({"semantic_entropy": _rows(inputs, questions)})


def _rows(inputs: Inputs, questions: Sequence[Question]) -> list[Row]:
    from tasks.scoring.semantic_entropy import semantic_entropy, semantic_entropy_error

    answers = of_questions(inputs, "answers", questions, "token_log_probs")
    equivalent = equivalences(inputs, questions)
    origins = inherited(rows_of(inputs.scores["clusters"], questions), "question_id", "condition")
    parameters: HalfSampleParameters = inputs.parameters["semantic_entropy"]
    rows: list[Row] = []
    for key in ((question.question_id, condition) for question in questions for condition in CONDITIONS):
        clusters, halves = clusters_of(equivalent[key], parameters, inputs.seed, *key)
        log_probs = [row["token_log_probs"] for row in answers[key]]
        row: dict[str, Any] = {"question_id": key[0], "condition": key[1], **origins[key]}
        row |= {"groups": len(clusters), "group_sizes": [len(cluster) for cluster in clusters]}
        for kind, column in KINDS.items():
            row[column] = semantic_entropy(log_probs, clusters, kind=kind)
            row[f"{column}_standard_error"] = semantic_entropy_error(log_probs, halves, kind=kind)
        rows.append(row)
    return rows


MEASURE = Measure(
    name="semantic_entropy",
    version=2,
    unit="nats",
    meaning="how many meanings the sampled answers spread over",
    row=SemanticEntropy,
    about="questions",
    compute=compute,
    needs=("answers", "clusters"),
    parameters=HalfSampleParameters,
)
