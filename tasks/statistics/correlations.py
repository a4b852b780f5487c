"""Pearson's and Spearman's correlation of susceptibility with other measures of the same queries; and envelopes.

    fisher, fisher_top_k          Fisher susceptibility, over the whole vocabulary and over the likeliest tokens
    answer_set_susceptibility     susceptibility over complete answers
    memorization_ratio            how often a query's answer is kept although a context states another answer
    log_degree                    log10 of the number of triples of the query's entity in a graph
    log_relation_degree           log10 of the number of the entity's triples with the query's relation
    log_entity_count              log10 of (1 + number of occurrences of the entity in a corpus)
    log_pair_count                log10 of (1 + number of occurrences of the entity near its answer)
    susceptibility_reference      susceptibility of a sample of queries, in the reference precision

Groups: the open queries of a model, its closed queries, and both together. Unit of analysis: a query with both scores,
or a relation with the means of its queries. For degrees and counts, which belong to entities, the unit is a real entity
of a relation with the mean of its queries, over all relations and within each relation. Queries of a relation share
contexts, so the p-values over queries are too small. The p-values over relations rest on few relations.

An envelope is a high percentile of susceptibility near each degree, or near each count in a corpus:

    bound(d) = 95th percentile of the susceptibility of real entities whose degree or count is d / 2 to 2 d, d > 0

Groups: at least 20 real entities near a degree or a count, for each query type. A degree is the number of an entity's
triples, in the graph or with the query's relation. A count is the number of an entity's occurrences, all or only those
near its answer. Unit of analysis: an entity of a relation with the mean over its query forms.

Source: Du et al. 2024, Context versus Prior Knowledge (figures 9 and 10 have the envelopes); Liu et al. 2024,
Efficiently Computing Susceptibility to Context
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.records.statistics import CorrelationRow, EnvelopePoint
from swaymeter.tasks.statistics.formulas.groups import cohens_d, scores
from swaymeter.tasks.statistics.formulas.regression import Kind, correlation, spearman_interval
from swaymeter.tasks.statistics.frames import ALL, iter_groups, sort_frame
from swaymeter.tasks.statistics.group_tests import FAMILIARITY
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import MODEL, QUERY_TYPE, RELATION

MEASURES_BY_QUERY: Mapping[str, tuple[str, ...]] = {
    "fisher_of_queries": ("fisher", "fisher_top_k"),
    "answer_set_of_queries": ("answer_set_susceptibility",),
    "memorization_of_queries": ("memorization_ratio",),
    "degree_of_queries": ("log_degree", "log_relation_degree"),
    "frequency_of_queries": ("log_entity_count", "log_pair_count"),
    "precision_of_queries": ("susceptibility_reference",),
}
"""The measures that are correlated with susceptibility, by the named query that has both scores."""

ENTITY_QUERIES = ("degree_of_queries", "frequency_of_queries")
"""Named queries whose measures belong to entities."""
SUSCEPTIBILITY = "susceptibility"


def _correlations(frames: Frames, seed: int) -> list[Row]:
    """Return rows of `CorrelationRow`; ScoreError for an infinite score."""
    rows = [
        {**about, "level": level, "relation": relation, **correlation_columns(pairs, measure, SUSCEPTIBILITY)}
        for sql_query, measures in MEASURES_BY_QUERY.items()
        for measure in measures
        for about, queries in _by_model_and_type(frames[sql_query], measure)
        for level, relation, pairs in _pairs(sql_query, queries, measure)
    ]
    order = ("measure_a", "model", "dtype", "level", "relation", "query_type")
    return sorted(rows, key=lambda row: [row[name] for name in order])


def _by_model_and_type(frame: Frame, measure: str) -> Iterator[tuple[Row, Frame]]:
    """Yield, for each model, the open, the closed and all queries that have both scores."""
    scored = sort_frame(frame.dropna(subset=[measure, SUSCEPTIBILITY]), [*MODEL, "relation", "query_id"])
    for about, queries in iter_groups(scored, MODEL):
        by_type = {str(name): group for name, group in queries.groupby("query_type", observed=True)}
        for query_type, group in {**by_type, ALL: queries}.items():
            yield {**about, "measure_a": measure, "measure_b": SUSCEPTIBILITY, "query_type": query_type}, group


def _pairs(sql_query: str, queries: Frame, measure: str) -> Iterator[tuple[str, str, Frame]]:
    """Yield the level ("query", "relation" or "entity"), the relation or "all", and the pairs of scores."""
    columns = [measure, SUSCEPTIBILITY]
    if sql_query in ENTITY_QUERIES:
        entities = queries.groupby(["relation", "entity"], sort=True, observed=True)[columns].mean().reset_index()
        groups = entities.groupby("relation", sort=True, observed=True)
        yield from (("entity", str(relation), rows) for relation, rows in [(ALL, entities), *groups])
        return
    yield "query", ALL, queries
    if sql_query != "precision_of_queries":  # the sample has too few queries of a relation for a mean
        yield "relation", ALL, queries.groupby("relation", sort=True, observed=True)[columns].mean()


def correlation_columns(pairs: Frame, first: str, second: str) -> Row:
    """Return both correlations of two columns, as columns of `CorrelationRow`."""
    row: Row = {"n": len(pairs)}
    for kind in get_args(Kind):
        row[kind], row[f"{kind}_p"], row["untestable"] = correlation(kind, pairs[first], pairs[second])
    row["spearman_low"], row["spearman_high"] = spearman_interval(row["spearman"], len(pairs))
    return row


STATISTIC = Statistic("correlations", 5, CorrelationRow, tuple(MEASURES_BY_QUERY), _correlations)

COUNTS = ("log_entity_count", "log_pair_count")
EFFECT = "familiarity_effect_size"


def _effects_by_frequency(frames: Frames, seed: int) -> list[Row]:
    import pandas as pd

    keys = list(RELATION)
    entities = frames["frequency_of_queries"].groupby([*keys, "entity", "answer"], observed=True, sort=True)
    counts = entities[[*COUNTS]].first().groupby(keys, observed=True, sort=True).mean().reset_index()
    if counts.empty:
        return []
    groups = FAMILIARITY.groups(FAMILIARITY.queries(frames["susceptibility_of_queries"]))
    effects = pd.DataFrame([{**about, EFFECT: cohens_d(a, b)} for about, (a, b) in groups])
    return [
        {
            **about,
            "level": "relation",
            "relation": ALL,
            "measure_a": count,
            "measure_b": EFFECT,
            **correlation_columns(relations.dropna(subset=[count, EFFECT]), count, EFFECT),
        }
        for about, relations in iter_groups(counts.merge(effects, on=keys), [*QUERY_TYPE])
        for count in COUNTS
    ]


EFFECTS_BY_FREQUENCY = Statistic(
    "effects_by_frequency",
    2,
    CorrelationRow,
    ("frequency_of_queries", "susceptibility_of_queries"),
    _effects_by_frequency,
)
"""Correlation over relations between the effect of familiarity and the counts of real entities in a corpus.

    familiarity_effect_size   Cohen's d of a relation's invented entities against its real entities, in susceptibility
    log_entity_count          mean, over a relation's real entities, of log10 (1 + number of the entity's occurrences)
    log_pair_count            the same mean for occurrences near the answer

Groups: a model's relations that have an effect and a count, by query type. Unit of analysis: a relation. Entities with
unusable counts are left out of the means.

Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, figure 17.
"""

ENVELOPE_PERCENTILE, ENVELOPE_FACTOR, ENVELOPE_FEWEST = 95, 2, 20
"""The percentile of an envelope; the largest ratio between two degrees that count as near each other; and the smallest
number of entities near a degree for which the envelope has a point."""


def _envelopes(sql_query: str, count_columns: Sequence[str], frames: Frames, seed: int) -> list[Row]:
    """Return rows of `EnvelopePoint`, sorted by degree or count."""
    rows = []
    real = frames[sql_query][~frames[sql_query]["invented"].astype(bool)]
    for about, entities in iter_groups(real, QUERY_TYPE, ["susceptibility", *count_columns]):
        about |= {
            "relation": ALL,
            "quantity": "susceptibility",
            "unit": "nats",
            "percentile": float(ENVELOPE_PERCENTILE),
        }
        susceptibility = scores(entities["susceptibility"])
        for column in count_columns:
            degrees = entities[column].to_numpy(dtype="float64")
            for degree, value, n in envelope(degrees[degrees > 0], susceptibility[degrees > 0]):
                rows.append({**about, "along": column, "at": degree, "value": value, "n": n})
    return rows


def envelope(degrees: NDArray[np.float64], susceptibility: NDArray[np.float64]) -> Iterator[tuple[float, float, int]]:
    """Yield each degree with enough entities near it, the percentile of their susceptibility, and their number.

    Args:
        degrees: degrees or counts of entities, (n,), above 0.
        susceptibility: the susceptibility of the same entities, (n,).
    """
    order = np.argsort(degrees, kind="stable")
    degrees, susceptibility = degrees[order], susceptibility[order]
    for degree in np.unique(degrees):
        first = np.searchsorted(degrees, degree / ENVELOPE_FACTOR, side="left")
        last = np.searchsorted(degrees, degree * ENVELOPE_FACTOR, side="right")
        if last - first >= ENVELOPE_FEWEST:
            percentile = float(np.percentile(susceptibility[first:last], ENVELOPE_PERCENTILE))
            yield float(degree), percentile, int(last - first)


DEGREE_ENVELOPE, COUNT_ENVELOPE = (
    Statistic(name, 1, EnvelopePoint, (query,), partial(_envelopes, query, count_columns))
    for name, query, count_columns in (
        ("degree_envelope", "degree_of_entities", ("degree", "relation_degree")),
        ("count_envelope", "frequency_of_entities", ("entity_count", "pair_count")),
    )
)
