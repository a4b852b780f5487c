"""What a model gives for prompts that it reads one at a time, without any engine; and models that fail."""

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


_READ = WeakKeyDictionary[torch.nn.Module, dict[tuple[object, ...], torch.Tensor]]()
"""Logits after prompts that were read, by network; beginnings of answers come again and again."""


def log_probs(model: LanguageModel, prompts: Iterable[Sequence[int]]) -> torch.Tensor:
    """The log-distributions of the next token after prompts, each read alone: (n, V)."""
    read = _READ.setdefault(model.model, {})
    weights = tuple(weight._version for weight in model.model.parameters())  # counts changes in place

    def logits(prompt: tuple[int, ...]) -> torch.Tensor:
        if (weights, prompt) not in read:
            read[weights, prompt] = model.model(torch.tensor([prompt]), use_cache=False).logits[0, -1].clone()
        return read[weights, prompt]

    with torch.inference_mode():
        return torch.log_softmax(torch.stack([logits((*prompt,)) for prompt in prompts]).float(), dim=-1)


def steps(model: LanguageModel, prompt: Sequence[int], answer: Sequence[int]) -> torch.Tensor:
    """The log-distribution of every step of an answer, each from the whole text before it: (steps, V)."""
    return log_probs(model, ([*prompt, *answer[:step]] for step in range(len(answer))))


def check_numbers(model: LanguageModel, prompt: Sequence[int], answer: Answer) -> None:
    """The answer's numbers are those of the whole text before each of its steps."""
    own = steps(model, prompt, answer.token_ids)
    chosen = own[range(len(own)), list(answer.token_ids)]
    np.testing.assert_allclose(answer.token_log_probs, chosen, atol=1e-4)
    np.testing.assert_allclose(answer.mean_distribution, own.exp().mean(dim=0), atol=1e-4)


def counts_positions_itself(model: LanguageModel) -> LanguageModel:
    """A model like GPT-2 that takes the positions of tokens by their order, whatever it is told."""
    embed = model.model.transformer.wpe.forward
    model.model.transformer.wpe.forward = lambda told: embed(torch.arange(told.shape[-1]).expand_as(told))
    return model


def every(answers: Iterable[SampledAnswers]) -> list[Answer]:
    """All answers: the samples of each prompt, then its greedy answer."""
    return [answer for of_prompt in answers for answer in (*of_prompt.samples, of_prompt.greedy)]


def token_ids(answers: Iterable[SampledAnswers]) -> list[tuple[int, ...]]:
    return [answer.token_ids for answer in every(answers)]


def break_token(model: LanguageModel, text: str) -> None:
    """The token of a letter gets no embedding."""
    with torch.no_grad():
        model.model.get_input_embeddings().weight[tokens_of(model, text)[0]] = float("nan")


@contextmanager
def running_out_of_memory(model: LanguageModel, *, over: int) -> Iterator[None]:
    """The model has no memory for more tokens than so many in one pass."""

    def check(module: Any, args: Any, options: dict[str, Any]) -> None:
        if (args[0] if args else options["input_ids"]).numel() > over:
            raise torch.OutOfMemoryError("CUDA out of memory")

    handle = model.model.register_forward_pre_hook(check, with_kwargs=True)
    try:
        yield
    finally:
        handle.remove()
