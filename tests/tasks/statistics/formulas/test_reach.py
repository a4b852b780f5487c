"""What is untestable is found by brute force, too: no way to deal scores of very unequal size has p of 0.05."""

from itertools import combinations, product

import numpy as np
import pytest

from swaymeter.tasks.statistics.formulas.permutation import TOO_FEW, Alternative, permutation, sign_flips

SIZES = [*product(range(2, 7), repeat=2)]


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
@pytest.mark.parametrize(("n_a", "n_b"), SIZES)
def test_groups_that_cannot_be_significant_are_untestable(n_a: int, n_b: int, alternative: Alternative) -> None:
    rows = 4.0 ** np.arange(n_a + n_b)
    rows -= rows.mean()
    ways = [list(chosen) for chosen in combinations(range(n_a + n_b), n_a)]
    sums = np.array([rows[chosen].sum() for chosen in ways])
    sums = np.abs(sums) if alternative == "two-sided" else sums
    first = ways[int(np.argmax(sums))]
    smallest = float(np.mean(sums >= sums.max() - 1e-6))
    (result,) = permutation([(rows[first], np.delete(rows, first))], alternative, 0)
    assert result.untestable == (TOO_FEW if smallest > 0.05 else None)
    assert result.p == (None if smallest > 0.05 else pytest.approx(smallest))


@pytest.mark.parametrize(("alternative", "fewest"), [("greater", 5), ("two-sided", 6)])
def test_pairs_that_cannot_be_significant_are_untestable(alternative: Alternative, fewest: int) -> None:
    pairs = [(np.arange(n) + 1.0, np.zeros(n)) for n in range(2, 9)]
    reasons = [result.untestable for result in sign_flips(pairs, alternative, 0)]
    assert reasons == [TOO_FEW if n < fewest else None for n in range(2, 9)]
