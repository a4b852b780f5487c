"""Agreement on the same items: Cohen's kappa of two judges, Krippendorff's alpha of any number of annotators.

Cohen's kappa: how far two judges agree on the same items beyond what their habits alone make them agree on.

    kappa = (p_o - p_e) / (1 - p_e)
    p_o   = the share of items that both call the same
    p_e   = sum over verdicts v of a_v b_v, where a_v and b_v are the shares of items that the one and the other call v

1: always the same; 0: as often as by chance, each with its own shares of verdicts; below 0: less often. Where both call
all items the same one thing, p_e is 1, and there is no kappa: nothing was there to agree on.
Its interval: the 2.5th and 97.5th percentiles over samples of whole clusters (formulas.intervals). None of fewer than 5
clusters, where all items are called the same by both, where a sample has no kappa, or where all samples have the same
one: if one of the two says one thing of all items, kappa is 0 whatever is drawn.
What it is not: comparable between sets of items with other shares of verdicts, nor a share of right verdicts: where
nearly all items are of one verdict, two judges who nearly always agree can have a kappa near 0.

    alpha = 1 - D_o / D_e

Krippendorff's alpha, for nominal data: the observed disagreement of the pairs of values of one item over that of all
pairs. 1: always the same; 0: as by chance. It is not defined if all values are the same.
What it is not: the share of equal values.

Source: Cohen 1960, A coefficient of agreement for nominal scales; for the warning, Feinstein and Cicchetti 1990, High
agreement but low kappa. Krippendorff 2004, Content Analysis, chapter 11, computed by the library krippendorff.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL
from swaymeter.tasks.statistics.formulas.intervals import Interval, ends, sums_of_clusters, sums_over_samples

_NOTHING = 1e-12
"""How much p_o - p_e and 1 - p_e are by rounding alone, at most."""


def cohens_kappa(counts: NDArray[np.float64]) -> float | None:
    """Kappa of a table (k, k): how many items the one calls by the row and the other by the column; None: undefined."""
    (kappa,) = _kappas(counts[np.newaxis])
    return None if np.isnan(kappa) else float(kappa)


def krippendorffs_alpha(ratings: Sequence[Mapping[str, str]]) -> float | None:
    """Return alpha of items, each with the values of at least two annotators by name; None if it is not defined."""
    annotators = sorted({name for rated in ratings for name in rated})
    values = sorted({value for rated in ratings for value in rated.values()})
    if len(values) < 2:
        return None
    import krippendorff

    table = np.full((len(annotators), len(ratings)), np.nan)
    for item, rated in enumerate(ratings):
        for name, value in rated.items():
            table[annotators.index(name), item] = values.index(value)
    return float(krippendorff.alpha(reliability_data=table, level_of_measurement="nominal"))


def kappa_interval(first: Sequence[str], second: Sequence[str], clusters: Sequence[str], seed: int) -> Interval:
    """The interval of kappa of two verdicts on each item (n,), each of the cluster (n,) that it belongs to."""
    size = len({*first, *second})
    one, other = _numbered(first, second)
    cells = one * size + other
    columns = [(cells == cell).astype(np.float64) for cell in range(size * size)]
    sums = sums_of_clusters(clusters, *columns)
    if len(sums) < FEWEST_FOR_INTERVAL or (one == other).all():
        return Interval(len(sums))
    drawn = _kappas(sums_over_samples(sums, seed).reshape(-1, size, size))
    has_interval = bool(np.ptp(drawn) > _NOTHING)  # not NaN, where a sample has no kappa
    return Interval(len(sums), *ends(drawn)) if has_interval else Interval(len(sums))


def counts_of(first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
    """How many items (n,) have each pair of verdicts: (k, k), the verdicts in the order of their names."""
    size = len({*first, *second})
    counts = np.zeros((size, size))
    np.add.at(counts, _numbered(first, second), 1)
    return counts


def _numbered(first: Sequence[str], second: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    places = {verdict: place for place, verdict in enumerate(sorted({*first, *second}))}
    one, other = (np.array([places[verdict] for verdict in given], dtype=np.int64) for given in (first, second))
    return one, other


def _kappas(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Kappa of each table of (m, k, k); NaN where it is undefined: by one verdict alone, or without items."""
    totals = counts.sum(axis=(1, 2))
    shares = counts / np.where(totals, totals, 1)[:, None, None]
    observed = np.trace(shares, axis1=1, axis2=2)
    expected = (shares.sum(axis=2) * shares.sum(axis=1)).sum(axis=1)
    is_defined = (totals > 0) & (1 - expected > _NOTHING)
    beyond = np.where(np.abs(observed - expected) > _NOTHING, observed - expected, 0.0)
    return np.where(is_defined, beyond / np.where(is_defined, 1 - expected, 1), np.nan)
