"""Answers in batches: each answer is, token by token, independent of the other answers."""

from typing import Any

import numpy as np
import pytest
import torch

from swaymeter.tasks.models.generation import readers
from swaymeter.tasks.models.generation.readers import SLOTS, rounding
from swaymeter.tasks.models.generation.sample import sample_answers
from swaymeter.tasks.models.network import MethodDecision, ReadingMethod
from swaymeter.tasks.models.next_token import plain
from swaymeter.tasks.models.next_token.plain import PADDED
from tests.tasks.models.reference_values import all_answers, token_ids, tokens_of
from tests.tasks.models.tiny import tiny_language_model

TEXTS = [f"Question {number}: {'why ' * (number % 4)}is it so?" for number in range(12)]
IDENTITIES = [(f"question {number}", "none") for number in range(len(TEXTS))]
NOISE = 5e-3


def _add_noise(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Add noise to all logits; it is larger than the rounding between batches."""
    generator, exact = torch.Generator().manual_seed(seed), readers.read_slots

    def read_with_noise(*arguments: Any) -> torch.Tensor:
        logits = exact(*arguments)
        noisy_logits: torch.Tensor = logits + NOISE * (2 * torch.rand(logits.shape, generator=generator) - 1)
        return noisy_logits

    monkeypatch.setattr(readers, "read_slots", read_with_noise)


def test_rounding_of_padded_batches_counts_only_without_slots() -> None:
    model = tiny_language_model()
    rounding_of_slots = rounding(model)
    model.traits.method_decisions |= {
        ReadingMethod(SLOTS): MethodDecision(),
        ReadingMethod(PADDED): MethodDecision(rounding=1.0),
    }
    assert rounding(model) == rounding_of_slots
    model.traits.method_decisions[ReadingMethod(SLOTS)] = MethodDecision(reason="rejected for this test")
    assert rounding(model) == 2.0  # twice the rounding of padded batches


def test_rounding_decides_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_language_model()
    prompts = [tokens_of(model, text) for text in TEXTS]
    settings: dict[str, Any] = {"samples": 8, "max_new_tokens": 8}
    with monkeypatch.context() as patched:
        patched.setattr("swaymeter.tasks.models.generation.sample.rounding", lambda model: NOISE)
        expected = sample_answers(model, prompts, IDENTITIES, **settings)
        for seed in (1, 2):
            with monkeypatch.context() as noisy:
                _add_noise(noisy, seed)
                sampled = sample_answers(model, prompts, IDENTITIES, **settings)
            assert token_ids(sampled) == token_ids(expected)
            for answer, noisy_answer in zip(all_answers(expected), all_answers(sampled), strict=True):
                np.testing.assert_allclose(answer.token_log_probs, noisy_answer.token_log_probs, atol=4 * NOISE)
    # Without the patched rounding, this noise changes some answers.
    _add_noise(monkeypatch, 3)
    assert token_ids(sample_answers(model, prompts, IDENTITIES, **settings)) != token_ids(expected)


def test_rounding_of_padded_batches_decides_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    prompts = [tokens_of(tiny_language_model(), text) for text in TEXTS]
    settings: dict[str, Any] = {"samples": 24, "max_new_tokens": 8}
    expected = sample_answers(tiny_language_model(), prompts, IDENTITIES, **settings)
    model, generator, exact = tiny_language_model(), torch.Generator().manual_seed(1), plain._read
    model.traits.method_decisions[ReadingMethod(SLOTS)] = MethodDecision(reason="rejected for this test")

    def read_with_noise(*arguments: Any) -> torch.Tensor:
        logits = exact(*arguments)
        return logits + 1e-3 * (2 * torch.rand(logits.shape, generator=generator) - 1)

    monkeypatch.setattr(plain, "_read", read_with_noise)
    assert token_ids(sample_answers(model, prompts, IDENTITIES, **settings)) == token_ids(expected)


@pytest.mark.parametrize("batch_size", [1, 7])
def test_answers_do_not_depend_on_batches(batch_size: int) -> None:
    model = tiny_language_model()
    prompts = [tokens_of(model, f"{text} And {number}?") for number in range(2) for text in TEXTS]
    identities = [(f"prompt {number}",) for number in range(len(prompts))]
    expected = sample_answers(model, prompts, identities, samples=3, max_new_tokens=8, batch_size=len(prompts))
    sampled = sample_answers(model, prompts[::-1], identities[::-1], samples=3, max_new_tokens=8, batch_size=batch_size)
    assert token_ids(sampled[::-1]) == token_ids(expected)


def test_an_answer_of_special_tokens_is_empty() -> None:
    model = tiny_language_model()
    with torch.no_grad():
        model.model.lm_head.weight.zero_()
        model.model.lm_head.bias = torch.nn.Parameter(torch.zeros(len(model.tokenizer)))
        model.model.lm_head.bias[2] = 100.0  # <turn> does not end an answer
    (sampled,) = sample_answers(model, [[7]], IDENTITIES[:1], samples=2, max_new_tokens=5)
    for answer in all_answers([sampled]):
        assert answer.text == ""
        assert answer.token_ids == (2,) * 5
        assert answer.state == "truncated"  # the model never ends its answer
