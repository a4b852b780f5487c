"""How far the most susceptible entities of about one degree, or one count in a corpus, are swayed; not a fit.

    bound(d) = 95th percentile of the susceptibility of real entities of degree (count) d / 2 to 2 d, d > 0

Groups: the real entities near a degree, whole or under the relation, or near a count, their own or that near their
answer, of a query type, where they are at least 20. Unit of analysis: an entity of a relation with the mean over its
forms.

Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, figures 9 and 10.
"""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.records.statistics import EnvelopePoint
from swaymeter.tasks.statistics.frames import ALL, by
from swaymeter.tasks.statistics.statistic import Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import TYPE

PERCENTILE = 95
FACTOR = 2
FEWEST = 20
DEGREES = ("degree", "relation_degree")
COUNTS = ("entity_count", "pair_count")


def _envelopes(query: str, quantities: Sequence[str], frames: Frames, seed: int) -> list[Row]:
    """The rows of `EnvelopePoint`, rising along each quantity."""
    frame = frames[query]
    rows = []
    for about, entities in by(frame[~frame["invented"].astype(bool)], TYPE, ["susceptibility", *quantities]):
        about |= {"relation": ALL, "quantity": "susceptibility", "unit": "nats", "percentile": float(PERCENTILE)}
        scores = entities["susceptibility"].to_numpy(dtype="float64")
        for along in quantities:
            values = entities[along].to_numpy(dtype="float64")
            for at, value, n in envelope(values[values > 0], scores[values > 0]):
                rows.append({**about, "along": along, "at": at, "value": value, "n": n})
    return rows


def envelope(degrees: NDArray[np.float64], scores: NDArray[np.float64]) -> Iterator[tuple[float, float, int]]:
    """Degree, percentile and number of entities at every degree of degrees (n,) that has enough scores (n,) near it."""
    order = np.argsort(degrees, kind="stable")
    degrees, scores = degrees[order], scores[order]
    for degree in np.unique(degrees):
        first = np.searchsorted(degrees, degree / FACTOR, side="left")
        last = np.searchsorted(degrees, degree * FACTOR, side="right")
        if last - first >= FEWEST:
            yield float(degree), float(np.percentile(scores[first:last], PERCENTILE)), int(last - first)


def _along(name: str, query: str, quantities: Sequence[str]) -> Statistic:
    return Statistic(name, 1, EnvelopePoint, (query,), partial(_envelopes, query, quantities))


OF_DEGREES = _along("degree_envelope", "degree_of_entities", DEGREES)
OF_COUNTS = _along("count_envelope", "frequency_of_entities", COUNTS)
