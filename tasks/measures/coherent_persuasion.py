"""Coherent persuasion: how far a context moves the distributions of clusters of sampled replies.

The next-token distributions along the replies are too large to store. So the pass that samples the replies also
computes coherent persuasion. Stored replies keep their clusters, and are sampled again for the distributions. In a
dtype shorter than float32, rounding may change a new sample. In this case, the model reads the tokens of the stored
reply.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.records import Question
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.clusters import HalfSampleParameters, clusters_of, equivalences, standard_error_of
from swaymeter.tasks.measures.measure import Inputs, Measure, Row
from swaymeter.tasks.measures.reply_samples import SampledReplies, sample
from swaymeter.tasks.measures.rows import QUESTION_KEY, QuestionScore, question_provenance, rows_by_question
from swaymeter.tasks.models.capabilities import Samples

if TYPE_CHECKING:
    from swaymeter.tasks.scoring.coherent_persuasion import Distribution


@table("coherent_persuasion", "a question with a context", key=QUESTION_KEY)
class CoherentPersuasion(QuestionScore):
    """A row of coherent persuasion."""

    groups_without: Annotated[int, Meaning("clusters of answers without the context")]
    groups_with: Annotated[int, Meaning("clusters of answers with the context")]
    group_sizes_without: Annotated[
        tuple[int, ...], Meaning("sizes of the clusters without the context, in the order in which they were opened")
    ]
    group_sizes_with: Annotated[
        tuple[int, ...], Meaning("sizes of the clusters with the context, in the order in which they were opened")
    ]
    coherent_persuasion: Annotated[
        float,
        Meaning("mean KL(p_h || p_g) over pairs of a cluster h with the context and a cluster g without it", "nats"),
    ]
    coherent_persuasion_standard_error: Annotated[float | None, standard_error_of("coherent_persuasion")]
    coherent_persuasion_unchanged: Annotated[
        float | None,
        Meaning(
            "the score if nothing changes: the same score between random halves of the answers without the context; "
            "NULL if no halves were drawn",
            "nats",
        ),
    ]


def compute(inputs: Inputs, model: Samples, questions: Sequence[Question]) -> Iterator[Row]:
    """Yield the scores of stored replies; the replies are sampled again for their distributions."""
    sampled = sample(inputs, model, questions)
    answers = rows_by_question(inputs, "answers", questions, "token_ids", "thought_ids")
    origins = question_provenance(inputs.scores["clusters"], questions)
    distributions = [_stored_reply_distributions(model, replies, answers[replies.key]) for replies in sampled]
    by_case = equivalences(inputs, questions)
    for row in persuasion_rows(inputs, sampled, distributions, [by_case[replies.key] for replies in sampled]):
        yield {**row, "stand_in": origins[row["question_id"], row["context_id"]]["stand_in"]}


def _stored_reply_distributions(model: Samples, sampled: SampledReplies, stored: Sequence[Row]) -> "list[Distribution]":
    """Return the mean distribution along each stored reply; the model reads a reply that differs from new samples."""
    distributions = {
        (answer.thought_ids, answer.token_ids): answer.mean_distribution for answer in sampled.finished_answers.values()
    }
    keys = [(tuple(row["thought_ids"]), tuple(row["token_ids"])) for row in stored]
    prompt = sampled.prompt.tokens if sampled.prompt else ()
    for thoughts, tokens in keys:
        if (thoughts, tokens) not in distributions:
            distributions[thoughts, tokens] = model.mean_distribution((*prompt, *thoughts), tokens)
    return [distributions[key] for key in keys]


def persuasion_rows(
    inputs: Inputs,
    sampled: Sequence[SampledReplies],
    distributions: "Sequence[Sequence[Distribution]]",
    equivalent: Sequence[NDArray[np.bool_]],
) -> Iterator[Row]:
    """Yield the scores of every context of every question, without the column `stand_in`.

    A context has no score if all replies with this context, or all closed-book replies, lack an answer. Standard errors
    need equal numbers of replies with an answer, closed-book and with each scored context of the question.

    Args:
        inputs: the inputs of the pass.
        sampled: the replies; of each question, first the closed-book replies, then the replies with each context.
        distributions: for each element of `sampled`, the mean distribution (V,) along each reply with an answer.
        equivalent: for each element of `sampled`, the equivalences (n, n) of its replies with an answer.
    """
    from swaymeter.tasks.scoring.coherent_persuasion import GroupedAnswers, between_halves, coherent_persuasions

    grouped = []
    for replies, reply_distributions, matrix in zip(sampled, distributions, equivalent, strict=True):
        clusters, halves = clusters_of(inputs, "coherent_persuasion", matrix, replies.key)
        name = f"the answers to {replies.question.printable_name} with the context {replies.case.context_id}"
        grouped.append((replies, GroupedAnswers(name, reply_distributions, clusters, halves), matrix))
    for _, grouped_by_context in groupby(grouped, key=lambda entry: entry[0].question.question_id):
        (replies_without, answers_without, matrix_without), *contexts = grouped_by_context
        with_context = [(replies, answers) for replies, answers, _ in contexts if answers.distributions]
        if not with_context or not answers_without.distributions:
            continue
        _, other_halves = clusters_of(
            inputs, "coherent_persuasion", matrix_without, replies_without.key, complement=True
        )
        unchanged = between_halves(answers_without, other_halves)
        sides = [answers_without, *(answers for _, answers in with_context)]
        if len({len(side.distributions) for side in sides}) > 1:
            sides = [replace(side, halves=()) for side in sides]
        scores = coherent_persuasions(sides[0], sides[1:])
        for (replies, answers), (score, error) in zip(with_context, scores, strict=True):
            yield {
                **replies.columns,
                "groups_without": len(answers_without.groups),
                "groups_with": len(answers.groups),
                "group_sizes_without": [len(group) for group in answers_without.groups],
                "group_sizes_with": [len(group) for group in answers.groups],
                "coherent_persuasion": score,
                "coherent_persuasion_standard_error": error,
                "coherent_persuasion_unchanged": unchanged,
            }


COHERENT_PERSUASION = Measure(
    row=CoherentPersuasion,
    version=3,
    unit="nats",
    about="questions",
    capability="samples",
    requires="distributions",
    needs=("answers", "clusters"),
    computed_with="answers",
    compute=compute,
    parameters=HalfSampleParameters,
    meaning="how far a context moves the distributions of clusters of answers",
)
