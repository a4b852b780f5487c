"""Coherent persuasion: how far a context moves the meanings that a model answers with.

    CP(c) = mean over pairs (group g without the context, group h with it) of KL(p_h || p_g), in nats, >= 0
    p_v   = mean over the answers of group v of their distributions, each the mean over an answer's steps
What it is not: weighed by the groups' sizes, or symmetric. The direction is that of the released scores.
Source: Marjanovic et al. 2024, Eq. 3-4.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import rel_entr

from data.errors import InputError, ScoreError
from tasks.scoring.semantic_entropy import check_groups

_SLACK = 1e-3


def coherent_persuasion(
    p_query: ArrayLike,
    groups_query: Sequence[Sequence[int]],
    p_context: ArrayLike,
    groups_context: Sequence[Sequence[int]],
) -> float:
    """The coherent persuasion score of a context for a question, in nats.

    p_query: (n, V), the mean distributions of the answers without the context; p_context: (m, V), of those with it;
    groups_*: as group_answers gives them, every answer in exactly one. Source: Marjanovic et al. 2024, Eq. 4.
    Raises InputError for arrays that hold no distributions, ScoreError when the score is not finite.
    """
    without = _distributions("p_query", p_query)
    within = _distributions("p_context", p_context)
    if without.shape[1] != within.shape[1]:
        raise InputError(
            f"p_query has {without.shape[1]} tokens and p_context {within.shape[1]}; one vocabulary is needed"
        )
    check_groups(groups_query, len(without))
    check_groups(groups_context, len(within))
    means_query = [without[list(group)].mean(axis=0) for group in groups_query]
    means_context = [within[list(group)].mean(axis=0) for group in groups_context]
    score = float(np.mean([rel_entr(h, g).sum() for g in means_query for h in means_context]))
    if not np.isfinite(score):
        raise ScoreError(f"coherent persuasion is {score}: with the context there are tokens that cannot occur without")
    return max(score, 0.0)  # rounding may leave -1e-17


def _distributions(name: str, values: ArrayLike) -> NDArray[np.float64]:
    rows = np.asarray(values, dtype=np.float64)
    if rows.ndim != 2 or 0 in rows.shape:
        raise InputError(f"{name} must have one row per answer and one column per token, not the shape {rows.shape}")
    broken = ~np.isfinite(rows).all(axis=1) | (rows < 0).any(axis=1) | (np.abs(rows.sum(axis=1) - 1) > _SLACK)
    if broken.any():
        raise InputError(f"row {int(broken.argmax())} of {name} is no distribution: it has to be >= 0 and to sum to 1")
    normalised: NDArray[np.float64] = rows / rows.sum(axis=1, keepdims=True)
    return normalised
