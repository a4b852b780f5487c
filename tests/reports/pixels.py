"""Reports without PNG files, or without figures: a PNG repeats the SVG, and takes as long to draw."""

from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

from matplotlib.figure import Figure as Canvas
from matplotlib.transforms import Bbox

from swaymeter.reports import report
from swaymeter.reports.figures import rendering
from swaymeter.reports.figures.figure import DrawnFigure


def without_pixels() -> AbstractContextManager[Any]:
    """Leave every PNG empty for the time of the context."""
    save = rendering._saved

    def save_svg_only(canvas: Canvas, kind: str, box: Bbox, dpi: float) -> bytes:
        return save(canvas, kind, box, dpi) if kind == "svg" else b""

    return patch.object(rendering, "_saved", save_svg_only)


def without_figures() -> AbstractContextManager[Any]:
    """Paint figures without saving them, for the time of the context."""

    def paint_only(drawn: DrawnFigure, limits: rendering.Limits) -> rendering.Pictures:
        drawn.drawing.paint()
        return rendering.Pictures("<svg></svg>", b"<svg></svg>", b"")

    return patch.object(report, "rendered", paint_only)
