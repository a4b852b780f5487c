"""Susceptibility against how much a graph holds of an entity: its degree, whole and under the relation ([D] Fig 10).

The correlations come ready-made from the table `correlations`, the 95th percentiles from `envelopes`.
"""

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import NullLocator

from reports.figures.figure import Drawing, Figure
from reports.figures.panels import query_types
from reports.frames import Frames, Model, finite, plural, records, where
from reports.style import FEW_DOTS, INK, QUERY_HUES, blank, dots, headed, legend_above, mark

DEGREES = {"degree": "degree", "relation_degree": "degree under the relation"}
FEWEST = 20
_NONE, _SPREAD = 0.33, 0.12
_POINTS = ["relation", "query_type", "form", "entity", "invented", "query_id", "degree", "relation_degree"]


def susceptibility_by_degree(axes: Axes, data: pd.DataFrame, envelope: pd.DataFrame, degree: str) -> None:
    """Draws an entity a dot, its degree across (logarithmic) and mean susceptibility in nats up, one query type.

    `data` has query_type, invented, susceptibility and the column `degree`; `envelope` has at and value. Real entities
    are filled; invented ones, of degree 0, stand hollow left of degree 1. A line runs along the envelope.
    """
    hue = QUERY_HUES[str(data["query_type"].iloc[0])]
    real, invented = data[~data["invented"]], data[data["invented"]]
    style: dict[str, Any] = {"markersize": 3.0, "alpha": max(0.15, 0.7 * min(1.0, FEW_DOTS / len(data))), "color": hue}
    most = max(real[degree].max(), 1)
    axes.set_xscale("log")
    axes.set_xlim(_NONE - 2 * _SPREAD, 1.6 * most)
    dots(axes, real[degree], real["susceptibility"], markeredgewidth=0, **style)
    beside = _NONE + _SPREAD * np.sin(np.arange(len(invented)) * 2.4)  # side by side, the same every time
    dots(axes, beside, invented["susceptibility"], markerfacecolor="none", markeredgewidth=0.7, **style)
    if len(envelope):
        axes.plot(envelope["at"], envelope["value"], color=INK)
    decades = 10 ** np.arange(int(np.log10(most)) + 2)
    axes.set_xticks([_NONE, *decades], ["0", *(f"{decade:,}" for decade in decades)])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlim(_NONE - 2 * _SPREAD, 1.6 * most)


def draw(model: Model, frames: Frames) -> Drawing | None:
    """The entities of a model whose queries are about a graph."""
    every, entities = frames["degree_of_queries"], frames["degree_of_entities"]
    entities = entities.astype({"invented": bool, **dict.fromkeys(DEGREES, float)})
    if entities["invented"].all():
        return None
    correlations, envelopes = frames["correlations"], frames["envelopes"]
    real = entities[~entities["invented"]]
    percentile = f"{envelopes['percentile'].iloc[0]:.0f}" if len(envelopes) else "95"
    line = (
        f" The line is the {percentile}th percentile of the real entities of half to double a degree, where they are "
        f"at least {FEWEST}."
    )
    caption = (
        "Each dot is an entity of a relation: further right the graph has more triples with it, higher up its queries "
        "are swayed further (mean over its forms). Filled dots are real entities; hollow ones, at 0, are invented: the "
        f"graph has nothing of them.{line if len(real) >= FEWEST else ''} Spearman's rho is over the real "
        f"entities alone. {model}; n = {_count(real)} real and {_count(entities[entities['invented']])} invented "
        f"entities of {plural(entities['relation'].nunique(), 'relation')}."
        f"{_missing(correlations)}{finite(every, 'susceptibility', *DEGREES).note('queries')}"
    )
    pairs = product(DEGREES.items(), QUERY_HUES)
    words = "; ".join(f"{kind}, {label}: {spearman(correlations, name, kind)}" for (name, label), kind in pairs)
    alt = (
        f"Scatter plots of susceptibility in nats against the degree of an entity, whole and under the relation, for "
        f"{model}, open and closed queries in panels. {words}."
    )
    points, shown = every[[*_POINTS, "susceptibility"]], _by_relation(correlations)
    return Drawing(caption, alt, points, shown, partial(_paint, entities, envelopes, correlations))


def spearman(correlations: pd.DataFrame, degree: str, query_type: str) -> str:
    """Spearman's rho over all real entities in words; empty where none was computed."""
    for row in records(where(correlations, measure_a=f"log_{degree}", query_type=query_type, relation="all")):
        if pd.isna(row["spearman"]):
            return f"no correlation (n = {int(row['n'])})"
        return f"Spearman's rho {row['spearman']:.2f} (n = {int(row['n'])}, p = {row['spearman_p']:.2g})"
    return ""


def _count(entities: pd.DataFrame) -> int:
    return len(entities[["relation", "entity"]].drop_duplicates())


def _missing(correlations: pd.DataFrame) -> str:
    rows = where(correlations, level="entity", relation="all")
    reasons = sorted(set(rows["untestable"].dropna())) if len(rows) else []
    return f" No correlation: {'; '.join(reasons)}." if reasons else ""


def _by_relation(correlations: pd.DataFrame) -> pd.DataFrame:
    """Spearman's rho with both degrees, over all real entities and relation by relation."""
    columns = ["relation", "query_type", "degree", "n", "spearman", "spearman_p", "untestable"]
    if correlations.empty:
        return pd.DataFrame(columns=columns)
    rows = where(correlations, level="entity")
    rows = rows.assign(degree=rows["measure_a"].str.removeprefix("log_"), first=rows["relation"] != "all")
    return rows.sort_values(["first", "relation", "query_type", "degree"])[columns].reset_index(drop=True)


def _paint(entities: pd.DataFrame, envelopes: pd.DataFrame, correlations: pd.DataFrame) -> Canvas:
    types = query_types(entities)
    canvas, grid = blank(len(DEGREES), len(types), 3.2 * len(DEGREES), share_x="row", share_y=True)
    for line, (degree, label) in zip(grid, DEGREES.items(), strict=True):
        for axes, kind in zip(line, types, strict=True):
            near = where(envelopes, along=degree, query_type=kind)
            susceptibility_by_degree(axes, entities[entities["query_type"] == kind], near, degree)
            headed(axes, f"{kind} queries", spearman(correlations, degree, kind))
            axes.set_xlabel(f"{label} (triples)")
        line[0].set_ylabel("susceptibility (nats)")
    grid[0][0].set_ylim(bottom=0)
    legend_above(canvas, [mark("o", "real entities"), mark("o", "invented entities", filled=False)])
    return canvas


FIGURE = Figure(
    "susceptibility-by-degree",
    "Are the entities that a graph knows most of the hardest to sway?",
    ("degree_of_entities", "degree_of_queries", "envelopes", "correlations"),
    draw,
    measures=("susceptibility",),
    items=("du-fig-10", "du-fig-19"),
)
