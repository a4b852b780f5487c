"""How well other measures agree with susceptibility about the same queries: Pearson's and Spearman's correlation.

    fisher, fisher_top_k          Fisher susceptibility, over the whole vocabulary and over the likeliest answers
    answer_set_susceptibility     susceptibility over complete answers
    memorization_ratio            how often a query's answer is kept although a context states another
    log_degree                    how much a graph holds of a query's entity: log10 of its triples
    log_relation_degree           those of the query's relation alone
    log_entity_count              how often the entity stands in a corpus: log10 of one more
    log_pair_count                how often it stands there near its answer
    susceptibility_reference      susceptibility of a sample of queries, in the reference precision

Groups: the queries of a model that are open, closed, and all of them. Unit of analysis: a query with both scores, or
the means of a relation's queries. A degree or a count is the entity's: there, it is a real entity of a relation with
the mean of its queries, over all relations and over each alone. Queries of a relation share its contexts, so their
p-values are too small; those over relations are few.

How far the most susceptible entities of about one degree, or one count in a corpus, are swayed; not a fit:

    bound(d) = 95th percentile of the susceptibility of real entities of degree (count) d / 2 to 2 d, d > 0

Groups: the real entities near a degree, whole or under the relation, or near a count, their own or that near their
answer, of a query type, where they are at least 20. Unit of analysis: an entity of a relation with the mean over its
forms.

Source: Du et al. 2024, Context versus Prior Knowledge (figures 9 and 10 have the envelopes); Liu et al. 2024,
Efficiently Computing Susceptibility to Context
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.records.statistics import CorrelationRow, EnvelopePoint
from swaymeter.tasks.statistics.comparisons import FAMILIARITY
from swaymeter.tasks.statistics.formulas.groups import cohens_d, scores
from swaymeter.tasks.statistics.formulas.regression import Kind, correlation, spearman_interval
from swaymeter.tasks.statistics.frames import ALL, by, sorted_by
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import MODEL, RELATION, TYPE

HELD_AGAINST_SUSCEPTIBILITY: Mapping[str, tuple[str, ...]] = {
    "fisher_of_queries": ("fisher", "fisher_top_k"),
    "answer_set_of_queries": ("answer_set_susceptibility",),
    "memorization_of_queries": ("memorization_ratio",),
    "degree_of_queries": ("log_degree", "log_relation_degree"),
    "frequency_of_queries": ("log_entity_count", "log_pair_count"),
    "precision_of_queries": ("susceptibility_reference",),
}
"""The scores that are correlated with susceptibility, by the named query that has both."""

OF_ENTITIES = ("degree_of_queries", "frequency_of_queries")
SUSCEPTIBILITY = "susceptibility"


def _correlations(frames: Frames, seed: int) -> list[Row]:
    """Return the rows of `CorrelationRow`; ScoreError for a score that is infinite."""
    rows = [
        {**about, "level": level, "relation": relation, **correlated(pairs, measure, SUSCEPTIBILITY)}
        for query, measures in HELD_AGAINST_SUSCEPTIBILITY.items()
        for measure in measures
        for about, queries in _by_model_and_type(frames[query], measure)
        for level, relation, pairs in _pairs(query, queries, measure)
    ]
    order = ("measure_a", "model", "dtype", "level", "relation", "query_type")
    return sorted(rows, key=lambda row: [row[name] for name in order])


def _by_model_and_type(frame: Frame, measure: str) -> Iterator[tuple[Row, Frame]]:
    """The queries with both scores: those of a model that are open, those that are closed, and all of them."""
    both = sorted_by(frame.dropna(subset=[measure, SUSCEPTIBILITY]), [*MODEL, "relation", "query_id"])
    for about, queries in by(both, MODEL):
        by_type = {str(name): of_type for name, of_type in queries.groupby("query_type", observed=True)}
        for query_type, of_type in {**by_type, ALL: queries}.items():
            yield {**about, "measure_a": measure, "measure_b": SUSCEPTIBILITY, "query_type": query_type}, of_type


def _pairs(query: str, queries: Frame, measure: str) -> Iterator[tuple[str, str, Frame]]:
    """The pairs at each level of a named query: level, relation, and a row per pair."""
    both = [measure, SUSCEPTIBILITY]
    if query in OF_ENTITIES:
        entities = queries.groupby(["relation", "entity"], sort=True, observed=True)[both].mean().reset_index()
        groups = entities.groupby("relation", sort=True, observed=True)
        yield from (("entity", str(relation), rows) for relation, rows in [(ALL, entities), *groups])
        return
    yield "query", ALL, queries
    if query != "precision_of_queries":  # a sample of queries has too few of a relation
        yield "relation", ALL, queries.groupby("relation", sort=True, observed=True)[both].mean()


def correlated(pairs: Frame, first: str, second: str) -> Row:
    """Both correlations of two columns, as `CorrelationRow` has them."""
    row: Row = {"n": len(pairs)}
    for kind in get_args(Kind):
        row[kind], row[f"{kind}_p"], row["untestable"] = correlation(kind, pairs[first], pairs[second])
    row["spearman_low"], row["spearman_high"] = spearman_interval(row["spearman"], len(pairs))
    return row


STATISTIC = Statistic("correlations", 5, CorrelationRow, tuple(HELD_AGAINST_SUSCEPTIBILITY), _correlations)

COUNTS = ("log_entity_count", "log_pair_count")
EFFECT = "familiarity_effect_size"


def _effects_by_frequency(frames: Frames, seed: int) -> list[Row]:
    """The rows of `CorrelationRow`; none where nothing was counted."""
    import pandas as pd

    keys = list(RELATION)
    entities = frames["frequency_of_queries"].groupby([*keys, "entity", "answer"], observed=True, sort=True)
    counts = entities[[*COUNTS]].first().groupby(keys, observed=True, sort=True).mean().reset_index()
    if counts.empty:
        return []
    groups = FAMILIARITY.groups(FAMILIARITY.queries(frames["susceptibility_of_queries"]))
    effects = pd.DataFrame([{**about, EFFECT: cohens_d(a, b)} for about, (a, b) in groups])
    return [
        {**about, "level": "relation", "relation": ALL, "measure_a": count, "measure_b": EFFECT,
         **correlated(relations.dropna(subset=[count, EFFECT]), count, EFFECT)}
        for about, relations in by(counts.merge(effects, on=keys), [*TYPE])
        for count in COUNTS
    ]  # fmt: skip


EFFECTS_BY_FREQUENCY = Statistic(
    "effects_by_frequency", 2, CorrelationRow, ("frequency_of_queries", "susceptibility_of_queries"),
    _effects_by_frequency,
)  # fmt: skip
"""Is the effect of familiarity larger in relations whose real entities a corpus names more often?

    familiarity_effect_size   Cohen's d of a relation, as in the comparison familiarity
    log_entity_count          of its real entities the mean of log10 of one more than an entity's count
    log_pair_count            the same of its occurrences near its answer

Groups: a model's relations that have both, by query type. Unit of analysis: a relation. Entities whose counts say
nothing of them are left out of the means.

Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, figure 18.
"""

PERCENTILE, FACTOR, FEWEST = 95, 2, 20


def _envelopes(query: str, quantities: Sequence[str], frames: Frames, seed: int) -> list[Row]:
    """The rows of `EnvelopePoint`, rising along each quantity."""
    frame, rows = frames[query], []
    for about, entities in by(frame[~frame["invented"].astype(bool)], TYPE, ["susceptibility", *quantities]):
        about |= {"relation": ALL, "quantity": "susceptibility", "unit": "nats", "percentile": float(PERCENTILE)}
        swayed = scores(entities["susceptibility"])
        for along in quantities:
            values = entities[along].to_numpy(dtype="float64")
            for at, value, n in envelope(values[values > 0], swayed[values > 0]):
                rows.append({**about, "along": along, "at": at, "value": value, "n": n})
    return rows


def envelope(degrees: NDArray[np.float64], swayed: NDArray[np.float64]) -> Iterator[tuple[float, float, int]]:
    """Degree, percentile and number of entities at every degree of degrees (n,) that has enough scores (n,) near it."""
    order = np.argsort(degrees, kind="stable")
    degrees, swayed = degrees[order], swayed[order]
    for degree in np.unique(degrees):
        first = np.searchsorted(degrees, degree / FACTOR, side="left")
        last = np.searchsorted(degrees, degree * FACTOR, side="right")
        if last - first >= FEWEST:
            yield float(degree), float(np.percentile(swayed[first:last], PERCENTILE)), int(last - first)


OF_DEGREES, OF_COUNTS = (
    Statistic(name, 1, EnvelopePoint, (query,), partial(_envelopes, query, quantities))
    for name, query, quantities in (
        ("degree_envelope", "degree_of_entities", ("degree", "relation_degree")),
        ("count_envelope", "frequency_of_entities", ("entity_count", "pair_count")),
    )
)
