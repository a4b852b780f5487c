"""Reference values from prompts that a model reads alone, without an engine; and helpers that make models fail."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch

from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.capabilities import Answer, SampledAnswers


def tokens_of(model: LanguageModel, text: str) -> list[int]:
    return list(model.tokenizer(text, add_special_tokens=False)["input_ids"])


_LOGITS = WeakKeyDictionary[torch.nn.Module, dict[tuple[object, ...], torch.Tensor]]()
"""Logits after prompts, for each network; beginnings of answers recur in many tests."""


def log_probs(model: LanguageModel, prompts: Iterable[Sequence[int]]) -> torch.Tensor:
    """Return the log-distributions of the next token after prompts, each read alone: (n, V)."""
    stored = _LOGITS.setdefault(model.model, {})
    versions = tuple(weight._version for weight in model.model.parameters())  # torch counts changes in place

    def logits(prompt: tuple[int, ...]) -> torch.Tensor:
        if (versions, prompt) not in stored:
            stored[versions, prompt] = model.model(torch.tensor([prompt]), use_cache=False).logits[0, -1].clone()
        return stored[versions, prompt]

    with torch.inference_mode():
        return torch.log_softmax(torch.stack([logits((*prompt,)) for prompt in prompts]).float(), dim=-1)


def step_log_probs(model: LanguageModel, prompt: Sequence[int], answer: Sequence[int]) -> torch.Tensor:
    """Return the log-distribution of every step of an answer, each from the whole text before the step: (steps, V)."""
    return log_probs(model, ([*prompt, *answer[:step]] for step in range(len(answer))))


def check_probabilities(model: LanguageModel, prompt: Sequence[int], answer: Answer) -> None:
    """Assert that the answer's probabilities follow from the whole text before each step."""
    expected = step_log_probs(model, prompt, answer.token_ids)
    chosen = expected[range(len(expected)), list(answer.token_ids)]
    np.testing.assert_allclose(answer.token_log_probs, chosen, atol=1e-4)
    np.testing.assert_allclose(answer.mean_distribution, expected.exp().mean(dim=0), atol=1e-4)


def ignore_position_ids(model: LanguageModel) -> LanguageModel:
    """Let a GPT-2 model number the tokens by their order, even if it gets position_ids."""
    embed = model.model.transformer.wpe.forward
    model.model.transformer.wpe.forward = lambda ids: embed(torch.arange(ids.shape[-1]).expand_as(ids))
    return model


def all_answers(answers: Iterable[SampledAnswers]) -> list[Answer]:
    """Return the samples of each prompt, followed by its greedy answer."""
    return [answer for sampled in answers for answer in (*sampled.samples, sampled.greedy)]


def token_ids(answers: Iterable[SampledAnswers]) -> list[tuple[int, ...]]:
    return [answer.token_ids for answer in all_answers(answers)]


def break_token(model: LanguageModel, text: str) -> None:
    """Replace the embedding of a letter by NaN."""
    with torch.no_grad():
        model.model.get_input_embeddings().weight[tokens_of(model, text)[0]] = float("nan")


@contextmanager
def running_out_of_memory(model: LanguageModel, *, over: int) -> Iterator[None]:
    """Let every pass over more than `over` tokens run out of memory."""

    def check(module: Any, args: Any, options: dict[str, Any]) -> None:
        if (args[0] if args else options["input_ids"]).numel() > over:
            raise torch.OutOfMemoryError("CUDA out of memory")

    handle = model.model.register_forward_pre_hook(check, with_kwargs=True)
    try:
        yield
    finally:
        handle.remove()
