"""Pictures of drawings: an SVG with title and caption, its middle for the page, and a PNG.

The same figure of several models has the same axes, so that the eye can compare.
"""

from __future__ import annotations

import io
import logging
import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from html import unescape
from itertools import groupby
from typing import TYPE_CHECKING
from urllib.parse import quote

from markupsafe import Markup

from swaymeter.reports.figures.figure import Drawn
from swaymeter.reports.figures.marks import Mark, marks_of
from swaymeter.reports.style import PAPER, THEMES, WIDTH, drawing, plain, rules_of_themes

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas
    from matplotlib.transforms import Bbox

_log = logging.getLogger(__name__)
Limits = list[tuple[float, float] | None]
"""The limits of the x axis and the y axis of each panel in turn; None for an axis that keeps its own."""


def limits_of(canvas: Canvas) -> Limits:
    """The limits of each axis that counts something; None for one of names, or whose direction is turned."""
    from matplotlib.ticker import FixedFormatter, FuncFormatter, NullFormatter, StrMethodFormatter

    name_formatters = FixedFormatter, FuncFormatter, NullFormatter, StrMethodFormatter
    limits: list[tuple[float, float] | None] = []
    for axis in (axis for axes in canvas.axes for axis in (axes.xaxis, axes.yaxis)):
        low, high = axis.get_view_interval()
        has_names = isinstance(axis.get_major_formatter(), name_formatters)
        limits.append(None if has_names or axis.get_inverted() or low >= high else (float(low), float(high)))
    return limits


def shared(model_limits: Sequence[Limits]) -> Limits:
    """Limits that hold all models; none where their figures have other panels."""
    if len({len(limits) for limits in model_limits}) != 1:
        return []
    pairs = ([pair for pair in limits if pair] for limits in zip(*model_limits, strict=True))
    return [
        (min(low for low, _ in numbers), max(high for _, high in numbers))
        if len(numbers) == len(model_limits)
        else None
        for numbers in pairs
    ]


def set_limits(canvas: Canvas, limits: Limits) -> None:
    """Gives the axes of a canvas these limits."""
    setters = (setter for axes in canvas.axes for setter in (axes.set_xlim, axes.set_ylim))
    for set_limit, pair in zip(setters, limits, strict=False):
        if pair is not None:
            set_limit(*pair)


SVG_DPI, PNG_DPI = 120, 160
_POINTS = 72
_NO_METADATA: dict[str, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "png": {"Software": None},
}
_UNQUOTED = " /:;,.=()'+*!$[]{}<>"
_SHORTER = (
    (r"<!--.*?-->", ""),
    (r"\s+", " "),
    (r'<g id="[^"]*"\s*/>', ""),
    (r'<g id="[^"]*">', "<g>"),
    (r"(?<=[#\"])DejaVuSans-Bold-", "b"),
    (r"(?<=[#\"])DejaVuSans-", "g"),
    (r'<use xlink:href="(#[bg]\w+)" transform="translate\(([\d.]+) 0\)"/>', r'<use href="\1" x="\2"/>'),
    (r"xlink:href", "href"),
    (r"(?<=>) (?=<)", ""),
)
_SHAPES, _PLACES = re.compile(r' d="[^"]*"'), re.compile(r' [xy]="[^"]*"|translate\([^)]*\)')
_STYLE = re.compile(r'(?<= )style="([^"]*)"(?=[ />])')
_LINK = re.compile(
    r'<a href="([^"]*)"[^>]*>(?:<g [^>]*>)?<use href="[^"]*" x="([-\d.]+)" y="([-\d.]+)"[^>]*/>(?:</g>)?</a>'
)


@dataclass(frozen=True)
class Pictures:
    """A drawing's pictures: for the page (no title, both themes), and to stand alone with title and caption.

    links: what leads where in the picture for the page, which itself has no links. marks: what of it is which row of
    the numbers; size: its width and height in points, as of the marks.
    """

    page_svg: str
    svg: bytes
    png: bytes
    links: Links | None = None
    marks: tuple[Mark, ...] = ()
    size: tuple[float, float] = (0, 0)

    @property
    def address(self) -> Markup:
        """The picture for the page as a data URI: nothing in it can end an attribute in double quotes."""
        return Markup("data:image/svg+xml,") + Markup(quote(self.page_svg.replace('"', "'"), safe=_UNQUOTED))


@dataclass(frozen=True)
class Links:
    """Places of a picture that lead somewhere: x and y in the coordinates of `box`, and the address."""

    box: str
    places: tuple[tuple[str, str, str], ...]


def with_limits(drawn: Sequence[Drawn]) -> Iterator[tuple[Drawn, Limits]]:
    """Each drawing with the limits of its axes, which it shares with the same figure of other models."""
    for _, same in groupby(drawn, key=lambda each: each.figure.name):
        drawn_of_figure, limits = list(same), Limits()
        if len(drawn_of_figure) > 1:
            with drawing():
                limits = shared([limits_of(each.drawing.paint()) for each in drawn_of_figure])
        for each in drawn_of_figure:
            _log.info("drawing %s", each.name)
            yield each, limits


def rendered(drawn: Drawn, limits: Limits | None = None) -> Pictures:
    """Draws a figure, the same bytes each time; limits: of its axes, where it shares them."""
    with drawing():
        canvas = drawn.drawing.paint()
        set_limits(canvas, limits or [])
        _lay_out(canvas)
        marks = marks_of(canvas, drawn.drawing)
        box = _with_words(canvas, drawn.figure.question, drawn.caption)
        svg, png = (_saved(canvas, kind, box, dpi) for kind, dpi in (("svg", SVG_DPI), ("png", PNG_DPI)))
    page_svg, links = _without_links(_themed(_middle(svg.decode(), canvas, box)))
    width, height = (_POINTS * float(size) for size in canvas.get_size_inches())
    return Pictures(page_svg, svg, png, links, marks, (width, height))


def _without_links(svg: str) -> tuple[str, Links | None]:
    """A picture for the page without its links, and these: a page shows it as an image, in which none works."""
    links = _LINK.findall(svg)
    box = re.search(r'viewBox="([^"]*)"', svg)
    if not links or box is None:
        return svg, None
    places = tuple((x, y, unescape(address).removeprefix("../")) for address, x, y in links)
    return _LINK.sub("", svg), Links(box[1], places)


def _lay_out(canvas: Canvas) -> None:
    """Places everything once, and keeps it there: saving would do so again, and a larger box would move legends."""
    if engine := canvas.get_layout_engine():
        engine.execute(canvas)
    for legend in canvas.legends:
        at = legend.get_window_extent().transformed(canvas.transFigure.inverted())
        legend.set_bbox_to_anchor((0, 0, 1, 1), transform=canvas.transFigure)
        legend.set_loc((at.x0, at.y0))
    canvas.set_layout_engine(None)


def _with_words(canvas: Canvas, question: str, caption: str) -> Bbox:
    """Writes title and caption around the figure, last of all it holds; the box (inches) that it then fills."""
    from matplotlib.transforms import Bbox

    gap = 0.12 / canvas.get_figheight()
    title = textwrap.fill(plain(question, 400), 80)
    below = textwrap.fill(plain(caption, 4000), int(WIDTH * 18))
    texts = (
        canvas.text(0.01, 1 + gap, title, va="bottom", ha="left", fontsize=11, fontweight="bold", gid="words-title"),
        canvas.text(0.01, -gap, below, va="top", ha="left", fontsize=7.5, linespacing=1.4, gid="words-caption"),
    )
    for text in texts:
        text.set_in_layout(False)
        text.set_zorder(100)
    extents = [text.get_window_extent().transformed(canvas.dpi_scale_trans.inverted()) for text in texts]
    return Bbox.union([canvas.bbox_inches, *extents]).padded(0.12)


def _middle(svg: str, canvas: Canvas, box: Bbox) -> str:
    """The SVG without title and caption, cut to the figure."""
    width, height = (_POINTS * size for size in canvas.get_size_inches())
    x, y = -_POINTS * box.x0, _POINTS * (box.y1 - canvas.get_figheight())
    start = svg.index('<g id="words-title">')
    end = svg.rindex("</g>\n <defs>") if "</g>\n <defs>" in svg else svg.rindex("</g>")
    svg = svg[:start] + svg[end:]
    frame = f'width="{width:g}pt" height="{height:g}pt" viewBox="{x:g} {y:g} {width:g} {height:g}"'
    return re.sub(r'width="[\d.]+pt" height="[\d.]+pt" viewBox="[^"]*"', frame, svg, count=1)


def _saved(canvas: Canvas, kind: str, box: Bbox, dpi: float) -> bytes:
    sink = io.BytesIO()
    canvas.savefig(sink, format=kind, facecolor=PAPER, bbox_inches=box, dpi=dpi, metadata=_NO_METADATA[kind])
    return sink.getvalue()


def _themed(svg: str) -> str:
    """The SVG with ink, grid and paper following the reader's theme, and shorter; marks keep their hues."""
    for long, short in _SHORTER:
        svg = re.sub(long, short, svg, flags=re.DOTALL)
    for numbers, digits in ((_SHAPES, 2), (_PLACES, 1)):
        svg = numbers.sub(partial(_shortened, digits), svg)
    for role, colour in THEMES["light"].items():
        svg = svg.replace(colour, f"var(--{role})")
    classes, svg = _with_classes(svg)
    return svg.replace('<style type="text/css">', f'<style type="text/css">{rules_of_themes()}{classes}', 1)


def _with_classes(svg: str) -> tuple[str, str]:
    """Rules of classes for the styles that elements share, and the SVG with these in their place: hundreds have one."""
    styles = Counter(_STYLE.findall(svg))
    classes = {style: f"s{number}" for number, (style, count) in enumerate(styles.most_common()) if count > 2}
    svg = _STYLE.sub(lambda match: f'class="{classes[match[1]]}"' if match[1] in classes else match[0], svg)
    return "".join(f".{name}{{{style}}}" for style, name in classes.items()), svg


def _shortened(digits: int, numbers: re.Match[str]) -> str:
    return re.sub(r"-?\d+\.\d{2,}(?![\de])", lambda each: f"{float(each[0]):.{digits}f}".removesuffix(".0"), numbers[0])
