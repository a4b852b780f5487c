"""Entity-independent scores: how far contexts move a query form, whichever entity the query is about.

A relation has four query forms: two open and two closed query templates. The scores are means of stored persuasion over
entities, and need no model.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.records import Query, QueryType
from swaymeter.data.records.row import Meaning, table
from swaymeter.data.records.score import Score
from swaymeter.tasks.measures.measure import Inputs, Measure, Row, by_form
from swaymeter.tasks.measures.rows import matrix, provenance, rows_of

FORM_KEY = ("model", "dtype", "relation", "query_type", "form")


@dataclass(frozen=True, slots=True, kw_only=True)
class FormScore(Score):
    """A score of a query form."""

    query_type: Annotated[QueryType, Meaning("open (a question or a sentence to complete) or closed (yes or no)")]
    form: Annotated[int, Meaning("which of the two forms of its type: 1 or 2")]
    entities: Annotated[int, Meaning("how many entities the mean is over")]


@table("entity_independent_persuasion", "a context under a query form", key=(*FORM_KEY, "context_id"))
class EntityIndependentPersuasion(FormScore):
    """A row of entity-independent persuasion."""

    context_id: Annotated[str, Meaning("the context")]
    entity_independent_persuasion: Annotated[float, Meaning("mean persuasion over the form's entities", "nats")]


@table("entity_independent_susceptibility", "a query form", key=FORM_KEY)
class EntityIndependentSusceptibility(FormScore):
    """A row of entity-independent susceptibility."""

    contexts: Annotated[int, Meaning("how many contexts the mean is over")]
    entity_independent_susceptibility: Annotated[
        float, Meaning("sum over contexts of p(c) times entity-independent persuasion", "nats")
    ]


def _means_by_form(inputs: Inputs, queries: Sequence[Query]) -> Iterator[tuple[Row, NDArray[np.float64]]]:
    """Yield for each form the common columns, and the mean persuasion of each context, (n_contexts,) in nats."""
    for (query_type, form), grouped in groupby(by_form(queries), key=lambda query: (query.query_type, query.form)):
        group = list(grouped)
        stored = rows_of(inputs.scores["persuasion"], group)
        origin = provenance(stored, "relation")[inputs.relation]
        means = matrix(stored, group, inputs.contexts, "persuasion").mean(axis=0)
        yield {**origin, "query_type": query_type, "form": form, "entities": len(group)}, means


def _persuasion(inputs: Inputs, model: None, queries: Sequence[Query]) -> Iterator[Row]:
    for common, means in _means_by_form(inputs, queries):
        for context, score in zip(inputs.contexts, means, strict=True):
            yield {**common, "context_id": context.context_id, "entity_independent_persuasion": float(score)}


def _susceptibility(inputs: Inputs, model: None, queries: Sequence[Query]) -> Iterator[Row]:
    """Yield the mean over contexts and entities of every form; contexts with equal texts count separately."""
    for common, means in _means_by_form(inputs, queries):
        score = float(means.mean())
        yield {**common, "contexts": len(inputs.contexts), "entity_independent_susceptibility": score}


ENTITY_INDEPENDENT_PERSUASION = Measure(
    row=EntityIndependentPersuasion,
    version=1,
    unit="nats",
    about="contexts",
    needs=("persuasion",),
    compute=_persuasion,
    every_context=True,
    meaning="how far a context moves a query form, whichever entity it asks about",
)
ENTITY_INDEPENDENT_SUSCEPTIBILITY = Measure(
    row=EntityIndependentSusceptibility,
    version=1,
    unit="nats",
    about="contexts",
    needs=("persuasion",),
    compute=_susceptibility,
    every_context=True,
    meaning="how far contexts move a query form on average, whichever entity it asks about",
)
