"""Whether a test can become significant at all: the smallest p-value that so many rows can give.

    rows dealt to groups   p >= 1 / C(n_a + n_b, n_a); two-sided, n_a = n_b: 2 / C, as the groups may be exchanged
    signs of n turned      p >= 1 / 2^n; two-sided: 2 / 2^n

Where that is over 0.05, "not significant" says nothing of the scores: the test is untestable, and is not counted among
those that found nothing. It follows from the number of rows alone; equal scores may keep p larger still. Adjusting for
several tests does not change which can be significant: where all have the smallest p, Benjamini-Hochberg leaves it as
it is.

Source: Good 2005, Permutation, Parametric and Bootstrap Tests of Hypotheses, chapter 3.
"""

import math

from swaymeter.data.records.statistics import ALPHA

TOO_FEW = f"n is too small for p ≤ {ALPHA}"


def unreachable_by_dealing(n_a: int, n_b: int, *, two_sided: bool) -> str:
    """Why a permutation test of groups of n_a and n_b rows cannot be significant; empty where it can."""
    return _reason(math.comb(n_a + n_b, n_a), exchangeable=two_sided and n_a == n_b)


def unreachable_by_signs(n: int, *, two_sided: bool) -> str:
    """Why a test that turns the signs of n differences cannot be significant; empty where it can."""
    return _reason(2**n, exchangeable=two_sided)


def _reason(ways: int, *, exchangeable: bool) -> str:
    return TOO_FEW if (2 if exchangeable else 1) / ways > ALPHA else ""
