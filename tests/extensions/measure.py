"""Persuasion range: how far apart contexts pull a query, from stored persuasion; no model is needed."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from swaymeter.data.records import Query
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.measure import Inputs, Measure, Row
from swaymeter.tasks.measures.rows import QUERY_KEY, QueryScore, matrix, provenance


@table("persuasion_range", "a query", key=QUERY_KEY)
class PersuasionRange(QueryScore):
    """A row of persuasion ranges."""

    persuasion_range: Annotated[float, Meaning("largest minus smallest persuasion of the contexts", "nats")]


def compute(inputs: Inputs, model: None, queries: Sequence[Query]) -> Iterator[Row]:
    """Yield the range of each query's persuasion over the contexts of its relation."""
    stored = inputs.scores["persuasion"]
    origins = provenance(stored, "query_id")
    for group, contexts in inputs.by_contexts(queries):  # queries with the same contexts
        for query, scores in zip(group, matrix(stored, group, contexts, "persuasion"), strict=True):
            yield {**origins[query.query_id], "persuasion_range": float(scores.max() - scores.min())}


MEASURE = Measure(
    row=PersuasionRange,
    version=1,
    unit="nats",
    meaning="how far apart contexts pull a query",
    about="contexts",
    compute=compute,
    needs=("persuasion",),
)
