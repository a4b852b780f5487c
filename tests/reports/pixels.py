"""Figures without pixels, for tests that look at none: those of a PNG are as in the SVG, and take as long."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from reports.figures import rendering


@contextmanager
def without_pixels() -> Iterator[None]:
    """Leaves every PNG empty for as long as the context lasts."""
    saved = rendering._saved
    svg = lambda canvas, kind, *at: saved(canvas, kind, *at) if kind == "svg" else b""  # noqa: E731
    with patch.object(rendering, "_saved", svg):
        yield
