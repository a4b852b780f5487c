"""Drawing of figures: shared axes, links of marks, columns of a paper, hues, and cleaned texts."""

import re
import subprocess
import sys
import zlib
from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure as Canvas
from matplotlib.transforms import Bbox

from swaymeter.reports.figures import FIGURES, rendering
from swaymeter.reports.figures.figure import DrawnFigure, draw_all
from swaymeter.reports.figures.printing import COLUMN, POINTS, TALLEST, printed
from swaymeter.reports.figures.rendering import limits_of, set_limits, shared, with_limits
from swaymeter.reports.style import NO_GLYPH, PARTITION_HUES, QUERY_HUES, THEMES, blank, drawing, link, plain
from tests.registries import only


def panel(*points: float, names: tuple[str, ...] = ()) -> Canvas:
    canvas = Canvas()
    axes = canvas.subplots()
    axes.plot(range(len(points)), points)
    if names:
        axes.set_xticks(range(len(names)), names)
    return canvas


def test_models_share_a_range_and_have_own_names() -> None:
    canvases = [panel(0, 1, names=("a", "b")), panel(5, 9, 7, names=("a", "b", "c"))]
    name_limits, (low, high) = shared([limits_of(canvas) for canvas in canvases])  # type: ignore[misc]
    assert name_limits is None
    assert low < 0
    assert high > 9
    before = canvases[0].axes[0].get_xlim()
    set_limits(canvases[0], [name_limits, (low, high)])
    assert canvases[0].axes[0].get_ylim() == (low, high)
    assert canvases[0].axes[0].get_xlim() == before


def test_figures_of_different_layouts_share_no_axes() -> None:
    two_panels = Canvas()
    two_panels.subplots(1, 2)
    assert shared([limits_of(panel(0, 1)), limits_of(two_panels)]) == []


def painted_once(drawn: DrawnFigure) -> DrawnFigure:
    return replace(drawn, drawing=replace(drawn.drawing, paint=cache(drawn.drawing.paint)))


def test_figures_of_two_dtypes_can_share_axes(two_dtypes: dict[str, pd.DataFrame]) -> None:
    drawn = [painted_once(figure) for figure in draw_all(FIGURES.values(), two_dtypes)[0]]
    figures = list(with_limits(drawn))
    assert any(pair for _, limits in figures for pair in limits)
    for figure, limits in figures:
        canvas = figure.drawing.paint()
        set_limits(canvas, limits)
        assert all(pair in (None, own_pair) for pair, own_pair in zip(limits, limits_of(canvas), strict=False)), (
            figure.name
        )


def test_links_are_separated_from_the_picture() -> None:
    addresses = ["answers.html#model=m&open=1", "queries.html#q-2"]
    with drawing():
        canvas, ((axes,),) = blank(1, 1, 2)
        axes.plot([0, 1], [0, 1], "o")
        link(axes, [0, 1], [0, 1], addresses)
        svg = rendering._saved(canvas, "svg", Bbox([[0, 0], [7.2, 2]]), 120).decode()
    shown, links = rendering._without_links(rendering._themed(svg))
    assert "<a " not in shown
    assert links is not None
    assert [address for _, _, address in links.places] == addresses
    (x0, x1), (y0, y1) = ([float(place[axis]) for place in links.places] for axis in (0, 1))
    assert x0 < x1 <= 7.2 * 72
    assert 0 <= y1 < y0


def test_many_marks_have_no_links() -> None:
    with drawing():
        _, ((axes,),) = blank(1, 1, 2)
        link(axes, range(700), range(700), ["queries.html"] * 700)
    assert not axes.collections


@pytest.fixture(scope="module", params=["familiarity-of-susceptibility", "susceptibility-by-degree"])
def drawn(study_frames: dict[str, pd.DataFrame], request: pytest.FixtureRequest) -> DrawnFigure:
    with only(FIGURES, [request.param]):
        ((figure,), _) = draw_all(FIGURES.values(), study_frames)
    return figure


def test_a_figure_fits_a_column_with_real_text(drawn: DrawnFigure) -> None:
    pictures = printed(drawn)
    pdf = pictures["pdf"]
    width, height = (float(size) for size in re.search(rb"/MediaBox \[ 0 0 (\S+) (\S+) \]", pdf).groups())  # type: ignore[union-attr]
    assert width == pytest.approx(COLUMN * 72)
    assert height <= TALLEST * 72
    assert b"<text " in pictures["svg"]
    assert b"/Type3" not in pdf
    assert b"/CIDFontType2" in pdf  # Type 42
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    content = b"\n".join(text for stream in streams if b" Tf" in (text := _decompressed(stream)))
    assert {float(size) for size in re.findall(rb"/F\S+ (\S+) Tf", content)} == {POINTS}


def test_panels_below_each_other_keep_titles_of_columns(drawn: DrawnFigure) -> None:
    canvas, grid = blank(2, 5, 4)
    for number, axes in enumerate(grid[0]):
        axes.set_title(f"column {number}", loc="left")
    printed(replace(drawn, drawing=replace(drawn.drawing, paint=lambda: canvas)))
    titles = [" ".join(axes.get_title(loc="left").split()) for row in grid for axes in row]
    assert titles == 2 * [f"column {number}" for number in range(5)]


def _decompressed(stream: bytes) -> bytes:
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return b""


# Machado, Oliveira and Fernandes 2009, full deficiency, on linear RGB.
DEFICIENCIES = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
HUES = [*QUERY_HUES.values(), *PARTITION_HUES.values()]


def _linear(colour: str) -> np.ndarray:
    """Linear red, green and blue of a #rrggbb colour, 0 to 1."""
    channels = np.array([int(colour[start : start + 2], 16) for start in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def luminance(colour: str) -> float:
    """Relative luminance of a #rrggbb colour, 0 to 1 (WCAG 2)."""
    return float(np.dot([0.2126, 0.7152, 0.0722], _linear(colour)))


def contrast(first: str, second: str) -> float:
    darker, lighter = sorted((luminance(first), luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)


def _lab(colour: str, matrix: list[list[float]]) -> np.ndarray:
    """CIELAB coordinates of a #rrggbb colour, as the deficiency of the matrix shows it."""
    xyz = np.array(
        [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    )
    white = xyz @ np.clip(np.array(matrix) @ _linear(colour), 0, 1) / np.array([0.95047, 1, 1.08883])
    f = np.where(white > 0.008856, np.cbrt(white), 7.787 * white + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_hues_and_text_stand_out_from_both_papers(theme: dict[str, str]) -> None:
    assert min(contrast(hue, theme["paper"]) for hue in HUES) >= 3
    assert min(contrast(theme[role], theme["paper"]) for role in ("ink", "muted")) >= 4.5


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
@pytest.mark.parametrize("palette", [QUERY_HUES, PARTITION_HUES], ids=["queries", "partitions"])
def test_hues_stay_apart_for_colour_blind_eyes(palette: dict[str, str], deficiency: str) -> None:
    colours = [_lab(hue, DEFICIENCIES[deficiency]) for hue in palette.values()]
    assert min(float(np.linalg.norm(first - second)) for first, second in combinations(colours, 2)) > 20


def test_open_and_closed_differ_in_grey() -> None:
    assert abs(luminance(QUERY_HUES["open"]) - luminance(QUERY_HUES["closed"])) > 0.08


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\u202eb\x00c\nd\u2028e", "ab c d e"),
        ("東京 Tokyo", f"{NO_GLYPH * 2} Tokyo"),
        ("a" * 50 + "z" * 50, "a" * 17 + "…" + "z" * 16),
    ],
    ids=["control characters", "no glyph", "long"],
)
def test_text_is_cleaned_for_drawing(text: str, expected: str) -> None:
    assert plain(text) == expected


def test_dollar_signs_make_no_formula() -> None:
    with drawing():
        canvas = Canvas()
        text = canvas.text(0, 0, r"$\frac{1}$ {x} $")
        canvas.draw_without_rendering()
        assert not text.get_parse_math()


def test_report_without_figures_imports_no_matplotlib() -> None:
    code = "import sys, swaymeter.reports.report; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
