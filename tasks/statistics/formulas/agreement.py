"""Agreement on the same items: Cohen's kappa of two judges, and Krippendorff's alpha of two or more annotators.

Cohen's kappa: the agreement of two judges on the same items, beyond the agreement that is due to chance.

    kappa = (p_o - p_e) / (1 - p_e)
    p_o   = the share of items with two equal verdicts
    p_e   = sum over verdicts v of a_v b_v, where a_v and b_v are the judges' shares of items with verdict v

kappa is 1 if the verdicts are always equal, 0 if they are equal as often as by chance, and negative if less often.
Agreement by chance is the agreement of judges with the shares a_v and b_v who decide independently. If only one verdict
occurs, p_e is 1 and kappa is undefined. The interval of kappa: the 2.5th and 97.5th percentiles over samples of whole
clusters (formulas.intervals). There is no interval for fewer than 5 clusters, for judges who agree on all items, or if
a sample has no kappa. Nor is there an interval if all samples have the same kappa: a judge with one verdict for all
items has kappa 0 in every sample. Kappas are not comparable between sets of items with different shares of verdicts. If
nearly all items have one verdict, two judges who nearly always agree can have a kappa near 0. Kappa is no share of
right verdicts.

Krippendorff's alpha, for nominal data:

    alpha = 1 - D_o / D_e

D_o is the share of unequal pairs among the values of one item: the mean over items, weighted by their numbers of
values. D_e is the share of unequal pairs among all values of all items. alpha is 1 if the values of each item are the
same, and 0 for agreement by chance. alpha is not the share of equal values, and is not defined if all values of all
items are the same.

Source: Cohen 1960, A coefficient of agreement for nominal scales; for a kappa near 0, Feinstein and Cicchetti 1990,
High agreement but low kappa. Krippendorff 2004, Content Analysis, chapter 11, computed by the library krippendorff.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL
from swaymeter.tasks.statistics.formulas.intervals import Interval, ends, sums_of_clusters, sums_over_samples

_ROUNDING = 1e-12
"""Values of p_o - p_e and of 1 - p_e up to this are due to rounding alone."""


def cohens_kappa(counts: NDArray[np.float64]) -> float | None:
    """Return kappa of a table (k, k) that counts items by both judges' verdicts; None if kappa is undefined."""
    (kappa,) = _kappas(counts[np.newaxis])
    return None if np.isnan(kappa) else float(kappa)


def krippendorffs_alpha(ratings: Sequence[Mapping[str, str]]) -> float | None:
    """Return alpha of items, each with the values of at least two annotators by name; None if alpha is undefined."""
    annotators = sorted({name for by_name in ratings for name in by_name})
    values = sorted({value for by_name in ratings for value in by_name.values()})
    if len(values) < 2:
        return None
    import krippendorff

    table = np.full((len(annotators), len(ratings)), np.nan)
    for item, by_name in enumerate(ratings):
        for name, value in by_name.items():
            table[annotators.index(name), item] = values.index(value)
    return float(krippendorff.alpha(reliability_data=table, level_of_measurement="nominal"))


def kappa_interval(first: Sequence[str], second: Sequence[str], clusters: Sequence[str], seed: int) -> Interval:
    """Return the interval of kappa of two verdicts on each item (n,), in clusters (n,)."""
    size = len({*first, *second})
    first_codes, second_codes = _verdict_codes(first, second)
    cells = first_codes * size + second_codes
    columns = [(cells == cell).astype(np.float64) for cell in range(size * size)]
    sums = sums_of_clusters(clusters, *columns)
    if len(sums) < FEWEST_FOR_INTERVAL or (first_codes == second_codes).all():
        return Interval(len(sums))
    sample_kappas = _kappas(sums_over_samples(sums, seed).reshape(-1, size, size))
    has_interval = bool(np.ptp(sample_kappas) > _ROUNDING)  # False if a sample without kappa gives NaN
    return Interval(len(sums), *ends(sample_kappas)) if has_interval else Interval(len(sums))


def counts_of(first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
    """Return a table (k, k) that counts n items by their two verdicts, with the verdicts in alphabetical order."""
    size = len({*first, *second})
    counts = np.zeros((size, size))
    np.add.at(counts, _verdict_codes(first, second), 1)
    return counts


def _verdict_codes(first: Sequence[str], second: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the verdicts of both judges as numbers, (n,) each, in alphabetical order of the verdicts."""
    codes = {verdict: code for code, verdict in enumerate(sorted({*first, *second}))}
    first_codes, second_codes = (
        np.array([codes[verdict] for verdict in verdicts], dtype=np.int64) for verdicts in (first, second)
    )
    return first_codes, second_codes


def _kappas(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return kappa of each table of (m, k, k); NaN for a table with only one verdict, or without items."""
    totals = counts.sum(axis=(1, 2))
    shares = counts / np.where(totals, totals, 1)[:, None, None]
    observed = np.trace(shares, axis1=1, axis2=2)
    expected = (shares.sum(axis=2) * shares.sum(axis=1)).sum(axis=1)
    is_defined = (totals > 0) & (1 - expected > _ROUNDING)
    beyond_chance = np.where(np.abs(observed - expected) > _ROUNDING, observed - expected, 0.0)
    return np.where(is_defined, beyond_chance / np.where(is_defined, 1 - expected, 1), np.nan)
