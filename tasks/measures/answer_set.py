"""Answer-set persuasion: every context before every query, answers being the complete ones of the relation.

The answers of a relation are the different objects that its queries and contexts name; those of a closed query are Yes
and No. Answer-set susceptibility is the mean of stored scores over contexts.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Annotated

from pydantic import Field, field_validator

from swaymeter.data.records import Query, QueryType
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.measure import Inputs, Measure, Parameters, Row, cut_by_form
from swaymeter.tasks.measures.persuasion import weighted_mean
from swaymeter.tasks.measures.rows import QUERY_KEY, PairScore, QueryScore, inherited, matrix, pair_rows
from swaymeter.tasks.models.capabilities import AnswerScores


class AnswerSetParameters(Parameters):
    """What may end a complete answer."""

    terminators: tuple[str, ...] = Field(default=("\n", "."), min_length=1)
    """Texts that end an answer."""

    @field_validator("terminators")
    @classmethod
    def _texts(cls, terminators: tuple[str, ...]) -> tuple[str, ...]:
        if "" in terminators or len(set(terminators)) < len(terminators):
            raise ValueError('expected different texts, none of them empty, such as ["\\n", "."]')
        return terminators


@table("answer_set_persuasion", "a context before a query")
class AnswerSetPersuasion(PairScore):
    """A row of answer-set persuasion."""

    answer_set_persuasion: Annotated[float, Meaning("persuasion, with a over complete answers", "nats")]
    mass: Annotated[float, Meaning("probability of the whole set of complete answers, 0 to 1")]


def _answer_set_persuasion(inputs: Inputs, model: AnswerScores, queries: Sequence[Query]) -> Iterator[Row]:
    """The contexts of a relation before its queries, open and closed queries with their own answers."""
    from swaymeter.tasks.scoring.answer_set import answer_set_persuasion

    parameters: AnswerSetParameters = inputs.parameters["answer_set_persuasion"]
    for query_type, grouped in groupby(queries, key=lambda query: query.query_type):
        answers = [[answer] for answer in complete_answers(inputs, query_type)]
        for some, contexts in inputs.asked(list(grouped)):
            texts = [context.text for context in contexts], [query.text for query in some]
            result = answer_set_persuasion(
                model, *texts, answers, terminators=parameters.terminators, start_token=inputs.start_token
            )
            yield from pair_rows(some, contexts, result.engine, answer_set_persuasion=result.scores, mass=result.mass)


def complete_answers(inputs: Inputs, query_type: QueryType) -> list[str]:
    """The answers that queries of a type can have in a relation, sorted."""
    if query_type == "closed":
        return ["No", "Yes"]
    return sorted(
        {query.answer for query in inputs.queries} | {context.object for context in inputs.contexts if context.object}
    )


ANSWER_SET_PERSUASION = Measure(
    row=AnswerSetPersuasion,
    version=1,
    unit="nats",
    meaning="how far a context moves a query's distribution over the relation's complete answers",
    about="contexts",
    compute=_answer_set_persuasion,
    capability="answer_scores",
    needs_answers=True,
    parameters=AnswerSetParameters,
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
    """The mean of every query's answer-set persuasion, and of the probability of its answers."""
    stored = inputs.scores["answer_set_persuasion"]
    origins = inherited(stored, "query_id")
    answers = {kind: len(complete_answers(inputs, kind)) for kind in {query.query_type for query in queries}}
    for chunk in cut_by_form(queries, inputs.contexts_a_query):
        for _, grouped in groupby(chunk, key=lambda query: query.query_type):
            for some, contexts in inputs.asked(list(grouped)):
                columns = ("answer_set_persuasion", "mass")
                scores, masses = (matrix(stored, some, contexts, column) for column in columns)
                for query, score, mass in zip(some, weighted_mean(scores, contexts), masses, strict=True):
                    yield {
                        **origins[query.query_id],
                        "contexts": len(contexts),
                        "answers": answers[query.query_type],
                        "answer_set_susceptibility": float(score),
                        "mass": float(mass.mean()),
                    }


ANSWER_SET_SUSCEPTIBILITY = Measure(
    row=AnswerSetSusceptibility,
    version=1,
    unit="nats",
    meaning="how far contexts move a query's distribution over the relation's complete answers on average",
    about="contexts",
    compute=_answer_set_susceptibility,
    needs=("answer_set_persuasion",),
)
