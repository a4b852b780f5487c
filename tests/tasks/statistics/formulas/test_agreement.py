"""Kappa and alpha by hand, with bounds and undefined cases; the interval of kappa against explicit samples."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from swaymeter.tasks.statistics.formulas.agreement import (
    cohens_kappa,
    counts_of,
    kappa_interval,
    krippendorffs_alpha,
)
from swaymeter.tasks.statistics.formulas.intervals import _sample_counts

FIVE_VERDICTS = [
    [6, 1, 0, 1, 0],  # sum 8
    [2, 5, 0, 1, 0],  # sum 8
    [0, 0, 2, 2, 0],  # sum 4
    [1, 1, 0, 13, 1],  # sum 16
    [1, 0, 0, 1, 2],  # sum 4; sums of the columns: 10, 7, 2, 18, 3; total 40
]


@pytest.mark.parametrize(
    ("counts", "kappa"),
    [
        # p_o = 35/50, p_e = (25 * 30 + 25 * 20) / 2500 = 1/2
        ([[20, 5], [10, 15]], 0.4),
        # p_o = 28/40, p_e = (8*10 + 8*7 + 4*2 + 16*18 + 4*3) / 1600 = 444/1600
        (FIVE_VERDICTS, (28 / 40 - 444 / 1600) / (1 - 444 / 1600)),
        ([[3, 0], [0, 4]], 1.0),
        ([[1, 2], [2, 4]], 0.0),  # agreement as by chance
        ([[0, 1], [1, 0]], -1.0),
        ([[5, 2], [0, 0]], 0.0),  # one rater gives only one verdict: agreement as by chance
        ([[5, 0], [0, 0]], None),  # both raters give only one verdict
        ([[0, 0], [0, 0]], None),
    ],
)
def test_kappa_matches_hand_worked_values(counts: Sequence[Sequence[int]], kappa: float | None) -> None:
    assert cohens_kappa(np.array(counts, dtype=np.float64)) == (None if kappa is None else pytest.approx(kappa))


def test_items_are_counted_by_their_two_verdicts() -> None:
    assert counts_of(["b", "a", "a"], ["b", "b", "a"]).tolist() == [[1, 1], [0, 1]]


def test_the_interval_draws_whole_clusters() -> None:
    rng = np.random.default_rng(1)
    clusters = [f"c{number // 3:02}" for number in range(60)]
    first = rng.choice(["a", "b", "c"], 60).tolist()
    second = [verdict if keep else "a" for verdict, keep in zip(first, rng.random(60) < 0.6, strict=True)]

    def kappa(items: Any) -> float | None:
        return cohens_kappa(counts_of([first[item] for item in items], [second[item] for item in items]))

    kappas = []
    for counts in _sample_counts(20, 5):
        drawn_clusters = np.repeat(np.arange(20), counts)
        kappas.append(kappa([3 * cluster + part for cluster in drawn_clusters for part in range(3)]))
    low, high = np.quantile(np.array(kappas, dtype=np.float64), [0.025, 0.975])
    assert kappa_interval(first, second, clusters, 5) == (20, pytest.approx(low), pytest.approx(high))


@pytest.mark.parametrize(
    ("first", "second", "clusters"),
    [
        (["b", *["a"] * 7], ["a"] * 4 + ["b"] * 4, ["x", "x", "y", "y", "z", "z", "z", "z"]),  # three clusters
        (["a", "b"] * 4, ["a", "b"] * 4, list("stuvwxyz")),  # every kappa is 1
        (["b", *["a"] * 7], ["a"] * 8, list("stuvwxyz")),  # some samples have only one verdict
        (["a"] * 8, ["b", "c"] * 4, list("stuvwxyz")),  # every kappa is 0
    ],
)
def test_few_or_unvaried_clusters_have_no_interval(first: list[str], second: list[str], clusters: list[str]) -> None:
    assert kappa_interval(first, second, clusters, 0)[1:] == (None, None)


def rated(*items: str) -> list[dict[str, str]]:
    """Return items with the values of annotators a, b and c; "-" is a missing value."""
    return [{name: value for name, value in zip("abc", item, strict=False) if value != "-"} for item in items]


@pytest.mark.parametrize(
    ("items", "alpha"),
    [
        # One pair in four differs. Of 8 values, 5 are a, 3 are d: D_o = 2/8, D_e = 2*5*3 / (8*7), 1 - (1/4) / (30/56).
        (("aa", "aa", "ad", "dd"), 8 / 15),
        (("aa", "dd", "cc"), 1),
        (("da", "dd"), 0),  # D_o = 2/4, D_e = 2*1*3 / (4*3)
        (("da", "-dd"), 0),  # the same values, of other annotators
        # Of 16 values, 7 are a, 3 d, 2 c, 1 m, 3 i: D_o = 2/8, D_e = 1 - (7*6 + 3*2 + 2*1 + 3*2) / (16*15).
        (("aa", "ad", "cc", "dd", "aa", "mi", "i-i", "-aa"), 1 - (1 / 4) / (184 / 240)),
    ],
)
def test_alpha_matches_hand_worked_values(items: tuple[str, ...], alpha: float) -> None:
    assert krippendorffs_alpha(rated(*items)) == pytest.approx(alpha, abs=1e-9)


@pytest.mark.parametrize("items", [(), ("aa", "aa")])
def test_alpha_of_one_value_is_undefined(items: tuple[str, ...]) -> None:
    assert krippendorffs_alpha(rated(*items)) is None
