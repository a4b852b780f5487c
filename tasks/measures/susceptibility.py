"""Susceptibility: how far contexts move a query on average, from stored persuasion; no model is needed.

    sigma(q) = sum_c p(c) pi(c,q), p(c) being how often the context's text occurs
Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, Eq. 4.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from data.records import Context
from data.records.row import Meaning, table
from tasks.measures.chunks import cut_by_form
from tasks.measures.measure import Chunk, Computed, Inputs, Measure, Rows
from tasks.measures.provenance import inherited
from tasks.measures.rows import QueryScore
from tasks.measures.stored import matrix, of_queries


@table("susceptibility", "a query", key=("model", "dtype", "relation", "query_id"))
@dataclass(frozen=True, slots=True, kw_only=True)
class Susceptibility(QueryScore):
    """A row of susceptibility."""

    contexts: Annotated[int, Meaning("how many contexts the mean is over")]
    susceptibility: Annotated[float, Meaning("sum over contexts of p(c) times persuasion: I(C;A|q)", "nats")]


def compute(inputs: Inputs, model: None, chunks: Sequence[Chunk]) -> Computed:
    """The mean of every query's persuasion, weighed by how often a context occurs."""
    for queries in chunks:
        yield Rows({"susceptibility": list(_rows(inputs, queries))})


def _rows(inputs: Inputs, queries: Chunk) -> Iterator[dict[str, Any]]:
    # The matrices that persuasion was computed in: a product of larger ones may be rounded otherwise.
    for some in cut_by_form(queries, len(inputs.contexts)):
        stored = of_queries(inputs.scores["persuasion"], some)
        scores = matrix(stored, some, inputs.contexts, "persuasion")
        origins = inherited(stored, "query_id")
        for query, score in zip(some, weighted_mean(scores, inputs.contexts), strict=True):
            yield {
                "query_id": query.query_id,
                "contexts": len(inputs.contexts),
                "susceptibility": float(score),
                **origins[(query.query_id,)],
            }


def weighted_mean(scores: NDArray[np.float64], contexts: Sequence[Context]) -> NDArray[np.float64]:
    """The mean of each query's scores over the distinct contexts, weighed by how often they occur: (n_queries,).

    Args:
        scores: (n_queries, n_contexts).
        contexts: in the order of the columns; those of the same text are one context.
    """
    from tasks.scoring.persuasion import counted

    distinct, weights, places = counted([context.text for context in contexts])
    first = [places.index(number) for number in range(len(distinct))]
    means: NDArray[np.float64] = np.ascontiguousarray(scores[:, first]) @ weights
    return means


MEASURE = Measure(
    name="susceptibility",
    version=1,
    unit="nats",
    meaning="how far contexts move a query on average",
    row=Susceptibility,
    about="contexts",
    compute=compute,
    needs=("persuasion",),
)
