"""Answer-set persuasion: how far a context moves a query's distribution over the complete answers of the relation.

The complete answers of an open query are the distinct objects of the relation's queries and contexts. The complete
answers of a closed query are Yes and No. Answer-set susceptibility is the mean of stored answer-set persuasion over
contexts.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Annotated

from pydantic import Field, field_validator

from swaymeter.data.records import Query, QueryType
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.measure import Inputs, Measure, Parameters, Row
from swaymeter.tasks.measures.persuasion import means_over_contexts
from swaymeter.tasks.measures.rows import QUERY_KEY, PairScore, QueryScore, matrix, pair_rows, provenance
from swaymeter.tasks.models.capabilities import AnswerScores


class AnswerSetParameters(Parameters):
    """The ends of a complete answer."""

    terminators: tuple[str, ...] = Field(default=("\n", "."), min_length=1)
    """Texts that end an answer."""

    @field_validator("terminators")
    @classmethod
    def _check_terminators(cls, terminators: tuple[str, ...]) -> tuple[str, ...]:
        if "" in terminators or len(set(terminators)) < len(terminators):
            raise ValueError(
                'has an empty text or the same text twice; write different texts, for example ["\\n", "."]'
            )
        return terminators


@table("answer_set_persuasion", "a context before a query")
class AnswerSetPersuasion(PairScore):
    """A row of answer-set persuasion."""

    answer_set_persuasion: Annotated[float, Meaning("persuasion over complete answers in place of next tokens", "nats")]
    mass: Annotated[float, Meaning("probability of the whole set of complete answers, 0 to 1")]


def _answer_set_persuasion(inputs: Inputs, model: AnswerScores, queries: Sequence[Query]) -> Iterator[Row]:
    from swaymeter.tasks.scoring.answer_set import answer_set_persuasion

    parameters: AnswerSetParameters = inputs.parameters["answer_set_persuasion"]
    for query_type, grouped in groupby(queries, key=lambda query: query.query_type):
        answers = [[answer] for answer in complete_answers(inputs, query_type)]
        for group, contexts in inputs.by_contexts(list(grouped)):
            result = answer_set_persuasion(
                model,
                [context.text for context in contexts],
                [query.text for query in group],
                answers,
                terminators=parameters.terminators,
                start_token=inputs.start_token,
            )
            yield from pair_rows(group, contexts, result.engine, answer_set_persuasion=result.scores, mass=result.mass)


def complete_answers(inputs: Inputs, query_type: QueryType) -> list[str]:
    """Return the complete answers of a relation's queries of a type, sorted."""
    if query_type == "closed":
        return ["No", "Yes"]
    answers_of_queries = {query.answer for query in inputs.queries}
    objects_of_contexts = {context.object for context in inputs.contexts if context.object}
    return sorted(answers_of_queries | objects_of_contexts)


ANSWER_SET_PERSUASION = Measure(
    row=AnswerSetPersuasion,
    version=1,
    unit="nats",
    about="contexts",
    capability="answer_scores",
    compute=_answer_set_persuasion,
    needs_answers=True,
    parameters=AnswerSetParameters,
    meaning="how far a context moves a query's distribution over the relation's complete answers",
)


@table("answer_set_susceptibility", "a query", key=QUERY_KEY)
class AnswerSetSusceptibility(QueryScore):
    """A row of answer-set susceptibility."""

    contexts: Annotated[int, Meaning("how many contexts the mean is over")]
    answers: Annotated[int, Meaning("how many different answers the set has")]
    answer_set_susceptibility: Annotated[
        float, Meaning("sum over contexts of p(c) times answer-set persuasion", "nats")
    ]
    mass: Annotated[float, Meaning("probability of the whole set of complete answers, mean over the contexts")]


def _answer_set_susceptibility(inputs: Inputs, model: None, queries: Sequence[Query]) -> Iterator[Row]:
    query_types = {query.query_type for query in queries}
    n_answers = {query_type: len(complete_answers(inputs, query_type)) for query_type in query_types}
    stored = inputs.scores["answer_set_persuasion"]
    origins = provenance(stored, "query_id")
    for group, contexts, means in means_over_contexts(inputs, queries, "answer_set_persuasion", by_type=True):
        for query, score, mass in zip(group, means, matrix(stored, group, contexts, "mass"), strict=True):
            columns = {"contexts": len(contexts), "answers": n_answers[query.query_type], "mass": float(mass.mean())}
            yield {**origins[query.query_id], **columns, "answer_set_susceptibility": float(score)}


ANSWER_SET_SUSCEPTIBILITY = Measure(
    row=AnswerSetSusceptibility,
    version=1,
    unit="nats",
    about="contexts",
    needs=("answer_set_persuasion",),
    compute=_answer_set_susceptibility,
    meaning="how far contexts move a query's distribution over the relation's complete answers on average",
)
