"""A lower bound of persuasion, for models whose servers give the likeliest tokens and no whole distributions.

It has a table of its own, so that no mean, test or figure mixes it with persuasion. `scoring.persuasion_bound` has the
formula.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field

from swaymeter.data.records import Query
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.measure import Inputs, Measure, Parameters, Row
from swaymeter.tasks.measures.rows import PairScore, of_pair
from swaymeter.tasks.models.capabilities import LikeliestTokens


class PersuasionBoundParameters(Parameters):
    """How many tokens of a distribution are asked for."""

    tokens: int = Field(default=20, ge=1, le=100_000)
    """The likeliest tokens after each prompt; chat APIs give 20 at most, llama.cpp and vLLM as many as they are let."""


@table("persuasion_bound", "a context before a query")
class PersuasionBound(PairScore):
    """A row of lower bounds."""

    persuasion_bound: Annotated[float, Meaning("a lower bound of persuasion, from the tokens that were seen", "nats")]
    mass: Annotated[float, Meaning("probability of the tokens that are seen after every context of the query, 0 to 1")]
    tokens: Annotated[int, Meaning("how many these are")]


def compute(inputs: Inputs, model: LikeliestTokens, queries: Sequence[Query]) -> Iterator[Row]:
    """The bound of every context before every query."""
    from swaymeter.tasks.models.prompts.tokens import tokenized_prompts
    from swaymeter.tasks.scoring.persuasion import counted
    from swaymeter.tasks.scoring.persuasion_bound import persuasion_bound

    parameters: PersuasionBoundParameters = inputs.parameters["persuasion_bound"]
    for some, contexts in inputs.asked(queries):
        distinct, weights, places = counted([context.text for context in contexts])
        texts = [query.text for query in some]
        prompts = tokenized_prompts(model, distinct, texts, start_token=inputs.start_token)
        for number, query in enumerate(some):
            likeliest = model.likeliest([of_context[number] for of_context in prompts], parameters.tokens)
            bound = persuasion_bound(likeliest, weights.tolist())
            for context, place in zip(contexts, places, strict=True):
                yield {
                    **of_pair(query, context),
                    "engine": "plain",
                    "persuasion_bound": float(bound.scores[place]),
                    "mass": float(bound.mass[place]),
                    "tokens": bound.tokens,
                }


PERSUASION_BOUND = Measure(
    row=PersuasionBound, version=1, unit="nats", about="contexts", capability="likeliest_tokens", compute=compute,
    parameters=PersuasionBoundParameters,
    meaning="a lower bound of persuasion, for servers that give the likeliest tokens alone",
)  # fmt: skip
