"""The variants on two axes, right passages followed and wrong passages resisted, with their Pareto front."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from swaymeter.reports import variants
from swaymeter.reports.estimates import plural
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.frames import Frames
from swaymeter.reports.models import RUNS, Model
from swaymeter.reports.style import INK, blank

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

_ESTIMATE = ("mean", "low", "high")
_HUE = "C0"


def _draw(model: Model, frames: Frames) -> Drawing | None:
    compared = variants.variants_of(frames)
    if len(compared) < 2:
        return None
    best = variants.front(compared)
    rows = pd.DataFrame(
        {
            "number": number,
            "model": variant.model.name,
            "dtype": variant.model.dtype,
            **{
                f"{name}_{end}": variant.means[name][end]
                for name in (variants.FOLLOWS, variants.RESISTS)
                for end in _ESTIMATE
            },
            "not_beaten": variant in best,
        }
        for number, variant in enumerate(compared, 1)
    )
    numbered = "; ".join(f"{number}: {variant.model}" for number, variant in enumerate(compared, 1))
    questions = max(int(variant.means[variants.FOLLOWS]["clusters"]) for variant in compared)
    has_line = len(best) > 1 and variants.has_difference(frames)
    line_positions = [compared.index(variant) for variant in best] if has_line else []
    caption = (
        f"Each number is a variant: {numbered}. The x axis has the share of greedy answers that state the right "
        "answer, and no wrong one, if a right passage is given. The y axis has the share that do not state the wrong "
        "answer alone, if a wrong passage is given. Both have 95% intervals over questions. Filled marks are not "
        f"beaten: no other variant is at least as good in both and better in one{'; the line joins them' * has_line}. "
        f"n = {plural(questions, 'question')}.{variants.uneven_note(compared)}"
    )
    return Drawing(caption, rows, rows, partial(_paint, rows, line_positions))


def _paint(rows: pd.DataFrame, line_positions: Sequence[int]) -> Canvas:
    canvas, ((axes,),) = blank(1, 1, 4.6)
    x, y = (100 * rows[f"{name}_mean"] for name in (variants.FOLLOWS, variants.RESISTS))
    line = rows.iloc[list(line_positions)]
    axes.plot(100 * line[f"{variants.FOLLOWS}_mean"], 100 * line[f"{variants.RESISTS}_mean"], "-", color=INK, lw=0.8)
    labels: dict[tuple[float, float], list[str]] = {}
    for at in range(len(rows)):
        row = rows.iloc[at]
        intervals = (variants.FOLLOWS, axes.hlines, y.iloc[at]), (variants.RESISTS, axes.vlines, x.iloc[at])
        for name, draw_interval, other_coordinate in intervals:
            low, high = (100 * row[f"{name}_{end}"] for end in ("low", "high"))
            if pd.notna(low):
                draw_interval(other_coordinate, low, high, color=_HUE, lw=0.7, alpha=0.5)
        fill, point = ("full" if row["not_beaten"] else "none"), (x.iloc[at], y.iloc[at])
        axes.plot(*point, "o", color=_HUE, markersize=6, fillstyle=fill)
        labels.setdefault((round(point[0], 1), round(point[1], 1)), []).append(str(row["number"]))
    for point, numbers in labels.items():  # marks at the same point have one label, such as "1, 3"
        axes.annotate(", ".join(numbers), point, (5, 4), textcoords="offset points", fontsize=8)
    axes.set(xlabel="follows right passages (%)", ylabel="resists wrong passages (%)", xlim=(-3, 103), ylim=(-3, 103))
    return canvas


FRONT = Figure(
    "front-of-variants",
    "Which variants follow right passages and resist wrong ones?",
    "Scatter plot of variants by the share of right passages followed and the share of wrong passages resisted",
    (variants.MEANS, variants.DIFFERENCES, RUNS),
    _draw,
    measures=("whose_answer",),
    expected=lambda frames: False,  # the page does not mention this figure if it is missing
    shows_all_models=True,
)
