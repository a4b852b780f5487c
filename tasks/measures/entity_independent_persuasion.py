"""Entity-independent persuasion: how far a context moves a query form, from stored persuasion; no model is needed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from data.records import Query, QueryType
from data.records.row import Meaning, table
from data.records.score import Score
from tasks.measures.measure import Chunk, Computed, Inputs, Measure, Row, Rows
from tasks.measures.provenance import inherited
from tasks.measures.stored import matrix, of_queries


@dataclass(frozen=True, slots=True, kw_only=True)
class FormScore(Score):
    """A score of a query form."""

    query_type: Annotated[QueryType, Meaning("open (a question or a sentence to complete) or closed (yes or no)")]
    form: Annotated[int, Meaning("which of the two forms of its type: 1 or 2")]
    entities: Annotated[int, Meaning("how many entities the mean is over")]


@table(
    "entity_independent_persuasion",
    "a context under a query form",
    key=("model", "dtype", "relation", "query_type", "form", "context_id"),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class EntityIndependentPersuasion(FormScore):
    """A row of entity-independent persuasion."""

    context_id: Annotated[str, Meaning("the context")]
    entity_independent_persuasion: Annotated[float, Meaning("mean persuasion over the form's entities", "nats")]


def compute(inputs: Inputs, model: None, chunks: Sequence[Chunk]) -> Computed:
    """The mean persuasion of every context over the entities of every form."""
    from tasks.scoring.entity_independent import entity_independent_persuasion

    for queries in chunks:
        rows: list[dict[str, Any]] = []
        for common, scores in of_forms(inputs, queries):
            rows += [
                {**common, "context_id": context.context_id, "entity_independent_persuasion": float(score)}
                for context, score in zip(inputs.contexts, entity_independent_persuasion(scores), strict=True)
            ]
        yield Rows({"entity_independent_persuasion": rows})


def of_forms(inputs: Inputs, queries: Sequence[Query]) -> Iterator[tuple[Row, NDArray[np.float64]]]:
    """What the rows of a form share, and its persuasion scores, (n_entities, n_contexts) in nats; form by form."""
    forms: dict[tuple[QueryType, int], list[Query]] = {}
    for query in queries:
        forms.setdefault((query.query_type, query.form), []).append(query)
    for (query_type, form), some in sorted(forms.items()):
        stored = of_queries(inputs.scores["persuasion"], some)
        scores = matrix(stored, some, inputs.contexts, "persuasion")
        yield {"query_type": query_type, "form": form, "entities": len(some), **inherited(stored)[()]}, scores


MEASURE = Measure(
    name="entity_independent_persuasion",
    version=1,
    unit="nats",
    meaning="how far a context moves a query form, whichever entity it asks about",
    row=EntityIndependentPersuasion,
    about="contexts",
    compute=compute,
    needs=("persuasion",),
)
