"""Two groups of scores: whether they are comparable, Cohen's d, and adjusted p-values of several tests.

A comparison needs two scores in each group, and spread in at least one of the groups. Without these, the comparison
returns a reason in words, never NaN, p = 1 or a silent zero.

Benjamini-Hochberg: p_adjusted of the k-th smallest of m p-values = min over j >= k of p_(j) m / j, at most 1. The
adjustment bounds the expected share of false discoveries among significant tests, for tests that are independent or
positively dependent. The adjustment does not bound the chance of at least one false discovery; Bonferroni's and Holm's
corrections bound that chance.

Source: Benjamini and Hochberg 1995, Controlling the False Discovery Rate.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swaymeter.data.errors import ScoreError

Scores = NDArray[np.float64]

ROUNDING = 1e-12
"""Largest relative spread that counts as rounding: computed means of equal scores may differ in their last digits."""


class Result(NamedTuple):
    """A test statistic or a correlation coefficient, without unit, and its p-value; or the reason why both are None."""

    statistic: float | None
    p: float | None
    untestable: str | None = None


def scores(values: ArrayLike) -> Scores:
    """Return the values as a vector (n,) of float64; ScoreError if a value is not a finite number."""
    vector = np.asarray(values, dtype=np.float64)
    if wrong := int(np.count_nonzero(~np.isfinite(vector))):
        raise ScoreError(
            f"{wrong} of {len(vector)} scores are not finite numbers; leave out the scores that were not measured"
        )
    return vector


def has_spread(vector: Scores) -> bool:
    """Return True if the values of a vector (n,) differ by more than rounding."""
    return len(vector) > 1 and bool(np.ptp(vector) > ROUNDING * np.max(np.abs(vector)))


def untestable_reason(a: Scores, b: Scores) -> str:
    """Return the reason why groups (n_a,) and (n_b,) cannot be compared; empty if they can."""
    smaller = min(len(a), len(b))
    if smaller < 2:
        return "a group has one row" if smaller else "a group is empty"
    return "" if has_spread(a) or has_spread(b) else "no spread in either group"


def pooled_variance(a: Scores, b: Scores) -> float:
    """Return ((n_a - 1) var_a + (n_b - 1) var_b) / (n_a + n_b - 2), with each variance over n - 1."""
    total = (len(a) - 1) * a.var(ddof=1) + (len(b) - 1) * b.var(ddof=1)
    return float(total / (len(a) + len(b) - 2))


def cohens_d(a: Scores, b: Scores) -> float | None:
    """Return Cohen's d of groups (n_a,) and (n_b,), without unit; None if they cannot be compared.

        d = (mean_a - mean_b) / s,  s^2 the pooled variance, not the mean of the two variances

    d is not corrected for small groups (Hedges' g).

    Source: Cohen 1988, Statistical Power Analysis for the Behavioral Sciences, section 2.5.
    """
    if untestable_reason(a, b):
        return None
    return float(a.mean() - b.mean()) / math.sqrt(pooled_variance(a, b))


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the adjusted p-values of one family of p-values (m,), in the same order.

        adjusted p_(i) = min over j >= i of min(1, p_(j) m / j),  p_(1) <= ... <= p_(m)

    A test without p-value is None before and after, and does not count in m.

    Raises:
        ValueError: A p-value is not between 0 and 1.

    Source: Benjamini and Hochberg 1995. scipy.stats gives the same numbers, but takes a second to import.
    """
    tested = np.array([p for p in p_values if p is not None], dtype=np.float64)
    if not all(0 <= p <= 1 for p in tested):
        raise ValueError(f"p-values must lie between 0 and 1; these p-values range from {min(tested)} to {max(tested)}")
    order = np.argsort(tested)
    scaled = tested[order] * len(tested) / np.arange(1, len(tested) + 1)
    adjusted = np.empty_like(tested)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1)
    remaining = iter(adjusted.tolist())
    return [None if p is None else next(remaining) for p in p_values]


def adjust(rows: list[dict[str, Any]], columns: Sequence[str]) -> list[dict[str, Any]]:
    """Add p_adjusted to the rows. A family has the rows with equal values in `columns`; without columns, all rows."""
    families: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        families.setdefault(tuple(row[name] for name in columns), []).append(row)
    for tests in families.values():
        for row, p in zip(tests, benjamini_hochberg([row["p"] for row in tests]), strict=True):
            row["p_adjusted"] = p
    return rows
