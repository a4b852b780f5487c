"""How far the most susceptible entities of about one degree are swayed; not a fit.

    bound(d) = 95th percentile of the susceptibility of real entities of degree d / 2 to 2 d

Groups: the real entities near a degree, whole or under the relation, of a query type, where they are at least 20. Unit
of analysis: an entity of a relation with the mean over its forms.

Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, figure 10.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from data.records.statistics import EnvelopePoint
from tasks.statistics.frames import ALL, by
from tasks.statistics.statistic import Frames, Row, Statistic
from tasks.statistics.summary import TYPE

PERCENTILE = 95
FACTOR = 2
FEWEST = 20
DEGREES = ("degree", "relation_degree")


def compute(frames: Frames, seed: int) -> list[Row]:
    """The rows of `EnvelopePoint`, rising along each degree."""
    frame = frames["degree_of_entities"]
    rows = []
    for about, entities in by(frame[~frame["invented"].astype(bool)], TYPE, ["susceptibility", *DEGREES]):
        about |= {"relation": ALL, "quantity": "susceptibility", "unit": "nats", "percentile": float(PERCENTILE)}
        scores = entities["susceptibility"].to_numpy(dtype="float64")
        for along in DEGREES:
            degrees = entities[along].to_numpy(dtype="float64")
            for at, value, n in envelope(degrees, scores):
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


STATISTIC = Statistic("degree_envelope", 1, EnvelopePoint, ("degree_of_entities",), compute)
