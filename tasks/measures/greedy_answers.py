"""Greedy answers: how a model goes on after a context and a query, and whose answer that is."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field

from swaymeter.data.records import Query
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.measure import Inputs, Measure, Parameters, Row
from swaymeter.tasks.measures.rows import PairScore, of_pair
from swaymeter.tasks.models.capabilities import NextTokenLogits


class GreedyAnswersParameters(Parameters):
    """How long a greedy answer may become, in tokens."""

    max_new_tokens: int = Field(default=10, ge=1, le=1000)
    """The most tokens of an answer."""


@table("greedy_answers", "a context before a query")
class GreedyAnswer(PairScore):
    """A row of greedy answers."""

    conflict: Annotated[
        Literal["substitution", "negation"] | None,
        Meaning(
            "how the context conflicts with the query's answer: substitution (a base or assertive context about the "
            "queried entity that states another) or negation (one that denies it); NULL where it does not"
        ),
    ]
    text: Annotated[str, Meaning("the greedy continuation, stripped")]
    follows: Annotated[
        Literal["original", "context", "other"], Meaning("whose answer it begins with: original, context or other")
    ]


def compute(inputs: Inputs, model: NextTokenLogits, queries: Sequence[Query]) -> Iterator[Row]:
    """The greedy continuation of every query after each of its contexts."""
    from swaymeter.tasks.scoring.memorization import conflict, follows, greedy_answers

    parameters: GreedyAnswersParameters = inputs.parameters["greedy_answers"]
    for some, contexts in inputs.asked(queries):
        texts = [context.text for context in contexts], [query.text for query in some]
        answers, engine = greedy_answers(
            model, *texts, max_new_tokens=parameters.max_new_tokens, start_token=inputs.start_token
        )
        for query, of_query in zip(some, answers, strict=True):
            for context, text in zip(contexts, of_query, strict=True):
                yield {
                    **of_pair(query, context),
                    "conflict": conflict(context.kind, context.entity == query.entity, context.object, query.answer),
                    "text": text,
                    "follows": follows(text, query.query_type, query.answer, context.kind, context.object),
                    "engine": engine,
                }


MEASURE = Measure(
    row=GreedyAnswer,
    version=1,
    meaning="the greedy continuation of a query after a context, and whose answer it gives",
    about="contexts",
    compute=compute,
    capability="next_token_logits",
    needs_answers=True,
    parameters=GreedyAnswersParameters,
)
