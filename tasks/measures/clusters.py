"""Clusters of equivalent sampled replies, and the semantic entropy over them.

An entailment model decides which replies are equivalent. A reply joins the first cluster whose members are all
equivalent to it, or opens a new cluster; a study may choose another rule. All equivalences are stored, because standard
errors need the clusters of random halves of the replies (half-samples). `scoring.semantic_entropy` and
`scoring.half_samples` have the formulas.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from swaymeter.data.options import ModelName
from swaymeter.data.records import Question
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.measure import Inputs, Measure, Parameters, Row, cut_questions, zero_or_at_least
from swaymeter.tasks.measures.rows import (
    QUESTION_KEY,
    QuestionKey,
    QuestionScore,
    question_provenance,
    rows_by_question,
)
from swaymeter.tasks.models.entailment import Entailment, identify_entailment, load_entailment
from swaymeter.tasks.models.pretrained import BALANCED


class ClustersParameters(Parameters):
    """The rule of equivalence."""

    entailment: ModelName = "microsoft/deberta-large-mnli"
    """The entailment model that decides which answers are equivalent, or an embedder as its stand-in."""
    entailment_with_question: bool = False
    """Put the question before each answer."""
    threshold: float = Field(default=0.8, gt=0, le=1)
    """The least cosine similarity of two answers that a stand-in takes as equivalent."""
    grouping: Literal["disjoint", "overlapping", "first_member"] = "disjoint"
    """The rule that forms clusters. disjoint: an answer joins the first cluster whose members are all equivalent to
    it. overlapping, as in the released code of DynamicQA: every answer opens a cluster and may be in several; coherent
    persuasion compares these clusters, and an entropy counts an answer in its last cluster. first_member, as in the
    released code of Farquhar et al.: an answer without a cluster opens one, and every later equivalent answer moves to
    this cluster, even from another cluster."""


@table("clusters", "a sampled answer")
class ClusteredAnswer(QuestionScore):
    """A row of clusters."""

    sample: Annotated[int, Meaning("number of the sample from 0")]
    cluster: Annotated[
        int, Meaning("number of its cluster, from 0 in order of opening; its last cluster, if clusters overlap")
    ]
    equivalent_to: Annotated[tuple[int, ...], Meaning("the samples that it is equivalent to, itself included")]


def load_equivalence_model(inputs: Inputs) -> Entailment:
    """Load the entailment model of the study, or its stand-in."""
    parameters: ClustersParameters = inputs.parameters["clusters"]
    # Only a language model can be spread over all GPUs.
    device = "auto" if inputs.device == BALANCED else inputs.device
    return load_entailment(parameters.entailment, threshold=parameters.threshold, device=device)


def prefixes(inputs: Inputs, questions: Iterable[Question]) -> list[str] | None:
    """Return each question as a prefix of its answers; None if the study compares answers without the question."""
    with_question = inputs.parameters["clusters"].entailment_with_question
    return [question.question for question in questions] if with_question else None


def _clusters(inputs: Inputs, model: None, questions: Sequence[Question]) -> Iterator[Row]:
    entailment = load_equivalence_model(inputs)
    answers = rows_by_question(inputs, "answers", questions, "text")
    origins = question_provenance(inputs.scores["answers"], questions)
    cases = [(question, (question.question_id, case.context_id)) for question in questions for case in question.cases]
    texts = [[row["text"] for row in answers[key]] for _, key in cases]
    equivalent = entailment.equivalent_in_bulk(texts, prefixes(inputs, (question for question, _ in cases)))
    for (_, key), matrix in zip(cases, equivalent, strict=True):
        samples = [row["sample"] for row in answers[key]]
        yield from cluster_rows(inputs, matrix, samples, {**origins[key], "stand_in": entailment.stand_in})


def cluster_rows(inputs: Inputs, equivalent: NDArray[np.bool_], samples: Sequence[int], common: Row) -> Iterator[Row]:
    """Yield a row for each sample of a question: its number, cluster and equivalences, and the columns `common`."""
    from swaymeter.tasks.scoring.semantic_entropy import group_answers, last_group_of_each

    clusters = last_group_of_each(group_answers(equivalent, grouping=inputs.parameters["clusters"].grouping))
    cluster_of = {index: number for number, cluster in enumerate(clusters) for index in cluster}
    for index, is_equivalent in enumerate(equivalent):
        equivalent_to = [samples[other] for other in np.flatnonzero(is_equivalent).tolist()]
        yield {**common, "sample": samples[index], "cluster": cluster_of[index], "equivalent_to": equivalent_to}


def equivalences(inputs: Inputs, questions: Sequence[Question]) -> dict[QuestionKey, NDArray[np.bool_]]:
    """Return the stored equivalences (n, n) of the replies to each question, closed-book and with each context."""
    matrices: dict[QuestionKey, NDArray[np.bool_]] = {}
    for key, rows in rows_by_question(inputs, "clusters", questions, "equivalent_to").items():
        matrix = matrices[key] = np.zeros((len(rows), len(rows)), dtype=bool)
        index_of = {row["sample"]: index for index, row in enumerate(rows)}
        for row in rows:
            matrix[index_of[row["sample"]], [index_of[sample] for sample in row["equivalent_to"]]] = True
    return matrices


class HalfSampleParameters(Parameters):
    """Number of random halves of the replies, from which a standard error is computed."""

    half_samples: Annotated[int, Field(ge=0, le=10_000), zero_or_at_least(10, "for no standard errors")] = 50
    """Half-samples for the standard error; 0 for no standard errors."""


def clusters_of(
    inputs: Inputs, measure: str, equivalent: NDArray[np.bool_], key: QuestionKey, *, complement: bool = False
) -> tuple[list[list[int]], list[list[list[int]]]]:
    """Return the clusters of the replies to a question with a context, and the clusters of each half-sample.

    Args:
        inputs: the inputs of the pass.
        measure: the measure whose parameters give the number of half-samples.
        equivalent: (n, n), the equivalences.
        key: the ids of question and context.
        complement: if True, the replies outside of each half-sample are clustered.
    """
    from swaymeter.tasks.scoring.half_samples import draw_halves
    from swaymeter.tasks.scoring.semantic_entropy import group_answers

    count, grouping = len(equivalent), inputs.parameters["clusters"].grouping
    halves = draw_halves(count, inputs.parameters[measure].half_samples, inputs.seed, *key)
    if complement:
        halves = [[index for index in range(count) if index not in half] for half in halves]
    clusters_of_halves = [group_answers(equivalent, half, grouping=grouping) for half in halves]
    return group_answers(equivalent, grouping=grouping), clusters_of_halves


def standard_error_of(score: str) -> Meaning:
    """Return the meaning of the column with a score's standard error."""
    return Meaning(f"standard error of {score}, from halves of the answers; NULL if no halves were drawn", "nats")


CLUSTERS = Measure(
    row=ClusteredAnswer,
    version=1,
    about="questions",
    requires="sampling",
    needs=("answers",),
    computed_with="answers",
    compute=_clusters,
    chunks=cut_questions,
    parameters=ClustersParameters,
    depends_on=lambda parameters: {"entailment": identify_entailment(parameters.entailment)},
    meaning="which sampled answers say the same",
)


KINDS = {
    "sum": "semantic_entropy",
    "length_normalised": "semantic_entropy_length_normalised",
    "rao": "semantic_entropy_rao",
    "assignment": "cluster_assignment_entropy",
}
"""The column of each kind of semantic entropy."""
_KIND_WITHOUT_LOG_PROBS = "assignment"
"""The kind of entropy that needs no log-probabilities."""


@table("semantic_entropy", "a question alone, or with a context", key=QUESTION_KEY)
class SemanticEntropy(QuestionScore):
    """A row of semantic entropy."""

    groups: Annotated[int, Meaning("number of clusters of equivalent answers")]
    group_sizes: Annotated[tuple[int, ...], Meaning("sizes of the clusters, in the order of their opening")]
    semantic_entropy: Annotated[
        float | None,
        Meaning(
            "-1/V sum_v log sum_{k in v} p(a_k|x) over V clusters v; NULL if a server gives no log-probabilities",
            "nats",
        ),
    ]
    semantic_entropy_length_normalised: Annotated[
        float | None, Meaning("the same with mean token log-probabilities; NULL if a server gives none", "nats")
    ]
    semantic_entropy_rao: Annotated[
        float | None,
        Meaning("entropy of renormalised cluster probabilities; NULL if a server gives no log-probabilities", "nats"),
    ]
    cluster_assignment_entropy: Annotated[float, Meaning("entropy of the cluster sizes", "nats")]
    semantic_entropy_standard_error: Annotated[float | None, standard_error_of("semantic_entropy")]
    semantic_entropy_length_normalised_standard_error: Annotated[
        float | None, standard_error_of("semantic_entropy_length_normalised")
    ]
    semantic_entropy_rao_standard_error: Annotated[float | None, standard_error_of("semantic_entropy_rao")]
    cluster_assignment_entropy_standard_error: Annotated[float | None, standard_error_of("cluster_assignment_entropy")]


def _semantic_entropy(inputs: Inputs, model: None, questions: Sequence[Question]) -> Iterator[Row]:
    from swaymeter.tasks.scoring.semantic_entropy import last_group_of_each, semantic_entropy, semantic_entropy_error

    answers = rows_by_question(inputs, "answers", questions, "token_log_probs")
    origins = question_provenance(inputs.scores["clusters"], questions)
    equivalent = equivalences(inputs, questions)
    keys = [(question.question_id, case.context_id) for question in questions for case in question.cases]
    for key in keys:
        if not answers[key]:  # the model gave no reply
            continue
        clusters, clusters_of_halves = clusters_of(inputs, "semantic_entropy", equivalent[key], key)
        disjoint = last_group_of_each(clusters)
        disjoint_of_halves = [last_group_of_each(clusters_of_half) for clusters_of_half in clusters_of_halves]
        log_probs = [row["token_log_probs"] for row in answers[key]]
        scores: dict[str, float | None] = {}
        for kind, column in KINDS.items():
            is_available = kind == _KIND_WITHOUT_LOG_PROBS or all(map(len, log_probs))
            scores[column] = semantic_entropy(log_probs, disjoint, kind=kind) if is_available else None
            error = semantic_entropy_error(log_probs, disjoint_of_halves, kind=kind) if is_available else None
            scores[f"{column}_standard_error"] = error
        yield {**origins[key], "groups": len(disjoint), "group_sizes": [len(cluster) for cluster in disjoint], **scores}


SEMANTIC_ENTROPY = Measure(
    row=SemanticEntropy,
    version=2,
    unit="nats",
    about="questions",
    needs=("answers", "clusters"),
    compute=_semantic_entropy,
    parameters=HalfSampleParameters,
    meaning="how many meanings the sampled answers spread over",
)
