"""Greedy replies to a query after each context, and the memorization ratio over these replies."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field

from swaymeter.data.records import Query
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.measure import Inputs, Measure, Parameters, Row
from swaymeter.tasks.measures.rows import QUERY_KEY, PairScore, QueryScore, pair_columns, provenance
from swaymeter.tasks.models.capabilities import NextTokenLogits


class GreedyAnswersParameters(Parameters):
    """Length of a greedy reply."""

    max_new_tokens: int = Field(default=10, ge=1, le=1000)
    """Upper bound on the tokens of an answer."""


@table("greedy_answers", "a context before a query")
class GreedyAnswer(PairScore):
    """A row of greedy answers."""

    conflict: Annotated[
        Literal["substitution", "negation"] | None,
        Meaning(
            "how the context conflicts with the query's answer: substitution (a base or assertive context states "
            "another answer for the queried entity) or negation (a negation denies the answer); NULL without a conflict"
        ),
    ]
    text: Annotated[str, Meaning("the greedy continuation, stripped")]
    follows: Annotated[
        Literal["original", "context", "other"], Meaning("whose answer it begins with: original, context or other")
    ]


def _greedy_answers(inputs: Inputs, model: NextTokenLogits, queries: Sequence[Query]) -> Iterator[Row]:
    from swaymeter.tasks.scoring.memorization import conflict, follows, greedy_answers

    parameters: GreedyAnswersParameters = inputs.parameters["greedy_answers"]
    for group, contexts in inputs.by_contexts(queries):
        answers, engine = greedy_answers(
            model,
            [context.text for context in contexts],
            [query.text for query in group],
            max_new_tokens=parameters.max_new_tokens,
            start_token=inputs.start_token,
        )
        for query, answers_to_query in zip(group, answers, strict=True):
            for context, text in zip(contexts, answers_to_query, strict=True):
                yield {
                    **pair_columns(query, context),
                    "engine": engine,
                    "text": text,
                    "conflict": conflict(context.kind, context.entity == query.entity, context.object, query.answer),
                    "follows": follows(text, query.query_type, query.answer, context.kind, context.object),
                }


GREEDY_ANSWERS = Measure(
    row=GreedyAnswer,
    version=1,
    about="contexts",
    capability="next_token_logits",
    compute=_greedy_answers,
    needs_answers=True,
    parameters=GreedyAnswersParameters,
    meaning="the greedy continuation of a query after a context, and whose answer it gives",
)


@table("memorization_ratio", "a query", key=QUERY_KEY)
class MemorizationRatio(QueryScore):
    """A row of memorization ratios."""

    original: Annotated[int, Meaning("after substitutions: answers that give the original answer")]
    substitute: Annotated[int, Meaning("after substitutions: answers that give the context's")]
    memorization_ratio: Annotated[
        float | None, Meaning("original / (original + substitute) over substitutions; NULL if both are 0")
    ]
    negation_original: Annotated[int, Meaning("after negations: answers that give the original answer")]
    negation_substitute: Annotated[int, Meaning("after negations: answers that give any other answer")]
    all_original: Annotated[
        int,
        Meaning(
            "after contexts of any kind: answers that give the original answer; contexts with equal texts count once"
        ),
    ]
    all_substitute: Annotated[
        int,
        Meaning("after contexts of any kind: answers that give the context's; contexts with equal texts count once"),
    ]
    memorization_ratio_all: Annotated[
        float | None,
        Meaning("all_original / (all_original + all_substitute), the ratio of the released code; NULL if both are 0"),
    ]


def _memorization_ratio(inputs: Inputs, model: None, queries: Sequence[Query]) -> Iterator[Row]:
    from swaymeter.tasks.scoring.memorization import Reply, count

    stored = inputs.scores["greedy_answers"]
    origins = provenance(stored, "query_id")
    texts = {context.context_id: context.text for context in inputs.contexts}
    replies: dict[str, list[Reply]] = {query.query_id: [] for query in queries}
    for row in stored.select(["query_id", "context_id", "conflict", "follows"]).to_pylist():
        replies[row["query_id"]].append(Reply(texts[row["context_id"]], row["conflict"], row["follows"]))
    for query_id, replies_of_query in replies.items():
        yield {**origins[query_id], **count(replies_of_query)}


MEMORIZATION_RATIO = Measure(
    row=MemorizationRatio,
    version=2,
    about="contexts",
    needs=("greedy_answers",),
    compute=_memorization_ratio,
    meaning="how often a model holds on to a query's answer although contexts conflict with it",
)
