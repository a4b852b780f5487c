"""Variances between samples and between forms, worked by hand and by NumPy."""

import numpy as np
import pandas as pd
import pytest

from swaymeter.data.errors import ScoreError
from swaymeter.tasks.statistics.reliability import reliability
from tests.tasks.statistics.rows import row_of


def sample(scores: dict[tuple[str, int, str], float], query_type: str = "open") -> pd.DataFrame:
    """Return a sample of scores by entity, form and context."""
    return pd.DataFrame(
        [
            {
                "query_type": query_type,
                "form": form,
                "entity": entity,
                "query": f"{entity}, form {form}",
                "context": context,
                "persuasion": score,
                "susceptibility": score,
            }
            for (entity, form, context), score in scores.items()
        ]
    )


FIRST = {("Peru", 1, "a"): 1.0, ("Peru", 2, "a"): 3.0, ("Peru", 1, "b"): 5.0, ("Norway", 1, "a"): 7.0}


def test_only_items_of_every_sample_are_compared() -> None:
    second = {("Peru", 1, "a"): 2.0, ("Peru", 1, "c"): 9.0, ("Norway", 1, "a"): 7.0}
    third = {("Peru", 1, "a"): 6.0, ("Norway", 1, "a"): 10.0, ("Peru", 1, "b"): 0.0}
    seeds = row_of(reliability("persuasion", [sample(scores) for scores in (FIRST, second, third)]), over="seeds")
    variances = [np.var([1.0, 2.0, 6.0], ddof=1), np.var([7.0, 7.0, 10.0], ddof=1)]
    assert (seeds["n"], seeds["of_first"], seeds["scores"], seeds["compared"]) == (2, 4, 3, "query and context")
    assert seeds["variance"] == pytest.approx(np.mean(variances), abs=1e-12)
    assert seeds["largest"] == pytest.approx(max(variances), abs=1e-12)
    assert seeds["mean_score"] == pytest.approx((3 + 8) / 2)


def test_forms_of_entity_are_compared_in_first_sample() -> None:
    forms = row_of(reliability("persuasion", [sample(FIRST), sample({("Peru", 2, "b"): 4.0})]), over="forms")
    assert (forms["n"], forms["of_first"], forms["scores"], forms["variance"]) == (1, 3, 2, 2.0)


def test_incomparable_samples_have_a_reason() -> None:
    rows = reliability("susceptibility", [sample({("Peru", 1, "a"): 1.0}), sample({("Lima", 1, "a"): 1.0})])
    seeds = row_of(rows, over="seeds")
    assert (seeds["variance"], seeds["untestable"]) == (None, "no item has all scores")
    assert row_of(rows, over="forms")["untestable"] == "each item has a single score"
    with pytest.raises(ScoreError, match="persuasion: a stored score is not a finite number"):
        reliability("persuasion", [sample({("Peru", 1, "a"): np.nan})] * 2)


def test_a_text_that_occurs_twice_counts_once() -> None:
    twice = pd.concat([sample(FIRST), sample(FIRST)])
    assert reliability("persuasion", [twice, twice]) == reliability("persuasion", [sample(FIRST), sample(FIRST)])
