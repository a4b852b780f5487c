"""How far each kind of context persuades: base, assertive, negation; about the query's entity or about others."""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from data.records import CONTEXT_KINDS
from reports.figures.plate import Plate
from reports.frames import Finite, Model, by_model, finite, is_true, records, stand_in_note
from reports.intervals import mean_interval
from reports.style import INK, QUERY_HUES, blank, legend_above, mark

TITLE = "Which kind of context persuades most?"
_EVERY = "(mean of relations)"


def persuasion_by_kind(axes: Axes, data: pd.DataFrame) -> Axes:
    """Draws mean persuasion in nats by kind of context: a thin line a relation, the relations' mean with its interval.

    `data` has relation, kind, query_type, mean, low, high; one query type and one relevance.
    """
    places = {kind: at for at, kind in enumerate(CONTEXT_KINDS)}
    hue = QUERY_HUES[str(data["query_type"].iloc[0])]
    single = data[data["relation"] != _EVERY].pivot(index="relation", columns="kind", values="mean")
    single = single.reindex(columns=[*CONTEXT_KINDS, "gap"])
    across = np.tile([*places.values(), np.nan], len(single))
    axes.plot(across, single.to_numpy(dtype=float).ravel(), "-o", color=hue, alpha=0.45, linewidth=0.8, markersize=2.6)
    for row in records(data[data["relation"] == _EVERY]):
        at = places[row["kind"]]
        axes.plot([at, at], [row["low"], row["high"]], color=hue, linewidth=2.6, solid_capstyle="butt")
        axes.plot([at], [row["mean"]], "D", color=hue, markersize=7, markeredgecolor=INK, markeredgewidth=0.8)
    axes.set_xticks(range(len(CONTEXT_KINDS)), list(CONTEXT_KINDS))
    axes.set_xlim(-0.4, len(CONTEXT_KINDS) - 0.6)
    axes.grid(axis="x", visible=False)
    return axes


def persuasion_plates(frames: dict[str, pd.DataFrame]) -> list[Plate]:
    """One plate per model and dtype."""
    plates = []
    for model, rows in by_model(frames["persuasion_by_kind"]):
        found = finite(rows, "persuasion")
        if not found.rows.empty:
            plates.append(_plate(model, found, stand_in_note(frames["stand_ins"], model, ("persuasion",))))
    return plates


def _plate(model: Model, found: Finite, stand_in: str) -> Plate:
    numbers = _means(found.rows)
    relations = found.rows["relation"].nunique()
    caption = (
        "Each thin line is a relation, a diamond is the mean of the relations' means with its 95% bootstrap "
        "interval; higher is further moved. Above, contexts that mention the query's entity; below, those about "
        f"other entities, on a scale of their own. {model}; n = {found.rows['query_id'].nunique()} queries in "
        f"{relations} relations, {int(found.rows['contexts'].sum())} pairs of query and context, real and invented "
        f"entities together.{'' if relations > 1 else ' One relation gives no interval.'}"
        f"{found.note('means of a query')}{stand_in}"
    )
    alt = (
        f"Mean persuasion in nats of base, assertive and negation contexts for {model}, open and closed queries in "
        f"columns, contexts about the entity and about others in rows; {relations} relations as lines, their mean "
        "as diamonds."
    )
    return Plate(
        f"persuasion-by-kind-{model.slug}", TITLE, str(model), caption, alt, numbers, numbers, partial(_paint, numbers)
    )


def _means(rows: pd.DataFrame) -> pd.DataFrame:
    keys = ["query_type", "relevant", "kind"]
    rows = rows.assign(relevant=is_true(rows["relevant"]), total=rows["persuasion"] * rows["contexts"])
    summed = (
        rows.groupby(["relation", *keys], observed=True)
        .agg(queries=("query_id", "nunique"), pairs=("contexts", "sum"), total=("total", "sum"))
        .reset_index()
    )
    summed["mean"] = summed["total"] / summed["pairs"]
    summed = summed.drop(columns="total").assign(low=np.nan, high=np.nan)
    every = []
    for (query_type, relevant, kind), group in summed.groupby(keys, observed=True):
        found = mean_interval(group["mean"])
        every.append(
            {
                "relation": _EVERY,
                "query_type": query_type,
                "relevant": bool(relevant),
                "kind": kind,
                "queries": int(group["queries"].sum()),
                "pairs": int(group["pairs"].sum()),
                "mean": found.mean,
                "low": found.low,
                "high": found.high,
            }
        )
    both = pd.concat([pd.DataFrame(every), summed.astype({"low": float, "high": float})], ignore_index=True)
    both["place"] = both["kind"].map({kind: at for at, kind in enumerate(CONTEXT_KINDS)})
    both["single"] = both["relation"] != _EVERY
    return (
        both.sort_values(
            ["single", "relation", "query_type", "relevant", "place"], ascending=[True, True, False, False, True]
        )
        .drop(columns=["place", "single"])
        .reset_index(drop=True)
    )


def _paint(numbers: pd.DataFrame) -> Figure:
    types = [kind for kind in QUERY_HUES if (numbers["query_type"] == kind).any()]
    about = [relevant for relevant in (True, False) if (numbers["relevant"] == relevant).any()]
    figure, grid = blank(len(about), len(types), 0.6 + 2.5 * len(about), share_y="row")
    for line, relevant in zip(grid, about, strict=True):
        words = "about the entity" if relevant else "about others"
        for axes, kind in zip(line, types, strict=True):
            data = numbers[(numbers["query_type"] == kind) & (numbers["relevant"] == relevant)]
            if not data.empty:
                persuasion_by_kind(axes, data)
            axes.set_title(f"{kind} queries, contexts {words}")
            axes.set_ylim(bottom=0)
        line[0].set_ylabel("mean persuasion (nats)")
    legend_above(figure, [mark("o", "a relation"), mark("D", "mean of the relations")])
    return figure
