"""Ways of scoring, ratios, and shares of verdicts in benchmarks."""

from typing import Any

import numpy as np
import pytest

from benchmarks import verdicts, ways
from benchmarks.measuring import Side, interleaved, times
from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.prompts.tokens import tokenize_prompts
from swaymeter.tasks.scoring.persuasion import persuasion
from tests.tasks.models.tiny import tiny_language_model


def test_shares_assume_a_judge_for_undecided_replies() -> None:
    outcomes = [("context", "right"), ("original", "wrong side"), ("both", "undecided"), ("neither", "undecided")]
    rows = [
        {"judged": judged, **{name: name == outcome for name in verdicts.COLUMNS[1:]}} for judged, outcome in outcomes
    ]
    counts = verdicts.counted(rows)
    assert [counts[name] for name in verdicts.COLUMNS] == [4, 1, 1, 0, 2]
    assert counts["shares"] == pytest.approx(
        # A wrong judge states each of the four wrong verdicts equally often. If `both` is right, two of these count as
        # "wrong side"; if `neither` is right, three.
        {"wrong side": 1 / 4, "right, perfect judge": 3 / 4, "wrong side, 10% judge": (1 + 0.1 * (2 + 3) / 4) / 4}
    )


def test_all_ways_give_the_same_scores() -> None:
    model: LanguageModel = tiny_language_model("gpt_neox")
    contexts = ["Lima is far.\n", "The capital of Peru is not Oslo, whatever they say.\n", "Oslo.\n"] * 12
    queries = [f"Q: What is the capital of {name}?\nA:" for name in ("Peru", "Norway", "Ghana", "Mali", "Chad")]
    prompts = tokenize_prompts(model, contexts, queries)
    expected = persuasion(model, contexts, queries).scores
    assert expected.max() > 0.01
    for scores in (
        ways.by_engine(model, prompts),
        ways.best_plain(model, prompts, batch=7),
        ways.published(model, prompts),
    ):
        np.testing.assert_allclose(scores, expected, atol=1e-4)


def test_sides_take_turns_and_give_median_ratio() -> None:
    order: list[str] = []

    def side(name: str) -> Side:
        def compute(positions: list[int]) -> Any:
            order.append(name)
            return np.array(positions, dtype=np.float64)

        return Side(name, compute, lambda number_of_round: [2 * number_of_round, 2 * number_of_round + 1])

    slow, fast = side("a"), side("b")
    interleaved([slow, fast], 3)
    assert order == ["a", "b", "a", "b", "b", "a", "a", "b"]  # the first two calls are not timed
    assert slow.rows(range(6)).tolist() == [0, 1, 2, 3, 4, 5]
    slow.seconds, fast.seconds = [8.0, 2.0, 3.0], [2.0, 1.0, 1.0]
    assert times(slow, fast) == 3.0  # the median of 4, 2 and 3
