"""Susceptibility: how far contexts move a query on average, from stored persuasion; no model is needed.

    sigma(q) = sum_c p(c) pi(c,q), p(c) being how often the context's text occurs
Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, Eq. 4.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.records import Context, Query
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.chunks import cut_by_form
from swaymeter.tasks.measures.measure import Inputs, Measure, Row
from swaymeter.tasks.measures.rows import QUERY_KEY, QueryScore
from swaymeter.tasks.measures.stored import inherited, matrix


@table("susceptibility", "a query", key=QUERY_KEY)
class Susceptibility(QueryScore):
    """A row of susceptibility."""

    contexts: Annotated[int, Meaning("how many contexts the mean is over")]
    susceptibility: Annotated[float, Meaning("sum over contexts of p(c) times persuasion: I(C;A|q)", "nats")]


def compute(inputs: Inputs, model: None, queries: Sequence[Query]) -> Iterator[Row]:
    """The mean of every query's persuasion, weighed by how often a context occurs."""
    stored = inputs.scores["persuasion"]
    origins = inherited(stored, "query_id")
    # The matrices that persuasion was computed in: a product of larger ones may be rounded otherwise.
    for chunk in cut_by_form(queries, inputs.contexts_a_query):
        for some, contexts in inputs.asked(chunk):
            scores = matrix(stored, some, contexts, "persuasion")
            for query, score in zip(some, weighted_mean(scores, contexts), strict=True):
                yield {**origins[query.query_id], "contexts": len(contexts), "susceptibility": float(score)}


def weighted_mean(scores: NDArray[np.float64], contexts: Sequence[Context]) -> NDArray[np.float64]:
    """The mean of scores (n_queries, n_contexts) over contexts, equal texts as often as they occur: (n_queries,)."""
    from swaymeter.tasks.scoring.persuasion import counted

    distinct, weights, places = counted([context.text for context in contexts])
    first = [places.index(number) for number in range(len(distinct))]
    means: NDArray[np.float64] = np.ascontiguousarray(scores[:, first]) @ weights
    return means


MEASURE = Measure(
    row=Susceptibility,
    version=1,
    unit="nats",
    meaning="how far contexts move a query on average",
    about="contexts",
    compute=compute,
    needs=("persuasion",),
)
