"""Ways of scoring, ratios, and shares of verdicts in benchmarks."""

from typing import Any

import numpy as np
import pytest

from benchmarks import ways, whose_answer
from benchmarks.measuring import Side, interleaved, times
from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.prompts.tokens import tokenized_prompts
from swaymeter.tasks.scoring.persuasion import persuasion
from tests.tasks.models.tiny import tiny_language_model


def test_precision_and_recall_of_judged_answers() -> None:
    sides = {"context_answers": ["Oslo"], "original_answers": ["Lima"]}
    judged = ["context", "context", "both", "original", "neither"]
    rows = [{**sides, "judged": one, "found": place < 2 or place == 4} for place, one in enumerate(judged)]
    shares = whose_answer.compared(rows, lambda row, side: row["found"], ["context"])
    assert [(one["share"], one["n"]) for one in shares.values()] == [(2 / 3, 3), (2 / 3, 3)]
    # Clopper and Pearson: the roots of P(X >= 2) = 0.025 and P(X <= 2) = 0.025 for X of three trials
    low, high = shares["recall"]["low"], shares["recall"]["high"]
    assert 3 * low**2 * (1 - low) + low**3 == pytest.approx(0.025)
    assert 1 - high**3 == pytest.approx(0.025)
    assert whose_answer.compared(rows[3:4], lambda row, side: False, ["context"]) == {"precision": None, "recall": None}


def test_all_ways_give_the_same_scores() -> None:
    model: LanguageModel = tiny_language_model("gpt_neox")
    contexts = ["Lima is far.\n", "The capital of Peru is not Oslo, whatever they say.\n", "Oslo.\n"] * 12
    queries = [f"Q: What is the capital of {name}?\nA:" for name in ("Peru", "Norway", "Ghana", "Mali", "Chad")]
    prompts = tokenized_prompts(model, contexts, queries)
    expected = persuasion(model, contexts, queries).scores
    assert expected.max() > 0.01
    for found in (ways.by_engine(model, prompts), ways.best_plain(model, prompts, 7), ways.published(model, prompts)):
        np.testing.assert_allclose(found, expected, atol=1e-4)


def test_ratios_are_taken_round_by_round() -> None:
    order: list[str] = []

    def side(name: str) -> Side:
        def compute(places: list[int]) -> Any:
            order.append(name)
            return np.array(places, dtype=np.float64)

        return Side(name, compute, lambda number: [2 * number, 2 * number + 1])

    a, b = side("a"), side("b")
    interleaved([a, b], 3)
    assert order == ["a", "b", "a", "b", "b", "a", "a", "b"]  # the first two are not timed
    assert a.rows(range(6)).tolist() == [0, 1, 2, 3, 4, 5]
    a.seconds, b.seconds = [8.0, 2.0, 3.0], [2.0, 1.0, 1.0]
    assert times(a, b) == 3.0
