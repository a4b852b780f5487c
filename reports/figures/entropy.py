"""Semantic entropy of replies with and without a context, as Figs 2, 3 and 5-7 of Marjanović et al. 2024.

Two figures show semantic entropy against coherent persuasion (as Figs 3 and 5-7). One figure shows how semantic entropy
changes with a context (as Fig. 2). A further figure shows coherent persuasion by the number of edits of a fact
(sections 1 and 6.5). An instance is a question with a context.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from swaymeter.data.records import CONDITIONS
from swaymeter.data.records.statistics import EDITS
from swaymeter.reports.estimates import interval_over, too_few_for_r
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.figures.panels import SINGLE_ROW, grid
from swaymeter.reports.frames import (
    Frames,
    are_own,
    finite,
    grouping,
    in_order,
    partitions,
    present,
    records,
    unit_of,
    where,
    without_unit,
)
from swaymeter.reports.models import Model, question_addresses
from swaymeter.reports.style import (
    ANSWER_MARKERS,
    FEW_DOTS,
    INK,
    MUTED,
    PARTITION_HUES,
    link,
    mark,
    plain,
)
from swaymeter.reports.words import CONDITION_NAMES, outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

MAX_GROUPS = 3
"""Upper bound on groups of own questions with a panel each; more groups are drawn together."""
_LENGTH_NOTE = (
    " Semantic entropy sums the log-probabilities of an answer's tokens, so it grows with the answer's length, too; "
    "the table of accuracy and uncertainty has forms that do not: length-normalised, Rao's, and the entropy of the "
    "clusters' sizes."
)


def entropy_against_persuasion(axes: Axes, data: pd.DataFrame) -> None:
    """Draw a marker per instance: x is semantic entropy, y coherent persuasion, both in nats."""
    dense = len(data) > FEW_DOTS
    hue = PARTITION_HUES.get(str(data["partition"].iloc[0]), MUTED)
    for name in present(data, "outcome", [*ANSWER_MARKERS])[::-1]:
        rows = where(data, outcome=name)
        axes.plot(
            rows["entropy"],
            rows["coherent_persuasion"],
            ANSWER_MARKERS[name],
            color=hue,
            linestyle="none",
            alpha=0.4 if dense else 0.85,
            markersize=2.4 if name == "other" else 4.4,
            markeredgewidth=0.7,
            rasterized=dense,
        )
    link(axes, data["entropy"], data["coherent_persuasion"], question_addresses(data))


def correlation_in_words(rows: pd.DataFrame, **group: str) -> str:
    """Return Pearson's r of a group with its interval, or the reason for a missing r; empty without rows.

    The interval takes instances as independent, as the paper does.
    """
    for row in records(where(rows, **group)):
        if pd.isna(row["pearson"]):
            return f"no r: {row['untestable']}"
        if few := too_few_for_r(int(row["n"])):
            return few
        ends = "" if pd.isna(row["low"]) else f" [{row['low']:z.2f}, {row['high']:z.2f}]"
        return f"r = {row['pearson']:z.2f}{ends}"
    return ""


def _draw_entropy(with_or_without: str, model: Model, frames: Frames) -> Drawing | None:
    data = frames["instances"].rename(columns={f"semantic_entropy_{with_or_without}": "entropy"})
    result = finite(data, "entropy", "coherent_persuasion")
    rows = result.rows
    if rows.empty:
        return None
    group_count = len(partitions(rows))
    if group_count > MAX_GROUPS:
        rows = rows.assign(partition=f"{group_count} groups")
    correlations = where(frames["instance_correlations"], measure_a=f"semantic_entropy_{with_or_without}")
    counts = rows["outcome"].value_counts()
    negative_note = (
        " The probability of an answer is added once for each time it was drawn, so the sum of a cluster can exceed 1, "
        "and an entropy can be negative."
    ) * bool(rows["entropy"].min() < 0)
    unmeasured = counts.get("unmeasured", 0)
    own = are_own(rows)
    outcome_names = {name: outcome(name, own=own) for name in ("persuaded", "agreed", "stubborn", "other")}
    context_answer = "the passage's" if own else "the context's"
    cross_note = f" Cross: the outcome was not measured ({unmeasured})." if unmeasured else ""
    caption = (
        "Each marker is a question with a context. The further right a marker, the more meanings the model's sampled "
        f"answers {with_or_without} that context spread over. The higher a marker, the further the context moved the "
        "answers. "
        f"Triangle: {outcome_names['persuaded']} (the greedy answer newly states {context_answer}); diamond: "
        f"{outcome_names['agreed']} (it states this answer without the context, too); square: "
        f"{outcome_names['stubborn']} (it is the same as without the context, and is not {context_answer}); "
        f"dot: other. {model}; n = {len(rows)} instances of {rows['question_id'].nunique()} questions: "
        f"{', '.join(f'{counts.get(name, 0)} {outcome_names[name]}' for name in list(outcome_names)[:3])}."
        f"{_pooled_correlation(correlations)}"
        f"{_LENGTH_NOTE}{negative_note}{cross_note}{result.note('instances')}"
    )
    points = data[["partition", "relation", "question_id", "condition", "entropy", "coherent_persuasion", "outcome"]]
    points = points.rename(columns={"entropy": f"semantic_entropy_{with_or_without}"})
    shown = _sorted_means(frames["instances_by_outcome"], f"semantic_entropy_{with_or_without}")

    def panel(axes: Axes, condition: str, partition: str) -> None:
        panel_rows = where(rows, partition=partition, condition=condition)
        title = f"{plain(partition, 24)}, n = {len(panel_rows)}"
        if len(panel_rows):
            entropy_against_persuasion(axes, panel_rows)
            group = partition if len(correlations) and (correlations["partition"] == partition).any() else "all"
            counts = panel_rows["outcome"].value_counts()
            outcomes = ", ".join(f"{counts.get(name, 0)} {outcome_names[name]}" for name in ("persuaded", "stubborn"))
            correlation = correlation_in_words(correlations, partition=group, condition=condition)
            title = f"{title}\n{outcomes}\n{correlation}"
        axes.set_title(title, fontsize=8)

    def paint() -> Canvas:
        contexts = present(rows, "condition", CONDITIONS)
        marks = [mark(ANSWER_MARKERS[name], words) for name, words in outcome_names.items()]
        marks += [mark("x", "not measured")] if (rows["outcome"] == "unmeasured").any() else []
        canvas = grid(
            contexts,
            partitions(rows),
            0.7 + 2.5 * len(contexts),
            panel,
            marks,
            share_x=True,
            y=lambda condition: f"{CONDITION_NAMES.get(condition, condition)}\ncoherent persuasion (nats)",
        )
        canvas.supxlabel(f"semantic entropy {with_or_without} the context (nats)", fontsize=8.5)
        return canvas

    return Drawing(caption, points, shown, paint)


def _pooled_correlation(correlations: pd.DataFrame) -> str:
    words = correlation_in_words(correlations, partition="all", condition="all")
    if not words:
        return ""
    row = where(correlations, partition="all", condition="all").iloc[0]
    over_subjects = ""
    if pd.notna(row["subject_low"]):
        over_subjects = f"; [{row['subject_low']:z.2f}, {row['subject_high']:z.2f}] by a bootstrap of whole subjects"
    return (
        f" Pearson's {words} over all instances; as published, the interval takes instances as independent"
        f"{over_subjects}."
    )


def _sorted_means(means: pd.DataFrame, entropy_column: str) -> pd.DataFrame:
    rows = where(means, entropy=entropy_column)
    rows = in_order(
        rows, condition=present(rows, "condition", CONDITIONS), partition=partitions(rows), outcome=ANSWER_MARKERS
    )
    name = f"mean_{entropy_column}"
    shown = without_unit(rows).drop(columns="entropy").rename(columns={"mean_semantic_entropy": name})
    shown = shown.replace({"condition": dict(CONDITION_NAMES)})
    shown.attrs["units"] = dict.fromkeys((name, "mean_coherent_persuasion"), unit_of(rows))
    return shown


WITHOUT, WITH = (
    Figure(
        f"entropy-{with_or_without}-against-persuasion",
        question,
        f"Scatter plots of semantic entropy {with_or_without} the context against coherent persuasion, in nats",
        ("instances", "instances_by_outcome", "instance_correlations"),
        partial(_draw_entropy, with_or_without),
        measures=("answers", "semantic_entropy", "coherent_persuasion", "accuracy", "whose_answer"),
        items=("marjanovic-fig-3", "marjanovic-fig-5", "marjanovic-fig-6", "marjanovic-fig-7", *sections),
    )
    for with_or_without, question, sections in (
        (
            "without",
            "Does a context move the answers most if the model is unsure without it?",
            ("marjanovic-section-6.3",),
        ),
        ("with", "Is the model still unsure with a context that moved its answers far?", ()),
    )
)


CHANGE = "semantic_entropy_change"
"""Quantity: semantic entropy with the context minus semantic entropy without it."""
OUTCOMES = ("all", "persuaded", "persuaded as published", "stubborn", "stubborn as published")
"""Rows of a panel for each partition, from top to bottom; "as published" is by the paper's rule, ROUGE-L."""
_MAX_BLOCKS = 3
"""Upper bound on groups of own questions with rows of their own; more groups are drawn together."""


def _write_count(axes: Axes, y: float, count: int) -> None:
    axes.annotate(
        f"{count}",
        (1, y),
        (2, 0),
        xycoords=axes.get_yaxis_transform(),
        ha="left",
        va="center",
        textcoords="offset points",
        fontsize=7,
        color=MUTED,
    )


def change_by_outcome(axes: Axes, data: pd.DataFrame, groups: list[str]) -> None:
    """Draw mean changes in nats with intervals: a block per partition, in it a row per outcome, with n at the right.

    Args:
        axes: The panel.
        data: A row per partition and outcome: mean, low, high and n.
        groups: Partitions from top to bottom.
    """
    means = {(row["partition"], row["outcome"]): row for row in records(data)}
    for at, partition in enumerate(groups):
        hue = PARTITION_HUES.get(partition, MUTED)
        for offset, name in enumerate(OUTCOMES):
            y = at * (len(OUTCOMES) + 1) + offset  # an empty row stands between two blocks
            row = means.get((partition, name))
            _write_count(axes, y, row["n"] if row else 0)
            if row:
                axes.plot([row["low"], row["high"]], [y, y], color=hue, linewidth=1.8, solid_capstyle="butt")
                marker = ANSWER_MARKERS.get(name.split()[0], "o")
                face = "none" if "published" in name else hue
                axes.plot([row["mean"]], [y], marker, color=hue, markersize=5, markerfacecolor=face)
    axes.axvline(0, color=INK, linewidth=0.9)
    axes.locator_params(axis="x", nbins=4)
    axes.grid(axis="y", visible=False)


def _draw_change(model: Model, frames: Frames) -> Drawing | None:
    every = frames["entropy_by_outcome"]
    rows = where(every, quantity=CHANGE)
    if rows.empty:
        return None
    groups = [name for name in partitions(rows) if name != "all"]
    if len(groups) > _MAX_BLOCKS:
        groups = ["all"]
    elif len(groups) > 1:
        groups = ["all", *groups]
    contexts = present(rows, "condition", ("all", *CONDITIONS))
    if len(contexts) == 2:  # "all" would repeat the only context
        contexts = contexts[1:]
    row = records(where(rows, partition=groups[0], condition=contexts[0], outcome="all"))[0]
    persuaded, stubborn = (outcome(name, own=are_own(rows)) for name in ("persuaded", "stubborn"))
    caption = (
        "Each mark is the mean change of semantic entropy, with the context minus without it, with its "
        f"{interval_over('subjects')}. Left of zero, the context made the answers agree more. Circle: all instances; "
        f"triangle: instances whose greedy answer newly states the context's ({persuaded}); square: instances whose "
        f"answer stays, and is not the context's ({stubborn}). Filled: by the measure whose_answer; hollow: by the "
        "paper's rule, ROUGE-L. "
        f"The numbers at the right count instances. {model}; n = {row['n']} instances of {row['subjects']} subjects, "
        f"mean change {row['mean']:z.2f} nats."
    )
    shown = in_order(
        without_unit(rows).drop(columns="quantity"), partition=groups, condition=("all", *CONDITIONS), outcome=OUTCOMES
    )
    shown = shown.replace({"condition": dict(CONDITION_NAMES)})

    def panel(axes: Axes, _: object, condition: str) -> None:
        change_by_outcome(axes, where(rows, condition=condition), groups)
        name = CONDITION_NAMES.get(condition, condition)
        axes.set_title(name if len(contexts) <= 3 else name.removesuffix(" context"))

    def paint() -> Canvas:
        row_count = len(groups) * (len(OUTCOMES) + 1) - 1
        marks = [mark(shape, name) for shape, name in (("o", "all"), ("^", persuaded), ("s", stubborn))]
        marks.append(mark("s", "by the paper's ROUGE-L", filled=False))
        canvas = grid(SINGLE_ROW, contexts, 1.4 + 0.19 * row_count, panel, marks, share_x=True)
        middles = [at * (len(OUTCOMES) + 1) + (len(OUTCOMES) - 1) / 2 for at in range(len(groups))]
        all_groups = f"all {grouping(rows)}s"
        canvas.axes[0].set_yticks(middles, [all_groups if name == "all" else plain(name, 18) for name in groups])
        canvas.axes[0].set_ylim(row_count - 0.3, -0.7)
        canvas.supxlabel("change of semantic entropy with the context (nats)", fontsize=8.5)
        return canvas

    return Drawing(caption, every.drop(columns=["model", "dtype"]), shown, paint)


CHANGED = Figure(
    "entropy-change",
    "Does a context make the model surer of its answers?",
    "Means of the change of semantic entropy in nats by partition, context and outcome",
    ("entropy_by_outcome",),
    _draw_change,
    measures=("answers", "semantic_entropy", "whose_answer"),
    items=("marjanovic-fig-2",),
)


def persuasion_by_edits(axes: Axes, data: pd.DataFrame) -> None:
    """Draw the mean coherent persuasion in nats with its interval, a row for each number of edits, n at the right."""
    for row in records(data):
        y, hue = [*EDITS].index(row["edits"]), PARTITION_HUES["static" if row["edits"] == "1" else "temporal"]
        axes.plot([row["low"], row["high"]], [y, y], color=hue, linewidth=2.4, solid_capstyle="butt")
        axes.plot([row["mean"]], [y], "D", color=hue, markersize=5.5)
        _write_count(axes, y, row["instances"])
    axes.locator_params(axis="x", nbins=4)
    axes.grid(axis="y", visible=False)


def _draw_edits(model: Model, frames: Frames) -> Drawing | None:
    rows = frames["persuasion_by_edits"]
    if rows["edits"].nunique() < 2:
        return None
    contexts = present(rows, "condition", CONDITIONS)
    correlations = where(frames["instance_correlations"], measure_a="edits", partition="temporal")
    words = [
        f"{CONDITION_NAMES.get(name, name)}: {correlation_in_words(correlations, condition=name)}" for name in contexts
    ]
    caption = (
        "Each diamond is the mean coherent persuasion of instances whose fact has this number of edits, with its "
        f"{interval_over('subjects')}. The creation of a fact counts as an edit, so a static fact has 1; "
        "disputable questions have none. The numbers at the right count instances. Pearson's r of edits with coherent "
        "persuasion over temporal instances, with intervals that take instances as independent, as published: "
        f"{'; '.join(words)}. {model}; n = "
        f"{rows.loc[rows['condition'] != 'all', 'instances'].sum()} instances."
    )
    shown = in_order(without_unit(rows), condition=contexts, edits=EDITS).replace({"condition": dict(CONDITION_NAMES)})

    def panel(axes: Axes, _: object, condition: str) -> None:
        persuasion_by_edits(axes, where(rows, condition=condition))
        axes.set_title(CONDITION_NAMES.get(condition, condition), fontsize=8)

    def paint() -> Canvas:
        marks = [mark("D", name, PARTITION_HUES[name]) for name in ("static", "temporal")]
        canvas = grid(SINGLE_ROW, contexts, 2.8, panel, marks, share_x=True, y=lambda _: "edits of the fact")
        canvas.axes[0].set_yticks(range(len(EDITS)), [*EDITS])
        canvas.axes[0].set_ylim(len(EDITS) - 0.4, -0.6)
        canvas.supxlabel("coherent persuasion (nats)", fontsize=8.5)
        return canvas

    return Drawing(caption, rows.drop(columns=["model", "dtype"]), shown, paint)


BY_EDITS = Figure(
    "persuasion-by-edits",
    "Are facts with more edits harder to move?",
    "Means of coherent persuasion in nats by number of edits",
    ("persuasion_by_edits", "instance_correlations"),
    _draw_edits,
    measures=("answers", "coherent_persuasion"),
    expected=lambda frames: False,  # the page does not mention this figure if it is missing
    items=("marjanovic-section-6.5",),
)
