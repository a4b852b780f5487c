"""A lower bound of persuasion from the likeliest tokens alone, as chat APIs give them.

    B(c,q) = KL over T and the rest of (p(.|c,q) || m(.|q)),  m the mixture over the contexts of q

T are the tokens that are among the k likeliest after every context; all others are one event, "the rest", with the
probability that is left. By the data-processing inequality B is at most the persuasion of the whole distributions, and
with more tokens it can only rise.

What it is not: an estimate. A bound of 0 says that nothing is seen, and not that nothing changes; bounds of queries
with other masses do not compare.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.errors import ScoreError

_MASS_OFF = 1e-3
"""What the mass of a server's log-probabilities may be above 1: llama.cpp's is 1.00017 over its vocabulary."""


@dataclass(frozen=True, eq=False)
class Bound:
    """Of one query: scores, (n_contexts,) nats; mass: the probability of T after each context; tokens: how many."""

    scores: NDArray[np.float64]
    mass: NDArray[np.float64]
    tokens: int


def persuasion_bound(likeliest: Sequence[Mapping[str, float]], weights: Sequence[float]) -> Bound:
    """The lower bounds of a query's persuasion.

    Args:
        likeliest: The log-probabilities of the likeliest tokens after each distinct context, in nats, by the token.
        weights: How often each context occurs, as a share: they sum to 1.

    Raises:
        ScoreError: Log-probabilities whose mass is above 1, or that are not numbers.
    """
    known = sorted(set.intersection(*map(set, likeliest)))
    seen = np.array([[of_context[token] for token in known] for of_context in likeliest], np.float64)
    seen = np.exp(seen.reshape(len(likeliest), len(known)))
    mass = np.array([math.fsum(of_context) for of_context in seen])
    if not (np.isfinite(seen).all() and (mass <= 1 + _MASS_OFF).all()):
        raise ScoreError(f"the likeliest tokens have a mass of {mass.max():.4f}, which is no probability")
    whole = np.column_stack([seen, np.maximum(1 - mass, 0.0)])
    whole /= whole.sum(axis=1, keepdims=True)
    mixture = np.asarray(weights, np.float64) @ whole
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(whole > 0, whole * (np.log(whole) - np.log(mixture)), 0.0)
    return Bound(np.maximum(terms.sum(axis=1), 0.0), np.minimum(mass, 1.0), len(known))
