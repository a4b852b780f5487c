"""Semantic entropy: how much a model's answers to one input differ in meaning.

Groups v hold equivalent answers; p(a_k|x) is the product of an answer's token probabilities, end step included.
    sum                SE = -1/V sum_v log sum_{k in v} p(a_k|x)
    length_normalised  the same, with the mean token log-probability in place of their sum
    rao                -sum_v P_v log P_v; P_v: length-normalised probabilities summed in a group, then renormalised
    assignment         the entropy of the groups' sizes
All in nats. What it is not: bounded below by 0 in its first two kinds. Equal answers count as often as drawn, so `sum`
can fall to -log K; and it carries no constant, where the released code of Kuhn et al. adds 5.
Sources: Kuhn et al. 2023, Semantic Uncertainty; Marjanovic et al. 2024, Eq. 1-2; Farquhar et al. 2024 (rao and
assignment).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from data.errors import InputError, ScoreError, UnknownName

KINDS = ("sum", "length_normalised", "rao", "assignment")


def group_answers(equivalent: NDArray[np.bool_]) -> list[list[int]]:
    """Disjoint groups of answers, greedily in order: an answer joins the first group all of whose members it equals.

    equivalent: (n, n) bool, symmetric, true on the diagonal. Returns the members' numbers, groups in order of opening.
    Source: Marjanovic et al. 2024, App. A.3, as worded. Raises InputError for a matrix that is not as described.
    """
    matrix = np.asarray(equivalent)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"equivalence must be a square matrix, one row and column per answer, not {matrix.shape}")
    if matrix.dtype != np.bool_:
        raise InputError(f"equivalence must be true or false, not {matrix.dtype}")
    if not (matrix == matrix.T).all():
        first, second = (int(place) for place in np.argwhere(matrix != matrix.T)[0])
        raise InputError(
            f"equivalence must be symmetric, but answers {first} and {second} are so in one direction only"
        )
    if not matrix.diagonal().all():
        raise InputError(f"answer {int(np.argmin(matrix.diagonal()))} is not equivalent to itself")
    groups: list[list[int]] = []
    for answer in range(len(matrix)):
        home = next((group for group in groups if matrix[answer, group].all()), None)
        if home is None:
            groups.append([answer])
        else:
            home.append(answer)
    return groups


def semantic_entropy(
    token_log_probs: Sequence[Sequence[float]], groups: Sequence[Sequence[int]], *, kind: str = "sum"
) -> float:
    """The semantic entropy of one input's answers, in nats.

    token_log_probs: for every answer its tokens' log-probabilities, at least one; groups: as group_answers gives them,
    every answer in exactly one; kind: "sum", "length_normalised", "rao" or "assignment". Sources: see the module.
    Raises UnknownName for another kind, InputError for groups that are none, ScoreError when it is not finite.
    """
    if kind not in KINDS:
        raise UnknownName("kind of semantic entropy", kind, KINDS)
    check_groups(groups, len(token_log_probs))
    if kind == "assignment":
        return _entropy(np.log([len(group) / len(token_log_probs) for group in groups]))
    summary = np.sum if kind == "sum" else np.mean
    for number, one in enumerate(token_log_probs):
        if len(one) == 0:
            raise InputError(f"answer {number} has no token; its end step is one, so there is at least one")
    answers = np.array([summary(np.asarray(one, dtype=np.float64)) for one in token_log_probs])
    if not np.isfinite(answers).all():
        number = int(np.argmin(np.isfinite(answers)))
        raise ScoreError(f"answer {number} has the log-probability {answers[number]}, so the entropy is not a number")
    per_group = np.array([logsumexp(answers[list(group)]) for group in groups])
    if kind == "rao":
        return _entropy(per_group - logsumexp(per_group))
    return float(-per_group.mean())


def check_groups(groups: Sequence[Sequence[int]], answers: int) -> None:
    """Raises InputError unless there are answers, each of them in exactly one group, and no group is empty."""
    members = sorted(member for group in groups for member in group)
    if answers == 0 or members != list(range(answers)) or not all(len(group) for group in groups):
        raise InputError(f"the groups {[list(group) for group in groups]} do not hold each of {answers} answers once")


def _entropy(log_probabilities: NDArray[np.float64]) -> float:
    return float(-np.sum(np.exp(log_probabilities) * log_probabilities)) + 0.0
