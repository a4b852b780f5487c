"""Every score of a model that is spread over two devices, and on a GPU where there is one, against one device alone."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
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


def _persuasion(model: LanguageModel) -> Any:
    found = persuasion(model, CONTEXTS, QUERIES)
    return found.engine, found.scores


def _answer_set(model: LanguageModel) -> Any:
    found = answer_set_persuasion(model, CONTEXTS, QUERIES, ANSWERS)
    return found.engine, found.scores


def _greedy(model: LanguageModel) -> Any:
    return greedy_answers(model, CONTEXTS, QUERIES)


def _fisher(model: LanguageModel) -> Any:
    found = fisher_susceptibility(model, QUERIES, top_k=None, exact=5, draws=32)
    return found.trace, found.standard_error


def _first_token(model: LanguageModel) -> Any:
    read = next_tokens(model, [answer_prompt(model, query).tokens for query in QUERIES])
    return [(read.likeliest(place), read.probability(place, [7, 19])) for place in range(len(QUERIES))]


def _samples(model: LanguageModel) -> Any:
    prompts = [answer_prompt(model, query).tokens for query in QUERIES]
    identities = [(query,) for query in QUERIES]
    answers = sample_answers(model, prompts, identities, samples=4, seed=3, temperature=1.0)
    return [(one.token_ids, one.token_log_probs) for one in every(answers)]


SCORES = (_persuasion, _answer_set, _greedy, _fisher, _first_token, _samples)


@contextmanager
def _on_a_gpu(model: LanguageModel) -> Iterator[LanguageModel]:
    network = model.model.to("cuda:0")
    yield LanguageModel(network, model.tokenizer, model.name, model.revision, model.dtype, "cuda:0")


def _leaves(value: Any) -> list[Any]:
    """The texts and numbers of a nested value, the numbers to be compared approximately."""
    if isinstance(value, list | tuple | np.ndarray):
        return [leaf for one in value for leaf in _leaves(one)]
    return [value if isinstance(value, str) else pytest.approx(value, rel=1e-3, abs=1e-5)]


@pytest.mark.parametrize("score", SCORES)
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
