"""Figures without pixels, for tests that look at none: those of a PNG are as in the SVG, and take as long."""

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
    """Leaves every PNG empty for as long as the context lasts."""
    saved = rendering._saved

    def svg_alone(canvas: Canvas, kind: str, box: Bbox, dpi: float) -> bytes:
        return saved(canvas, kind, box, dpi) if kind == "svg" else b""

    with patch.object(rendering, "_saved", svg_alone):
        yield


@contextmanager
def without_figures() -> Iterator[None]:
    """Paint figures, but save none, for tests that read the text of a page."""

    def painted(drawn: DrawnFigure, limits: rendering.Limits) -> rendering.Pictures:
        drawn.drawing.paint()
        return rendering.Pictures("<svg></svg>", b"<svg></svg>", b"")

    with patch.object(report, "rendered", painted):
        yield
