"""Semantic entropy: against coherent persuasion (as [M] Figs 3, 5-7), how a context changes it (Fig 2); and coherent
persuasion by how often a fact was edited (sections 1 and 6.5)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from swaymeter.data.records import CONDITIONS
from swaymeter.data.records.statistics import EDITS
from swaymeter.reports.estimates import interval_over, too_few_for_r
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.figures.panels import grid
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
_LENGTH = (
    " Semantic entropy sums the log-probabilities of an answer's tokens, so it grows with the answer's length, too; "
    "the table of accuracy and uncertainty has forms that do not: length-normalised, Rao's, and of clusters."
)


def entropy_against_persuasion(axes: Axes, data: pd.DataFrame) -> None:
    """Draws an instance a marker: semantic entropy across, coherent persuasion up, both in nats."""
    dense = len(data) > FEW_DOTS
    hue = PARTITION_HUES.get(str(data["partition"].iloc[0]), MUTED)
    for kind in present(data, "outcome", [*ANSWER_MARKERS])[::-1]:
        rows = where(data, outcome=kind)
        axes.plot(
            rows["entropy"],
            rows["coherent_persuasion"],
            ANSWER_MARKERS[kind],
            color=hue,
            linestyle="none",
            alpha=0.4 if dense else 0.85,
            markersize=2.4 if kind == "other" else 4.4,
            markeredgewidth=0.7,
            rasterized=dense,
        )
    link(axes, data["entropy"], data["coherent_persuasion"], question_addresses(data))


def correlation_in_words(rows: pd.DataFrame, **group: str) -> str:
    """Pearson's r of a group with its published interval; why there is none; empty where none was computed."""
    for row in records(where(rows, **group)):
        if pd.isna(row["pearson"]):
            return f"no r: {row['untestable']}"
        if few := too_few_for_r(int(row["n"])):
            return few
        ends = "" if pd.isna(row["low"]) else f" [{row['low']:z.2f}, {row['high']:z.2f}]"
        return f"r = {row['pearson']:z.2f}{ends}"
    return ""


def _draw_entropy(when: str, model: Model, frames: Frames) -> Drawing | None:
    data = frames["instances"].rename(columns={f"semantic_entropy_{when}": "entropy"})
    result = finite(data, "entropy", "coherent_persuasion")
    rows = result.rows
    if rows.empty:
        return None
    groups = len(partitions(rows))
    if groups > MAX_GROUPS:
        rows = rows.assign(partition=f"{groups} groups")
    correlations = where(frames["instance_correlations"], measure_a=f"semantic_entropy_{when}")
    counts = rows["outcome"].value_counts()
    negative = " Equal answers count as often as drawn, so an entropy can be negative." * bool(
        rows["entropy"].min() < 0
    )
    unmeasured = counts.get("unmeasured", 0)
    own = are_own(rows)
    outcome_names = {name: outcome(name, own=own) for name in ("persuaded", "agreed", "stubborn", "other")}
    what = "the passage's" if own else "the context's"
    crosses = f" A cross: {unmeasured} whose outcome was not measured." if unmeasured else ""
    caption = (
        f"Each marker is a question with a context: further right the model's sampled answers {when} that context "
        "spread over more meanings, higher up the context moved them further. Triangle: "
        f"{outcome_names['persuaded']} (the greedy answer newly states {what}); diamond: {outcome_names['agreed']} "
        f"(it does without it, too); square: {outcome_names['stubborn']} (the answer without it, not {what}); "
        f"dot: other. {model}; n = {len(rows)} instances of {rows['question_id'].nunique()} questions: "
        f"{', '.join(f'{counts.get(name, 0)} {outcome_names[name]}' for name in list(outcome_names)[:3])}."
        f"{_pooled(correlations)}"
        f"{_LENGTH}{negative}{crosses}{result.note('instances')}"
    )
    points = data[["partition", "relation", "question_id", "condition", "entropy", "coherent_persuasion", "outcome"]]
    points = points.rename(columns={"entropy": f"semantic_entropy_{when}"})
    shown = _sorted(frames["instances_by_outcome"], f"semantic_entropy_{when}")

    def panel(axes: Axes, condition: str, partition: str) -> None:
        panel_rows = where(rows, partition=partition, condition=condition)
        title = f"{plain(partition, 24)}, n = {len(panel_rows)}"
        if len(panel_rows):
            entropy_against_persuasion(axes, panel_rows)
            group = partition if len(correlations) and (correlations["partition"] == partition).any() else "all"
            counts = panel_rows["outcome"].value_counts()
            title += "\n" + ", ".join(
                f"{counts.get(name, 0)} {outcome_names[name]}" for name in ("persuaded", "stubborn")
            )
            title += "\n"
            title += correlation_in_words(correlations, partition=group, condition=condition)
        axes.set_title(title, fontsize=8)

    def paint() -> Canvas:
        across, down = partitions(rows), present(rows, "condition", CONDITIONS)
        key = [mark(ANSWER_MARKERS[name], words) for name, words in outcome_names.items()]
        key += [mark("x", "not measured")] if (rows["outcome"] == "unmeasured").any() else []
        canvas = grid(
            down,
            across,
            0.7 + 2.5 * len(down),
            panel,
            key,
            share_x=True,
            y=lambda condition: f"{CONDITION_NAMES.get(condition, condition)}\ncoherent persuasion (nats)",
        )
        canvas.supxlabel(f"semantic entropy {when} the context (nats)", fontsize=8.5)
        return canvas

    return Drawing(caption, points, shown, paint)


def _pooled(correlations: pd.DataFrame) -> str:
    """A caption's sentence: r over all instances, with both intervals."""
    words = correlation_in_words(correlations, partition="all", condition="all")
    if not words:
        return ""
    row = where(correlations, partition="all", condition="all").iloc[0]
    both = (
        ""
        if pd.isna(row["subject_low"])
        else f"; [{row['subject_low']:z.2f}, {row['subject_high']:z.2f}] where subjects are drawn whole"
    )
    return (
        f" Pearson's {words} over all of them, its interval as published, which takes instances as independent{both}."
    )


def _sorted(means: pd.DataFrame, entropy: str) -> pd.DataFrame:
    """The means by context, partition and outcome, in their fixed orders, contexts in words."""
    rows = where(means, entropy=entropy)
    rows = in_order(
        rows, condition=present(rows, "condition", CONDITIONS), partition=partitions(rows), outcome=ANSWER_MARKERS
    )
    name = f"mean_{entropy}"
    shown = without_unit(rows).drop(columns="entropy").rename(columns={"mean_semantic_entropy": name})
    shown = shown.replace({"condition": dict(CONDITION_NAMES)})
    shown.attrs["units"] = dict.fromkeys((name, "mean_coherent_persuasion"), unit_of(rows))
    return shown


WITHOUT, WITH = (
    Figure(
        f"entropy-{when}-against-persuasion",
        question,
        f"Scatter plots of semantic entropy {when} the context against coherent persuasion, in nats",
        ("instances", "instances_by_outcome", "instance_correlations"),
        partial(_draw_entropy, when),
        measures=("answers", "semantic_entropy", "coherent_persuasion", "accuracy", "whose_answer"),
        items=("marjanovic-fig-3", "marjanovic-fig-5", "marjanovic-fig-6", "marjanovic-fig-7", *in_text),
    )
    for when, question, in_text in (
        (
            "without",
            "Are questions that the model is unsure of alone the ones a context moves most?",
            ("marjanovic-section-6.3",),
        ),
        ("with", "Is a model that a context moved far still unsure with it?", ()),
    )
)


CHANGE = "semantic_entropy_change"
OUTCOMES = ("all", "persuaded", "persuaded as published", "stubborn", "stubborn as published")
_MAX_BLOCKS = 3
"""Upper bound on groups of own questions with rows of their own; more groups are drawn together."""


def _count_at_right(axes: Axes, y: float, count: int) -> None:
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
    """Draws the mean change in nats with its interval, an outcome a row under each partition, n at the right."""
    correlations = {(row["partition"], row["outcome"]): row for row in records(data)}
    for at, partition in enumerate(groups):
        hue = PARTITION_HUES.get(partition, MUTED)
        for line, kind in enumerate(OUTCOMES):
            y = at * (len(OUTCOMES) + 1) + line
            row = correlations.get((partition, kind))
            _count_at_right(axes, y, row["n"] if row else 0)
            if row:
                axes.plot([row["low"], row["high"]], [y, y], color=hue, linewidth=1.8, solid_capstyle="butt")
                marker = ANSWER_MARKERS.get(kind.split()[0], "o")
                face = "none" if "published" in kind else hue
                axes.plot([row["mean"]], [y], marker, color=hue, markersize=5, markerfacecolor=face)
    axes.axvline(0, color=INK, linewidth=0.9)
    axes.locator_params(axis="x", nbins=4)
    axes.grid(axis="y", visible=False)


def _draw_change(model: Model, frames: Frames) -> Drawing | None:
    every = frames["entropy_by_outcome"]
    rows = where(every, quantity=CHANGE)
    if rows.empty:
        return None
    names = [name for name in partitions(rows) if name != "all"]
    groups = ["all"] if len(names) > _MAX_BLOCKS else names if len(names) == 1 else ["all", *names]
    contexts = present(rows, "condition", ("all", *CONDITIONS))
    contexts = contexts if len(contexts) != 2 else contexts[1:]
    row = records(where(rows, partition=groups[0], condition=contexts[0], outcome="all"))[0]
    persuaded, stubborn = (outcome(name, own=are_own(rows)) for name in ("persuaded", "stubborn"))
    caption = (
        "Each mark is the mean of semantic entropy with the context minus that without it, with its "
        f"{interval_over('subjects')}; left of zero the context made the answers agree more. Circle: all instances; "
        f"triangle: those whose greedy answer newly states the context's ({persuaded}); square: those whose answer "
        f"stays, and is not the context's ({stubborn}). Filled: by whose answer is stated; hollow: by the paper's "
        "rule, ROUGE-L. "
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
        lines = len(groups) * (len(OUTCOMES) + 1) - 1
        key = [mark(shape, name) for shape, name in (("o", "all"), ("^", persuaded), ("s", stubborn))]
        key.append(mark("s", "by the paper's ROUGE-L", filled=False))
        canvas = grid("-", contexts, 1.4 + 0.19 * lines, panel, key, share_x=True)
        middles = [at * (len(OUTCOMES) + 1) + (len(OUTCOMES) - 1) / 2 for at in range(len(groups))]
        kinds = f"all {grouping(rows)}s"
        canvas.axes[0].set_yticks(middles, [kinds if name == "all" else plain(name, 18) for name in groups])
        canvas.axes[0].set_ylim(lines - 0.3, -0.7)
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
    """Draws the mean coherent persuasion in nats with its interval, a row for each number of edits, n at the right."""
    for row in records(data):
        y, hue = [*EDITS].index(row["edits"]), PARTITION_HUES["static" if row["edits"] == "1" else "temporal"]
        axes.plot([row["low"], row["high"]], [y, y], color=hue, linewidth=2.4, solid_capstyle="butt")
        axes.plot([row["mean"]], [y], "D", color=hue, markersize=5.5)
        _count_at_right(axes, y, row["instances"])
    axes.locator_params(axis="x", nbins=4)
    axes.grid(axis="y", visible=False)


def _draw_edits(model: Model, frames: Frames) -> Drawing | None:
    rows = frames["persuasion_by_edits"]
    if rows["edits"].nunique() < 2:
        return None
    contexts = present(rows, "condition", CONDITIONS)
    correlations = where(frames["instance_correlations"], measure_a="edits", partition="temporal")
    words = [
        f"{CONDITION_NAMES.get(kind, kind)}: {correlation_in_words(correlations, condition=kind)}" for kind in contexts
    ]
    caption = (
        "Each diamond is the mean of how far a context moved the sampled answers, over questions about facts that were "
        f"edited so often, with its {interval_over('subjects')}. The creation of a fact counts as an edit, so that "
        "a static one has 1; disputable questions have none. The numbers at the right count instances. Pearson's "
        "r of edits with coherent persuasion over temporal instances, its interval as "
        f"published, which takes instances as independent: {'; '.join(words)}. {model}; n = "
        f"{rows.loc[rows['condition'] != 'all', 'instances'].sum()} instances."
    )
    shown = in_order(without_unit(rows), condition=contexts, edits=EDITS).replace({"condition": dict(CONDITION_NAMES)})

    def panel(axes: Axes, _: object, condition: str) -> None:
        persuasion_by_edits(axes, where(rows, condition=condition))
        axes.set_title(CONDITION_NAMES.get(condition, condition), fontsize=8)

    def paint() -> Canvas:
        key = [mark("D", name, PARTITION_HUES[name]) for name in ("static", "temporal")]
        canvas = grid("-", contexts, 2.8, panel, key, share_x=True, y=lambda _: "edits of the fact")
        canvas.axes[0].set_yticks(range(len(EDITS)), [*EDITS])
        canvas.axes[0].set_ylim(len(EDITS) - 0.4, -0.6)
        canvas.supxlabel("coherent persuasion (nats)", fontsize=8.5)
        return canvas

    return Drawing(caption, rows.drop(columns=["model", "dtype"]), shown, paint)


BY_EDITS = Figure(
    "persuasion-by-edits",
    "Are facts that are edited more often harder to move?",
    "Means of coherent persuasion in nats by number of edits",
    ("persuasion_by_edits", "instance_correlations"),
    _draw_edits,
    measures=("answers", "coherent_persuasion"),
    expected=lambda frames: False,
    items=("marjanovic-section-6.5",),
)
