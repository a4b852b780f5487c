"""Semantic entropy: how much a model's answers to one input differ in meaning.

A cluster v has answers of one meaning; the functions below call a cluster a group. p(a_k|x) is the product of the
probabilities of the tokens of answer k, its end token included. There are V clusters and K answers.
    sum                SE = -1/V sum_v log sum_{k in v} p(a_k|x)
    length_normalised  like sum, but with the mean log-probability of an answer's tokens as log p(a_k|x)
    rao                -sum_v P_v log P_v; P_v: length-normalised probabilities summed in a cluster, then renormalised
    assignment         the entropy of the clusters' sizes
All are in nats. `sum` and `length_normalised` can be negative, because the probability of an answer is added once for
each time it was sampled; `sum` can fall to -log K. The released code of Kuhn et al. adds a constant 5 to `sum`. The
released code of Farquhar et al. computes rao and assignment over clusters of the grouping `first_member`, whose
entailment model compares answers with the question before each. The clusters here are disjoint unless a study sets
another grouping. Standard errors come from half-samples of the answers (tasks/scoring/half_samples.py).
Sources: Kuhn et al. 2023, Semantic Uncertainty; Marjanovic et al. 2024, Eq. 1-2; Farquhar et al. 2024 (rao and
assignment).
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.errors import InputError, ScoreError, UnknownName
from swaymeter.tasks.scoring.half_samples import standard_error

KINDS = ("sum", "length_normalised", "rao", "assignment")
Grouping = Literal["disjoint", "overlapping", "first_member"]


def group_answers(
    equivalent: NDArray[np.bool_], among: Sequence[int] | None = None, *, grouping: Grouping = "disjoint"
) -> list[list[int]]:
    """Group equivalent answers, greedily in order.

    disjoint      an answer joins the first group whose members are all equivalent to it [Marjanovic et al. 2024,
                  App. A.3]
    overlapping   as Marjanovic et al. released: every answer opens a group. Every other answer, earlier or later, joins
                  the group if it is equivalent to the group's opener and to the group's last member. Equal groups count
                  once
    first_member  as Farquhar et al. 2024 released: an answer without a group opens a group. Every later answer that is
                  equivalent to the opener moves to the new group, even out of another group

    Args:
        equivalent: (n, n) bool, symmetric, true on the diagonal.
        among: the answers to group, in that order, as if there were no other answers; None for all answers.
        grouping: "disjoint", "first_member", or "overlapping", which may put an answer into several groups.

    Returns:
        The indices of each group's members, groups in the order in which they were opened.

    Raises:
        InputError: the matrix is not square, bool, symmetric, and true on the diagonal.
    """
    matrix = np.asarray(equivalent)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"`equivalent` must have a row and a column for each answer, not the shape {matrix.shape}")
    if matrix.dtype != np.bool_:
        raise InputError(f"`equivalent` must have entries that are true or false, not of dtype {matrix.dtype}")
    if not (matrix == matrix.T).all():
        first, second = (int(index) for index in np.argwhere(matrix != matrix.T)[0])
        raise InputError(
            f"`equivalent` must be symmetric, but answers {first} and {second} are equivalent in one direction only"
        )
    if not matrix.diagonal().all():
        answer = int(np.argmin(matrix.diagonal()))
        raise InputError(f"`equivalent` must be true on the diagonal, but answer {answer} is not equivalent to itself")
    rows = matrix.tolist()
    answers = range(len(rows)) if among is None else among
    if grouping == "overlapping":
        overlapping_groups = (_overlapping_group(rows, answer, answers) for answer in answers)
        return [list(group) for group in dict.fromkeys(tuple(sorted(group)) for group in overlapping_groups)]
    if grouping == "first_member":
        return _first_member_groups(rows, answers)
    groups: list[list[int]] = []
    for answer in answers:
        fitting_group = next((group for group in groups if all(rows[answer][member] for member in group)), None)
        if fitting_group is None:
            groups.append(fitting_group := [])
        fitting_group.append(answer)
    return groups


def _first_member_groups(rows: Sequence[Sequence[bool]], answers: Sequence[int]) -> list[list[int]]:
    opener: dict[int, int] = {}
    for position, answer in enumerate(answers):
        if answer not in opener:
            opener |= {later: answer for later in answers[position:] if rows[answer][later]}
    openers = [answer for answer in answers if opener[answer] == answer]
    return [[answer for answer in answers if opener[answer] == first] for first in openers]


def _overlapping_group(rows: Sequence[Sequence[bool]], opener: int, answers: Sequence[int]) -> list[int]:
    """Return the group that an answer opens: each member is equivalent to the opener and to the member before it."""
    group = [opener]
    for answer in answers:
        if answer != opener and rows[opener][answer] and rows[group[-1]][answer]:
            group.append(answer)
    return group


def last_group_of_each(groups: Sequence[Sequence[int]]) -> list[list[int]]:
    """Make groups disjoint: each answer stays only in its last group, and empty groups are removed.

    The released code of Marjanovic et al. does the same, but orders groups like a set, differently in each run.
    """
    last_group = {answer: index for index, group in enumerate(groups) for answer in group}
    remaining = ([answer for answer in group if last_group[answer] == index] for index, group in enumerate(groups))
    return [group for group in remaining if group]


def semantic_entropy(
    token_log_probs: Sequence[Sequence[float]], groups: Sequence[Sequence[int]], *, kind: str = "sum"
) -> float:
    """Return the semantic entropy of one input's answers, in nats; the module's docstring has formulas and sources.

    Args:
        token_log_probs: log-probabilities of the tokens of every answer, in nats, at least one each.
        groups: groups as `group_answers` returns them, every answer in exactly one group.
        kind: "sum", "length_normalised", "rao" or "assignment".

    Raises:
        UnknownName: the kind is unknown.
        InputError: an answer is in no group or in two, or has no token.
        ScoreError: the entropy is not finite.
    """
    check_groups(groups, len(token_log_probs))
    return float(_entropies(token_log_probs, [groups], kind)[0])


def semantic_entropy_error(
    token_log_probs: Sequence[Sequence[float]], halves: Sequence[Sequence[Sequence[int]]], *, kind: str = "sum"
) -> float | None:
    """Return the standard error of the semantic entropy, in nats; None without half-samples.

    Args:
        token_log_probs: log-probabilities of the tokens of every answer.
        halves: [half-sample][group] answers: the groups of `group_answers` among each half of `draw_halves`.
        kind: the kind of entropy.

    Raises:
        UnknownName, InputError, ScoreError: as `semantic_entropy` raises.
    """
    return standard_error(_entropies(token_log_probs, halves, kind) if halves else [], len(token_log_probs))


def check_groups(groups: Sequence[Sequence[int]], answers: int, *, overlap: bool = False) -> None:
    """Raise InputError unless answers exist, each is in exactly one group, and no group is empty.

    Args:
        groups: the groups.
        answers: number of answers.
        overlap: True allows an answer in several groups, but not twice in one.
    """
    members = sorted(member for group in groups for member in group)
    if overlap:
        members = sorted(set(members))
    are_sets = all(len(group) == len(set(group)) > 0 for group in groups)  # not empty, no answer twice
    if answers == 0:
        raise InputError("there are no answers to group; give at least one answer")
    if members != list(range(answers)) or not are_sets:
        listed = [list(group) for group in groups]
        once = ", but no answer twice in a group" if overlap else " exactly once"
        raise InputError(
            f"no group of {listed} may be empty, and the groups together must contain each answer from 0 to "
            f"{answers - 1}{once}"
        )


def _entropies(
    token_log_probs: Sequence[Sequence[float]], group_lists: Sequence[Sequence[Sequence[int]]], kind: str
) -> NDArray[np.float64]:
    """Return the entropy of each of s lists of groups, (s,); a list of groups may have only some of the answers."""
    if kind not in KINDS:
        raise UnknownName("kind of semantic entropy", kind, KINDS)
    members = _memberships(group_lists, len(token_log_probs))
    is_group: NDArray[np.bool_] = np.asarray(members.any(axis=2))
    if kind == "assignment":
        sizes = members.sum(axis=2)
        shares = np.where(is_group, sizes, 1.0) / sizes.sum(axis=1, keepdims=True)
        return _entropy(np.log(shares), is_group)
    log_probabilities = _log_probabilities(token_log_probs, kind)
    per_group = np.logaddexp.reduce(np.where(members, log_probabilities, -np.inf), axis=2)
    if kind == "rao":
        return _entropy(per_group - np.logaddexp.reduce(per_group, axis=1, keepdims=True), is_group)
    entropies: NDArray[np.float64] = -np.mean(per_group, axis=1, where=is_group)
    return entropies


def _memberships(group_lists: Sequence[Sequence[Sequence[int]]], answers: int) -> NDArray[np.bool_]:
    """Return a mask (s, g, n), True if group g of list s has answer n; short lists end in empty groups."""
    members = np.zeros((len(group_lists), max(map(len, group_lists)), answers), dtype=bool)
    for row, groups in enumerate(group_lists):
        for column, group in enumerate(groups):
            members[row, column, list(group)] = True
    return members


def _log_probabilities(token_log_probs: Sequence[Sequence[float]], kind: str) -> NDArray[np.float64]:
    summary = np.sum if kind == "sum" else np.mean
    for index, log_probs in enumerate(token_log_probs):
        if len(log_probs) == 0:
            raise InputError(f"answer {index} has no token; every answer needs at least an end token")
    log_probabilities = np.array([summary(np.asarray(log_probs, dtype=np.float64)) for log_probs in token_log_probs])
    if not np.isfinite(log_probabilities).all():
        index = int(np.argmin(np.isfinite(log_probabilities)))
        raise ScoreError(
            f"answer {index} has the log-probability {log_probabilities[index]}, so the entropy is not a number"
        )
    return log_probabilities


def _entropy(log_probabilities: NDArray[np.float64], is_entry: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the entropy of each row, (s,); `is_entry` selects the log-probabilities (s, g) that belong to the row."""
    finite = np.where(is_entry, log_probabilities, 0.0)
    terms = np.where(is_entry, np.exp(finite) * finite, 0.0)
    entropies: NDArray[np.float64] = 0.0 - terms.sum(axis=1)  # 0.0, not the -0.0 of a unary minus
    return entropies
