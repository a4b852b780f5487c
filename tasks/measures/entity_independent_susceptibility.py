"""Entity-independent susceptibility: how far contexts move a query form, from stored persuasion; no model is needed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from data.records.row import Meaning, table
from tasks.measures.entity_independent_persuasion import FormScore, of_forms
from tasks.measures.measure import Chunk, Computed, Inputs, Measure, Rows


@table(
    "entity_independent_susceptibility",
    "a query form",
    key=("model", "dtype", "relation", "query_type", "form"),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class EntityIndependentSusceptibility(FormScore):
    """A row of entity-independent susceptibility."""

    contexts: Annotated[int, Meaning("how many contexts the mean is over")]
    entity_independent_susceptibility: Annotated[
        float, Meaning("sum over contexts of p(c) times entity-independent persuasion", "nats")
    ]


def compute(inputs: Inputs, model: None, chunks: Sequence[Chunk]) -> Computed:
    """The mean over contexts and entities of every form."""
    from tasks.scoring.entity_independent import entity_independent_susceptibility

    for queries in chunks:
        rows = [
            {
                **common,
                "contexts": len(inputs.contexts),
                "entity_independent_susceptibility": entity_independent_susceptibility(scores),
            }
            for common, scores in of_forms(inputs, queries)
        ]
        yield Rows({"entity_independent_susceptibility": rows})


MEASURE = Measure(
    name="entity_independent_susceptibility",
    version=1,
    unit="nats",
    meaning="how far contexts move a query form on average, whichever entity it asks about",
    row=EntityIndependentSusceptibility,
    about="contexts",
    compute=compute,
    needs=("persuasion",),
)
