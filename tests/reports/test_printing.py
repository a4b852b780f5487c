import re
import zlib

import pandas as pd
import pytest

from reports.figures import FIGURES
from reports.figures.figure import Drawn, draw_all
from reports.figures.printing import COLUMN, POINTS, TALLEST, printed
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


def _plain(stream: bytes) -> bytes:
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return b""
