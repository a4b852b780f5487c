"""The same figure of several models on the same axes, so that the eye can compare."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FixedFormatter, FuncFormatter, NullFormatter, StrMethodFormatter

Limits = Sequence[tuple[float, float] | None]
"""The limits of the x axis and the y axis of each panel in turn; None for an axis that keeps its own."""

_SIDES = ("x", "y")
_OF_NAMES = (FixedFormatter, FuncFormatter, NullFormatter, StrMethodFormatter)


def limits_of(canvas: Canvas) -> Limits:
    """The limits of each axis that counts something; None for one of names, or whose direction is turned."""
    return [_limits(axes, side) for axes in canvas.axes for side in _SIDES]


def _limits(axes: Axes, side: str) -> tuple[float, float] | None:
    axis = axes.xaxis if side == "x" else axes.yaxis
    low, high = axis.get_view_interval()
    is_of_names = isinstance(axis.get_major_formatter(), _OF_NAMES)
    return None if is_of_names or axis.get_inverted() or low >= high else (float(low), float(high))


def shared(of_models: Sequence[Limits]) -> Limits:
    """Limits that hold all models; none where their figures have other panels."""
    if len({len(limits) for limits in of_models}) != 1:
        return []
    return [_around(one) for one in zip(*of_models, strict=True)]


def _around(limits: Sequence[tuple[float, float] | None]) -> tuple[float, float] | None:
    known = [pair for pair in limits if pair is not None]
    if len(known) < len(limits):
        return None
    return min(low for low, _ in known), max(high for _, high in known)


def set_limits(canvas: Canvas, limits: Limits) -> None:
    """Gives the axes of a canvas these limits."""
    places = [(axes, side) for axes in canvas.axes for side in _SIDES]
    for (axes, side), pair in zip(places, limits, strict=False):
        if pair is not None:
            (axes.set_xlim if side == "x" else axes.set_ylim)(*pair)
