"""Positions of a drawing's marks in its picture, and the row of numbers behind each mark.

Marks are read from the painted canvas; a figure does not declare its marks. A row fits a mark if both coordinates are
among the row's numbers. If no row has both coordinates, a row with one of them fits. If several rows fit, the row with
the most texts in the panel's titles and labels is chosen. A mark is left out if no row fits, or several fit equally.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from swaymeter.reports.figures.figure import Drawing
from swaymeter.reports.style import FEW_DOTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Canvas
    from matplotlib.lines import Line2D

_NO_MARKER = frozenset(("None", "none", "", " "))
_TOLERANCE = 1e-9  # relative, between a coordinate and a number of a row
_POINTS_PER_INCH = 72


@dataclass(frozen=True)
class Mark:
    """A mark in a picture.

    Attributes:
        x: Distance from the left of the figure in points.
        y: Distance from the top of the figure in points.
        row: Position of the mark's row in the frame that `numbers_of` returns.
    """

    x: float
    y: float
    row: int


def numbers_of(drawing: Drawing) -> pd.DataFrame:
    """Return the rows to which marks can belong: first the rows of the CSV file, then the rows of the page's table."""
    return pd.concat([drawing.numbers, drawing.shown], ignore_index=True)


def marks_of(canvas: Canvas, drawing: Drawing) -> tuple[Mark, ...]:
    """Return the marks that have a row, on a canvas that is laid out; panels with over FEW_DOTS marks are skipped."""
    tables = [(_Rows(drawing.numbers), 0), (_Rows(drawing.shown), len(drawing.numbers))]
    marks = dict[tuple[float, float], Mark]()
    for axes in canvas.axes:
        words = _Words(axes)
        for x, y, pixel in _visible_markers(axes):
            at = x, y, words.at(x, y)
            rows = (row + offset for table, offset in tables if (row := table.at(*at)) is not None)
            if (row := next(rows, None)) is not None:
                left, up = pixel * _POINTS_PER_INCH / canvas.dpi
                position = round(float(left), 1), round(_POINTS_PER_INCH * canvas.get_figheight() - float(up), 1)
                marks.setdefault(position, Mark(*position, row))
    return tuple(marks.values())


class _Rows:
    """An index of a table's rows by the values of its float columns, with the texts of each row in lower case."""

    def __init__(self, table: pd.DataFrame) -> None:
        float_columns = [name for name in table if pd.api.types.is_float_dtype(table[name])]
        values = table[float_columns].to_numpy(dtype=float, na_value=np.nan)
        order = np.argsort(values, axis=None)  # missing values come last
        self.values = values.ravel()[order]
        self.rows = order // max(1, values.shape[1])
        texts = table.select_dtypes(exclude=["number", "bool"]).astype(object)
        self.texts = [[str(value).lower() for value in row if isinstance(value, str)] for row in texts.to_numpy()]

    def at(self, x: float, y: float, words: str) -> int | None:
        """Return the row of a mark with these coordinates and words; None without a unique row."""
        with_x, with_y = self._rows_with(x), self._rows_with(y)
        rows = with_x & with_y or with_x | with_y
        matches = {row: sum(text in words for text in self.texts[row]) for row in rows}
        largest = max(matches.values(), default=0)
        best = [row for row, count in matches.items() if count == largest]
        return best[0] if len(best) == 1 else None

    def _rows_with(self, coordinate: float) -> set[int]:
        """Return the rows with the coordinate as a number, or as a share in percent."""
        if coordinate == round(coordinate):  # a whole number is the position of a category
            return set()
        rows = set[int]()
        for number in (coordinate, coordinate / 100):
            ends = sorted((number * (1 - _TOLERANCE), number * (1 + _TOLERANCE)))
            first, last = np.searchsorted(self.values, ends)
            rows.update(map(int, self.rows[first:last]))
        return rows


class _Words:
    """The words of a panel: its titles and y label, and the labels of its ticks with their positions."""

    def __init__(self, axes: Axes) -> None:
        self.headings = [axes.get_title(loc="left"), axes.get_title(loc="center"), axes.get_ylabel()]
        self.ticks = _labels(axes.xaxis), _labels(axes.yaxis)

    def at(self, x: float, y: float) -> str:
        """Return the words at a position in lower case."""
        # Categories stand at 0, 1, 2 and so on; the marks of a category are less than half a step away.
        x_labels, y_labels = (
            [label for at, label in ticks if abs(at - value) < 0.5]
            for ticks, value in zip(self.ticks, (x, y), strict=True)
        )
        return " ".join([*self.headings, *x_labels, *y_labels]).lower().replace("\n", " ")


def _labels(axis: Axis) -> list[tuple[float, str]]:
    """Return the position and the label of each tick."""
    labels = [label.get_text() for label in axis.get_ticklabels()]
    return list(zip(axis.get_ticklocs(), labels, strict=False))


def _visible_markers(axes: Axes) -> Iterator[tuple[float, float, NDArray[np.float64]]]:
    """Yield x, y and pixel (2,) of each visible marker; nothing if the panel has more than FEW_DOTS."""
    lines = [(line, np.asarray(line.get_xydata())) for line in axes.lines if _has_markers(line)]
    if sum(len(data) for _, data in lines) > FEW_DOTS:
        return
    box = axes.bbox.padded(1)
    for line, data in lines:
        for (x, y), pixel in zip(data, line.get_transform().transform(data), strict=True):
            if box.contains(*pixel):  # a missing coordinate is in no box
                yield float(x), float(y), pixel


def _has_markers(line: Line2D) -> bool:
    return str(line.get_marker()) not in _NO_MARKER and bool(line.get_visible()) and not line.get_rasterized()
