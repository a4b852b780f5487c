import re
import zlib
from dataclasses import replace

import pandas as pd
import pytest

from swaymeter.reports.figures import FIGURES
from swaymeter.reports.figures.figure import Drawn, draw_all
from swaymeter.reports.figures.printing import COLUMN, POINTS, TALLEST, printed
from swaymeter.reports.style import blank
from tests.registered import only


@pytest.fixture(scope="module", params=["familiarity-of-susceptibility", "susceptibility-by-degree"])
def drawn(known: dict[str, pd.DataFrame], request: pytest.FixtureRequest) -> Drawn:
    with only(FIGURES, [request.param]):
        ((figure,), _) = draw_all(FIGURES.values(), known)
    return figure


def test_a_figure_fits_a_column_and_its_text_is_text(drawn: Drawn) -> None:
    pdf = printed(drawn)
    width, height = (float(size) for size in re.search(rb"/MediaBox \[ 0 0 (\S+) (\S+) \]", pdf).groups())  # type: ignore[union-attr]
    assert width == pytest.approx(COLUMN * 72)
    assert height <= TALLEST * 72
    assert b"/Type3" not in pdf
    assert b"/CIDFontType2" in pdf  # Type 42
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    content = b"\n".join(text for stream in streams if b" Tf" in (text := _plain(stream)))
    assert {float(size) for size in re.findall(rb"/F\S+ (\S+) Tf", content)} == {POINTS}


def test_panels_below_each_other_keep_the_titles_of_columns(drawn: Drawn) -> None:
    canvas, grid = blank(2, 5, 4)
    for number, axes in enumerate(grid[0]):
        axes.set_title(f"column {number}", loc="left")
    printed(replace(drawn, drawing=replace(drawn.drawing, paint=lambda: canvas)))
    titles = [" ".join(axes.get_title(loc="left").split()) for row in grid for axes in row]
    assert titles == 2 * [f"column {number}" for number in range(5)]


def _plain(stream: bytes) -> bytes:
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return b""
