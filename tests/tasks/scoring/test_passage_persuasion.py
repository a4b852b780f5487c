"""Persuasion of passages against float64 reckoning, prompt by prompt."""

import math

import pytest
import torch

from swaymeter.data.errors import ScoreError
from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.next_token.by_query import PLAIN, PREFIX_TREE
from swaymeter.tasks.scoring import passage_persuasion as scoring
from swaymeter.tasks.scoring.passage_persuasion import passage_persuasion
from tests.tasks.models.alone import break_token, tokens_of
from tests.tasks.models.tiny import tiny_language_model

ASKED = "\n\nQ: When does it open?\nA:"
PARTS = ["[1] It opens at nine.", "It has three doors.", "It opens at ten, says Ann."]


def naive(model: LanguageModel, whole: list[int], without: list[int]) -> float:
    """The divergence, token by token, of prompts that are read alone."""
    with torch.inference_mode():
        p, q = (model.model(torch.tensor([each])).logits[0, -1].double().softmax(0) for each in (whole, without))
    return math.fsum(a * math.log(a / b) for a, b in zip(p.tolist(), q.tolist(), strict=True))


def pairs(model: LanguageModel, parts: list[str] = PARTS) -> list[tuple[list[int], list[int]]]:
    def tokens(some: list[str]) -> list[int]:
        return tokens_of(model, "\n".join(some) + ASKED)

    return [(tokens(parts), tokens(parts[:at] + parts[at + 1 :])) for at in range(len(parts))]


@pytest.mark.parametrize(("family", "engine"), [("llama", PREFIX_TREE), ("gpt2", PREFIX_TREE), ("mamba", PLAIN)])
@pytest.mark.parametrize("most", [1, 256])
def test_scores_are_those_of_a_naive_reckoning(
    family: str, engine: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "MAX_PROMPTS", most)
    model = tiny_language_model(family)
    asked = [*pairs(model), *pairs(model, PARTS[::-1]), *pairs(model, PARTS[:1])]
    found = passage_persuasion(model, asked)
    expected = [naive(model, *pair) for pair in asked]
    assert [one.score for one in found] == pytest.approx(expected, abs=1e-4, rel=0)
    assert min(expected) > 0.01
    assert {one.engine for one in found} == {engine}


def test_prompts_that_occur_twice_are_read_once(tiny: LanguageModel) -> None:
    asked = pairs(tiny)
    passage_persuasion(tiny, asked)
    before = tiny.forward_passes
    twice = passage_persuasion(tiny, asked + asked)
    assert tiny.forward_passes - before == 1  # one tree
    assert twice[:3] == twice[3:]


def test_the_likeliest_tokens_are_of_each_prompt(tiny: LanguageModel) -> None:
    for pair, one in zip(pairs(tiny), passage_persuasion(tiny, pairs(tiny)), strict=True):
        with torch.inference_mode():
            alone = tuple(int(tiny.model(torch.tensor([each])).logits[0, -1].argmax()) for each in pair)
        assert (one.token_with, one.token_without) == alone


def test_the_same_prompt_twice_is_no_persuasion(tiny: LanguageModel) -> None:
    (whole, _), *_ = pairs(tiny)
    assert [one.score for one in passage_persuasion(tiny, [(whole, whole)])] == [0.0]
    assert passage_persuasion(tiny, []) == []


def test_a_distribution_that_is_none_is_named() -> None:
    model = tiny_language_model()
    asked = pairs(model)
    break_token(model, "Z")
    broken = [*tokens_of(model, "Z"), *asked[0][0]]
    with pytest.raises(ScoreError, match=r"gives no distribution .* after the prompt 'Z\[1\] It opens at nine"):
        passage_persuasion(model, [*asked, (broken, asked[0][1])])


def test_a_model_that_no_passage_moves_is_refused() -> None:
    model = tiny_language_model()
    with torch.no_grad():
        model.model.get_output_embeddings().weight.zero_()
    with pytest.raises(ScoreError, match="gives the same distribution, to the last bit, after all 4 contexts"):
        passage_persuasion(model, pairs(model))
