from typing import Any

import numpy as np
import pytest
import torch

from swaymeter.data.errors import ScoreError
from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.network import MethodDecision, ReadingMethod
from swaymeter.tasks.models.next_token import distributions
from swaymeter.tasks.models.next_token.by_query import PLAIN, PREFIX_TREE
from swaymeter.tasks.models.next_token.distributions import Distributions
from swaymeter.tasks.scoring.persuasion import persuasion, persuasion_scores
from tests.tasks.models.reference_values import break_token
from tests.tasks.models.tiny import tiny_language_model

CONTEXTS = ["Oslo is big.\n", "Lima is small.\n", "Norway's capital is Rome.\n", "Nothing.\n"]
QUERIES = ["Q: What is the capital of Norway?\nA:", "The capital of Peru is"]


def _scores(log_probs: torch.Tensor, weights: Any) -> np.ndarray:
    return persuasion_scores(Distributions.of(log_probs), torch.tensor(weights, dtype=torch.float32)).numpy()


def _entropy(probabilities: np.ndarray) -> float:
    positive = probabilities[probabilities > 0]
    return float(-(positive * np.log(positive)).sum())


@pytest.mark.parametrize("number", range(3))
def test_scores_agree_with_the_published_code(number: int, smollm2: LanguageModel, oracle: Any) -> None:
    relation = oracle["persuasion"]["relations"][number]
    cases = relation["cases"][number::16]
    result = persuasion(smollm2, relation["contexts"], [case["query"] for case in cases])
    np.testing.assert_allclose(result.scores, [case["persuasion"] for case in cases], atol=1e-4, rtol=0)
    np.testing.assert_allclose(result.susceptibility, [case["susceptibility"] for case in cases], atol=1e-4, rtol=0)


def test_two_opposed_contexts_match_hand_worked_scores() -> None:
    # p = (3/4, 1/4) and (1/4, 3/4) mix to (1/2, 1/2): KL = 3/4 log 3/2 + 1/4 log 1/2 for both.
    log_probs = torch.tensor([[0.75, 0.25], [0.25, 0.75]]).log()
    by_hand = 0.75 * np.log(1.5) + 0.25 * np.log(0.5)
    np.testing.assert_allclose(_scores(log_probs, [0.5, 0.5]), [by_hand, by_hand], atol=1e-7)


def test_disjoint_contexts_reach_the_bound() -> None:
    # exp(-200) is rounded to zero, which is accepted. A logit of minus infinity would be refused.
    log_probs = torch.tensor([[0.0, -200.0, -200.0], [-200.0, 0.0, -200.0]])
    weights = np.array([0.25, 0.75])
    np.testing.assert_allclose(_scores(log_probs, weights), -np.log(weights), atol=1e-6)


def test_scores_keep_their_bounds(tiny: LanguageModel) -> None:
    contexts = [*CONTEXTS, CONTEXTS[0]]
    result = persuasion(tiny, contexts, QUERIES)
    weights = np.array([0.4, 0.2, 0.2, 0.2, 0.4])
    assert (result.scores >= 0).all()
    assert (result.scores <= -np.log(weights) + 1e-6).all()
    assert (result.susceptibility <= _entropy(np.array([0.4, 0.2, 0.2, 0.2]))).all()
    np.testing.assert_array_equal(result.scores[:, 0], result.scores[:, 4])  # a context that occurs twice weighs twice
    assert (result.scores[:, 0] < persuasion(tiny, CONTEXTS, QUERIES).scores[:, 0]).all()
    np.testing.assert_allclose(result.susceptibility, result.scores.mean(axis=1))


def test_weighted_mean_of_scores_is_mutual_information() -> None:
    generator = torch.Generator().manual_seed(5)
    log_probs = torch.log_softmax(torch.randn(4, 5000, generator=generator, dtype=torch.float64), dim=1)
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    p = log_probs.exp().numpy()
    information = _entropy(weights @ p) - float(weights @ [_entropy(row) for row in p])
    assert weights @ _scores(log_probs.float(), weights) == pytest.approx(information, abs=1e-6)


def test_rounded_normalisers_barely_change_scores() -> None:
    generator = torch.Generator().manual_seed(6)
    log_probs = torch.log_softmax(torch.randn(3, 5000, generator=generator), dim=1)
    rounded = Distributions(log_probs, torch.tensor([1e-5, -1e-5, 1e-5]))
    weights = np.array([0.5, 0.25, 0.25])
    # The plain sum of p log(p / m) would have an absolute error of 1e-5. The scores have a relative error of 1e-5.
    result = persuasion_scores(rounded, torch.tensor(weights, dtype=torch.float32))
    np.testing.assert_allclose(result, _scores(log_probs, weights), rtol=2e-5)


def test_scores_do_not_depend_on_vocabulary_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    log_probs = torch.log_softmax(torch.randn(4, 1000, generator=torch.Generator().manual_seed(7)), dim=1)
    scores = _scores(log_probs, [0.25] * 4)
    monkeypatch.setattr(distributions, "_ENTRIES_BY_SLICE", 4 * 37)
    np.testing.assert_allclose(_scores(log_probs, [0.25] * 4), scores, atol=1e-6)


def test_single_context_has_zero_persuasion(tiny: LanguageModel) -> None:
    result = persuasion(tiny, ["Oslo.\n"] * 3, QUERIES)
    assert (result.scores == 0).all()
    assert (result.susceptibility == 0).all()


def test_order_and_memory_change_nothing(tiny: LanguageModel) -> None:
    result = persuasion(tiny, CONTEXTS, QUERIES)
    backwards = persuasion(tiny, CONTEXTS[::-1], QUERIES[::-1], memory=1)
    np.testing.assert_allclose(result.scores, backwards.scores[::-1, ::-1], atol=1e-5)


@pytest.mark.parametrize("engine", [PREFIX_TREE, PLAIN])
def test_nan_is_raised_with_its_query_and_context(engine: str) -> None:
    model = tiny_language_model()
    if engine == PLAIN:
        model.traits.method_decisions[ReadingMethod(PREFIX_TREE)] = MethodDecision(reason="for this test")
    persuasion(model, CONTEXTS, QUERIES)  # chooses the engine of this model
    break_token(model, "z")
    with pytest.raises(ScoreError, match=r"NaN.* for the query 'a query' after the context 'the third: z"):
        persuasion(model, ["the first\n", "the second\n", "the third: z\n"], ["a query"])
    queries = [*(f"query {number}" for number in range(5)), "query z", "query 6"]
    with pytest.raises(ScoreError, match=r"NaN.* for the query 'query z' after the context 'Oslo is big"):
        persuasion(model, CONTEXTS, queries)
