"""Persuasion range: how far apart contexts pull a query, from stored persuasion; no model is needed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from data.records.row import Meaning, table
from tasks.measures.measure import Chunk, Computed, Inputs, Measure, Rows
from tasks.measures.provenance import inherited
from tasks.measures.rows import QueryScore
from tasks.measures.stored import matrix, of_queries


@table("persuasion_range", "a query", key=("model", "dtype", "relation", "query_id"))
@dataclass(frozen=True, slots=True, kw_only=True)
class PersuasionRange(QueryScore):
    """A row of persuasion ranges."""

    persuasion_range: Annotated[float, Meaning("largest minus smallest persuasion of the contexts", "nats")]


def compute(inputs: Inputs, model: None, chunks: Sequence[Chunk]) -> Computed:
    """The range of every query's persuasion over the contexts of its relation."""
    for queries in chunks:
        stored = of_queries(inputs.scores["persuasion"], queries)
        scores = matrix(stored, queries, inputs.contexts, "persuasion")
        origins = inherited(stored, "query_id")
        rows = [
            {"query_id": query.query_id, "persuasion_range": float(of_query.max() - of_query.min())}
            | origins[(query.query_id,)]
            for query, of_query in zip(queries, scores, strict=True)
        ]
        yield Rows({"persuasion_range": rows})


MEASURE = Measure(
    name="persuasion_range",
    version=1,
    unit="nats",
    meaning="how far apart contexts pull a query",
    row=PersuasionRange,
    about="contexts",
    compute=compute,
    needs=("persuasion",),
)
