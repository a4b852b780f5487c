"""Reports without PNG files, or without figures: a PNG repeats the SVG, and takes as long to draw."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from matplotlib.figure import Figure as Canvas
from matplotlib.transforms import Bbox

from swaymeter.reports import report
from swaymeter.reports.figures import rendering
from swaymeter.reports.figures.figure import DrawnFigure


@contextmanager
def without_pixels() -> Iterator[None]:
    """Leave every PNG empty for the time of the context."""
    save = rendering._saved

    def save_svg_only(canvas: Canvas, kind: str, box: Bbox, dpi: float) -> bytes:
        return save(canvas, kind, box, dpi) if kind == "svg" else b""

    with patch.object(rendering, "_saved", save_svg_only):
        yield


@contextmanager
def without_figures() -> Iterator[None]:
    """Paint figures without saving them, for the time of the context."""

    def paint_only(drawn: DrawnFigure, limits: rendering.Limits) -> rendering.Pictures:
        drawn.drawing.paint()
        return rendering.Pictures("<svg></svg>", b"<svg></svg>", b"")

    with patch.object(report, "rendered", paint_only):
        yield
