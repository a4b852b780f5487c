"""What the page says of labels, from made-up means and tests of two sets."""

from typing import Any

import pandas as pd
import pytest

from swaymeter.reports.figures.labels import BY_STRENGTH, BY_TYPE, tones
from swaymeter.reports.frames import Frames
from swaymeter.reports.models import Model

Row = dict[str, Any]
OF = {"model": "m", "dtype": "float32", "query_type": "open", "untestable": None, "within": "all"}


def told(relation: str, a: str, b: str, means: tuple[float, float], n: int = 5, p: float = 0.01) -> Row:
    """A test of two labels of contexts."""
    groups = {"group_a": a, "group_b": b, "mean_a": means[0], "mean_b": means[1], "n_a": n, "n_b": n}
    return {**OF, **groups, "relation": relation, "comparison": "context", "measure": "persuasion", "p_adjusted": p}


def test_persuasion_is_said_set_by_set() -> None:
    tests = pd.DataFrame([
        told("one", "negative", "positive", (0.3, 0.1)), told("two", "negative", "positive", (0.9, 0.7), p=0.5),
    ])  # fmt: skip
    assert tones(tests) == (
        "one, open queries by 0.300 (negative), 0.100 (positive) nats, 1 of 1 difference significant; "
        "two, open queries by 0.900 (negative), 0.700 (positive) nats, 0 of 1 difference significant"
    )


def test_mean_of_most_entities_is_said_whatever_the_order() -> None:
    rows = [told("one", "negative", "neutral", (0.5, 0.2), n=9), told("one", "negative", "positive", (0.4, 0.1), n=3)]
    expected = "open queries by 0.500 (negative), 0.200 (neutral), 0.100 (positive) nats, 2 of 2 differences"
    assert tones(pd.DataFrame(rows)) == tones(pd.DataFrame(rows[::-1])) == f"{expected} significant"


def test_caption_by_type_counts_tests_of_the_drawn_set() -> None:
    sets, of_labels = ("one", "two"), {"comparison": "label", "measure": "susceptibility"}
    means = [
        {**OF, "relation": name, "label": label, "type": kind, "entities": 2, "unit": "nats", "mean": 0.2}
        | dict.fromkeys(("low", "high", "smallest", "percentile_5", "lower_quartile", "median", "upper_quartile",
                         "percentile_95", "largest"), 0.2)
        for name in sets for label in ("old", "young") for kind in (None, "x")
    ]  # fmt: skip
    entities = [
        {**OF, "relation": name, "label": label, "type": "x", "entity": f"{label}{n}", "queries": 1,
         "susceptibility": 0.2} for name in sets for label in ("old", "young") for n in (1, 2)
    ]  # fmt: skip
    tests = [told(name, "old", "young", (0.1, 0.1), p=p) | of_labels for name, p in zip(sets, (0.5, 0.01), strict=True)]
    frames: Frames = {
        "susceptibility_by_label": pd.DataFrame(means),
        "susceptibility_of_labelled_entities": pd.DataFrame(entities),
        "group_comparisons": pd.DataFrame(tests),
        "persuasion_by_strength": pd.DataFrame(columns=["relation", "context_label"]),
    }
    drawing = BY_TYPE.draw(Model("m", "float32"), frames)
    assert drawing is not None
    assert "Tests over all types of this set: between two labels" in drawing.caption
    assert "open queries 0 of 1 significant." in drawing.caption


@pytest.mark.parametrize(("tests", "said"), [
    ([], False), ([told("one", "negative", "positive", (0.3, 0.1))], True),
])  # fmt: skip
def test_caption_by_strength_tells_no_result_without_a_test(tests: list[Row], said: bool) -> None:
    means = pd.DataFrame([
        {**OF, "relation": "one", "label": "old", "about": "others", "context_label": label, "strength": None,
         "entities": 2, "mean": 0.2, "low": 0.1, "high": 0.3, "unit": "nats"} for label in ("negative", "positive")
    ])  # fmt: skip
    frames: Frames = {"persuasion_by_strength": means, "group_comparisons": pd.DataFrame(tests)}
    drawing = BY_STRENGTH.draw(Model("m", "float32"), frames)
    assert drawing is not None
    assert ("Contexts about the queried entity move" in drawing.caption) == said
    assert "dotted: about others, or nobody." in drawing.caption
