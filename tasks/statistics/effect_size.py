"""Cohen's d: the difference of two means in units of their common spread.

    d = (mean_a - mean_b) / s,  s^2 = ((n_a - 1) var_a + (n_b - 1) var_b) / (n_a + n_b - 2), variances over n - 1

Positive where the first group is greater; without unit and without regard to how many rows there are. It is not a
test, and not corrected for small groups (Hedges' g). The denominator is not the root of the mean of the two variances,
which some call d too and which differs where the groups differ in size.

Source: Cohen 1988, Statistical Power Analysis for the Behavioral Sciences, section 2.5, with the pooled variance.
"""

import math

from numpy.typing import ArrayLike

from tasks.statistics.groups import Untestable, pooled_variance, scores, untestable


def cohens_d(a: ArrayLike, b: ArrayLike) -> float | Untestable:
    """Cohen's d of groups a (n_a,) and b (n_b,).

    Returns:
        d, without unit; Untestable for groups of fewer than two rows or without any spread.

    Raises:
        ScoreError: a score is not finite.
    """
    first, second = scores(a), scores(b)
    if reason := untestable(first, second):
        return reason
    return float(first.mean() - second.mean()) / math.sqrt(float(pooled_variance(first, second)))
