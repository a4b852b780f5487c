from dataclasses import replace
from functools import cache

import pandas as pd
from matplotlib.figure import Figure as Canvas

from swaymeter.reports.figures import FIGURES
from swaymeter.reports.figures.figure import Drawn, draw_all
from swaymeter.reports.figures.rendering import limits_of, set_limits, shared, with_limits


def panel(*points: float, names: tuple[str, ...] = ()) -> Canvas:
    canvas = Canvas()
    axes = canvas.subplots()
    axes.plot(range(len(points)), points)
    if names:
        axes.set_xticks(range(len(names)), names)
    return canvas


def test_models_have_one_range_of_numbers_and_their_own_names() -> None:
    canvases = [panel(0, 1, names=("a", "b")), panel(5, 9, 7, names=("a", "b", "c"))]
    of_names, (low, high) = shared([limits_of(canvas) for canvas in canvases])  # type: ignore[misc]
    assert of_names is None
    assert low < 0
    assert high > 9
    before = canvases[0].axes[0].get_xlim()
    set_limits(canvases[0], [of_names, (low, high)])
    assert canvases[0].axes[0].get_ylim() == (low, high)
    assert canvases[0].axes[0].get_xlim() == before


def test_other_panels_share_nothing() -> None:
    two = Canvas()
    two.subplots(1, 2)
    assert shared([limits_of(panel(0, 1)), limits_of(two)]) == []


def painted_once(drawn: Drawn) -> Drawn:
    return replace(drawn, drawing=replace(drawn.drawing, paint=cache(drawn.drawing.paint)))


def test_every_figure_of_two_models_can_share_its_axes(two: dict[str, pd.DataFrame]) -> None:
    drawn = [painted_once(one) for one in draw_all(FIGURES.values(), two)[0]]
    found = list(with_limits(drawn))
    assert any(pair for _, limits in found for pair in limits)
    for one, limits in found:
        canvas = one.drawing.paint()
        set_limits(canvas, limits)
        assert all(pair in (None, mine) for pair, mine in zip(limits, limits_of(canvas), strict=False)), one.name
