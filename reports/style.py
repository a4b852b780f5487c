"""The visual language of figures and page: hues, markers, themes, and text that is safe to draw.

Real entities are filled, invented entities hollow. Persuaded and stubborn replies differ by the shape of the marker,
never by colour alone. Themes differ in ink and paper. QUERY_HUES and PARTITION_HUES are the same in both themes; their
contrast to each paper is at least 3 to 1.

Functions import matplotlib themselves, because the import takes most of a second, and a page without figures needs no
matplotlib.
"""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

FONT = "DejaVu Sans"
INK, MUTED, GRID, PAPER = "#1d2129", "#59606e", "#d8dce4", "#fdfdfb"
THEMES: Mapping[str, Mapping[str, str]] = {
    "light": {"ink": INK, "muted": MUTED, "grid": GRID, "paper": PAPER},
    "dark": {"ink": "#e8eaee", "muted": "#a4abb8", "grid": "#343a45", "paper": "#14171c"},
}
QUERY_HUES: Mapping[str, str] = {"open": "#2a70b9", "closed": "#e0761a"}
PARTITION_HUES: Mapping[str, str] = {"static": "#0f8577", "temporal": "#8f55b8", "disputable": "#ac9000"}
ANSWER_MARKERS: Mapping[str, str] = {"persuaded": "^", "agreed": "D", "stubborn": "s", "other": "o", "unmeasured": "x"}
KIND_MARKERS: Mapping[str, str] = {"base": "o", "assertive": "P", "negation": "X"}
WIDTH = 7.2
"""Width of a figure in inches."""
FEW_DOTS = 600
"""Upper bound on dots that are drawn as vectors with links. If there are more, all become pixels without links."""
NO_GLYPH = "\N{REPLACEMENT CHARACTER}"

_RC = {
    "font.family": FONT,
    "font.size": 8.5,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.titley": 1.0,  # fixed, because an automatic position measures all tick labels
    "axes.labelsize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.facecolor": "none",
    "axes.formatter.use_mathtext": False,
    "axes.unicode_minus": True,
    "figure.facecolor": "none",
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "legend.labelcolor": INK,
    "lines.linewidth": 1.2,
    "svg.fonttype": "path",
    "svg.hashsalt": "swaymeter",
    "text.color": INK,
    "text.parse_math": False,
    "text.usetex": False,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "ytick.left": False,
    "ytick.major.size": 0,
}
_LOCK = threading.RLock()


def rules_of_themes(further: str = "") -> str:
    """Return the colours of both themes as CSS; `further` has CSS variables that are the same in both themes."""
    light, dark = ("".join(f"--{role}:{colour};" for role, colour in theme.items()) for theme in THEMES.values())
    return f":root{{{further}{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"


@contextmanager
def drawing(other: Mapping[str, Any] | None = None) -> Iterator[None]:
    """Apply the settings of the page while a figure is drawn or saved.

    Only one thread draws at a time, because a process has one set of matplotlib's settings.

    Args:
        other: Settings that replace settings of the page.
    """
    from matplotlib.style import context

    with _LOCK, context(["default", {**_RC, **(other or {})}]):
        yield


def blank(
    rows: int, columns: int, height: float, *, share_x: str | bool = False, share_y: str | bool = False
) -> tuple[Figure, list[list[Axes]]]:
    """Return an empty figure with a height in inches, and its axes row by row."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, sharex=share_x, sharey=share_y)  # type: ignore[arg-type]
    return figure, [list(row) for row in grid]


def strokes(
    x0: ArrayLike, x1: ArrayLike, y0: ArrayLike, y1: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the x and y (3 n,) of n strokes as one line with gaps, which is a single path in the SVG.

    Args:
        x0: x at the start of each stroke (n,), or one x for all strokes; likewise the other arguments.
        x1: x at the end.
        y0: y at the start.
        y1: y at the end.
    """
    ends = [np.broadcast_arrays(*map(np.asarray, pair), np.nan) for pair in ((x0, x1), (y0, y1))]
    return np.column_stack(ends[0]).astype(float).ravel(), np.column_stack(ends[1]).astype(float).ravel()


def dots(axes: Axes, x: ArrayLike, y: ArrayLike, *, alpha: float, **style: Any) -> None:
    """Draw points (n,) as dots: as vectors up to FEW_DOTS points, as pixels for more."""
    axes.plot(x, y, "o", alpha=alpha, rasterized=np.size(x) > FEW_DOTS, **style)


def link(axes: Axes, x: ArrayLike, y: ArrayLike, addresses: Sequence[str]) -> None:
    """Add links to the points (n,) of a panel, unless there are more than FEW_DOTS.

    Args:
        axes: The panel.
        x: The points' x.
        y: The points' y.
        addresses: An address within the report's folder for each point.
    """
    if 0 < len(addresses) <= FEW_DOTS:
        urls = [f"../{address}" for address in addresses]  # from the folder of the figures
        # Nearly transparent, because matplotlib does not write a marker with alpha 0.
        axes.scatter(x, y, s=64, c=PAPER, alpha=0.002, linewidths=0, urls=urls, zorder=9)


def mark(shape: str, label: str, colour: str = MUTED, *, filled: bool = True) -> Line2D:
    """Return a mark of a legend."""
    from matplotlib.lines import Line2D

    face = colour if filled else "none"
    return Line2D(
        [], [], linestyle="none", marker=shape, color=colour, label=label, markersize=5.5, markerfacecolor=face
    )


def legend_above(figure: Figure, marks: Sequence[Line2D]) -> None:
    """Add a legend with these marks above a figure."""
    figure.legend(handles=list(marks), loc="outside upper left", ncols=len(marks), handletextpad=0.3, columnspacing=1.6)


def headed(axes: Axes, title: str, *lines: str) -> None:
    """Set the title of a panel, with smaller lines below it."""
    axes.set_title(title, pad=5 + 11 * len(lines))
    axes.annotate(
        "\n".join(lines),
        (0, 1),
        (0, 4),
        xycoords="axes fraction",
        textcoords="offset points",
        va="bottom",
        fontsize=7.5,
        linespacing=1.3,
    )


def plain(text: object, max_length: int = 34) -> str:
    """Return a text to draw: one line of characters that the font has, cut in its middle if it is long."""
    characters = [(c, unicodedata.category(c)) for c in unicodedata.normalize("NFC", str(text))]
    visible = [(c, category) for c, category in characters if category not in ("Cf", "Cs")]  # formats, surrogates
    spaced = "".join(" " if category in ("Zl", "Zp", "Cc") else c for c, category in visible)  # breaks, controls
    cleaned = "".join(c if ord(c) in _glyphs() else NO_GLYPH for c in " ".join(spaced.split()))
    if len(cleaned) <= max_length:
        return cleaned
    head = max_length // 2
    tail = max_length - 1 - head
    return f"{cleaned[:head]}…{cleaned[len(cleaned) - tail :]}"


@cache
def _glyphs() -> frozenset[int]:
    from matplotlib.font_manager import findfont
    from matplotlib.ft2font import FT2Font

    return frozenset(FT2Font(findfont(FONT)).get_charmap())
