"""The effect of familiarity against how often a corpus names the entities of a relation ([D] Fig 17).

Effect sizes come ready-made from the table `statistics`, correlations from `correlations`.
"""

from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from swaymeter.data.records.statistics import ALPHA
from swaymeter.reports.estimates import plural
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.figures.how_known import counted_in, missing, of_values, spearman
from swaymeter.reports.figures.panels import query_types
from swaymeter.reports.frames import Frames, Model
from swaymeter.reports.style import INK, QUERY_HUES, blank, headed, legend_above, mark

COUNTS = {"entity_count": "occurrences", "pair_count": "occurrences near the answer"}
EFFECT = "familiarity_effect_size"


def effect_by_count(axes: Axes, data: pd.DataFrame, count: str) -> None:
    """Draws a relation a mark: across the mean of log10 of one more than its entities' counts, up Cohen's d.

    `data` has query_type, effect_size, p_adjusted and mean_log_ before the name of the count; significant relations are
    filled.
    """
    hue, hits = QUERY_HUES[str(data["query_type"].iloc[0])], data["p_adjusted"] <= ALPHA
    axes.axhline(0, color=INK, linewidth=1)
    for rows, face in ((data[hits], hue), (data[~hits], "none")):
        at = rows[f"mean_log_{count}"], rows["effect_size"]
        axes.plot(*at, "D", color=hue, markerfacecolor=face, markersize=4.5, alpha=0.8)


def draw(model: Model, frames: Frames) -> Drawing | None:
    """The relations of a model."""
    rows = frames["effects_by_frequency"]
    correlations = of_values(frames["correlations"], "measure_b", [EFFECT])
    rows = rows.astype({f"mean_log_{count}": float for count in COUNTS}).reset_index(drop=True)
    caption = (
        "Each diamond is a relation: further right the corpus has its real entities more often (mean over entities of "
        "log10 of one more than the count), higher up its invented entities are swayed further than its real ones "
        f"(Cohen's d of susceptibility, a row a query); a filled one is significant (p ≤ {ALPHA} after "
        "Benjamini-Hochberg over relations). Spearman's rho is over relations, in brackets its 95% interval. "
        f"{model}; n = {plural(rows['relation'].nunique(), 'relation')}."
        f"{missing(correlations, 'relation')}{counted_in(frames)}"
    )
    numbers = rows.drop(columns=["model", "dtype"])
    return Drawing(caption, numbers, numbers, partial(_paint, rows, correlations))


def _paint(rows: pd.DataFrame, correlations: pd.DataFrame) -> Canvas:
    types = query_types(rows)
    canvas, grid = blank(len(COUNTS), len(types), 3.2 * len(COUNTS), share_x="row", share_y=True)
    for line, (count, label) in zip(grid, COUNTS.items(), strict=True):
        for axes, kind in zip(line, types, strict=True):
            effect_by_count(axes, rows[rows["query_type"] == kind], count)
            headed(axes, f"{kind} queries", spearman(correlations, count, kind, "relation"))
            axes.set_xlabel(f"mean log10(1 + {label})")
            axes.locator_params(axis="x", nbins=5)
        line[0].set_ylabel("effect size (Cohen's d)")
    legend_above(canvas, [mark("D", "significant"), mark("D", "not significant", filled=False)])
    return canvas


FIGURE = Figure(
    "familiarity-by-frequency",
    "Does familiarity matter more in relations whose entities a corpus names more often?",
    "Scatter plots of Cohen's d of familiarity against the frequency of a relation's entities",
    ("effects_by_frequency", "correlations", "corpus_in_short", "excluded_entities", "kinds_of_counts"),
    draw,
    measures=("susceptibility",),
    expected=lambda frames: len(frames.get("corpus_in_short", ())) > 0,
    items=("du-fig-17",),
)
