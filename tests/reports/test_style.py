from itertools import combinations

import numpy as np
import pytest
from matplotlib.figure import Figure

from swaymeter.reports.style import NO_GLYPH, PARTITION_HUES, QUERY_HUES, THEMES, drawing, plain

# Machado, Oliveira and Fernandes 2009, full deficiency, on linear RGB.
DEFICIENCIES = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
HUES = [*QUERY_HUES.values(), *PARTITION_HUES.values()]


def _linear(colour: str) -> np.ndarray:
    """Linear red, green and blue of a #rrggbb colour, 0 to 1."""
    channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def luminance(colour: str) -> float:
    """Relative luminance of a #rrggbb colour, 0 to 1 (WCAG 2)."""
    return float(np.dot([0.2126, 0.7152, 0.0722], _linear(colour)))


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _lab(colour: str, matrix: list[list[float]]) -> np.ndarray:
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
    seen = [_lab(hue, DEFICIENCIES[deficiency]) for hue in palette.values()]
    assert min(float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2)) > 20


def test_open_and_closed_differ_in_grey() -> None:
    assert abs(luminance(QUERY_HUES["open"]) - luminance(QUERY_HUES["closed"])) > 0.08


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("a\u202eb\x00c\nd\u2028e", "ab c d e"),
        ("東京 Tokyo", f"{NO_GLYPH * 2} Tokyo"),
        ("a" * 50 + "z" * 50, "a" * 17 + "…" + "z" * 16),
    ],
    ids=["control characters", "no glyph", "long"],
)
def test_text_is_made_fit_to_be_drawn(text: str, drawn: str) -> None:
    assert plain(text) == drawn


def test_dollars_are_dollars_and_not_formulas() -> None:
    with drawing():
        figure = Figure()
        text = figure.text(0, 0, r"$\frac{1}$ {x} $")
        figure.draw_without_rendering()
        assert not text.get_parse_math()
