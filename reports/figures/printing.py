"""How a drawing becomes a PDF for one column of a paper: the same figure, narrower, in 8 points, with its text as text.

Panels that stand side by side on the page stand one below the other here, two abreast where there are many. Those that
share the names of their rows stay side by side.
"""

import io
import textwrap
from collections.abc import Iterator

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.text import Text

from reports.figures.axes import Limits, set_limits
from reports.figures.figure import Drawn
from reports.style import drawing

COLUMN = 3.3
"""Width of a column in inches."""
POINTS = 8
"""The size of every letter in points."""
PRINT = {
    "pdf.fonttype": 42, "font.size": POINTS, "axes.titlesize": POINTS, "axes.labelsize": POINTS,
    "legend.fontsize": POINTS, "xtick.labelsize": POINTS, "ytick.labelsize": POINTS,
}  # fmt: skip
_SHORTER = 0.7
_FEW_PANELS = 3
_DPI = 400  # of dots that are too many to be drawn one by one
_CHARACTER = 0.56 * POINTS / 72
_UNDATED = {"CreationDate": None, "Creator": None, "Producer": None}

Row = list[list[Axes]]
"""The cells of a row; a cell has several axes where they lie on each other."""


def printed(drawn: Drawn, limits: Limits = ()) -> bytes:
    """The figure as PDF at the width of a column; limits: of its axes, where it shares them."""
    with drawing(PRINT):
        canvas = drawn.drawing.paint()
        set_limits(canvas, limits)
        _narrow(canvas)
        sink = io.BytesIO()
        canvas.savefig(sink, format="pdf", facecolor="white", dpi=_DPI, metadata=_UNDATED)
    return sink.getvalue()


def _narrow(canvas: Canvas) -> None:
    rows = _rows(canvas)
    height = canvas.get_figheight() * _SHORTER
    if rows:
        panels = sum(map(len, rows))
        widest = max(map(len, rows))
        abreast = widest if any(map(_share_names, rows)) else 1 if panels <= _FEW_PANELS else min(2, widest)
        new = [cells for row in rows for cells in _cut(row, abreast)]
        height *= len(new) / len(rows)
        grid = canvas.add_gridspec(len(new), abreast)
        for down, row in enumerate(new):
            for across, cell in enumerate(row):
                for axes in cell:
                    axes.set_subplotspec(grid[down, across])
                    axes.xaxis.set_tick_params(labelbottom=True)
    else:
        abreast = 1
    canvas.set_size_inches(COLUMN, height)
    for text in canvas.findobj(Text):
        text.set_fontsize(POINTS)  # type: ignore[attr-defined]
    for axes in canvas.axes:
        _wrap(axes, int(COLUMN / abreast / _CHARACTER), height / max(1, len(rows)))
    _fit_legends(canvas)


def _rows(canvas: Canvas) -> list[Row]:
    """The cells of the figure's grid, row by row."""
    cells: dict[tuple[int, int], list[Axes]] = {}
    for axes in canvas.axes:
        if spec := axes.get_subplotspec():
            cells.setdefault((spec.rowspan.start, spec.colspan.start), []).append(axes)
    starts = sorted({down for down, _ in cells})
    return [[cells[place] for place in sorted(cells) if place[0] == down] for down in starts]


def _share_names(row: Row) -> bool:
    """Whether a panel relies on the names of rows beside the first one."""
    return len(row) > 1 and any(not len(axes.get_yticks()) for cell in row[1:] for axes in cell)


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


def _wrap(axes: Axes, most: int, height: float) -> None:
    """Breaks the lines of titles and labels that are wider than their panel."""
    for text, longest in (
        (axes.title, most - 6), (axes._left_title, most - 6), (axes.xaxis.label, most - 8),  # type: ignore[attr-defined]
        (axes.yaxis.label, max(16, int(height / _CHARACTER))),
    ):  # fmt: skip
        lines = text.get_text().splitlines()
        text.set_text("\n".join(part for line in lines for part in textwrap.wrap(line, max(8, longest)) or [""]))


def _fit_legends(canvas: Canvas) -> None:
    """Gives each legend of the figure as few columns as it needs to fit."""
    for legend in list(canvas.legends):
        handles, labels = legend.legend_handles, [text.get_text() for text in legend.get_texts()]
        legend.remove()
        for columns in range(len(labels), 0, -1):
            made = canvas.legend(
                handles=handles, labels=labels, loc="outside upper left", ncols=columns, handletextpad=0.3,
                columnspacing=1.0, fontsize=POINTS,
            )  # fmt: skip
            width = made.get_window_extent().width / canvas.dpi
            if width <= COLUMN or columns == 1:
                break
            made.remove()
