from collections.abc import Callable
from typing import Any

import pytest
import torch

from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.generation.sample import sample_answers
from swaymeter.tasks.models.next_token.alone import Probe
from swaymeter.tasks.models.next_token.distributions import Distributions
from swaymeter.tasks.models.next_token.plain import read_plain
from swaymeter.tasks.scoring.memorization import greedy_answers
from tests.tasks.models.alone import log_probs, tokens_of
from tests.tasks.models.tiny import tiny_language_model

TEXTS = ["Q: Where?\nA:", "x", "The capital of Norway is Oslo.\nQ: What is the capital of Norway?\nA:", "Oslo", "x"]


@pytest.mark.parametrize("batch", [1, 4, 100])
@pytest.mark.parametrize("family", ["llama", "gpt2", "gpt_neox", "mistral"])
def test_padded_batch_equals_prompts_read_alone(family: str, batch: int) -> None:
    model = tiny_language_model(family)
    prompts = [tokens_of(model, text) for text in TEXTS]
    found = Distributions.of(read_plain(model, prompts, batch_size=batch)).log_probs()
    torch.testing.assert_close(found, log_probs(model, prompts), atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    "answer",
    [
        lambda model: greedy_answers(model, ["x", "Oslo.\n"], TEXTS[:1], max_new_tokens=24),
        lambda model: sample_answers(model, [[*b"Oslo"], [*b"Where"]], [("a",), ("b",)], samples=1, max_new_tokens=24),
    ],
    ids=["lines", "samples"],
)
def test_growing_prompts_are_not_compared_at_each_step(answer: Callable[[LanguageModel], Any]) -> None:
    model = tiny_language_model("bloom")
    answer(model)
    first = model.forward_passes
    answer(model)
    assert (first, model.forward_passes) == (24 + 9, 2 * 24 + 9)  # four prompts alone for each of two ways, and a batch


def test_a_probe_of_one_token_has_prompts_of_equal_length() -> None:
    assert [len(prompt) for prompt in Probe.of([7], [7] * 5).all] == [3, 3, 5, 5]
