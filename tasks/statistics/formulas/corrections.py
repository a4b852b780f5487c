"""Benjamini-Hochberg: p-values of a family of tests, adjusted for how many there are.

    p_adjusted of the k-th smallest of m = min over j >= k of p_(j) m / j, at most 1

It bounds the expected share of false discoveries among those called significant, for tests that are independent or
positively dependent, not the chance of one false discovery (Bonferroni, Holm).

Source: Benjamini and Hochberg 1995, Controlling the False Discovery Rate.
"""

from collections.abc import Sequence
from typing import Any


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """The adjusted p-values (m,) of one family (m,), in the same order.

    A test that could not be done is None: it stays None and does not count. ValueError for p outside 0 to 1.
    """
    from scipy import stats

    done = [p for p in p_values if p is not None]
    if not all(0 <= p <= 1 for p in done):
        raise ValueError(f"p-values lie between 0 and 1, not {min(done)} to {max(done)}")
    adjusted = iter(stats.false_discovery_control(done, method="bh").tolist() if done else ())
    return [None if p is None else float(next(adjusted)) for p in p_values]


def adjust(rows: list[dict[str, Any]], family: Sequence[str]) -> list[dict[str, Any]]:
    """The rows with p_adjusted over those that are equal in the columns of a family; all rows where it names none."""
    families: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        families.setdefault(tuple(row[name] for name in family), []).append(row)
    for tests in families.values():
        for row, p in zip(tests, benjamini_hochberg([row["p"] for row in tests]), strict=True):
            row["p_adjusted"] = p
    return rows
