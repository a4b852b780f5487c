"""Figures of entities with labels, as in section 6 and Figs 11 and 12 of Du et al. 2024.

In a user's file, a label names a group of entities, such as friends, or of contexts, such as negative. The first figure
shows the susceptibility of entities by label and type, the second by label and set of contexts. The third shows the
persuasion of contexts by what they say of an entity and how strongly, from hate to love.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swaymeter.data.records.statistics import ALPHA
from swaymeter.reports.estimates import interval_over, plural, span
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.figures.panels import column_of_values, grid, how_to_read, query_types
from swaymeter.reports.frames import Frames, in_order, records, where, without_unit
from swaymeter.reports.models import Model
from swaymeter.reports.style import INK, QUERY_HUES, blank, legend_above, mark, plain, strokes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

EVERY = "all"
"""Value of the column `within` for a test without a restriction to a label or type; also the block of all types."""
_GAP = 0.7  # between blocks of columns


def susceptibility_by_label(axes: Axes, data: pd.DataFrame, entities: pd.DataFrame, blocks: Sequence[str]) -> None:
    """Draw the susceptibility in nats of entities: blocks of columns, with a column for each label.

    Args:
        axes: The panel.
        data: Rows of one query type, one per block and label, with quantiles, mean, low and high.
        entities: A row per entity with block, label and susceptibility.
        blocks: Names of the blocks from left to right.
    """
    hue = QUERY_HUES[str(data["query_type"].iloc[0])]
    labels = sorted(set(data["label"]))
    positions, tick_labels, at = [], [], 0.0
    for block in blocks:
        first = at
        for row in records(in_order(where(data, block=block), label=labels)):
            values = where(entities, block=block, label=row["label"])["susceptibility"].to_numpy(dtype=float)
            column_of_values(axes, at, values, row, hue, filled=row["label"] == labels[0])
            positions.append(at)
            tick_labels.append(f"{plain(str(row['label']), 12)}\nn = {row['entities']}")
            at += 1
        middle = (first + at - 1) / 2
        axes.annotate(
            plain(block, 22),
            (middle, 1),
            (0, 3),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="center",
            fontsize=7.5,
            color=INK,
        )
        at += _GAP
    axes.set_xticks(positions, tick_labels, fontsize=6.5)
    axes.set_xlim(-0.6, at - _GAP - 0.2)
    top = max(entities["susceptibility"].max(), np.nanmax(data[["mean", "high"]].to_numpy(dtype=float)))
    axes.set_ylim(0, 1.05 * float(top))
    axes.grid(axis="x", visible=False)


def _draw_labels(model: Model, frames: Frames, *, by_set: bool) -> Drawing | None:
    means, entities = without_unit(frames["susceptibility_by_label"]), frames["susceptibility_of_labelled_entities"]
    sets = sorted(set(means["relation"]))  # the column `relation` has the set of contexts
    if by_set and len(sets) < 2:
        return None
    if not by_set and len(sets) > 1 and means["type"].isna().all():  # without types, the figure by set shows the same
        return None
    persuasion, tests = frames["persuasion_by_strength"], where(frames["group_comparisons"], within=EVERY)
    if by_set:
        shown = means[means["type"].isna()].assign(block=means["relation"])
        dots, block_words = entities.assign(block=entities["relation"]), "A block of columns is a set of contexts"
    else:
        entities, persuasion, tests = (where(item, relation=sets[0]) for item in (entities, persuasion, tests))
        shown = _by_type(where(means, relation=sets[0]))
        # An entity with a type is drawn twice: in the block of its type, and in the block of all types.
        typed = entities[entities["type"].notna()].assign(block=EVERY)
        dots = pd.concat([_by_type(entities), typed], ignore_index=True)
        block_words = f"A block of columns is a type, with the contexts of the set {sets[0]}"
    blocks = sorted(set(shown["block"]), key=lambda name: (name != EVERY, name))
    labels = sorted(set(shown["label"]))
    context_labels = sorted(set(persuasion["context_label"])) if len(persuasion) else []
    label_words = f" The study labels its contexts {', '.join(context_labels)}." if context_labels else ""
    set_tests = (
        f"; sign-flip tests of two sets over all labels: {_significant_by_query_type(where(tests, comparison='set'))}"
    )
    caption = (
        "Each value is the mean of an entity (a name or a pair) over its queries of one query type; the higher, "
        f"the further contexts sway the entity. {how_to_read('entities')}. {block_words}.{label_words} {model}; n = "
        f"{plural(entities['entity'].nunique(), 'entity')} of {plural(len(labels), 'label')}: {', '.join(labels)}. "
        f"Permutation tests of two labels over all types{'' if by_set else ' of this set'}, with a row per entity "
        f"(two-sided, p ≤ {ALPHA} after Benjamini-Hochberg): "
        f"{_significant_by_query_type(where(tests, comparison='label'))}{set_tests if by_set else ''}."
    )
    paint = partial(_paint_labels, shown, dots, blocks, labels)
    return Drawing(caption, means, shown.drop(columns="block"), paint)


def _by_type(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with a column `block`: the type, or "all" for a row without a type."""
    return rows.assign(block=rows["type"].astype(object).where(rows["type"].notna(), EVERY))


def _significant_by_query_type(tests: pd.DataFrame) -> str:
    words = [
        f"{query_type} queries {_significant_count(where(tests, query_type=query_type))}"
        for query_type in query_types(tests)
    ]
    return "; ".join(words) or "no test"


def _significant_count(tests: pd.DataFrame, noun: str = "") -> str:
    """Return the numbers of significant and untestable tests in words; `noun` follows the number of tests."""
    testable = tests[tests["untestable"].isna()]
    number = plural(len(testable), noun) if noun else len(testable)
    significant = f"{(testable['p_adjusted'] <= ALPHA).sum()} of {number} significant" if len(testable) else ""
    reasons = "; ".join(sorted(set(tests["untestable"].dropna())))
    untested = f"{len(tests) - len(testable)} untestable ({reasons})" if reasons else ""
    return ", ".join(filter(None, (significant, untested)))


def _paint_labels(shown: pd.DataFrame, dots: pd.DataFrame, blocks: Sequence[str], labels: Sequence[str]) -> Canvas:
    present_query_types = query_types(shown)
    canvas, panel_rows = blank(len(present_query_types), 1, 0.6 + 2.6 * len(present_query_types))
    for query_type, (axes,) in zip(present_query_types, panel_rows, strict=True):
        rows_of_query_type = where(shown, query_type=query_type)
        present_blocks = [name for name in blocks if name in set(rows_of_query_type["block"])]
        susceptibility_by_label(axes, rows_of_query_type, where(dots, query_type=query_type), present_blocks)
        axes.set_ylabel(f"susceptibility (nats)\n{query_type} queries")
    label_marks = [mark("o", plain(name, 30), filled=name == labels[0]) for name in labels[:2]]
    legend_above(canvas, [*(label_marks if len(labels) == 2 else []), mark("D", "mean")])
    return canvas


_QUERIES = (
    "susceptibility_by_label",
    "susceptibility_of_labelled_entities",
    "group_comparisons",
    "persuasion_by_strength",
)
BY_TYPE, BY_SET = (
    Figure(
        name,
        question,
        "Columns of susceptibility in nats by label",
        _QUERIES,
        partial(_draw_labels, by_set=by_set),
        measures=("susceptibility",),
        expected=lambda frames: False,  # the page does not mention this figure if it is missing
        items=(item,),
    )
    for name, question, item, by_set in (
        ("susceptibility-by-label", "Which groups are swayed more easily?", "du-fig-11", False),
        ("susceptibility-by-label-and-set", "Which contexts sway which groups more easily?", "du-fig-12", True),
    )
)

TONES = ("negative", "neutral", "positive")
"""Labels of contexts from left to right. Negative contexts grow in strength to the left, all others to the right."""
LINE_STYLES = {"the same": "-", "others": ":"}
"""Line style of contexts about the query's entity ("the same"), and of all other contexts ("others")."""
SHAPES = "os^vDP"
"""Markers of matplotlib for the labels of entities, in turn; the marker of the first label is filled."""
Position = tuple[str, float]
"""Position on the x axis: a label of contexts, and a strength; -1 stands for a label without strengths."""


def persuasion_by_strength(axes: Axes, data: pd.DataFrame, positions: Sequence[Position]) -> None:
    """Draw mean persuasion in nats along the labels and strengths of contexts, a line for each label of entities."""
    hue, labels = QUERY_HUES[str(data["query_type"].iloc[0])], sorted(set(data["label"]))
    for (label, about), rows in data.groupby(["label", "about"]):
        # The marks of several labels stand side by side, centred at their position.
        shift = 0.12 * (labels.index(str(label)) - (len(labels) - 1) / 2)
        x = np.array([positions.index(_position(row)) for row in records(rows)]) + shift
        order = np.argsort(x)
        axes.plot(*strokes(x, x, rows["low"], rows["high"]), color=hue, linewidth=1)
        axes.plot(
            x[order],
            rows["mean"].to_numpy(dtype=float)[order],
            _shape(str(label), labels) + LINE_STYLES[str(about)],
            color=hue,
            markersize=4,
            markerfacecolor=hue if label == labels[0] else "none",
            linewidth=1,
        )
    axes.set_xticks(range(len(positions)), ["" if strength < 0 else f"{strength:g}" for _, strength in positions])
    for context_label in dict.fromkeys(name for name, _ in positions):
        indices = [at for at, (name, _) in enumerate(positions) if name == context_label]
        axes.annotate(
            plain(context_label, 14),
            (float(np.mean(indices)), 0),
            (0, -22),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="center",
            fontsize=7.5,
            color=INK,
        )
    axes.set_xlim(-0.5, len(positions) - 0.5)
    axes.grid(axis="x", visible=False)


def _shape(label: str, labels: Sequence[str]) -> str:
    return SHAPES[labels.index(label) % len(SHAPES)]


def _position(row: Mapping[str, Any]) -> Position:
    return str(row["context_label"]), -1.0 if pd.isna(row["strength"]) else float(row["strength"])


def ordered_positions(rows: pd.DataFrame) -> list[Position]:
    """Return the labels and strengths of contexts, from the most negative to the most positive."""

    def order(position: Position) -> tuple[int, str, float]:
        label, strength = position
        return _rank(label), label, -strength if label == TONES[0] else strength

    return sorted({_position(row) for row in records(rows)}, key=order)


def _rank(label: str) -> int:
    """Return the position of a label among TONES; other labels come last."""
    return TONES.index(label) if label in TONES else len(TONES)


def _draw_strength(model: Model, frames: Frames) -> Drawing | None:
    means = without_unit(frames["persuasion_by_strength"])
    counts = means.groupby("relation")[["context_label", "strength"]].transform("nunique", dropna=False)
    means = means[(counts > 1).any(axis=1)].reset_index(drop=True)  # sets whose contexts differ in label or strength
    if means.empty:
        return None
    means.attrs["units"] = {"mean": "nats", "low": "nats", "high": "nats"}
    labels = sorted(set(means["label"]))
    persuasion_by_tone = tone_words(where(frames["group_comparisons"], measure="persuasion"))
    tests = (
        f" Contexts about the queried entity move {persuasion_by_tone} (sign-flip permutation tests with a row per "
        f"entity, p ≤ {ALPHA} after Benjamini-Hochberg)."
    )
    caption = (
        f"Mean persuasion of contexts by what they say and how strongly, with its {interval_over('entities')}. The "
        "value of an entity is the mean over its queries of one query type. Solid: contexts about the queried entity, "
        f"or about both of the queried pair; dotted: about others, or nobody. {model}; n = "
        f"{span(means['entities'].min(), means['entities'].max())} entities a mark, of {plural(len(labels), 'label')}: "
        f"{', '.join(labels)}.{tests if persuasion_by_tone else ''}"
    )

    def panel(axes: Axes, relation: str, query_type: str) -> None:
        set_means = where(means, relation=relation)
        persuasion_by_strength(axes, where(set_means, query_type=query_type), ordered_positions(set_means))
        axes.set_title(
            f"{query_type} queries" if len(relations) == 1 else f"{plain(relation, 20)}, {query_type} queries"
        )
        axes.set_ylim(0, 1.05 * float(np.nanmax(means[["mean", "high"]].to_numpy(dtype=float))))

    relations, present_query_types = list(dict.fromkeys(means["relation"])), query_types(means)
    marks = [mark(_shape(name, labels), plain(name, 30), filled=name == labels[0]) for name in labels[:6]]
    paint = partial(
        grid, relations, present_query_types, 0.6 + 2.6 * len(relations), panel, marks, y=lambda _: "persuasion (nats)"
    )
    return Drawing(caption, means, means, paint)


def tone_words(tests: pd.DataFrame) -> str:
    """Return mean persuasion by label of contexts for each set and query type, in words; empty without tests."""
    return "; ".join(f"{group} by {words}" for group, words in tested_means(tests, "context").items())


def tested_means(tests: pd.DataFrame, comparison: str) -> dict[str, str]:
    """Return the means of groups that are tested in pairs, and the number of significant tests, in words.

    In a test, the mean of a group is over the entities that both groups have. A group in several tests can therefore
    have several means; the mean over the most entities is returned.

    Args:
        tests: Rows of the named query `group_comparisons`.
        comparison: Name of the comparison, such as "context".

    Returns:
        Words by set of contexts and query type.
    """
    selected = where(tests, comparison=comparison, within=EVERY)
    sets = list(dict.fromkeys(selected["relation"])) if len(selected) else []
    words: dict[str, str] = {}
    for relation, query_type in product(sets, query_types(selected)):
        rows = where(selected, relation=relation, query_type=query_type)
        means: dict[str, float] = {}
        for row, side in product(sorted(records(rows), key=lambda row: -row["n_a"]), "ab"):  # n_b is equal to n_a
            if pd.notna(row[f"mean_{side}"]):
                means.setdefault(row[f"group_{side}"], row[f"mean_{side}"])
        order = sorted(means, key=lambda name: (_rank(name), name))
        group_words = ", ".join(f"{means[name]:.3f} ({name})" for name in order)
        set_words = f"{relation}, " if len(sets) > 1 else ""
        words[f"{set_words}{query_type} queries"] = f"{group_words} nats, {_significant_count(rows, 'difference')}"
    return words


BY_STRENGTH = Figure(
    "persuasion-by-strength",
    "How far do contexts persuade by what they say, and how strongly?",
    "Lines of mean persuasion in nats by label and strength of the context",
    ("persuasion_by_strength", "group_comparisons"),
    _draw_strength,
    measures=("persuasion",),
    expected=lambda frames: False,  # the page does not mention this figure if it is missing
    items=("du-fig-11",),
)
