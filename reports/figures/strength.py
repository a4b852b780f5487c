"""How far contexts persuade by what they say of an entity, and how strongly: from hate to love ([D] section 6)."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from swaymeter.data.records.statistics import ALPHA
from swaymeter.reports.estimates import interval_over, plural, span
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.figures.panels import query_types
from swaymeter.reports.frames import Frames, Model, records, where, without_unit
from swaymeter.reports.style import INK, QUERY_HUES, blank, legend_above, mark, plain, strokes

TONES = ("negative", "neutral", "positive")
"""Labels of contexts that have an order; the strengths of the first run downwards."""
ABOUT = {"the same": "-", "others": ":"}
SHAPES = "os^vDP"
"""The marks of labels in turn; that of the first is filled."""
Place = tuple[str, float]
"""A label of contexts and a strength, -1 where it has none."""


def persuasion_by_strength(axes: Axes, data: pd.DataFrame, places: Sequence[Place]) -> None:
    """Draws mean persuasion in nats along the labels and strengths of contexts, a line for each label of entities.

    `data` has label, about, context_label, strength, query_type, mean, low, high; one query type.
    """
    hue, labels = QUERY_HUES[str(data["query_type"].iloc[0])], sorted(set(data["label"]))
    for (label, about), rows in data.groupby(["label", "about"]):
        shift = 0.12 * (labels.index(str(label)) - (len(labels) - 1) / 2)
        at = np.array([places.index(_place(row)) for row in records(rows)]) + shift
        order = np.argsort(at)
        axes.plot(*strokes(at, at, rows["low"], rows["high"]), color=hue, linewidth=1)
        axes.plot(
            at[order], rows["mean"].to_numpy(dtype=float)[order], _shape(str(label), labels) + ABOUT[str(about)],
            color=hue, markersize=4, markerfacecolor=hue if label == labels[0] else "none", linewidth=1,
        )  # fmt: skip
    axes.set_xticks(range(len(places)), ["" if strength < 0 else f"{strength:g}" for _, strength in places])
    for label in dict.fromkeys(name for name, _ in places):
        of_label = [at for at, (name, _) in enumerate(places) if name == label]
        axes.annotate(
            plain(label, 14), (float(np.mean(of_label)), 0), (0, -22), xycoords=("data", "axes fraction"),
            textcoords="offset points", ha="center", fontsize=7.5, color=INK,
        )  # fmt: skip
    axes.set_xlim(-0.5, len(places) - 0.5)
    axes.grid(axis="x", visible=False)


def _shape(label: str, labels: Sequence[str]) -> str:
    return SHAPES[labels.index(label) % len(SHAPES)]


def _place(row: dict[str, object]) -> Place:
    return str(row["context_label"]), _number(row["strength"])


def _number(value: object) -> float:
    return -1.0 if pd.isna(value) else float(value)  # type: ignore[arg-type, call-overload]


def places_of(rows: pd.DataFrame) -> list[Place]:
    """The labels and strengths of contexts from left to right: from the most negative to the most positive."""
    places = {_place(row) for row in records(rows)}
    return sorted(places, key=lambda one: (_rank(one[0]), one[0], -one[1] if one[0] == TONES[0] else one[1]))


def _rank(label: str) -> int:
    return TONES.index(label) if label in TONES else len(TONES)


def draw(model: Model, frames: Frames) -> Drawing | None:
    means = without_unit(frames["persuasion_by_strength"])
    varied = means.groupby("relation")[["context_label", "strength"]].transform("nunique", dropna=False)
    means = means[(varied > 1).any(axis=1)].reset_index(drop=True)
    if means.empty:
        return None
    means.attrs["units"] = {"mean": "nats", "low": "nats", "high": "nats"}
    labels = sorted(set(means["label"]))
    known = tones(where(frames["group_comparisons"], measure="persuasion"))
    tested = (
        f" Contexts about the queried entity move {known} (p ≤ {ALPHA} after Benjamini-Hochberg; an entity is a row, "
        "and permutations turn the signs of differences)."
    )
    caption = (
        "Mean persuasion of contexts by what they say and how strongly, with its "
        f"{interval_over('entities')}, each with the mean over its queries of a type; "
        "solid: contexts about the queried entity, or about both of the "
        f"queried pair; dotted: about others, or nobody. {model}; n = "
        f"{span(means['entities'].min(), means['entities'].max())} entities a mark, of {plural(len(labels), 'label')}: "
        f"{', '.join(labels)}.{tested if known else ''}"
    )
    return Drawing(caption, means, means, partial(_paint, means, labels))


def tones(tests: pd.DataFrame) -> str:
    """The mean persuasion by each label of contexts, and how many differences are significant, set by set.

    A label has a mean in each of its tests, over the entities that have both labels: that of the most entities is said.
    """
    known = where(tests, comparison="context")
    sets, words = list(dict.fromkeys(known["relation"])) if len(known) else [], []
    for relation, kind in product(sets, query_types(known)):
        rows = records(where(known, relation=relation, query_type=kind))
        means: dict[str, float] = {}
        for row, side in product(sorted(rows, key=lambda row: -row["n_a"]), "ab"):  # as many in b
            if pd.notna(row[f"mean_{side}"]):
                means.setdefault(row[f"group_{side}"], row[f"mean_{side}"])
        hits = [row["p_adjusted"] <= ALPHA for row in rows if pd.notna(row["p_adjusted"])]
        order = sorted(means, key=lambda label: (_rank(label), label))
        of_labels = ", ".join(f"{means[label]:.3f} ({label})" for label in order)
        of_set = f"{relation}, " if len(sets) > 1 else ""
        words.append(f"{of_set}{kind} queries by {of_labels} nats, {_tested(hits, rows)}")
    return "; ".join(words)


def _tested(hits: Sequence[bool], rows: Sequence[Mapping[str, Any]]) -> str:
    """How many of the differences that can be tested are significant; why the others cannot."""
    reasons = "; ".join(sorted({str(row["untestable"]) for row in rows if pd.notna(row["untestable"])}))
    found = f"{sum(hits)} of {plural(len(hits), 'difference')} significant" if hits else ""
    untested = f"{len(rows) - len(hits)} untestable ({reasons})" if reasons else ""
    return ", ".join(filter(None, (found, untested)))


def _paint(means: pd.DataFrame, labels: Sequence[str]) -> Canvas:
    relations, types = list(dict.fromkeys(means["relation"])), query_types(means)
    canvas, rows = blank(len(relations), len(types), 0.6 + 2.6 * len(relations), share_y=True)
    for relation, line in zip(relations, rows, strict=True):
        of_set = where(means, relation=relation)
        places = places_of(of_set)
        for kind, axes in zip(types, line, strict=True):
            persuasion_by_strength(axes, where(of_set, query_type=kind), places)
            axes.set_title(f"{kind} queries" if len(relations) == 1 else f"{plain(relation, 20)}, {kind} queries")
        line[0].set_ylabel("persuasion (nats)")
        line[0].set_ylim(0, 1.05 * float(np.nanmax(means[["mean", "high"]].to_numpy(dtype=float))))
    legend_above(canvas, [mark(_shape(name, labels), plain(name, 30), filled=name == labels[0]) for name in labels[:6]])
    return canvas


FIGURE = Figure(
    "persuasion-by-strength",
    "How far do contexts persuade by what they say, and how strongly?",
    "Lines of mean persuasion in nats by label and strength of the context",
    ("persuasion_by_strength", "group_comparisons"),
    draw,
    measures=("persuasion",),
    expected=lambda frames: False,
    items=("du-fig-11",),
)
