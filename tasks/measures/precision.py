"""Precision: how far the model's dtype moves persuasion, for a sample of queries scored in a reference dtype, too.

Which queries of a relation are sampled depends on the study's seed and the queries' ids, never on their order.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from swaymeter.data.records import Query
from swaymeter.data.records.row import Meaning, table
from swaymeter.data.storage.keys import drawn_first
from swaymeter.tasks.measures.chunks import cut_by_form
from swaymeter.tasks.measures.measure import Inputs, Measure, Parameters, Row
from swaymeter.tasks.measures.rows import QUERY_KEY, QueryScore
from swaymeter.tasks.models.capabilities import NextTokenLogits


class PrecisionParameters(Parameters):
    """How many queries of a relation are scored once more, and in which dtype."""

    queries: int = Field(default=4, ge=1, le=100_000)
    """Queries of each relation that are scored a second time."""
    reference: Literal["float32", "bfloat16", "float16"] = "float32"
    """The dtype that they are scored in."""


@table("precision", "a sampled query", key=QUERY_KEY)
class Precision(QueryScore):
    """A row of precision."""

    contexts: Annotated[int, Meaning("how many contexts the mean is over")]
    reference: Annotated[str, Meaning("the dtype that the scores are compared with")]
    susceptibility: Annotated[float, Meaning("susceptibility in the model's own dtype", "nats")]
    susceptibility_reference: Annotated[float, Meaning("susceptibility in the reference", "nats")]
    largest_difference: Annotated[float, Meaning("max over contexts of |persuasion - its reference|", "nats")]
    mean_difference: Annotated[float, Meaning("mean over contexts of |persuasion - its reference|", "nats")]


def compute(inputs: Inputs, model: NextTokenLogits, queries: Sequence[Query]) -> Iterator[Row]:
    """The sampled queries after each of their contexts, in both dtypes."""
    from swaymeter.tasks.scoring.persuasion import persuasion

    reference = _reference(inputs, model)
    for some, contexts in inputs.asked(queries):
        texts = [context.text for context in contexts], [query.text for query in some]
        own, other = (persuasion(asked, *texts, start_token=inputs.start_token) for asked in (model, reference))
        for number, (query, differences) in enumerate(zip(some, np.abs(own.scores - other.scores), strict=True)):
            yield {
                "query_id": query.query_id,
                "contexts": len(contexts),
                "reference": reference.dtype,
                "susceptibility": float(own.susceptibility[number]),
                "susceptibility_reference": float(other.susceptibility[number]),
                "largest_difference": float(differences.max()),
                "mean_difference": float(differences.mean()),
                "engine": own.engine,
            }


def _reference(inputs: Inputs, model: NextTokenLogits) -> NextTokenLogits:
    from swaymeter.tasks.models.backends import load_language_model

    parameters: PrecisionParameters = inputs.parameters["precision"]
    return load_language_model(model.name, dtype=parameters.reference, device=inputs.device, revision=model.revision)


def _chunks(inputs: Inputs, model: NextTokenLogits) -> Sequence[Sequence[Query]]:
    parameters: PrecisionParameters = inputs.parameters["precision"]
    ids = [query.query_id for query in inputs.queries]
    sampled = set(drawn_first(ids, parameters.queries, inputs.seed, "precision", inputs.relation))
    return cut_by_form([query for query in inputs.queries if query.query_id in sampled], inputs.contexts_a_query)


MEASURE = Measure(
    row=Precision,
    version=1,
    unit="nats",
    meaning="how far the model's dtype moves the scores of a sample of queries",
    about="contexts",
    compute=compute,
    capability="next_token_logits",
    parameters=PrecisionParameters,
    applies=lambda parameters, dtype: dtype != parameters.reference,
    other_model=_reference,
    chunks=_chunks,
    prompts=lambda parameters, queries, contexts: 2 * min(parameters.queries, queries) * contexts,
)
