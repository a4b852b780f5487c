"""Pictures of a figure: an SVG and a PNG with title and caption, and for the page an SVG without title and caption.

The same figure of several models has the same axis limits, so that readers can compare the models.
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

from swaymeter.reports.figures.figure import DrawnFigure
from swaymeter.reports.figures.marks import Mark, marks_of
from swaymeter.reports.style import PAPER, THEMES, WIDTH, drawing, plain, rules_of_themes

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas
    from matplotlib.transforms import Bbox

_log = logging.getLogger(__name__)
Limits = list[tuple[float, float] | None]
"""The limits of each panel's x axis and y axis, panel by panel; None for an axis whose limits stay as drawn."""


def limits_of(canvas: Canvas) -> Limits:
    """Return the limits of each numeric axis; None for an axis with texts at its ticks, and for an inverted axis."""
    from matplotlib.ticker import FixedFormatter, FuncFormatter, NullFormatter, StrMethodFormatter

    name_formatters = FixedFormatter, FuncFormatter, NullFormatter, StrMethodFormatter
    limits: list[tuple[float, float] | None] = []
    for axis in (axis for axes in canvas.axes for axis in (axes.xaxis, axes.yaxis)):
        low, high = axis.get_view_interval()
        has_names = isinstance(axis.get_major_formatter(), name_formatters)
        limits.append(None if has_names or axis.get_inverted() or low >= high else (float(low), float(high)))
    return limits


def shared(model_limits: Sequence[Limits]) -> Limits:
    """Return the limits that enclose the limits of all models; empty if the models have different numbers of panels.

    If the limits of an axis are None for one of the models, they are None for all.
    """
    if len({len(limits) for limits in model_limits}) != 1:
        return []
    enclosing: Limits = []
    for limits_of_axis in zip(*model_limits, strict=True):
        pairs = [pair for pair in limits_of_axis if pair]
        is_shared = len(pairs) == len(model_limits)
        enclosing.append((min(low for low, _ in pairs), max(high for _, high in pairs)) if is_shared else None)
    return enclosing


def set_limits(canvas: Canvas, limits: Limits) -> None:
    """Set the limits of a canvas's axes, in place."""
    setters = (setter for axes in canvas.axes for setter in (axes.set_xlim, axes.set_ylim))
    for set_limit, pair in zip(setters, limits, strict=False):
        if pair is not None:
            set_limit(*pair)


SVG_DPI, PNG_DPI = 120, 160
_POINTS_PER_INCH = 72
_NO_METADATA: dict[str, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "png": {"Software": None},
}
_UNQUOTED = " /:;,.=()'+*!$[]{}<>"  # characters that a data URI can hold as they are
_SHORTER = (  # pattern and replacement: comments, white space, empty and named groups, glyph names, glyph positions
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
_PATHS = re.compile(r' d="[^"]*"')  # such as d="M 0 1.234567"
_POSITIONS = re.compile(r' [xy]="[^"]*"|translate\([^)]*\)')  # such as x="1.234567"
_STYLE = re.compile(r'(?<= )style="([^"]*)"(?=[ />])')
_LINK = re.compile(  # a marker with an address: <a href="..."><use href="#m" x="1" y="2"/></a>
    r'<a href="([^"]*)"[^>]*>(?:<g [^>]*>)?<use href="[^"]*" x="([-\d.]+)" y="([-\d.]+)"[^>]*/>(?:</g>)?</a>'
)


@dataclass(frozen=True)
class Pictures:
    """The pictures of a figure.

    Attributes:
        page_svg: Picture for the page, without title, caption and links, in the colours of the reader's theme.
        svg: Picture with title and caption.
        png: The picture of `svg` as PNG.
        links: Links of the page's picture, which the page places over the picture.
        marks: Marks of the picture with their rows.
        size: Width and height of the page's picture in points.
    """

    page_svg: str
    svg: bytes
    png: bytes
    links: Links | None = None
    marks: tuple[Mark, ...] = ()
    size: tuple[float, float] = (0, 0)

    @property
    def address(self) -> Markup:
        """The picture for the page as a data URI without double quotes, for an attribute in double quotes."""
        return Markup("data:image/svg+xml,") + Markup(quote(self.page_svg.replace('"', "'"), safe=_UNQUOTED))


@dataclass(frozen=True)
class Links:
    """Links of a picture.

    Attributes:
        box: The picture's viewBox, such as "0 0 460 280".
        places: x and y in the coordinates of the box, and the address of each link.
    """

    box: str
    places: tuple[tuple[str, str, str], ...]


def with_limits(drawn: Sequence[DrawnFigure]) -> Iterator[tuple[DrawnFigure, Limits]]:
    """Yield each figure with the limits of its axes, which are equal for the same figure of several models."""
    for _, group in groupby(drawn, key=lambda each: each.figure.name):
        drawn_of_figure, limits = list(group), Limits()
        if len(drawn_of_figure) > 1:
            with drawing():
                limits = shared([limits_of(each.drawing.paint()) for each in drawn_of_figure])
        for each in drawn_of_figure:
            _log.info("drawing %s", each.name)
            yield each, limits


def rendered(drawn: DrawnFigure, limits: Limits | None = None) -> Pictures:
    """Render a figure, with the same bytes each time.

    Args:
        drawn: The figure.
        limits: New limits of the figure's axes; None leaves the limits as drawn.
    """
    with drawing():
        canvas = drawn.drawing.paint()
        set_limits(canvas, limits or [])
        _lay_out(canvas)
        marks = marks_of(canvas, drawn.drawing)
        box = _write_title_and_caption(canvas, drawn.figure.question, drawn.caption)
        svg, png = (_saved(canvas, kind, box, dpi) for kind, dpi in (("svg", SVG_DPI), ("png", PNG_DPI)))
    page_svg, links = _without_links(_themed(_without_title_and_caption(svg.decode(), canvas, box)))
    width, height = (_POINTS_PER_INCH * float(size) for size in canvas.get_size_inches())
    return Pictures(page_svg, svg, png, links, marks, (width, height))


def _without_links(svg: str) -> tuple[str, Links | None]:
    """Split a picture into the picture without links, and its links, because links in an image do not work."""
    links = _LINK.findall(svg)
    box = re.search(r'viewBox="([^"]*)"', svg)
    if not links or box is None:
        return svg, None
    # An address is relative to the folder of the figures; the page is one folder above.
    places = tuple((x, y, unescape(address).removeprefix("../")) for address, x, y in links)
    return _LINK.sub("", svg), Links(box[1], places)


def _lay_out(canvas: Canvas) -> None:
    """Lay out the canvas once and fix the layout, because saving would lay it out again and move the legends."""
    if engine := canvas.get_layout_engine():
        engine.execute(canvas)
    for legend in canvas.legends:
        at = legend.get_window_extent().transformed(canvas.transFigure.inverted())
        legend.set_bbox_to_anchor((0, 0, 1, 1), transform=canvas.transFigure)
        legend.set_loc((at.x0, at.y0))
    canvas.set_layout_engine(None)


def _write_title_and_caption(canvas: Canvas, question: str, caption: str) -> Bbox:
    """Write the title above and the caption below the figure, and return the box of everything in inches."""
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
        text.set_zorder(100)  # last in the SVG, where `_without_title_and_caption` can cut them off
    extents = [text.get_window_extent().transformed(canvas.dpi_scale_trans.inverted()) for text in texts]
    return Bbox.union([canvas.bbox_inches, *extents]).padded(0.12)


def _without_title_and_caption(svg: str, canvas: Canvas, box: Bbox) -> str:
    """Cut title and caption off an SVG of this box in inches, and crop it to the figure."""
    width, height = (_POINTS_PER_INCH * size for size in canvas.get_size_inches())
    x, y = -_POINTS_PER_INCH * box.x0, _POINTS_PER_INCH * (box.y1 - canvas.get_figheight())
    start = svg.index('<g id="words-title">')
    # The texts are the last elements of the outermost group; the end tag of the group stays.
    end = svg.rindex("</g>\n <defs>") if "</g>\n <defs>" in svg else svg.rindex("</g>")
    svg = svg[:start] + svg[end:]
    frame = f'width="{width:g}pt" height="{height:g}pt" viewBox="{x:g} {y:g} {width:g} {height:g}"'
    return re.sub(r'width="[\d.]+pt" height="[\d.]+pt" viewBox="[^"]*"', frame, svg, count=1)


def _saved(canvas: Canvas, kind: str, box: Bbox, dpi: float) -> bytes:
    sink = io.BytesIO()
    canvas.savefig(sink, format=kind, facecolor=PAPER, bbox_inches=box, dpi=dpi, metadata=_NO_METADATA[kind])
    return sink.getvalue()


def _themed(svg: str) -> str:
    """Shorten an SVG, and replace its colours by variables of the reader's theme."""
    for pattern, replacement in _SHORTER:
        svg = re.sub(pattern, replacement, svg, flags=re.DOTALL)
    for pattern_of_numbers, digits in ((_PATHS, 2), (_POSITIONS, 1)):
        svg = pattern_of_numbers.sub(partial(_rounded, digits), svg)
    for role, colour in THEMES["light"].items():
        svg = svg.replace(colour, f"var(--{role})")
    classes, svg = _with_classes(svg)
    return svg.replace('<style type="text/css">', f'<style type="text/css">{rules_of_themes()}{classes}', 1)


def _with_classes(svg: str) -> tuple[str, str]:
    """Replace the styles that at least three elements share by classes; return the classes' rules, and the SVG."""
    styles = Counter(_STYLE.findall(svg))
    classes = {style: f"s{number}" for number, (style, count) in enumerate(styles.most_common()) if count > 2}
    svg = _STYLE.sub(lambda match: f'class="{classes[match[1]]}"' if match[1] in classes else match[0], svg)
    return "".join(f".{name}{{{style}}}" for style, name in classes.items()), svg


def _rounded(digits: int, numbers: re.Match[str]) -> str:
    """Round the numbers of an attribute, such as d="M 0 1.234567" to d="M 0 1.23"; exponents stay as they are."""
    return re.sub(r"-?\d+\.\d{2,}(?![\de])", lambda each: f"{float(each[0]):.{digits}f}".removesuffix(".0"), numbers[0])
