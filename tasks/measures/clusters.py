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
from tasks.measures.measure import Chunk, Computed, Inputs, Measure, Parameters, Row, Rows
from tasks.measures.provenance import inherited
from tasks.measures.rows import QuestionScore
from tasks.measures.stored import QuestionKey, of_questions, rows_of


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
    """Judges which answers are equivalent.

    Attributes:
        stand_in: which model stands in for an entailment model; None where none does.
    """

    def __init__(self, inputs: Inputs) -> None:
        """The judge that the parameters of a study name."""
        from tasks.models.entailment import load_entailment
        from tasks.models.loading import BALANCED

        self._parameters: ClustersParameters = inputs.parameters["clusters"]
        device = "auto" if inputs.device == BALANCED else inputs.device
        self._entailment = load_entailment(
            self._parameters.entailment, threshold=self._parameters.threshold, device=device
        )
        self.stand_in = self._entailment.stand_in

    def equivalent(self, texts: Sequence[Sequence[str]], questions: Sequence[Question]) -> list[NDArray[np.bool_]]:
        """Which of the answers to each question are equivalent, (n, n) for each."""
        before = [question.question for question in questions] if self._parameters.entailment_with_question else None
        return self._entailment.equivalent_in_bulk(texts, before)


def compute(inputs: Inputs, model: None, chunks: Sequence[Chunk]) -> Computed:
    """Judges the stored answers to every question under every condition."""
    judge = Judge(inputs)
    for questions in chunks:
        answers = of_questions(inputs, "answers", questions, "text")
        origins = inherited(rows_of(inputs.scores["answers"], questions), "question_id", "condition")
        cases = [(question, condition) for question in questions for condition in CONDITIONS]
        keys = [(question.question_id, condition) for question, condition in cases]
        texts = [[row["text"] for row in answers[key]] for key in keys]
        equivalent = judge.equivalent(texts, [question for question, _ in cases])
        rows = [
            {"question_id": key[0], "condition": key[1], **row, **origins[key], "stand_in": judge.stand_in}
            for key, matrix in zip(keys, equivalent, strict=True)
            for row in cluster_rows(matrix)
        ]
        yield Rows({"clusters": rows})


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
    name="clusters",
    version=1,
    unit="",
    meaning="which sampled answers say the same",
    row=ClusteredAnswer,
    about="questions",
    compute=compute,
    needs=("answers",),
    pass_of="answers",
    parameters=ClustersParameters,
    depends_on=_depends_on,
    chunks=cut_questions,
)
