"""Susceptibility against how much a graph holds of an entity: its degree, whole and under the relation ([D] Fig 10).

The correlations come ready-made, from the table `agreement`.
"""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from numpy.typing import NDArray

from reports.figures.plate import Plate
from reports.frames import Finite, Model, by_model, finite, is_null, is_true, numbers, records, stand_in_note
from reports.style import INK, QUERY_HUES, blank, headed, legend_above, mark

TITLE = "Are the entities that a graph knows most of the hardest to sway?"
DEGREES = {"degree": "degree", "relation_degree": "degree under the relation"}
BOUND = 95
MANY = 600
_FACTOR, _FEWEST = 2, 20
_NONE, _SPREAD = 0.33, 0.12
_POINTS = ["relation", "query_type", "form", "entity", "invented", "query_id", "degree", "relation_degree"]


def susceptibility_by_degree(axes: Axes, data: pd.DataFrame, degree: str) -> Axes:
    """Draws an entity a dot, its degree across (logarithmic) and mean susceptibility in nats up, one query type.

    `data` has query_type, invented, susceptibility and the column `degree`. Real entities are filled; invented ones,
    of degree 0, stand hollow left of degree 1. A line runs along the 95th percentile of real ones.
    """
    hue = QUERY_HUES[str(data["query_type"].iloc[0])]
    real, invented = data[~data["invented"]], data[data["invented"]]
    alpha, dense = max(0.15, 0.7 * min(1.0, MANY / len(data))), len(data) > MANY
    style: dict[str, Any] = {"markersize": 3.0, "alpha": alpha, "rasterized": dense, "color": hue}
    axes.plot(real[degree], real["susceptibility"], "o", markeredgewidth=0, **style)
    beside = _NONE + _SPREAD * np.sin(np.arange(len(invented)) * 2.4)  # side by side, the same every time
    axes.plot(beside, invented["susceptibility"], "o", markerfacecolor="none", markeredgewidth=0.7, **style)
    axes.plot(*upper_bound(real[degree].to_numpy(dtype=float), numbers(real["susceptibility"])), color=INK)
    axes.set_xscale("log")
    decades = 10 ** np.arange(int(np.log10(max(real[degree].max(), 1))) + 2)
    axes.set_xticks([_NONE, *decades], ["0", *(f"{decade:,}" for decade in decades)])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlim(_NONE - 2 * _SPREAD, 1.6 * max(real[degree].max(), 1))
    return axes


def upper_bound(
    degrees: NDArray[np.float64], scores: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """At every degree, the 95th percentile of the scores (n,) of entities of half to double that degree (n,).

    Degrees that have fewer than 20 such entities are left out; both empty where that is all of them.
    """
    found = []
    for degree in np.unique(degrees):
        near = scores[(degrees >= degree / _FACTOR) & (degrees <= degree * _FACTOR)]
        if len(near) >= _FEWEST:
            found.append((degree, np.percentile(near, BOUND)))
    at, bound = np.array(found).reshape(-1, 2).T
    return at, bound


def degree_plates(frames: dict[str, pd.DataFrame]) -> list[Plate]:
    """One plate per model and dtype whose entities come from a graph."""
    plates = []
    agreement = dict(by_model(frames["agreement"]))
    for model, rows in by_model(frames["degree_of_queries"]):
        found = finite(rows, "susceptibility", *DEGREES)
        if (~is_true(found.rows["invented"])).any():
            known = agreement.get(model, frames["agreement"].iloc[:0])
            note = stand_in_note(frames["stand_ins"], model, ("susceptibility",))
            plates.append(_plate(model, rows, found, known, note))
    return plates


def _plate(model: Model, every: pd.DataFrame, found: Finite, agreement: pd.DataFrame, stand_in: str) -> Plate:
    entities = _entities(found.rows)
    real = entities[~entities["invented"]]
    several = entities["relation"].nunique()
    bound = (
        f" The line is the {BOUND}th percentile of the real entities of half to double a degree, where they are at "
        f"least {_FEWEST}."
    )
    caption = (
        "Each dot is an entity of a relation: further right the graph has more triples with it, higher up its queries "
        "are swayed further (mean over its forms). Filled dots are real entities; hollow ones, at 0, are invented: the "
        f"graph has nothing of them.{bound if len(real) >= _FEWEST else ''} Spearman's rho is over the real "
        f"entities alone. {model}; n = {real.groupby(['relation', 'entity']).ngroups} real and "
        f"{entities[entities['invented']].groupby(['relation', 'entity']).ngroups} invented entities of {several} "
        f"relation{'' if several == 1 else 's'}.{_missing(agreement)}{found.note('queries')}{stand_in}"
    )
    said = "; ".join(
        f"{kind}, {label}: {spearman(agreement, name, kind)}" for name, label in DEGREES.items() for kind in QUERY_HUES
    )
    alt = (
        f"Scatter plots of susceptibility in nats against the degree of an entity, whole and under the relation, for "
        f"{model}, open and closed queries in panels. {said}."
    )
    return Plate(
        f"susceptibility-by-degree-{model.slug}",
        TITLE,
        str(model),
        caption,
        alt,
        every[[*_POINTS, "susceptibility"]],
        _by_relation(agreement),
        partial(_paint, entities, agreement),
    )


def spearman(agreement: pd.DataFrame, degree: str, query_type: str) -> str:
    """Spearman's rho over all real entities in words; empty where none was computed."""
    rows = agreement[(agreement["measure_a"] == f"log_{degree}") & (agreement["query_type"] == query_type)]
    for row in records(rows[rows["relation"] == "all"]):
        if pd.isna(row["spearman"]):
            return f"no correlation (n = {int(row['n'])})"
        return f"Spearman's rho {row['spearman']:.2f} (n = {int(row['n'])}, p = {row['spearman_p']:.2g})"
    return ""


def _missing(agreement: pd.DataFrame) -> str:
    rows = agreement[(agreement["level"] == "entity") & (agreement["relation"] == "all")]
    said = sorted({str(reason) for reason in rows["untestable"][~is_null(rows["untestable"])]})
    return f" No correlation: {'; '.join(said)}." if said else ""


def _by_relation(agreement: pd.DataFrame) -> pd.DataFrame:
    """Spearman's rho with both degrees, over all real entities and relation by relation."""
    rows = agreement[agreement["level"] == "entity"]
    rows = rows.assign(degree=rows["measure_a"].str.removeprefix("log_"), first=rows["relation"] != "all")
    rows = rows.sort_values(["first", "relation", "query_type", "degree"])
    return rows[["relation", "query_type", "degree", "n", "spearman", "spearman_p", "untestable"]].reset_index(
        drop=True
    )


def _entities(rows: pd.DataFrame) -> pd.DataFrame:
    keys = ["relation", "entity", "invented", "query_type"]
    rows = rows.assign(invented=is_true(rows["invented"]))
    columns = {name: (name, "first") for name in DEGREES} | {"susceptibility": ("susceptibility", "mean")}
    entities = rows.groupby(keys, sort=True).agg(**columns).reset_index()
    return entities.astype(dict.fromkeys(DEGREES, float))


def _paint(entities: pd.DataFrame, agreement: pd.DataFrame) -> Figure:
    types = [kind for kind in QUERY_HUES if (entities["query_type"] == kind).any()]
    figure, grid = blank(len(DEGREES), len(types), 3.2 * len(DEGREES), share_x="row", share_y=True)
    for line, (degree, label) in zip(grid, DEGREES.items(), strict=True):
        for axes, kind in zip(line, types, strict=True):
            susceptibility_by_degree(axes, entities[entities["query_type"] == kind], degree)
            headed(axes, f"{kind} queries", spearman(agreement, degree, kind))
            axes.set_xlabel(f"{label} (triples)")
        line[0].set_ylabel("susceptibility (nats)")
    grid[0][0].set_ylim(bottom=0)
    legend_above(figure, [mark("o", "real entities"), mark("o", "invented entities", filled=False)])
    return figure
