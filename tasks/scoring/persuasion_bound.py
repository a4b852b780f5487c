"""A lower bound of persuasion from the likeliest tokens, for chat APIs that return no other tokens.

    B(c,q) = KL(p(.|c,q) || m(.|q)) over the tokens T and the event "the rest";  m is the mixture over the contexts of q

T are the tokens that are among the k likeliest after every context; all other tokens are one event, "the rest". By the
data-processing inequality B is at most the persuasion of the whole distributions, and more tokens can only raise B.

What it is not: an estimate. A bound of 0 does not show that nothing changes. Bounds of queries are not comparable if
the probabilities of T differ.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.errors import ScoreError

_MASS_TOLERANCE = 1e-3
"""Amount by which a server's probabilities may sum above 1; llama.cpp's probabilities sum to 1.00017."""


@dataclass(frozen=True, eq=False)
class Bound:
    """The bound of one query.

    Attributes:
        scores: (n_contexts,), in nats.
        mass: (n_contexts,), the probability of T after each context.
        tokens: the number of tokens in T.
    """

    scores: NDArray[np.float64]
    mass: NDArray[np.float64]
    tokens: int


def persuasion_bound(likeliest: Sequence[Mapping[str, float]], weights: Sequence[float]) -> Bound:
    """Return the lower bounds of a query's persuasion.

    Args:
        likeliest: log-probabilities of the likeliest tokens after each distinct context, in nats, by token.
        weights: the frequency of each context; the weights sum to 1.

    Raises:
        ScoreError: the probabilities after a context sum to more than 1, or a probability is not a number.
    """
    tokens = sorted(set.intersection(*map(set, likeliest)))
    log_probs = np.array([[by_token[token] for token in tokens] for by_token in likeliest], np.float64)
    probs = np.exp(log_probs.reshape(len(likeliest), len(tokens)))
    mass = np.array([math.fsum(row) for row in probs])
    if not (np.isfinite(probs).all() and (mass <= 1 + _MASS_TOLERANCE).all()):
        raise ScoreError(
            f"the server's probabilities of the likeliest tokens sum to {mass.max():.4f}, but must sum to at most 1"
        )
    whole = np.column_stack([probs, np.maximum(1 - mass, 0.0)])  # the last column is the rest
    whole /= whole.sum(axis=1, keepdims=True)
    mixture = np.asarray(weights, np.float64) @ whole
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(whole > 0, whole * (np.log(whole) - np.log(mixture)), 0.0)
    return Bound(np.maximum(terms.sum(axis=1), 0.0), np.minimum(mass, 1.0), len(tokens))
