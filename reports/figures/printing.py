"""Figures for one column of a paper, as PDF and SVG: those of the page, narrower, in 8 points, with text as text.

Panels that stand side by side on the page stand one below the other here, two abreast where there are many. Those that
share the names of their rows stay side by side.
"""

import io
import textwrap
from collections.abc import Iterator
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.text import Annotation, Text
from matplotlib.ticker import MaxNLocator

from swaymeter.reports.figures.figure import Drawn
from swaymeter.reports.figures.rendering import Limits, set_limits
from swaymeter.reports.style import drawing

COLUMN = 3.3
"""Width of a column in inches."""
POINTS = 8
"""The size of every letter in points."""
PRINT = {
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "font.size": POINTS,
    "axes.titlesize": POINTS,
    "axes.labelsize": POINTS,
    "legend.fontsize": POINTS,
    "xtick.labelsize": POINTS,
    "ytick.labelsize": POINTS,
}
TALLEST = 8.8
"""Height of a page in inches, unless the names of rows need more."""
_SHORTER, _STACKED, _LOWEST = 0.7, 0.6, 1.5
_FEW_PANELS = 4
_GAP, _LINE = 5, 11  # points between a panel and its title, and of a line between them
_DPI = 400  # of dots that are too many to be drawn one by one
_CHARACTER = 0.56 * POINTS / 72
_UNDATED = {"pdf": {"CreationDate": None, "Creator": None, "Producer": None}, "svg": {"Date": None, "Creator": None}}

Row = list[list[Axes]]
"""The cells of a row; a cell has several axes where they lie on each other."""


def printed(drawn: Drawn, limits: Limits | None = None) -> dict[str, bytes]:
    """Draw a figure at the width of a column.

    Args:
        drawn: The figure.
        limits: Limits of its axes, if it shares them with other figures.

    Returns:
        The picture by its format, "pdf" and "svg".
    """
    with drawing(PRINT):
        canvas = drawn.drawing.paint()
        set_limits(canvas, limits or [])
        _narrow(canvas)
        pictures = {}
        for kind, metadata in _UNDATED.items():
            sink = io.BytesIO()
            canvas.savefig(sink, format=kind, facecolor="white", dpi=_DPI, metadata=metadata)
            pictures[kind] = sink.getvalue()
    return pictures


def _narrow(canvas: Canvas) -> None:
    rows = _rows(canvas)
    panels, widest = sum(map(len, rows)), max(map(len, rows), default=1)
    # A panel without names of rows relies on those of the first one beside it.
    named = any(not len(axes.get_yticks()) for row in rows for cell in row[1:] for axes in cell)
    abreast = widest if named else 1 if panels <= _FEW_PANELS else min(2, widest)
    if abreast < widest:
        _carry_titles(rows)
    lines = [piece for row in rows for piece in _cut(row, abreast)]
    height = canvas.get_figheight() * (_SHORTER if named else _STACKED * len(lines) / max(1, len(rows)))
    canvas.set_size_inches(COLUMN, height if named else min(max(height, _LOWEST * len(lines)), TALLEST))
    if lines:
        grid = canvas.add_gridspec(len(lines), abreast)
        for down, line in enumerate(lines):
            for across, cell in enumerate(line):
                for axes in cell:
                    axes.set_subplotspec(grid[down, across])
                    axes.xaxis.set_tick_params(labelbottom=True)
    for text in canvas.findobj(Text):
        text.set_fontsize(POINTS)
    for axes in canvas.axes:
        if abreast > 1 and isinstance(axes.xaxis.get_major_locator(), MaxNLocator):
            axes.locator_params(axis="x", nbins=2)
        _wrap(axes, COLUMN / abreast, canvas.get_figheight() / max(1, len(lines)))
    _fit_legends(canvas)


def _rows(canvas: Canvas) -> list[Row]:
    """The cells of the figure's grid, row by row."""
    cells: dict[tuple[int, int], list[Axes]] = {}
    for axes in canvas.axes:
        if spec := axes.get_subplotspec():
            cells.setdefault((spec.rowspan.start, spec.colspan.start), []).append(axes)
    starts = sorted({down for down, _ in cells})
    return [[cells[cell] for cell in sorted(cells) if cell[0] == down] for down in starts]


def _carry_titles(rows: list[Row]) -> None:
    """Gives a panel without a title the one of its column, which is no longer above it."""
    for above, row in pairwise(rows):
        for over, under in zip(above, row, strict=False):
            if not under[0].get_title(loc="left"):
                under[0].set_title(over[0].get_title(loc="left"), loc="left")


def _cut(row: Row, abreast: int) -> Iterator[Row]:
    """The row in pieces; the first panel of each says what is counted upwards."""
    label = row[0][0].get_ylabel()
    for start in range(0, len(row), abreast):
        piece = row[start : start + abreast]
        first = piece[0][0]
        first.yaxis.set_tick_params(labelleft=True)
        if not first.get_ylabel():
            first.set_ylabel(label)
        yield piece


def _wrap(axes: Axes, width: float, height: float) -> None:
    """Breaks the lines of titles and labels that are wider than their panel, in inches."""
    lines = 0
    for text in axes.texts:
        if isinstance(text, Annotation) and text.xycoords == "axes fraction" and text.xy == (0, 1):
            text.set_text(_folded(text.get_text(), width - 0.5))
            lines += text.get_text().count("\n") + 1
    for side in ("left", "center"):
        if title := axes.get_title(loc=side):
            axes.set_title(_folded(title, width - 0.4), loc=side, pad=_GAP + _LINE * lines)
    axes.set_xlabel(_folded(axes.get_xlabel(), width - 0.6))
    axes.set_ylabel(_folded(axes.get_ylabel(), height - 0.5))


def _folded(text: str, width: float) -> str:
    max_letters = max(8, int(width / _CHARACTER))
    return "\n".join(part for line in text.splitlines() for part in textwrap.wrap(line, max_letters) or [""])


def _fit_legends(canvas: Canvas) -> None:
    """Gives each legend of the figure as few columns as it needs to fit."""
    for legend in list(canvas.legends):
        handles, labels = legend.legend_handles, [text.get_text() for text in legend.get_texts()]
        legend.remove()
        for columns in range(len(labels), 0, -1):
            fitted = canvas.legend(
                handles=handles,
                labels=labels,
                loc="outside upper left",
                ncols=columns,
                handletextpad=0.3,
                columnspacing=1.0,
                fontsize=POINTS,
            )
            width = fitted.get_window_extent().width / canvas.dpi
            if width <= COLUMN or columns == 1:
                break
            fitted.remove()
