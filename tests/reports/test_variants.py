"""Which variant is taken for what, by hand-made means and differences."""

from typing import Any

import pandas as pd
import pytest

from swaymeter.reports import variants
from swaymeter.reports.figures.figure import draw_all
from swaymeter.reports.figures.front import FRONT
from swaymeter.reports.models import RUNS
from swaymeter.reports.tables.table import filled
from swaymeter.reports.tables.variants import COMPARISON

FOLLOWS, RESISTS = variants.FOLLOWS, variants.RESISTS


def frames(means: dict[str, tuple[float, float]], *better: tuple[str, str, str]) -> dict[str, pd.DataFrame]:
    """Means of variants, (follows, resists); better: quantity, the better one, and the one that it beats."""
    rows: list[dict[str, Any]] = [
        {
            "model": name,
            "dtype": "float32",
            "quantity": quantity,
            "group": "none" if quantity == "correct" else "all",
            "n": 40,
            "clusters": 20,
            "mean": mean,
            "low": mean - 0.1,
            "high": mean + 0.1,
            "interval_over": "question",
            "unit": "share",
        }
        for name, of in means.items()
        for quantity, mean in zip((FOLLOWS, RESISTS, "correct"), (*of, 0.2), strict=True)
    ]
    verdicts = dict.fromkeys(better, "larger") | {(name, b, a): "smaller" for name, a, b in better}
    pairs = [
        {
            "model": a,
            "dtype": "float32",
            "against_model": b,
            "against_dtype": "float32",
            "quantity": quantity,
            "direction": verdicts.get((quantity, a, b), "undecided"),
        }
        for quantity in (FOLLOWS, RESISTS)
        for a in means
        for b in means
        if a < b
    ]
    spent = [{"model": "a", "dtype": "float32", "tokens_an_answer": 4.5, "seconds_a_prompt": 0.25}]
    return {
        variants.MEANS: pd.DataFrame(rows),
        variants.DIFFERENCES: pd.DataFrame(pairs),
        variants.COSTS: pd.DataFrame(spent),
        RUNS: pd.DataFrame(columns=["model", "dtype"]),
    }


def test_the_front() -> None:
    known = variants.variants_of(frames({"a": (0.9, 0.2), "b": (0.5, 0.5), "c": (0.4, 0.4), "d": (0.5, 0.5)}))
    assert [variant.model.name for variant in variants.front(known)] == ["a", "b", "d"]


@pytest.mark.parametrize(
    ("better", "said"),
    [
        ((), "more than another, on 20 questions with a right and 20 with a wrong passage: take what costs least, or"),
        (
            ((FOLLOWS, "a", "b"), (RESISTS, "c", "a")),
            "To follow right passages, take a (float32), which follows right passages 90.0% [80.0, 100.0] (not shown "
            "to be worse: c (float32)). To resist wrong ones, take c (float32), which resists wrong passages 60.0% "
            "[50.0, 70.0] (not shown to be worse: b (float32)).",
        ),
        (((FOLLOWS, "a", "b"),), "To resist wrong ones, none is shown to be better than another."),
        (
            ((FOLLOWS, "c", "b"),),
            "take c (float32), which follows right passages 40.0% [30.0, 50.0] (not shown to be worse: a (float32))",
        ),
    ],
)
def test_the_advice(better: tuple[tuple[str, str, str], ...], said: str) -> None:
    advice = variants.advice(frames({"a": (0.9, 0.2), "b": (0.5, 0.5), "c": (0.4, 0.6)}, *better))
    assert said in advice


def test_a_worse_variant_is_not_recommended() -> None:
    found = frames(
        {"a": (0.9, 0.5), "b": (0.6, 0.5), "c": (0.3, 0.5)},
        (FOLLOWS, "b", "a"),
        (FOLLOWS, "a", "c"),
        (FOLLOWS, "b", "c"),
    )
    assert "To follow right passages, take b (float32), which" in variants.advice(found)


def test_equal_variants_have_no_line_and_no_order() -> None:
    known = {"a": (0.5, 0.5), "b": (0.9, 0.2)}
    for better, order, joined in (((), "a", False), (((FOLLOWS, "b", "a"),), "b", True)):
        found = frames(known, *better)
        assert variants.table(found)["variant"].iloc[0] == f"{order} (float32)"
        (drawn,) = draw_all([FRONT], found)[0]
        assert ("the line joins them" in drawn.caption) == joined


def test_variants_with_other_answers_are_named() -> None:
    found = frames({"a": (0.9, 0.2), "b": (0.5, 0.5)})
    assert variants.uneven(variants.variants_of(found)) == ""
    means = found[variants.MEANS]
    fewer = {**found, variants.MEANS: means.assign(n=means["n"].where(means["model"] != "b", 15))}
    assert "(15 to 40 answers and 15 to 40 answers)" in filled(COMPARISON, fewer).caption


def test_one_that_is_best_in_both() -> None:
    found = frames({"a": (0.9, 0.9), "b": (0.5, 0.5), "c": (0.8, 0.8)}, (FOLLOWS, "a", "b"), (RESISTS, "a", "b"))
    assert variants.advice(found) == (
        "Take a (float32): it follows right passages 90.0% [80.0, 100.0] and resists wrong passages "
        "90.0% [80.0, 100.0]. Not shown to be worse in either: c (float32)."
    )


def test_one_variant_alone_is_not_chosen() -> None:
    found = frames({"a": (0.9, 0.9)})
    assert variants.advice(found) == ""
    assert draw_all([FRONT], found) == ([], [])


def test_the_table_and_the_figure() -> None:
    found = frames({"a": (0.9, 0.2), "b": (0.5, 0.5), "c": (0.4, 0.4)})
    table = filled(COMPARISON, found)
    assert table.caption.startswith("None of the 3 variants")
    assert table.rows["not beaten"].tolist() == ["yes", "yes", ""]
    assert "declines" not in table.rows  # of none of them
    assert table.rows.iloc[0].tolist()[:5] == [
        "a (float32)",
        "yes",
        "90.0% [80.0, 100.0]",
        "20.0% [10.0, 30.0]",
        "20.0% [10.0, 30.0]",
    ]
    ((drawn,), _) = draw_all([FRONT], found)
    assert drawn.drawing.numbers["not_beaten"].tolist() == [True, True, False]
    assert len(drawn.drawing.paint().axes[0].texts) == 3


def test_answers_that_resist_in_silence_are_counted() -> None:
    found = frames({"a": (0.9, 0.2), "b": (0.5, 0.5)})
    found[variants.COSTS] = found[variants.COSTS].assign(answers_with_wrong=8, neither_with_wrong=2)
    caption = filled(COMPARISON, found).caption
    assert "With a wrong passage, another answer or none is stated by 2 of 8 of a (float32)." in caption
