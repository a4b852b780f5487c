"""Coherent persuasion: how far a context moves the meanings of a model's answers.

    CP(c) = mean over pairs (group g without the context, group h with it) of KL(p_h || p_g), in nats, >= 0
    p_v   = mean of the distributions of the answers in group v
    an answer's distribution = mean of its next-token distributions, one for each of its tokens

A group is a cluster: the answers with one meaning.

The standard error comes from half-samples of the answers with and without the context (tasks/scoring/half_samples.py).
A context that changes nothing has a score above 0, because the groups of one question differ, too. For comparison,
`between_halves` (this project) scores halves of the closed-book answers against each other, without any context.
The mean is not weighted by the sizes of groups. KL(p_h || p_g) has the direction of the released scores.
Source: Marjanovic et al. 2024, Eq. 3-4.

Computation: KL(p_h || p_g) = sum p_h log p_h - sum p_h log p_g, and p_h is a weighted sum of the distributions of its
answers. So all pairs follow from the sums of p_k log p_v over the vocabulary, one sum for each answer k and group v. A
matrix product gives these sums, in float64 for one block of the vocabulary at a time. Half-samples repeat groups, so
the logarithms of a group are computed once for the score and all half-samples.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import gcd

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swaymeter.data.errors import InputError, ScoreError
from swaymeter.tasks.scoring.half_samples import standard_error
from swaymeter.tasks.scoring.semantic_entropy import check_groups

Groups = Sequence[Sequence[int]]
Distribution = NDArray[np.float32] | NDArray[np.float64]
_Logarithms = tuple[NDArray[np.float64], NDArray[np.bool_] | None]
"""log p of every group for b tokens, (g, b), 0 for p = 0; and the mask of p = 0, (g, b), or None if p is never 0."""

_SUM_TOLERANCE = 1e-3
"""Tolerance of a distribution's sum of 1."""
_BLOCK = 2048  # tokens of the vocabulary at a time, so that the groups' values stay in a processor's cache


@dataclass(frozen=True)
class GroupedAnswers:
    """The answers to one prompt.

    Attributes:
        name: the name of the answers in messages.
        distributions: the mean distribution of each answer, (V,).
        groups: the groups of all answers.
        halves: the groups of each half-sample; without half-samples there is no standard error.
    """

    name: str
    distributions: Sequence[Distribution]
    groups: Groups
    halves: Sequence[Groups] = ()


def coherent_persuasion(
    p_query: ArrayLike, groups_query: Groups, p_context: ArrayLike, groups_context: Groups
) -> float:
    """Return the coherent persuasion of a context for a question, in nats [Marjanovic et al. 2024, Eq. 4].

    Args:
        p_query: (n, V), the mean distributions of the answers without the context.
        groups_query: the groups of these answers, as `group_answers` returns them; every answer is in at least one.
        p_context: (m, V), the mean distributions of the answers with the context.
        groups_context: the groups of the answers with the context.

    Raises:
        InputError, ScoreError: as `coherent_persuasions` raises.
    """
    closed_book = GroupedAnswers("p_query", list(_rows_of("p_query", p_query)), groups_query)
    with_context = GroupedAnswers("p_context", list(_rows_of("p_context", p_context)), groups_context)
    return coherent_persuasions(closed_book, [with_context])[0][0]


def coherent_persuasions(
    closed_book: GroupedAnswers, contexts: Sequence[GroupedAnswers]
) -> list[tuple[float, float | None]]:
    """Return the coherent persuasion of each context of a question, with its standard error, in nats.

    Half-sample i without the context is compared with half-sample i with it. So the numbers of half-samples, and the
    numbers of answers, must be equal without and with the context.

    Raises:
        InputError: a row is not a distribution, or the groups or half-samples do not match.
        ScoreError: the score of the answers or of a half-sample is not finite.
    """
    scores_by_context = [sums.scores() for sums in _sums_by_context(closed_book, contexts)]
    answer_counts = [len(answers.distributions) for answers in contexts]
    return [  # rounding may leave -1e-15
        (max(float(scores[0]), 0.0), standard_error(scores[1:], count))
        for scores, count in zip(scores_by_context, answer_counts, strict=True)
    ]


def between_halves(answers: GroupedAnswers, others: Sequence[Groups]) -> float | None:
    """Return the mean coherent persuasion from each half-sample of one prompt's answers to its other half, in nats.

    Args:
        answers: the answers; without half-samples the result is None.
        others: for each half-sample, the groups of the other half.

    Raises:
        InputError, ScoreError: as `coherent_persuasions` raises.
    """
    if not answers.halves:
        return None
    (sums,) = _sums_by_context(answers, [replace(answers, halves=others)])
    return max(float(sums.scores()[1:].mean()), 0.0)


def _sums_by_context(closed_book: GroupedAnswers, contexts: Sequence[GroupedAnswers]) -> list["_Sums"]:
    query = _Side(closed_book)
    sums_by_context = [_Sums(query, _Side(answers)) for answers in contexts]
    for start in range(0, query.rows.shape[1], _BLOCK):
        block = slice(start, start + _BLOCK)
        logarithms = query.logarithms(block)
        for sums in sums_by_context:
            sums.add(block, logarithms)
    return sums_by_context


class _Side:
    """The answers to one prompt as matrices.

    A grouping is the groups of all answers, or the groups of a half-sample. There are s groupings, all answers first.

    Attributes:
        rows: (d, V), the distinct distributions of answers.
        weights: (g, d), the weight of each distribution in the mean of each group. A group that several groupings
            contain has a single row.
        shares: (s, g), the weight of each group in each grouping.
    """

    def __init__(self, answers: GroupedAnswers) -> None:
        check_groups(answers.groups, len(answers.distributions), overlap=True)
        self.name, self.answer_count, self.half_count = answers.name, len(answers.distributions), len(answers.halves)
        distinct = {id(item): item for item in answers.distributions}  # equal answers share one object
        row_of = [list(distinct).index(id(item)) for item in answers.distributions]
        self.rows = _distributions(self.name, list(distinct.values()), row_of)
        groupings = [answers.groups, *answers.halves]
        index_of_group: dict[tuple[int, ...], int] = {}  # by the number of the group's answers with each distribution
        indices_by_grouping = []
        for groups in groupings:
            counters = [Counter(row_of[member] for member in group) for group in groups]
            counts_of_groups = [[counter[row] for row in range(len(distinct))] for counter in counters]
            # Groups with proportional counts have the same mean, so counts are in lowest terms.
            lowest = [tuple(count // gcd(*row_counts) for count in row_counts) for row_counts in counts_of_groups]
            indices_by_grouping.append([index_of_group.setdefault(item, len(index_of_group)) for item in lowest])
        counts = np.array(list(index_of_group), dtype=np.float64)
        self.weights: NDArray[np.float64] = counts / counts.sum(axis=1, keepdims=True)
        self.shares: NDArray[np.float64] = np.zeros((len(groupings), len(index_of_group)))
        for shares, indices in zip(self.shares, indices_by_grouping, strict=True):
            np.add.at(shares, indices, 1 / len(indices))

    def logarithms(self, block: slice) -> _Logarithms:
        rows = self.rows[:, block]
        means = self.weights @ rows
        if rows.all():
            return np.log(means), None
        is_zero = means == 0
        return np.log(np.where(is_zero, 1.0, means)), is_zero


class _Sums:
    """Sums over the vocabulary for each distribution k of the answers with a context, and each group v.

    Attributes:
        _query_sums: (d, g), sum p_k log p_v for each group v without the context.
        _context_sums: (d, g'), sum p_k log p_v for each group v with the context.
        _impossible: (d, g), the number of tokens that k can give and group v without the context cannot.
    """

    def __init__(self, query: _Side, context: _Side) -> None:
        if query.rows.shape[1] != context.rows.shape[1]:
            raise InputError(
                f"{query.name} has {query.rows.shape[1]} columns, but {context.name} has "
                f"{context.rows.shape[1]} columns; each matrix needs one column for each token of the same vocabulary"
            )
        if query.half_count != context.half_count or (query.half_count and query.answer_count != context.answer_count):
            raise InputError(
                f"{query.name} has {query.half_count} half-samples and {query.answer_count} answers, but "
                f"{context.name} has {context.half_count} half-samples and {context.answer_count} answers; "
                "the numbers of half-samples, and the numbers of answers, must be equal"
            )
        self._query, self._context = query, context
        self._query_sums = np.zeros((len(context.rows), len(query.weights)))
        self._context_sums = np.zeros((len(context.rows), len(context.weights)))
        self._impossible = np.zeros_like(self._query_sums)

    def add(self, block: slice, query_logarithms: _Logarithms) -> None:
        rows = self._context.rows[:, block]
        logarithms, is_zero = query_logarithms
        self._query_sums += rows @ logarithms.T
        self._context_sums += rows @ self._context.logarithms(block)[0].T
        if is_zero is not None:
            self._impossible += (rows > 0) @ is_zero.T.astype(np.float64)

    def scores(self) -> NDArray[np.float64]:
        """Return the scores (s,) of all answers and of each half-sample."""
        weights, shares = self._context.weights, self._context.shares
        mean_weights = shares @ weights  # (s, d), the weights of answers in the mean over a grouping's groups
        context_terms = shares @ (weights @ self._context_sums).diagonal()  # (s,), the mean of sum p_h log p_h
        # (s,), the mean of sum p_h log p_g
        query_terms = ((mean_weights @ self._query_sums) * self._query.shares).sum(axis=1)
        scores: NDArray[np.float64] = context_terms - query_terms
        scores[((mean_weights @ self._impossible) * self._query.shares).sum(axis=1) > 0] = np.inf
        broken = np.flatnonzero(~np.isfinite(scores)).tolist()
        if broken:
            number = broken[0]  # 0 for the score of all answers
            half_sample = f" of half-sample {number - 1}" if number else ""
            remedy = "; set half_samples to 0 to leave half-samples out" if number else ""
            raise ScoreError(
                f"coherent persuasion{half_sample} is {scores[number]}: {self._context.name} can have tokens that "
                f"cannot occur in {self._query.name}{remedy}"
            )
        return scores


def _rows_of(name: str, values: ArrayLike | Sequence[Distribution]) -> NDArray[np.float64]:
    """Return distributions as a matrix, (n, V) float64; InputError for another shape."""
    try:
        rows = np.array(values, dtype=np.float64)
    except ValueError as error:
        raise InputError(f"the rows of {name} have different lengths: {error}") from None
    if rows.ndim != 2 or 0 in rows.shape:
        raise InputError(f"{name} must have one row per answer and one column per token, not the shape {rows.shape}")
    return rows


def _distributions(name: str, values: Sequence[Distribution], row_of: Sequence[int]) -> NDArray[np.float64]:
    """Return distributions that sum to 1 as a matrix; `row_of` has the row of each answer, for the message."""
    rows = _rows_of(name, values)
    sums = rows.sum(axis=1, keepdims=True)
    # The sum of a row with a NaN or an infinity is not within the tolerance.
    broken = (rows < 0).any(axis=1) | ~(np.abs(sums[:, 0] - 1) <= _SUM_TOLERANCE)
    if broken.any():
        number = row_of.index(int(broken.argmax()))
        raise InputError(f"row {number} of {name} is not a distribution: its values must be >= 0 and sum to 1")
    rows /= sums
    return rows
