"""Coherent persuasion: how far a context moves the distributions along clusters of sampled answers.

The distributions are not stored. Where the answers are missing, too, their pass scores it; where they are stored, they
are sampled once more, which gives the same ones, and the stored clusters are used.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

from data.errors import ScoreError
from data.records.row import Meaning, table
from tasks.measures.answers import Sampled, sample
from tasks.measures.clusters import equivalences
from tasks.measures.half_samples import HalfSampleParameters, clusters_of, standard_error_of
from tasks.measures.measure import Chunk, Computed, Inputs, Measure, Row, Rows
from tasks.measures.provenance import inherited
from tasks.measures.rows import QuestionScore
from tasks.measures.stored import QuestionKey, of_questions, rows_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tasks.scoring.coherent_persuasion import GroupedAnswers


@table(
    "coherent_persuasion",
    "a question under a condition with a context",
    key=("model", "dtype", "relation", "question_id", "condition"),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class CoherentPersuasion(QuestionScore):
    """A row of coherent persuasion."""

    groups_without: Annotated[int, Meaning("clusters of answers without the context")]
    groups_with: Annotated[int, Meaning("clusters of answers with the context")]
    group_sizes_without: Annotated[tuple[int, ...], Meaning("their sizes without the context, in order of opening")]
    group_sizes_with: Annotated[tuple[int, ...], Meaning("their sizes with the context, in order of opening")]
    coherent_persuasion: Annotated[
        float, Meaning("mean KL(p_h || p_g) over pairs of clusters with and without", "nats")
    ]
    coherent_persuasion_standard_error: Annotated[float | None, standard_error_of("coherent_persuasion")]


def compute(inputs: Inputs, model: Any, chunks: Sequence[Chunk]) -> Computed:
    """Samples the stored answers once more, for the distributions along them."""
    for questions in chunks:
        sampled = sample(inputs, model, questions)
        _check(inputs, sampled, of_questions(inputs, "answers", questions, "token_ids"))
        stored = equivalences(inputs, questions)
        origins = inherited(rows_of(inputs.scores["clusters"], questions), "question_id", "condition")
        rows = persuasion_rows(inputs, sampled, [stored[one.question.question_id, one.condition] for one in sampled])
        yield Rows(
            {
                "coherent_persuasion": [
                    {**row, "stand_in": origins[row["question_id"], row["condition"]]["stand_in"]} for row in rows
                ]
            }
        )


def persuasion_rows(
    inputs: Inputs, sampled: Sequence[Sampled], equivalent: "Sequence[NDArray[np.bool_]]"
) -> Iterator[Row]:
    """The scores of every context of every question, without their stand-in.

    Args:
        inputs: whose parameters say how many half-samples there are.
        sampled: the answers, those of a question one after the other, first those without a context.
        equivalent: which of them are equivalent, (n, n) for each.
    """
    from tasks.scoring.coherent_persuasion import coherent_persuasions

    grouped = [_grouped(inputs, one, matrix) for one, matrix in zip(sampled, equivalent, strict=True)]
    pairs = zip(sampled, grouped, strict=True)
    for _, of_question in groupby(pairs, key=lambda pair: pair[0].question.question_id):
        (_, without), *others = of_question
        scores = coherent_persuasions(without, [answers for _, answers in others])
        for (one, answers), score in zip(others, scores, strict=True):
            yield {
                **one.columns,
                "groups_without": len(without.groups),
                "groups_with": len(answers.groups),
                "group_sizes_without": [len(group) for group in without.groups],
                "group_sizes_with": [len(group) for group in answers.groups],
                "coherent_persuasion": score.score,
                "coherent_persuasion_standard_error": score.standard_error,
            }


def _grouped(inputs: Inputs, one: Sampled, equivalent: "NDArray[np.bool_]") -> "GroupedAnswers":
    from tasks.scoring.coherent_persuasion import GroupedAnswers

    parameters: HalfSampleParameters = inputs.parameters["coherent_persuasion"]
    key = (one.question.question_id, one.condition)
    clusters, halves = clusters_of(equivalent, parameters, inputs.seed, *key)
    distributions = [answer.mean_distribution for answer in one.answers.samples]
    return GroupedAnswers(f"the answers to {key[0]} under {key[1]}", distributions, clusters, halves)


def _check(inputs: Inputs, sampled: Sequence[Sampled], stored: dict[QuestionKey, list[Row]]) -> None:
    for one in sampled:
        rows = stored[one.question.question_id, one.condition]
        if [row["token_ids"] for row in rows] != [list(answer.token_ids) for answer in one.answers.samples]:
            raise ScoreError(
                f"relation {inputs.relation}: sampled again, the answers to {one.question.question!r} under "
                f"{one.condition} differ from the stored ones; score answers and coherent_persuasion with --force"
            )


MEASURE = Measure(
    name="coherent_persuasion",
    version=2,
    unit="nats",
    meaning="how far a context moves the distributions of clusters of answers",
    row=CoherentPersuasion,
    about="questions",
    compute=compute,
    capability="samples",
    needs=("answers", "clusters"),
    pass_of="answers",
    parameters=HalfSampleParameters,
)
