"""Figures of the page for print in one column of a paper, as PDF and SVG: narrow, in 8 points, with searchable text.

Up to four panels of a figure are printed one below the other, and more than four are printed two in a line. Panels that
share their y tick labels, such as relations, stay side by side.
"""

import io
import textwrap
from collections.abc import Iterator
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.text import Annotation, Text
from matplotlib.ticker import MaxNLocator

from swaymeter.reports.figures.figure import DrawnFigure
from swaymeter.reports.figures.rendering import Limits, set_limits
from swaymeter.reports.style import drawing

COLUMN = 3.3
"""Width of a paper's column in inches."""
POINTS = 8
"""Font size of every text in points."""
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
"""Settings of matplotlib for print."""
TALLEST = 8.8
"""Upper bound on the height of a figure in inches, unless its panels share their y tick labels."""
_SIDE_BY_SIDE_SCALE, _LINE_SCALE = 0.7, 0.6  # factors of the figure's height on the page
_MIN_LINE_HEIGHT = 1.5  # inches, of a line of panels
_FEW_PANELS = 4
_GAP, _TEXT_LINE = 5, 11  # points between a panel and its title, and height of a line of text above the panel
_DPI = 400  # resolution of crowded points, which are pixels even in PDF and SVG
_CHARACTER = 0.56 * POINTS / 72  # mean width of a character in inches
_METADATA = {"pdf": {"CreationDate": None, "Creator": None, "Producer": None}, "svg": {"Date": None, "Creator": None}}

Row = list[list[Axes]]
"""The panels of a row, each with its axes; a panel has several axes if they overlay each other."""


def printed(drawn: DrawnFigure, limits: Limits | None = None) -> dict[str, bytes]:
    """Draw a figure at the width of a paper's column.

    Args:
        drawn: The figure.
        limits: New limits of the figure's axes; None leaves the limits as drawn.

    Returns:
        The pictures by format: "pdf" and "svg".
    """
    with drawing(PRINT):
        canvas = drawn.drawing.paint()
        set_limits(canvas, limits or [])
        _narrow(canvas)
        pictures = {}
        for kind, metadata in _METADATA.items():
            sink = io.BytesIO()
            canvas.savefig(sink, format=kind, facecolor="white", dpi=_DPI, metadata=metadata)
            pictures[kind] = sink.getvalue()
    return pictures


def _narrow(canvas: Canvas) -> None:
    rows = _rows(canvas)
    panel_count, widest = sum(map(len, rows)), max(map(len, rows), default=1)
    # A panel without y ticks has the y tick labels of the first panel in its row.
    share_y_labels = any(not len(axes.get_yticks()) for row in rows for panel in row[1:] for axes in panel)
    panels_per_line = 1 if panel_count <= _FEW_PANELS else min(2, widest)
    if share_y_labels:
        panels_per_line = widest
    if panels_per_line < widest:
        _copy_titles_down(rows)
    lines = [line for row in rows for line in _lines(row, panels_per_line)]
    height = canvas.get_figheight()
    if share_y_labels:
        height *= _SIDE_BY_SIDE_SCALE
    else:
        height *= _LINE_SCALE * len(lines) / max(1, len(rows))
        height = min(max(height, _MIN_LINE_HEIGHT * len(lines)), TALLEST)
    canvas.set_size_inches(COLUMN, height)
    if lines:
        grid = canvas.add_gridspec(len(lines), panels_per_line)
        for down, line in enumerate(lines):
            for across, panel in enumerate(line):
                for axes in panel:
                    axes.set_subplotspec(grid[down, across])
                    axes.xaxis.set_tick_params(labelbottom=True)
    for text in canvas.findobj(Text):
        text.set_fontsize(POINTS)
    for axes in canvas.axes:
        if panels_per_line > 1 and isinstance(axes.xaxis.get_major_locator(), MaxNLocator):
            axes.locator_params(axis="x", nbins=2)  # half a column has room for few ticks
        _wrap(axes, COLUMN / panels_per_line, canvas.get_figheight() / max(1, len(lines)))
    _fit_legends(canvas)


def _rows(canvas: Canvas) -> list[Row]:
    panels: dict[tuple[int, int], list[Axes]] = {}
    for axes in canvas.axes:
        if spec := axes.get_subplotspec():
            panels.setdefault((spec.rowspan.start, spec.colspan.start), []).append(axes)
    starts = sorted({down for down, _ in panels})
    return [[panels[cell] for cell in sorted(panels) if cell[0] == down] for down in starts]


def _copy_titles_down(rows: list[Row]) -> None:
    """Give a panel without a title the title of the panel above it; in print, that panel stands elsewhere."""
    for upper_row, row in pairwise(rows):
        for upper, panel in zip(upper_row, row, strict=False):
            if not panel[0].get_title(loc="left"):
                panel[0].set_title(upper[0].get_title(loc="left"), loc="left")


def _lines(row: Row, panels_per_line: int) -> Iterator[Row]:
    """Cut a row into lines, and give the first panel of each line the row's y label."""
    label = row[0][0].get_ylabel()
    for start in range(0, len(row), panels_per_line):
        line = row[start : start + panels_per_line]
        first = line[0][0]
        first.yaxis.set_tick_params(labelleft=True)
        if not first.get_ylabel():
            first.set_ylabel(label)
        yield line


def _wrap(axes: Axes, width: float, height: float) -> None:
    """Wrap titles and labels that are wider than their panel of this width and height in inches."""
    text_lines = 0  # lines of text between a panel and its title, which stands above these lines
    for text in axes.texts:
        if isinstance(text, Annotation) and text.xycoords == "axes fraction" and text.xy == (0, 1):
            text.set_text(_folded(text.get_text(), width - 0.5))
            text_lines += text.get_text().count("\n") + 1
    for side in ("left", "center"):
        if title := axes.get_title(loc=side):
            axes.set_title(_folded(title, width - 0.4), loc=side, pad=_GAP + _TEXT_LINE * text_lines)
    axes.set_xlabel(_folded(axes.get_xlabel(), width - 0.6))
    axes.set_ylabel(_folded(axes.get_ylabel(), height - 0.5))


def _folded(text: str, width: float) -> str:
    max_letters = max(8, int(width / _CHARACTER))
    return "\n".join("\n".join(textwrap.wrap(line, max_letters)) for line in text.splitlines())


def _fit_legends(canvas: Canvas) -> None:
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
