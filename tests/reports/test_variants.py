"""Advice on variants, from means and differences written by hand."""

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
    """Return the frames of a study with these means.

    Args:
        means: the means of FOLLOWS and RESISTS, by variant.
        better: a quantity, its better variant and its worse variant.
    """
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
        for name, pair in means.items()
        for quantity, mean in zip((FOLLOWS, RESISTS, "correct"), (*pair, 0.2), strict=True)
    ]
    directions = dict.fromkeys(better, "larger") | {
        (quantity, lower, higher): "smaller" for quantity, higher, lower in better
    }
    differences = [
        {
            "model": first,
            "dtype": "float32",
            "against_model": second,
            "against_dtype": "float32",
            "quantity": quantity,
            "direction": directions.get((quantity, first, second), "undecided"),
        }
        for quantity in (FOLLOWS, RESISTS)
        for first in means
        for second in means
        if first < second
    ]
    costs = [{"model": "a", "dtype": "float32", "tokens_an_answer": 4.5, "seconds_a_prompt": 0.25}]
    return {
        variants.MEANS: pd.DataFrame(rows),
        variants.DIFFERENCES: pd.DataFrame(differences),
        variants.COSTS: pd.DataFrame(costs),
        RUNS: pd.DataFrame(columns=["model", "dtype"]),
    }


def test_front_has_all_unbeaten_variants() -> None:
    evaluated = variants.variants_of(frames({"a": (0.9, 0.2), "b": (0.5, 0.5), "c": (0.4, 0.4), "d": (0.5, 0.5)}))
    assert [variant.model.name for variant in variants.front(evaluated)] == ["a", "b", "d"]


@pytest.mark.parametrize(
    ("better", "expected"),
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
def test_advice_names_the_best_variants(better: tuple[tuple[str, str, str], ...], expected: str) -> None:
    advice = variants.advice(frames({"a": (0.9, 0.2), "b": (0.5, 0.5), "c": (0.4, 0.6)}, *better))
    assert expected in advice


def test_a_worse_variant_is_not_recommended() -> None:
    study = frames(
        {"a": (0.9, 0.5), "b": (0.6, 0.5), "c": (0.3, 0.5)},
        (FOLLOWS, "b", "a"),
        (FOLLOWS, "a", "c"),
        (FOLLOWS, "b", "c"),
    )
    assert "To follow right passages, take b (float32), which" in variants.advice(study)


def test_without_demonstrated_differences_variants_have_no_order() -> None:
    means = {"a": (0.5, 0.5), "b": (0.9, 0.2)}
    for better, first, has_line in (((), "a", False), (((FOLLOWS, "b", "a"),), "b", True)):
        study = frames(means, *better)
        assert variants.table(study)["variant"].iloc[0] == f"{first} (float32)"
        (figure,) = draw_all([FRONT], study)[0]
        assert ("the line joins them" in figure.caption) == has_line


def test_caption_tells_unequal_numbers_of_answers() -> None:
    study = frames({"a": (0.9, 0.2), "b": (0.5, 0.5)})
    assert variants.uneven_note(variants.variants_of(study)) == ""
    means = study[variants.MEANS]
    fewer = {**study, variants.MEANS: means.assign(n=means["n"].where(means["model"] != "b", 15))}
    assert "(15 to 40 answers and 15 to 40 answers)" in filled(COMPARISON, fewer).caption


def test_variant_best_in_both_is_recommended() -> None:
    study = frames({"a": (0.9, 0.9), "b": (0.5, 0.5), "c": (0.8, 0.8)}, (FOLLOWS, "a", "b"), (RESISTS, "a", "b"))
    assert variants.advice(study) == (
        "Take a (float32): it follows right passages 90.0% [80.0, 100.0] and resists wrong passages "
        "90.0% [80.0, 100.0]. Not shown to be worse in either: c (float32)."
    )


def test_single_variant_is_not_compared() -> None:
    study = frames({"a": (0.9, 0.9)})
    assert variants.advice(study) == ""
    assert draw_all([FRONT], study) == ([], [])


def test_table_and_figure_mark_unbeaten_variants() -> None:
    study = frames({"a": (0.9, 0.2), "b": (0.5, 0.5), "c": (0.4, 0.4)})
    table = filled(COMPARISON, study)
    assert table.caption.startswith("None of the 3 variants")
    assert table.rows["not beaten"].tolist() == ["yes", "yes", ""]
    assert "declines" not in table.rows  # no variant has this mean
    assert table.rows.iloc[0].tolist()[:5] == [
        "a (float32)",
        "yes",
        "90.0% [80.0, 100.0]",
        "20.0% [10.0, 30.0]",
        "20.0% [10.0, 30.0]",
    ]
    ((figure,), _) = draw_all([FRONT], study)
    assert figure.drawing.numbers["not_beaten"].tolist() == [True, True, False]
    variant_names = figure.drawing.paint().axes[0].texts
    assert len(variant_names) == 3


def test_caption_counts_answers_that_state_neither() -> None:
    study = frames({"a": (0.9, 0.2), "b": (0.5, 0.5)})
    study[variants.COSTS] = study[variants.COSTS].assign(answers_with_wrong=8, neither_with_wrong=2)
    caption = filled(COMPARISON, study).caption
    assert "With a wrong passage, another answer or no answer is stated by 2 of 8 replies of a (float32)." in caption
