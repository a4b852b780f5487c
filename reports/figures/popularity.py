"""Susceptibility against an entity's degree in a graph and its counts in a corpus (Figs 10 and 9 of Du et al. 2024).

A further figure shows the effect of familiarity against the counts of a relation's entities (Fig. 17). The correlations
come from the named query `correlations`, and the lines of 95th percentiles from the named query `envelopes`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swaymeter.data.records.statistics import ALPHA
from swaymeter.reports.estimates import plural, too_few_for_r
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.figures.panels import grid, query_types
from swaymeter.reports.frames import Frames, finite, records, where
from swaymeter.reports.models import Model
from swaymeter.reports.style import FEW_DOTS, INK, QUERY_HUES, dots, headed, mark

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from matplotlib.lines import Line2D

FEWEST_FOR_LINE = 20
"""Minimum number of real entities for the line of percentiles."""
_ZERO_POSITION, _JITTER = 0.33, 0.12  # x of the count 0, left of 1 on the logarithmic axis, and its jitter
_POINT_COLUMNS = ["relation", "query_type", "form", "entity", "invented", "query_id"]


@dataclass(frozen=True)
class Popularity:
    """Popularity of an entity, as several counts.

    Attributes:
        columns: Axis label of each count by its column.
        things: Plural noun of the counted things, such as "triples".
        source: Subject and verb of the caption, "the graph has" or "the corpus has".
        queries: Named query (SQL) with the susceptibility and counts, a row for each query text.
        entities: Named query (SQL) with the mean susceptibility and counts, a row for each entity.
        note: Function from frames to the caption's sentence on the source of the counts.
    """

    columns: Mapping[str, str]
    things: str
    source: str
    queries: str
    entities: str
    note: Callable[[Frames], str] = lambda frames: ""


def susceptibility_by_count(axes: Axes, data: pd.DataFrame, envelope: pd.DataFrame, count: str) -> None:
    """Draw a dot per entity: x is its count on a logarithmic scale, y its mean susceptibility in nats.

    Real entities are filled, invented ones hollow. Entities with a count of 0 are drawn left of 1.

    Args:
        axes: The panel.
        data: Rows of one query type with invented, susceptibility and the column `count`.
        envelope: The points `at` and `value` of the line of percentiles.
        count: Column of the count.
    """
    from matplotlib.ticker import NullLocator

    hue = QUERY_HUES[str(data["query_type"].iloc[0])]
    style: dict[str, Any] = {"markersize": 3.0, "alpha": max(0.15, 0.7 * min(1.0, FEW_DOTS / len(data))), "color": hue}
    largest = max(data[count].max(), 1)
    axes.set_xscale("log")
    at_zero = _ZERO_POSITION + _JITTER * np.sin(np.arange(len(data)) * 2.4)  # a jitter that is the same every time
    x = np.where(data[count] > 0, data[count], at_zero)
    filled: dict[str, Any] = {"markeredgewidth": 0}
    hollow: dict[str, Any] = {"markeredgewidth": 0.7, "markerfacecolor": "none"}
    for rows, face in ((~data["invented"], filled), (data["invented"], hollow)):
        dots(axes, x[rows], data["susceptibility"][rows], **face, **style)
    if len(envelope):
        axes.plot(envelope["at"], envelope["value"], color=INK)
    decades = 10 ** np.arange(int(np.log10(largest)) + 2)
    axes.set_xticks([_ZERO_POSITION, *decades], ["0", *(f"{decade:,}" for decade in decades)])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlim(_ZERO_POSITION - 2 * _JITTER, 1.6 * largest)


def _draw_entities(popularity: Popularity, model: Model, frames: Frames) -> Drawing | None:
    queries, entities = frames[popularity.queries], frames[popularity.entities]
    entities = entities.astype({"invented": bool, **dict.fromkeys(popularity.columns, float)})
    if entities["invented"].all():
        return None
    correlations = where(frames["correlations"], measure_a=[f"log_{name}" for name in popularity.columns])
    envelopes = where(frames["envelopes"], along=[*popularity.columns])
    real = entities[~entities["invented"]]
    percentile = f"{envelopes['percentile'].iloc[0]:.0f}" if len(envelopes) else "95"
    line = (
        f" At each count, the line is the {percentile}th percentile of susceptibility, over the real entities with "
        f"half to double this count, if there are at least {FEWEST_FOR_LINE} such entities."
    )
    caption = (
        f"Each dot is an entity of a relation. The further right a dot, the more {popularity.things} "
        f"{popularity.source} of the entity. The higher a dot, the further the entity's queries are swayed (mean over "
        "forms). Filled dots are real entities, hollow ones invented; entities with a count of 0 stand at 0."
        f"{line if len(real) >= FEWEST_FOR_LINE else ''} Spearman's rho is over "
        "only the real entities, with its 95% interval in brackets, as if the entities were independent. "
        f"{model}; n = "
        f"{_entity_count(real)} real and {_entity_count(entities[entities['invented']])} invented entities of "
        f"{plural(entities['relation'].nunique(), 'relation')}.{missing(correlations)}{popularity.note(frames)}"
        f"{finite(queries, 'susceptibility', *popularity.columns).note('queries')}"
    )

    def panel(axes: Axes, count: str, query_type: str) -> None:
        envelope = where(envelopes, along=count, query_type=query_type)
        susceptibility_by_count(axes, where(entities, query_type=query_type), envelope, count)
        headed(axes, f"{query_type} queries", spearman(correlations, count, query_type))
        axes.set_xlabel(popularity.columns[count])

    points, shown = queries[[*_POINT_COLUMNS, *popularity.columns, "susceptibility"]], _by_relation(correlations)
    marks = mark("o", "real entities"), mark("o", "invented entities", filled=False)
    return Drawing(caption, points, shown, partial(_paint, entities, panel, marks, "susceptibility (nats)", 0))


def _paint(
    rows: pd.DataFrame, panel: Callable[[Axes, str, str], None], marks: Sequence[Line2D], y: str, bottom: float | None
) -> Canvas:
    counts = [name for name in (*DEGREES, *COUNTS) if name in rows or f"mean_log_{name}" in rows]
    height = 3.2 * len(counts)
    return grid(counts, query_types(rows), height, panel, marks, share_x="row", y=lambda _: y, bottom=bottom)


def spearman(correlations: pd.DataFrame, count: str, query_type: str, level: str = "entity") -> str:
    """Return Spearman's rho in words, for the `level` "entity" over all real entities, for "relation" over relations.

    Without rows of this correlation, return an empty text.
    """
    rows = where(correlations, measure_a=f"log_{count}", level=level)
    for row in records(where(rows, query_type=query_type, relation="all")):
        if pd.isna(row["spearman"]):
            return f"no correlation (n = {int(row['n'])})"
        if few := too_few_for_r(int(row["n"])):
            return few
        ends = "" if pd.isna(row["spearman_low"]) else f" [{row['spearman_low']:z.2f}, {row['spearman_high']:z.2f}]"
        return f"Spearman's rho {row['spearman']:z.2f}{ends} (n = {int(row['n'])}, p = {row['spearman_p']:.2g})"
    return ""


def _entity_count(entities: pd.DataFrame) -> int:
    return len(entities[["relation", "entity"]].drop_duplicates())


def missing(correlations: pd.DataFrame, level: str = "entity") -> str:
    """Return the caption's sentence on the reasons for missing correlations; empty if none is missing."""
    rows = where(correlations, level=level, relation="all")
    reasons = sorted(set(rows["untestable"].dropna())) if len(rows) else []
    return f" No correlation: {'; '.join(reasons)}." if reasons else ""


def _by_relation(correlations: pd.DataFrame) -> pd.DataFrame:
    columns = [
        "relation",
        "query_type",
        "against",
        "n",
        "spearman",
        "spearman_low",
        "spearman_high",
        "spearman_p",
        "untestable",
    ]
    if correlations.empty:
        return pd.DataFrame(columns=columns)
    rows = where(correlations, level="entity")
    rows = rows.assign(against=rows["measure_a"].str.removeprefix("log_"), is_single=rows["relation"] != "all")
    return rows.sort_values(["is_single", "relation", "query_type", "against"])[columns].reset_index(drop=True)


def corpus_note(frames: Frames) -> str:
    """Return the caption's sentences on the corpus, counts in tokens, estimated counts and excluded entities."""
    shards, counts = records(frames["corpus_summary"]), frames["kinds_of_counts"]
    excluded = len(frames["excluded_entities"])
    excluded_words = (
        f" Left out: {plural(excluded, 'entity')} whose counts do not describe the entity." if excluded else ""
    )
    corpus_words = ""
    if shards:
        whole = shards[-1]  # the last row is about the whole corpus
        sizes = [(whole[unit], unit) for unit in ("words", "tokens") if pd.notna(whole[unit])]
        corpus_words = "".join(
            f" Counted in {whole['corpus']}: {whole['shard']}, {int(n):,} {unit}." for n, unit in sizes
        )
    kinds = "; ".join(
        f"{row['what']} is {'estimated' if row['counted'] == 'approximate' else 'counted in tokens'} for "
        f"{row['pairs']:,} of {row['of_pairs']:,}"
        for row in records(counts)
        if row["counted"] != "words"
    )
    kind_words = f" Not all pairs of entity and answer are counted in words: {kinds}." if kinds else ""
    return f"{corpus_words}{kind_words}{excluded_words}"


DEGREES = {"degree": "degree (triples)", "relation_degree": "degree under the relation (triples)"}
"""Label of the x axis for each count of an entity in a graph."""
COUNTS = {"entity_count": "occurrences in the corpus", "pair_count": "occurrences near the answer"}
"""Label of the x axis for each count of an entity in a corpus."""

DEGREE = Figure(
    "susceptibility-by-degree",
    "Are the entities that a graph knows most of the hardest to sway?",
    "Scatter plots of susceptibility in nats against an entity's degree",
    ("degree_of_entities", "degree_of_queries", "envelopes", "correlations"),
    partial(
        _draw_entities,
        Popularity(DEGREES, "triples", "the graph has", "degree_of_queries", "degree_of_entities"),
    ),
    measures=("susceptibility",),
    items=("du-fig-10", "du-fig-19"),
)
FREQUENCY = Figure(
    "susceptibility-by-frequency",
    "Are the entities that a corpus names most often the hardest to sway?",
    "Scatter plots of susceptibility in nats against an entity's occurrences in a corpus",
    (
        "frequency_of_entities",
        "frequency_of_queries",
        "envelopes",
        "correlations",
        "corpus_summary",
        "excluded_entities",
        "kinds_of_counts",
    ),
    partial(
        _draw_entities,
        Popularity(
            COUNTS,
            "occurrences",
            "the corpus has",
            "frequency_of_queries",
            "frequency_of_entities",
            corpus_note,
        ),
    ),
    measures=("susceptibility",),
    expected=lambda frames: len(frames.get("corpus_summary", ())) > 0,
    items=("du-fig-9", "du-fig-18"),
)


_COUNT_NOUNS = {"entity_count": "occurrences", "pair_count": "occurrences near the answer"}
"""Noun of each count in the label "mean log10(1 + count)" of the x axis."""
_EFFECT = "familiarity_effect_size"


def effect_by_count(axes: Axes, data: pd.DataFrame, count: str) -> None:
    """Draw a mark per relation: x is the mean of log10(1 + count) over its entities, y is Cohen's d."""
    hue, significant = QUERY_HUES[str(data["query_type"].iloc[0])], data["p_adjusted"] <= ALPHA
    axes.axhline(0, color=INK, linewidth=1)
    for rows, face in ((data[significant], hue), (data[~significant], "none")):
        x, y = rows[f"mean_log_{count}"], rows["effect_size"]
        axes.plot(x, y, "D", color=hue, markerfacecolor=face, markersize=4.5, alpha=0.8)


def _draw_relations(model: Model, frames: Frames) -> Drawing | None:
    rows = frames["effects_by_frequency"]
    correlations = where(frames["correlations"], measure_b=_EFFECT)
    rows = rows.astype({f"mean_log_{count}": float for count in _COUNT_NOUNS}).reset_index(drop=True)
    caption = (
        "Each diamond is a relation. The further right a diamond, the more often the corpus has the relation's real "
        "entities (mean over entities of log10(1 + count)). The higher a diamond, the further the invented entities "
        "are swayed than the real ones (Cohen's d of susceptibility over queries). A filled diamond is "
        f"significant (p ≤ {ALPHA} after Benjamini-Hochberg over relations). Spearman's rho is over relations, with "
        f"its 95% interval in brackets. {model}; n = {plural(rows['relation'].nunique(), 'relation')}."
        f"{missing(correlations, 'relation')}{corpus_note(frames)}"
    )

    def panel(axes: Axes, count: str, query_type: str) -> None:
        effect_by_count(axes, where(rows, query_type=query_type), count)
        headed(axes, f"{query_type} queries", spearman(correlations, count, query_type, "relation"))
        axes.set_xlabel(f"mean log10(1 + {_COUNT_NOUNS[count]})")
        axes.locator_params(axis="x", nbins=5)

    numbers = rows.drop(columns=["model", "dtype"])
    marks = mark("D", "significant"), mark("D", "not significant", filled=False)
    return Drawing(caption, numbers, numbers, partial(_paint, rows, panel, marks, "effect size (Cohen's d)", None))


EFFECT_BY_FREQUENCY = Figure(
    "familiarity-by-frequency",
    "Does familiarity matter more in relations whose entities a corpus names more often?",
    "Scatter plots of Cohen's d of familiarity against the frequency of a relation's entities",
    ("effects_by_frequency", "correlations", "corpus_summary", "excluded_entities", "kinds_of_counts"),
    _draw_relations,
    measures=("susceptibility",),
    expected=lambda frames: len(frames.get("corpus_summary", ())) > 0,
    items=("du-fig-17",),
)
