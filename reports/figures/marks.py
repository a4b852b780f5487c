"""Positions of a drawing's marks in its picture, and the row of numbers behind each mark.

Marks are found in what was drawn, so that no figure declares them. The row of a mark has the mark's position among its
numbers, and the texts of its panel and ticks among its texts. A mark without a unique row has none.
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
    from matplotlib.figure import Figure as Canvas
    from matplotlib.lines import Line2D

_NO_MARKER = frozenset(("None", "none", "", " "))
_SAME, _POINTS = 1e-9, 72


@dataclass(frozen=True)
class Mark:
    """A mark: its place in points from the left and the top of the figure, and its row of `numbers_of`."""

    x: float
    y: float
    row: int


def numbers_of(drawing: Drawing) -> pd.DataFrame:
    """The rows that a mark can be: those of the CSV, then those of the page."""
    return pd.concat([drawing.numbers, drawing.shown], ignore_index=True)


def marks_of(canvas: Canvas, drawing: Drawing) -> tuple[Mark, ...]:
    """The marks of a canvas that is laid out, of those panels that have not too many; those without a row left out."""
    tables = [(_Rows(drawing.numbers), 0), (_Rows(drawing.shown), len(drawing.numbers))]
    marks = dict[tuple[float, float], Mark]()
    for axes in canvas.axes:
        for x, y, pixel in _places(axes):
            words = _words(axes, x, y)
            rows = (row + before for table, before in tables if (row := table.at(x, y, words)) is not None)
            if (row := next(rows, None)) is not None:
                left, up = pixel * _POINTS / canvas.dpi
                at = round(float(left), 1), round(_POINTS * canvas.get_figheight() - float(up), 1)
                marks.setdefault(at, Mark(*at, row))
    return tuple(marks.values())


class _Rows:
    """The rows of a table by the values of its columns of floats, and by its texts in lower case."""

    def __init__(self, table: pd.DataFrame) -> None:
        fractions = [name for name in table if pd.api.types.is_float_dtype(table[name])]
        values = table[fractions].to_numpy(dtype=float, na_value=np.nan)
        order = np.argsort(values, axis=None)  # what is missing comes last
        self.values = values.ravel()[order]
        self.rows = order // max(1, values.shape[1])
        texts = table.select_dtypes(exclude=["number", "bool"]).astype(object)
        self.texts = [[str(value).lower() for value in row if isinstance(value, str)] for row in texts.to_numpy()]

    def at(self, x: float, y: float, words: str) -> int | None:
        """The one row of a place; None where none is, or several are."""
        across, up = self._with(x), self._with(y)
        for rows in (across & up, across | up):
            if rows:
                matches = {row: sum(text in words for text in self.texts[row]) for row in rows}
                best = [row for row, count in matches.items() if count == max(matches.values())]
                return best[0] if len(best) == 1 else None
        return None

    def _with(self, value: float) -> set[int]:
        """The rows with a number, or with a share that is drawn in percent."""
        if value == round(value):  # the position of a category, and no value
            return set()
        marks = set[int]()
        for number in (value, value / 100):
            ends = sorted((number * (1 - _SAME), number * (1 + _SAME)))
            first, last = np.searchsorted(self.values, ends)
            marks.update(map(int, self.rows[first:last]))
        return marks


def _places(axes: Axes) -> Iterator[tuple[float, float, NDArray[np.float64]]]:
    """Yield the single marks of a panel, in its own coordinates and in pixels."""
    lines = [(line, np.asarray(line.get_xydata())) for line in axes.lines if _marked(line)]
    if sum(len(data) for _, data in lines) > FEW_DOTS:
        return
    for line, data in lines:
        for (x, y), pixel in zip(data, line.get_transform().transform(data), strict=True):
            if np.isfinite(pixel).all() and axes.bbox.padded(1).contains(*pixel):
                yield float(x), float(y), pixel


def _marked(line: Line2D) -> bool:
    return str(line.get_marker()) not in _NO_MARKER and bool(line.get_visible()) and not line.get_rasterized()


def _words(axes: Axes, x: float, y: float) -> str:
    """Return the texts at a position: the panel's title and label, and the names at its ticks."""
    words = [axes.get_title(loc=side) for side in ("left", "center")] + [axes.get_ylabel()]
    for axis, value in ((axes.xaxis, x), (axes.yaxis, y)):
        ticks = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=False)
        words += [label.get_text() for at, label in ticks if abs(at - value) < 0.5]
    return " ".join(words).lower().replace("\n", " ")
