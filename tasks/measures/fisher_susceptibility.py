"""Fisher susceptibility: how far small changes of a query's embeddings would move its next-token distribution."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import Field

from swaymeter.data.records import Query
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.measure import Inputs, Measure, Parameters, Row, cut_by_form, zero_or_at_least
from swaymeter.tasks.measures.rows import QUERY_KEY, QueryScore
from swaymeter.tasks.models.capabilities import Differentiable

UNIT = "nats per squared embedding unit"


class FisherParameters(Parameters):
    """Number of next tokens that are computed exactly, and draws of random signs for all other tokens."""

    top_k: int = Field(default=10, ge=1, le=10_000)
    """The likeliest next tokens, which are computed exactly."""
    draws: Annotated[int, Field(ge=0, le=100_000), zero_or_at_least(32, "for the likeliest tokens alone")] = 64
    """Draws of random signs for all other tokens; 0 for none."""


@table("fisher_susceptibility", "a query", key=QUERY_KEY)
class FisherSusceptibility(QueryScore):
    """A row of Fisher susceptibility."""

    top_k: Annotated[int, Meaning("how many of the likeliest next tokens are computed exactly")]
    fisher_top_k: Annotated[float, Meaning("Tr J over the top_k tokens a: sum_a p(a|q) |d log p(a|q)|^2", UNIT)]
    draws: Annotated[int, Meaning("how often signs were drawn for the other tokens; 0 if they are left out")]
    fisher: Annotated[float | None, Meaning("Tr J over the whole vocabulary; NULL if draws is 0", UNIT)]
    fisher_standard_error: Annotated[float | None, Meaning("its standard error over the draws", UNIT)]


def compute(inputs: Inputs, model: Differentiable, queries: Sequence[Query]) -> Iterator[Row]:
    """Yield the scores of queries without contexts; the column `fisher` is None without draws."""
    from swaymeter.tasks.scoring.fisher import fisher_susceptibility

    parameters: FisherParameters = inputs.parameters["fisher_susceptibility"]
    top_k, draws = parameters.top_k, parameters.draws
    texts = [query.text for query in queries]
    options: dict[str, Any] = {"top_k": top_k}
    if draws:
        # With top_k=None, the score is over the whole vocabulary: the `exact` likeliest tokens are computed exactly,
        # all other tokens by draws.
        options = {"top_k": None, "draws": draws, "exact": top_k, "seed": inputs.seed}
    result = fisher_susceptibility(model, texts, start_token=inputs.start_token, **options)
    for query, top_k_trace, trace, error in zip(
        queries, result.top_k_trace, result.trace, result.standard_error, strict=True
    ):
        yield {
            "query_id": query.query_id,
            "top_k": top_k,
            "fisher_top_k": float(top_k_trace),
            "draws": draws,
            "fisher": float(trace) if draws else None,
            "fisher_standard_error": float(error) if draws else None,
            "engine": "autograd",
        }


def _chunks(inputs: Inputs, model: Differentiable) -> Sequence[Sequence[Query]]:
    """Return chunks by the cost of a query: `top_k + draws` derivatives."""
    parameters: FisherParameters = inputs.parameters["fisher_susceptibility"]
    return cut_by_form(inputs.queries, parameters.top_k + parameters.draws)


FISHER_SUSCEPTIBILITY = Measure(
    row=FisherSusceptibility,
    version=1,
    unit=UNIT,
    about="queries",
    capability="gradients",
    compute=compute,
    chunks=_chunks,
    parameters=FisherParameters,
    meaning="how far small changes of its embeddings would move a query's next-token distribution; no context is read",
)
