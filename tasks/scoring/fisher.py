"""Fisher susceptibility: how far the smallest changes of a query's own embeddings move the next-token distribution.

    J(q)     = sum_a p(a|q) g_a g_a^T,   g_a = d log p(a|q) / d theta
    chi*(q)  = Tr J(q) = sum_a p(a|q) ||g_a||^2, in nats per squared embedding unit

theta: the input embeddings of all tokens of q, concatenated. A start token before q is read, but its embedding does not
vary, because it is no token of the query. a runs over the K most probable next tokens, whose p is not renormalised, or
over the whole vocabulary. For the whole vocabulary, the sum is an estimate without bias (this project). The most
probable tokens are summed exactly. For the other tokens, with random signs eps_a and z_a = sqrt(p_a) eps_a held
constant,

    E || d/dtheta sum_a z_a log p(a|q) ||^2 = sum_a p(a|q) ||g_a||^2,   because E[z_a z_b] = p_a if a = b, else 0.

No context is needed. The factor 1/2 in the Taylor expansion of the KL divergence is dropped. Position embeddings are
not part of theta. Values of different models are not comparable.
Source: Liu et al. 2024, Efficiently Computing Susceptibility to Context, Eq. 10 and 11.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.errors import ScoreError, UsageError
from swaymeter.tasks.models.capabilities import Differentiable
from swaymeter.tasks.models.prompts.tokens import shorten

MIN_DRAWS = 32
"""The smallest number of draws for an estimate; fewer draws give no reliable standard error."""


@dataclass(frozen=True, eq=False)
class Fisher:
    """Fisher susceptibility of queries, in nats per squared embedding unit; each array is (n_queries,) float64.

    Attributes:
        trace: the susceptibility.
        standard_error: the standard error of the estimate; 0 for an exact sum.
        top_k_trace: the part of the susceptibility that is due to the most probable tokens, summed exactly.
    """

    trace: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    top_k_trace: NDArray[np.float64]


def fisher_susceptibility(
    model: Differentiable,
    queries: Sequence[str],
    *,
    top_k: int | None,
    draws: int = 64,
    seed: int = 0,
    exact: int = 10,
    start_token: bool = True,
) -> Fisher:
    """Return the Fisher susceptibility of every query [Liu et al. 2024, Eq. 10 and 11; the estimate is this project's].

    Args:
        model: the language model, with derivatives.
        queries: n_queries complete texts.
        top_k: the number of most probable tokens to sum exactly; None for an estimate over the whole vocabulary.
        draws: draws of random signs for the estimate.
        seed: seed of the signs, which depend only on the seed and the query's text.
        exact: the number of most probable tokens that the estimate sums exactly.
        start_token: True begins queries with the tokenizer's start token, if it has one.

    Raises:
        UsageError: queries are missing, top_k or exact is not between 1 and the size of the vocabulary, or draws is
            less than MIN_DRAWS.
        ScoreError: a query does not fit the model or memory, or a value is not finite.
    """
    if not queries:
        raise UsageError("the list of queries for Fisher susceptibility is empty; give at least one query")
    name, n_top = ("exact", exact) if top_k is None else ("top_k", top_k)
    vocabulary = model.vocabulary_size
    if not 1 <= n_top <= vocabulary:
        raise UsageError(
            f"{name} is {n_top}; {name} must be from 1 to {vocabulary}, the size of {model.name}'s vocabulary"
        )
    if top_k is None and draws < MIN_DRAWS:
        raise UsageError(f"draws is {draws}; an estimate and its standard error need at least {MIN_DRAWS} draws")
    texts = list(dict.fromkeys(queries))
    n_draws = draws if top_k is None else 0
    # The first n_top columns belong to the most probable tokens; each further column is a draw for the other tokens.
    squares = model.squared_gradients(texts, n_top=n_top, draws=n_draws, seed=seed, start_token=start_token)
    top = squares[:, :n_top].sum(axis=1)
    if top_k is None:
        estimates = squares[:, n_top:]
        trace, error = top + estimates.mean(axis=1), estimates.std(axis=1, ddof=1) / np.sqrt(draws)
    else:
        trace, error = top, np.zeros_like(top)
    broken = np.flatnonzero(~np.isfinite(trace))
    if len(broken):
        raise ScoreError(
            f"Fisher susceptibility by {model.name} in {model.dtype} is {trace[broken[0]]}, not a valid score, "
            f"for the query {shorten(texts[broken[0]])}; try another dtype"
        )
    row_of = {text: row for row, text in enumerate(texts)}
    rows = [row_of[query] for query in queries]
    return Fisher(trace[rows], error[rows], top[rows])
