"""Persuasion of passages against a float64 computation, prompt by prompt."""

import math

import pytest
import torch

from swaymeter.data.errors import ScoreError
from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.next_token.by_query import PLAIN, PREFIX_TREE
from swaymeter.tasks.scoring import passage_persuasion as scoring
from swaymeter.tasks.scoring.passage_persuasion import passage_persuasion
from tests.tasks.models.reference_values import break_token, tokens_of
from tests.tasks.models.tiny import tiny_language_model

QUESTION = "\n\nQ: When does it open?\nA:"
PASSAGES = ["[1] It opens at nine.", "It has three doors.", "It opens at ten, says Ann."]


def naive(model: LanguageModel, with_passage: list[int], without: list[int]) -> float:
    """Return the divergence of the distribution with the passage from the distribution without the passage, in nats."""
    with torch.inference_mode():
        p, q = (
            model.model(torch.tensor([prompt])).logits[0, -1].double().softmax(0) for prompt in (with_passage, without)
        )
    return math.fsum(a * math.log(a / b) for a, b in zip(p.tolist(), q.tolist(), strict=True))


def pairs(model: LanguageModel, passages: list[str] = PASSAGES) -> list[tuple[list[int], list[int]]]:
    """Return, for each passage, the prompt with all passages and the prompt without this passage."""

    def tokens(passages: list[str]) -> list[int]:
        return tokens_of(model, "\n".join(passages) + QUESTION)

    all_passages = tokens(passages)
    return [(all_passages, tokens(passages[:number] + passages[number + 1 :])) for number in range(len(passages))]


@pytest.mark.parametrize(("family", "engine"), [("llama", PREFIX_TREE), ("gpt2", PREFIX_TREE), ("mamba", PLAIN)])
@pytest.mark.parametrize("limit", [1, 256])
def test_scores_match_a_naive_computation(
    family: str, engine: str, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "MAX_PROMPTS", limit)
    model = tiny_language_model(family)
    prompts = [*pairs(model), *pairs(model, PASSAGES[::-1]), *pairs(model, PASSAGES[:1])]
    results = passage_persuasion(model, prompts)
    expected = [naive(model, *pair) for pair in prompts]
    assert [result.score for result in results] == pytest.approx(expected, abs=1e-4, rel=0)
    assert min(expected) > 0.01
    assert {result.engine for result in results} == {engine}


def test_repeated_prompts_are_read_once(tiny: LanguageModel) -> None:
    prompts = pairs(tiny)
    passage_persuasion(tiny, prompts)
    before = tiny.forward_passes
    twice = passage_persuasion(tiny, prompts + prompts)
    assert tiny.forward_passes - before == 1  # all prompts are in one prefix tree
    assert twice[:3] == twice[3:]


def test_each_prompt_has_its_likeliest_token(tiny: LanguageModel) -> None:
    for pair, result in zip(pairs(tiny), passage_persuasion(tiny, pairs(tiny)), strict=True):
        with torch.inference_mode():
            alone = tuple(int(tiny.model(torch.tensor([prompt])).logits[0, -1].argmax()) for prompt in pair)
        assert (result.token_with, result.token_without) == alone


def test_equal_prompts_have_zero_persuasion(tiny: LanguageModel) -> None:
    (prompt, _), *_ = pairs(tiny)
    assert [result.score for result in passage_persuasion(tiny, [(prompt, prompt)])] == [0.0]
    assert passage_persuasion(tiny, []) == []


def test_prompt_without_a_distribution_is_named() -> None:
    model = tiny_language_model()
    prompts = pairs(model)
    break_token(model, "Z")
    broken = [*tokens_of(model, "Z"), *prompts[0][0]]
    with pytest.raises(ScoreError, match=r"gives no distribution .* after the prompt 'Z\[1\] It opens at nine"):
        passage_persuasion(model, [*prompts, (broken, prompts[0][1])])


def test_a_model_that_no_passage_moves_is_refused() -> None:
    model = tiny_language_model()
    with torch.no_grad():
        model.model.get_output_embeddings().weight.zero_()
    with pytest.raises(ScoreError, match="gives exactly the same distribution after all 4 contexts"):
        passage_persuasion(model, pairs(model))
