"""Clusters: which sampled answers to a question are equivalent, as an entailment model judges the stored texts.

An answer joins the first cluster all of whose members it is equivalent to, else it opens one; see
tasks.scoring.semantic_entropy. All equivalences are stored: the clusters of half-samples follow from them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from data.records import CONDITIONS, Question
from data.records.row import Meaning, table
from tasks.measures.chunks import cut_questions
from tasks.measures.measure import Inputs, Measure, Parameters, Row
from tasks.measures.rows import QuestionScore
from tasks.measures.stored import QuestionKey, inherited, of_questions


class ClustersParameters(Parameters):
    """When two answers are equivalent."""

    entailment: str = "microsoft/deberta-large-mnli"
    """The entailment model that decides which answers are equivalent, or an embedder that stands in for it."""
    entailment_with_question: bool = False
    """Whether it reads the question before each answer."""
    threshold: float = Field(default=0.8, gt=0, le=1)
    """From which similarity on answers are equivalent, where an embedder stands in."""


@table("clusters", "a sampled answer")
@dataclass(frozen=True, slots=True, kw_only=True)
class ClusteredAnswer(QuestionScore):
    """A row of clusters."""

    sample: Annotated[int, Meaning("number of the sample from 0")]
    cluster: Annotated[int, Meaning("its cluster of equivalent answers, from 0 in order of opening")]
    equivalent_to: Annotated[tuple[int, ...], Meaning("the samples that it is equivalent to, itself included")]


class Judge:
    """The judge of equivalence that the parameters of a study name.

    Attributes:
        stand_in: which model stands in for an entailment model; None where none does.
    """

    def __init__(self, inputs: Inputs) -> None:
        """Loads its model, unless it is loaded."""
        from tasks.models.entailment import load_entailment
        from tasks.models.loading import BALANCED

        self._parameters: ClustersParameters = inputs.parameters["clusters"]
        name, threshold = self._parameters.entailment, self._parameters.threshold
        device = "auto" if inputs.device == BALANCED else inputs.device
        self._entailment = load_entailment(name, threshold=threshold, device=device)
        self.stand_in = self._entailment.stand_in

    def equivalent(self, texts: Sequence[Sequence[str]], questions: Sequence[Question]) -> list[NDArray[np.bool_]]:
        """Which of the answers to each question are equivalent, (n, n) for each."""
        before = [question.question for question in questions] if self._parameters.entailment_with_question else None
        return self._entailment.equivalent_in_bulk(texts, before)


def compute(inputs: Inputs, model: None, questions: Sequence[Question]) -> Iterator[Row]:
    """Judges the stored answers to every question under every condition."""
    judge, answers = Judge(inputs), of_questions(inputs, "answers", questions, "text")
    origins = inherited(inputs.scores["answers"], "question_id", "condition")
    cases = [(question, (question.question_id, condition)) for question in questions for condition in CONDITIONS]
    texts = [[row["text"] for row in answers[key]] for _, key in cases]
    for (_, key), matrix in zip(cases, judge.equivalent(texts, [question for question, _ in cases]), strict=True):
        for row in cluster_rows(matrix):
            yield {**origins[key], **row, "stand_in": judge.stand_in}


def cluster_rows(equivalent: NDArray[np.bool_]) -> Iterator[Row]:
    """The columns of each sample of a question: its number, cluster and equivalences."""
    from tasks.scoring.semantic_entropy import group_answers

    cluster = {member: number for number, group in enumerate(group_answers(equivalent)) for member in group}
    for number, same in enumerate(equivalent):
        yield {"sample": number, "cluster": cluster[number], "equivalent_to": np.flatnonzero(same).tolist()}


def equivalences(inputs: Inputs, questions: Sequence[Question]) -> dict[QuestionKey, NDArray[np.bool_]]:
    """The stored equivalences of the answers to each question under each condition, (n, n) for each."""
    matrices: dict[QuestionKey, NDArray[np.bool_]] = {}
    for key, rows in of_questions(inputs, "clusters", questions, "equivalent_to").items():
        matrices[key] = np.zeros((len(rows), len(rows)), dtype=bool)
        for row in rows:
            matrices[key][row["sample"], row["equivalent_to"]] = True
    return matrices


def _depends_on(parameters: ClustersParameters) -> Row:
    from tasks.models.entailment import identify_entailment

    return {"entailment": identify_entailment(parameters.entailment)}


MEASURE = Measure(
    row=ClusteredAnswer,
    version=1,
    unit="",
    meaning="which sampled answers say the same",
    about="questions",
    compute=compute,
    needs=("answers",),
    pass_of="answers",
    parameters=ClustersParameters,
    depends_on=_depends_on,
    chunks=cut_questions,
)
