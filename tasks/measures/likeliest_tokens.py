"""Likeliest tokens: what a model says next after a query alone, and after the contexts that persuade most and least.

Whole distributions are not stored, and these are what a person reads of them.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field

from swaymeter.data.records import Context, Query
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.chunks import cut
from swaymeter.tasks.measures.measure import Inputs, Measure, Parameters, Row
from swaymeter.tasks.measures.rows import QueryScore
from swaymeter.tasks.measures.stored import matrix
from swaymeter.tasks.models.capabilities import NextTokenLogits

ALONE = "none"
QUERIES_AT_ONCE = 16


class LikeliestTokensParameters(Parameters):
    """How many tokens are stored, and of which contexts."""

    tokens: int = Field(default=5, ge=1, le=100)
    """The likeliest tokens of a distribution."""
    most: int = Field(default=6, ge=0, le=100_000)
    """Contexts of a query that persuade most."""
    least: int = Field(default=3, ge=0, le=100_000)
    """Contexts of a query that persuade least."""


@table(
    "likeliest_tokens", "a token after a query", key=("model", "dtype", "relation", "query_id", "context_id", "rank")
)
class LikeliestToken(QueryScore):
    """A row of likeliest tokens."""

    context_id: Annotated[str, Meaning("the context before the query; none for the query alone")]
    rank: Annotated[int, Meaning("its place among the tokens, 1 for the likeliest")]
    token: Annotated[str, Meaning("what it adds to the text, as the tokenizer decodes it alone")]
    probability: Annotated[float, Meaning("p(token | context, query)")]


def compute(inputs: Inputs, model: NextTokenLogits, queries: Sequence[Query]) -> Iterator[Row]:
    """The likeliest tokens after every query, alone and after its chosen contexts."""
    from swaymeter.tasks.models.next_token.prompts import tokenized_prompts
    from swaymeter.tasks.scoring.first_token import next_tokens

    parameters: LikeliestTokensParameters = inputs.parameters["likeliest_tokens"]
    chosen = [
        (query, contexts)
        for some, contexts_of_some in inputs.asked(queries)
        for query, contexts in _extremes(inputs, some, contexts_of_some, parameters)
    ]
    for batch in cut(chosen, QUERIES_AT_ONCE):
        prompts = []
        for query, contexts in batch:
            texts = ["", *(context.text for context in contexts)]
            tokens_of = tokenized_prompts(model, texts, [query.text], start_token=inputs.start_token)
            ids = (ALONE, *(context.context_id for context in contexts))
            prompts += [(query, context_id, tokens[0]) for context_id, tokens in zip(ids, tokens_of, strict=True)]
        read = next_tokens(model, [tokens for _, _, tokens in prompts])
        for place, (query, context_id, _) in enumerate(prompts):
            for rank, (token, probability) in enumerate(read.first(place, parameters.tokens), 1):
                yield {
                    "query_id": query.query_id, "context_id": context_id, "rank": rank,
                    "token": model.tokenizer.decode([token]), "probability": probability, "engine": "plain",
                }  # fmt: skip


def _extremes(
    inputs: Inputs, queries: Sequence[Query], contexts: Sequence[Context], parameters: LikeliestTokensParameters
) -> Iterator[tuple[Query, list[Context]]]:
    """Each query with the contexts that persuade most and least, all of them where there are no more."""
    for query, scores in zip(
        queries, matrix(inputs.scores["persuasion"], queries, contexts, "persuasion"), strict=True
    ):
        pairs = zip(contexts, scores, strict=True)
        order = [one for one, _ in sorted(pairs, key=lambda pair: (-pair[1], pair[0].context_id))]
        least = max(parameters.most, len(order) - parameters.least)
        yield query, order[: parameters.most] + order[least:]


def _count(parameters: LikeliestTokensParameters, queries: int, contexts: int) -> int:
    return queries * (1 + min(contexts, parameters.most + parameters.least))


MEASURE = Measure(
    row=LikeliestToken,
    version=1,
    meaning="the likeliest tokens after a query, alone and after the contexts that persuade most and least",
    about="contexts",
    compute=compute,
    capability="next_token_logits",
    needs=("persuasion",),
    parameters=LikeliestTokensParameters,
    prompts=_count,
)
