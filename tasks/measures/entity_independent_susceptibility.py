"""Entity-independent susceptibility: how far contexts move a query form, from stored persuasion; no model is needed."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from swaymeter.data.records import Query
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.entity_independent_persuasion import FORM_KEY, FormScore, of_forms
from swaymeter.tasks.measures.measure import Inputs, Measure, Row


@table("entity_independent_susceptibility", "a query form", key=FORM_KEY)
class EntityIndependentSusceptibility(FormScore):
    """A row of entity-independent susceptibility."""

    contexts: Annotated[int, Meaning("how many contexts the mean is over")]
    entity_independent_susceptibility: Annotated[
        float, Meaning("sum over contexts of p(c) times entity-independent persuasion", "nats")
    ]


def compute(inputs: Inputs, model: None, queries: Sequence[Query]) -> Iterator[Row]:
    """The mean over contexts and entities of every form."""
    from swaymeter.tasks.scoring.entity_independent import entity_independent_susceptibility

    for common, scores in of_forms(inputs, queries):
        score = entity_independent_susceptibility(scores)
        yield {**common, "contexts": len(inputs.contexts), "entity_independent_susceptibility": score}


MEASURE = Measure(
    row=EntityIndependentSusceptibility,
    version=1,
    unit="nats",
    meaning="how far contexts move a query form on average, whichever entity it asks about",
    about="contexts",
    compute=compute,
    needs=("persuasion",),
    every_context=True,
)
