"""Precision: how far the model's dtype moves persuasion, for a sample of queries scored in a reference dtype, too.

Which queries of a relation are sampled depends on the study's seed and the queries' ids, never on their order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from data.records.row import Meaning, table
from data.storage.keys import drawn_first
from tasks.measures.chunks import cut_by_form
from tasks.measures.measure import Amounts, Chunk, Computed, Inputs, Measure, Parameters, Rows
from tasks.measures.rows import QueryScore


class PrecisionParameters(Parameters):
    """How many queries of a relation are scored once more, and in which dtype."""

    queries: int = Field(default=4, ge=1, le=100_000)
    """Queries of each relation that are scored a second time."""
    reference: Literal["float32", "bfloat16", "float16"] = "float32"
    """The dtype that they are scored in."""


@table("precision", "a sampled query", key=("model", "dtype", "relation", "query_id"))
@dataclass(frozen=True, slots=True, kw_only=True)
class Precision(QueryScore):
    """A row of precision."""

    contexts: Annotated[int, Meaning("how many contexts the mean is over")]
    reference: Annotated[str, Meaning("the dtype that the scores are compared with")]
    susceptibility: Annotated[float, Meaning("susceptibility in the model's own dtype", "nats")]
    susceptibility_reference: Annotated[float, Meaning("susceptibility in the reference", "nats")]
    largest_difference: Annotated[float, Meaning("max over contexts of |persuasion - its reference|", "nats")]
    mean_difference: Annotated[float, Meaning("mean over contexts of |persuasion - its reference|", "nats")]


def compute(inputs: Inputs, model: Any, chunks: Sequence[Chunk]) -> Computed:
    """The sampled queries after every context, in both dtypes."""
    from tasks.models import load_language_model
    from tasks.scoring.persuasion import persuasion

    parameters: PrecisionParameters = inputs.parameters["precision"]
    reference = load_language_model(model.name, dtype=parameters.reference, device=inputs.device)
    contexts = [context.text for context in inputs.contexts]
    for queries in chunks:
        passes = reference.forward_passes
        own, other = (persuasion(item, contexts, [query.text for query in queries]) for item in (model, reference))
        differences = np.abs(own.scores - other.scores)
        rows = [
            {
                "query_id": query.query_id,
                "contexts": len(contexts),
                "reference": reference.dtype,
                "susceptibility": float(own.susceptibility[number]),
                "susceptibility_reference": float(other.susceptibility[number]),
                "largest_difference": float(differences[number].max()),
                "mean_difference": float(differences[number].mean()),
                "engine": own.engine,
            }
            for number, query in enumerate(queries)
        ]
        yield Rows({"precision": rows}, forward_passes=reference.forward_passes - passes)


def _chunks(inputs: Inputs, model: Any) -> Sequence[Chunk]:
    parameters: PrecisionParameters = inputs.parameters["precision"]
    ids = [query.query_id for query in inputs.queries]
    sampled = set(drawn_first(ids, parameters.queries, inputs.seed, "precision", inputs.relation))
    return cut_by_form([query for query in inputs.queries if query.query_id in sampled], len(inputs.contexts))


def _prompts(amounts: Amounts, parameters: PrecisionParameters) -> int:
    return 2 * min(parameters.queries, amounts.queries) * amounts.contexts


MEASURE = Measure(
    name="precision",
    version=1,
    unit="nats",
    meaning="how far the model's dtype moves the scores of a sample of queries",
    row=Precision,
    about="contexts",
    compute=compute,
    capability="next_token_logits",
    parameters=PrecisionParameters,
    chunks=_chunks,
    prompts=_prompts,
)
