"""Kappa and alpha by hand, its bounds, and where there is none; its interval against draws by hand."""

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

FIVE = [
    [6, 1, 0, 1, 0],  # 8 of 40
    [2, 5, 0, 1, 0],  # 8
    [0, 0, 2, 2, 0],  # 4
    [1, 1, 0, 13, 1],  # 16
    [1, 0, 0, 1, 2],  # 4; columns: 10, 7, 2, 18, 3
]


@pytest.mark.parametrize(
    ("counts", "kappa"),
    [
        # p_o = 35/50, p_e = (25 * 30 + 25 * 20) / 2500 = 1/2
        ([[20, 5], [10, 15]], 0.4),
        # p_o = 28/40, p_e = (8*10 + 8*7 + 4*2 + 16*18 + 4*3) / 1600 = 444/1600
        (FIVE, (28 / 40 - 444 / 1600) / (1 - 444 / 1600)),
        ([[3, 0], [0, 4]], 1.0),
        ([[1, 2], [2, 4]], 0.0),  # as often as by chance
        ([[0, 1], [1, 0]], -1.0),
        ([[5, 2], [0, 0]], 0.0),  # one gives one verdict alone: nothing but chance
        ([[5, 0], [0, 0]], None),  # both do
        ([[0, 0], [0, 0]], None),
    ],
)
def test_kappa(counts: Sequence[Sequence[int]], kappa: float | None) -> None:
    assert cohens_kappa(np.array(counts, dtype=np.float64)) == (None if kappa is None else pytest.approx(kappa))


def test_counts_have_both_verdicts_of_an_item() -> None:
    assert counts_of(["b", "a", "a"], ["b", "b", "a"]).tolist() == [[1, 1], [0, 1]]


def test_the_interval_draws_whole_clusters() -> None:
    rng = np.random.default_rng(1)
    clusters = [f"c{number // 3:02}" for number in range(60)]
    first = rng.choice(["a", "b", "c"], 60).tolist()
    second = [one if keep else "a" for one, keep in zip(first, rng.random(60) < 0.6, strict=True)]

    def kappa(places: Any) -> float | None:
        return cohens_kappa(counts_of([first[place] for place in places], [second[place] for place in places]))

    drawn = [
        kappa([3 * cluster + part for cluster, times in enumerate(row) for part in range(3) for _ in range(times)])
        for row in _sample_counts(20, 5)
    ]
    low, high = np.quantile(np.array(drawn, dtype=np.float64), [0.025, 0.975])
    assert kappa_interval(first, second, clusters, 5) == (20, pytest.approx(low), pytest.approx(high))


@pytest.mark.parametrize(
    ("second", "clusters"),
    [
        (["a"] * 4 + ["b"] * 4, ["x", "x", "y", "y", "z", "z", "z", "z"]),  # three clusters
        (["a", "b"] * 4, list("stuvwxyz")),  # always the same
        (["a"] * 8, list("stuvwxyz")),  # samples of one verdict alone
        (["b", "c"] * 4, list("stuvwxyz")),  # every kappa is 0
    ],
)
def test_without_enough_to_draw_there_is_no_interval(second: list[str], clusters: list[str]) -> None:
    first = {"aa": ["b", *["a"] * 7], "ab": ["a", "b"] * 4, "bc": ["a"] * 8}["".join(second[:2])]
    assert kappa_interval(first, second, clusters, 0)[1:] == (None, None)


def rated(*items: str) -> list[dict[str, str]]:
    """Items with the values of annotators a, b and c; - stands for none."""
    return [{name: value for name, value in zip("abc", item, strict=False) if value != "-"} for item in items]


@pytest.mark.parametrize(
    ("items", "alpha"),
    [
        # One pair in four differs; of 8 values 5 are a, 3 are d: D_o = 2/8, D_e = 2*5*3 / (8*7), 1 - (1/4) / (30/56).
        (("aa", "aa", "ad", "dd"), 8 / 15),
        (("aa", "dd", "cc"), 1),
        (("da", "dd"), 0),  # D_o = 2/4, D_e = 2*1*3 / (4*3)
        (("da", "-dd"), 0),  # other annotators, the same values
        # Of 16 values 7 are a, 3 d, 2 c, 1 m, 3 i: D_o = 2/8, D_e = 1 - (7*6 + 3*2 + 2*1 + 3*2) / (16*15).
        (("aa", "ad", "cc", "dd", "aa", "mi", "i-i", "-aa"), 1 - (1 / 4) / (184 / 240)),
    ],
)
def test_alpha(items: tuple[str, ...], alpha: float) -> None:
    assert krippendorffs_alpha(rated(*items)) == pytest.approx(alpha, abs=1e-9)


@pytest.mark.parametrize("items", [(), ("aa", "aa")])
def test_alpha_of_one_value_is_undefined(items: tuple[str, ...]) -> None:
    assert krippendorffs_alpha(rated(*items)) is None
