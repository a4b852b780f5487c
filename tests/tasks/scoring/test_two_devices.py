"""Every score of a model that is spread over two devices, and on a GPU where there is one, against one device alone."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass
from typing import Any

import numpy as np
import pytest
import torch

from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.generation.sample import sample_answers
from swaymeter.tasks.models.prompts.answer_prompts import answer_prompt
from swaymeter.tasks.scoring.answer_set import answer_set_persuasion
from swaymeter.tasks.scoring.first_token import next_tokens
from swaymeter.tasks.scoring.fisher import fisher_susceptibility
from swaymeter.tasks.scoring.memorization import greedy_answers
from swaymeter.tasks.scoring.persuasion import persuasion
from tests.tasks.models.alone import every
from tests.tasks.models.tiny import tiny_language_model
from tests.tasks.models.two_devices import spread

CONTEXTS = ["Oslo is big.\n", "Lima is small.\n", "Norway's capital is Rome.\n", "Nothing.\n"]
QUERIES = ["Q: What is the capital of Norway?\nA:", "The capital of Peru is", "Where"]
ANSWERS = [["O", "Os"], ["N"], ["S. L", "S."]]
# gpt2's first and last weights are one tensor; mistral has a window; bloom is read prompt by prompt.
FAMILIES = ("llama", "gpt2", "gpt_neox", "mistral", "bloom")


def _first_tokens(model: LanguageModel) -> Any:
    read = next_tokens(model, [answer_prompt(model, query).tokens for query in QUERIES])
    return [(read.likeliest(place), read.probability(place, [7, 19])) for place in range(len(QUERIES))]


def _samples(model: LanguageModel) -> Any:
    prompts = [answer_prompt(model, query).tokens for query in QUERIES]
    answers = sample_answers(model, prompts, [(query,) for query in QUERIES], samples=4, seed=3, temperature=1.0)
    return [(one.token_ids, one.token_log_probs) for one in every(answers)]


SCORES: dict[str, Callable[[LanguageModel], Any]] = {
    "persuasion": lambda model: persuasion(model, CONTEXTS, QUERIES),
    "answer set": lambda model: answer_set_persuasion(model, CONTEXTS, QUERIES, ANSWERS),
    "greedy": lambda model: greedy_answers(model, CONTEXTS, QUERIES),
    "fisher": lambda model: fisher_susceptibility(model, QUERIES, top_k=None, exact=5, draws=32),
    "first token": _first_tokens,
    "samples": _samples,
}


@contextmanager
def _on_a_gpu(model: LanguageModel) -> Iterator[LanguageModel]:
    network = model.model.to("cuda:0")
    yield LanguageModel(network, model.tokenizer, model.name, model.revision, model.dtype, "cuda:0")


def _leaves(value: Any) -> list[Any]:
    """The texts and numbers of a nested value, the numbers to be compared approximately."""
    value = list(vars(value).values()) if is_dataclass(value) else value
    if isinstance(value, list | tuple | np.ndarray):
        return [leaf for one in value for leaf in _leaves(one)]
    return [value if isinstance(value, str) else pytest.approx(value, rel=1e-3, abs=1e-5)]


@pytest.mark.parametrize("score", SCORES.values(), ids=list(SCORES))
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "placed",
    [
        pytest.param(spread, id="two devices"),
        pytest.param(
            _on_a_gpu, id="a GPU", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
        ),
    ],
)
def test_scores_do_not_depend_on_the_device(
    placed: Callable[[LanguageModel], Any], family: str, score: Callable[[LanguageModel], Any]
) -> None:
    alone = score(tiny_language_model(family))
    with placed(tiny_language_model(family)) as model:
        found = score(model)
    assert _leaves(found) == _leaves(alone)
