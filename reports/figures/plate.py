"""A plate: a figure with all that it must carry, and how it is written as SVG and PNG."""

import io
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox, BboxBase

from reports.figures.inline import themed
from reports.style import PAPER, WIDTH, drawing, plain

PAGE_DPI, FILE_DPI = 120, 160


@dataclass(frozen=True)
class Plate:
    """A figure with its question, how to read it, its words for those who cannot see it, and its numbers.

    `name` is a safe file name, `about` the model; `numbers` goes whole into the CSV, `shown` into the page.
    """

    name: str
    title: str
    about: str
    caption: str
    alt: str
    numbers: pd.DataFrame
    shown: pd.DataFrame
    paint: Callable[[], Figure]


@dataclass(frozen=True)
class LeftOut:
    """A figure or table that is not there, and why."""

    title: str
    why: str


@dataclass(frozen=True)
class Printed:
    """A plate's pictures: for the page (no title, both themes), and to stand alone with title and caption."""

    page_svg: str
    svg: bytes
    png: bytes


def printed(plate: Plate) -> Printed:
    """Draws a plate, the same bytes each time."""
    with drawing():
        figure = plate.paint()
        page = _saved(figure, "svg", facecolor="none", dpi=PAGE_DPI)
        _pin_legends(figure)
        title = textwrap.fill(plain(plate.title, 400), 80)
        caption = textwrap.fill(plain(plate.caption, 4000), int(WIDTH * 18))
        gap = 0.12 / figure.get_figheight()
        texts = (
            figure.text(0.01, 1 + gap, title, va="bottom", ha="left", fontsize=11, fontweight="bold"),
            figure.text(0.01, -gap, caption, va="top", ha="left", fontsize=7.5, linespacing=1.4),
        )
        for text in texts:
            text.set_in_layout(False)
        extents = [text.get_window_extent().transformed(figure.dpi_scale_trans.inverted()) for text in texts]
        box = Bbox.union([figure.bbox_inches, *extents]).padded(0.12)
        svg, png = (_saved(figure, kind, facecolor=PAPER, bbox_inches=box) for kind in ("svg", "png"))
    return Printed(themed(page.decode()), svg, png)


def _pin_legends(figure: Figure) -> None:
    """Keeps legends where the layout put them: saving a larger box would move those that stand outside the axes."""
    for legend in figure.legends:
        at = legend.get_window_extent().transformed(figure.transFigure.inverted())
        legend.set_bbox_to_anchor((0, 0, 1, 1), transform=figure.transFigure)
        legend.set_loc((at.x0, at.y0))
    figure.set_layout_engine("none")


def _saved(
    figure: Figure, kind: str, *, facecolor: str, bbox_inches: BboxBase | None = None, dpi: float = FILE_DPI
) -> bytes:
    sink = io.BytesIO()
    figure.savefig(
        sink, format=kind, facecolor=facecolor, bbox_inches=bbox_inches, dpi=dpi, metadata=_NO_METADATA[kind]
    )
    return sink.getvalue()


_NO_METADATA: dict[str, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "png": {"Software": None},
}
