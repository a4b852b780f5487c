"""How easily the entities of each label are swayed, by type or by set of contexts ([D] Figs 11 and 12)."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from swaymeter.data.records.statistics import ALPHA
from swaymeter.reports.estimates import plural
from swaymeter.reports.figures.boxes import column_of_values, how_to_read
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.figures.panels import query_types
from swaymeter.reports.frames import Frames, Model, in_order, records, where, without_unit
from swaymeter.reports.style import INK, QUERY_HUES, blank, legend_above, mark, plain

EVERY = "all"
_GAP = 0.7


def susceptibility_by_label(axes: Axes, data: pd.DataFrame, entities: pd.DataFrame, clusters: Sequence[str]) -> None:
    """Draws the susceptibility in nats of entities, a column for each label, in clusters.

    `data` has cluster, label, query_type, entities, mean, low, high and the quantiles, `entities` has cluster, label
    and susceptibility; one query type. The first label is filled, others are hollow.
    """
    hue = QUERY_HUES[str(data["query_type"].iloc[0])]
    labels = sorted(set(data["label"]))
    places, names, at = [], [], 0.0
    for cluster in clusters:
        first = at
        for row in records(in_order(where(data, cluster=cluster), label=labels)):
            values = where(entities, cluster=cluster, label=row["label"])["susceptibility"].to_numpy(dtype=float)
            column_of_values(axes, at, values, row, hue, filled=row["label"] == labels[0])
            places.append(at)
            names.append(f"{plain(str(row['label']), 12)}\nn = {row['entities']}")
            at += 1
        middle = (first + at - 1) / 2
        axes.annotate(
            plain(cluster, 22), (middle, 1), (0, 3), xycoords=("data", "axes fraction"), textcoords="offset points",
            ha="center", fontsize=7.5, color=INK,
        )  # fmt: skip
        at += _GAP
    axes.set_xticks(places, names, fontsize=6.5)
    axes.set_xlim(-0.6, at - _GAP - 0.2)
    top = max(entities["susceptibility"].max(), np.nanmax(data[["mean", "high"]].to_numpy(dtype=float)))
    axes.set_ylim(0, 1.05 * float(top))
    axes.grid(axis="x", visible=False)


def draw(model: Model, frames: Frames, *, by_set: bool) -> Drawing | None:
    means, entities = without_unit(frames["susceptibility_by_label"]), frames["susceptibility_of_labelled_entities"]
    sets = sorted(set(means["relation"]))
    has_clusters = len(sets) > 1 if by_set else len(sets) == 1 or means["type"].notna().any()
    if not has_clusters:
        return None
    said, tests = frames["persuasion_by_strength"], where(frames["group_comparisons"], within=EVERY)
    if by_set:
        shown = means[means["type"].isna()].assign(cluster=means["relation"])
        dots, what = entities.assign(cluster=entities["relation"]), "A cluster is a set of contexts"
    else:
        entities, said, tests = (where(one, relation=sets[0]) for one in (entities, said, tests))
        shown = _by_type(where(means, relation=sets[0]))
        every = entities[entities["type"].notna()].assign(cluster=EVERY)
        dots = pd.concat([_by_type(entities), every], ignore_index=True)
        what = f"A cluster is a type, with the contexts of the set {sets[0]}"
    clusters = sorted(set(shown["cluster"]), key=lambda name: (name != EVERY, name))
    labels = sorted(set(shown["label"]))
    kinds = sorted(set(said["context_label"])) if len(said) else []
    of_contexts = f" The study labels its contexts {', '.join(kinds)}." if kinds else ""
    of_sets = "; between two sets, signs of differences turned: " + _significant(where(tests, comparison="set"))
    caption = (
        "Each value is an entity, a name or a pair, with the mean over its queries of a type; higher up contexts sway "
        f"it further. {how_to_read('entities')}. {what}.{of_contexts} {model}; n = "
        f"{plural(entities['entity'].nunique(), 'entity')} of {plural(len(labels), 'label')}: {', '.join(labels)}. "
        f"Tests over all {'labels or types' if by_set else 'types of this set'}: between two labels, with an entity as "
        f"a row of the permutation test (two-sided, p ≤ {ALPHA} after Benjamini-Hochberg): "
        f"{_significant(where(tests, comparison='label'))}"
        f"{of_sets if by_set else ''}."
    )
    paint = partial(_paint, shown, dots, clusters, labels)
    return Drawing(caption, means, shown.drop(columns="cluster"), paint)


def _by_type(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(cluster=rows["type"].astype(object).where(rows["type"].notna(), EVERY))


def _significant(tests: pd.DataFrame) -> str:
    """How many of the tests are significant, and how many cannot be made, by query type."""
    words = []
    for kind in query_types(tests):
        known = where(tests, query_type=kind)
        tested = known[known["untestable"].isna()]
        found = f"{int((tested['p_adjusted'] <= ALPHA).sum())} of {len(tested)} significant" if len(tested) else ""
        reasons = "; ".join(sorted(set(known["untestable"].dropna())))
        untested = f"{len(known) - len(tested)} untestable ({reasons})" if reasons else ""
        words.append(f"{kind} queries {', '.join(filter(None, (found, untested)))}")
    return "; ".join(words) or "no test"


def _paint(shown: pd.DataFrame, dots: pd.DataFrame, clusters: Sequence[str], labels: Sequence[str]) -> Canvas:
    types = query_types(shown)
    canvas, rows = blank(len(types), 1, 0.6 + 2.6 * len(types))
    for kind, (axes,) in zip(types, rows, strict=True):
        of_kind = where(shown, query_type=kind)
        known = [name for name in clusters if name in set(of_kind["cluster"])]
        susceptibility_by_label(axes, of_kind, where(dots, query_type=kind), known)
        axes.set_ylabel(f"susceptibility (nats)\n{kind} queries")
    shown_labels = [mark("o", plain(name, 30), filled=name == labels[0]) for name in labels[:2]]
    legend_above(canvas, [*(shown_labels if len(labels) == 2 else []), mark("D", "mean")])
    return canvas


def _figure(name: str, question: str, item: str, *, by_set: bool) -> Figure:
    queries = "susceptibility_by_label", "susceptibility_of_labelled_entities", "group_comparisons"
    return Figure(
        name, question, "Columns of susceptibility in nats by label", (*queries, "persuasion_by_strength"),
        partial(draw, by_set=by_set),
        measures=("susceptibility",), expected=lambda frames: False, items=(item,),
    )  # fmt: skip


BY_TYPE = _figure("susceptibility-by-label", "Which groups are swayed more easily?", "du-fig-11", by_set=False)
BY_SET = _figure(
    "susceptibility-by-label-and-set", "Which contexts sway which groups more easily?", "du-fig-12", by_set=True
)
