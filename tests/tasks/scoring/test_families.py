"""Scores of model families against each prompt read alone, and of models on two devices, or a GPU, against one.

All families that can be made small are in tests/tasks/models/families.py.
"""

from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any

import numpy as np
import pytest
import torch

from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.generation.sample import sample_answers
from swaymeter.tasks.models.next_token.plain import ALONE, EQUAL, PADDED, read_plain
from swaymeter.tasks.models.prompts.answer_prompts import answer_prompt
from swaymeter.tasks.models.prompts.tokens import tokenize_prompts
from swaymeter.tasks.scoring.answer_set import answer_set_persuasion
from swaymeter.tasks.scoring.first_token import next_tokens
from swaymeter.tasks.scoring.fisher import fisher_susceptibility
from swaymeter.tasks.scoring.memorization import greedy_answers
from swaymeter.tasks.scoring.persuasion import persuasion
from tests.tasks.models.alone import check_numbers, every, log_probs, steps, tokens_of
from tests.tasks.models.families import family_model
from tests.tasks.models.tiny import tiny_language_model
from tests.tasks.models.two_devices import spread

CONTEXTS = [
    "Oslo is big.\n",
    "x",
    "Lima is small, and it lies by the sea, as everybody in Peru will tell you.\n",
]
QUERIES = ["Q: Who?\nA:", "The capital of Peru is"]
# How the batches are made that complete prompts are read in, and why.
EXPECTED = {
    "llama": ("prefix tree", PADDED),
    "gemma3": ("prefix tree", PADDED),
    "gemma4": ("prefix tree", PADDED),
    "gpt_oss": ("prefix tree", PADDED),
    "deepseek_v3": ("prefix tree", PADDED),
    "qwen3_next": ("plain", PADDED),
    "falcon with ALiBi": ("plain", PADDED),
    "mamba": ("plain", PADDED),
    "phi3 with LongRoPE": ("plain", PADDED),
    "rwkv": ("plain", EQUAL),
    "xlstm": ("plain", EQUAL),
    "recurrent_gemma": ("plain", EQUAL),
    "bart": ("plain", EQUAL),
    "roberta": ("plain", EQUAL),
    "llama4": ("plain", EQUAL),
}


@pytest.fixture(scope="module", params=EXPECTED)
def family(request: pytest.FixtureRequest) -> tuple[str, LanguageModel]:
    return request.param, family_model(request.param)


def _alone(model: LanguageModel) -> torch.Tensor:
    """The distributions after each query and context: (queries, contexts, V)."""
    prompts = tokenize_prompts(model, CONTEXTS, QUERIES)
    return torch.stack([log_probs(model, [of_context[place] for of_context in prompts]) for place in (0, 1)])


def test_persuasion_is_that_of_prompts_read_alone(family: tuple[str, LanguageModel]) -> None:
    name, model = family
    found = persuasion(model, CONTEXTS, QUERIES)
    p = _alone(model).double().exp()
    expected = (p * (p / p.mean(dim=1, keepdim=True)).log()).sum(dim=2)
    np.testing.assert_allclose(found.scores, expected, atol=1e-5)
    assert found.scores.max() > 1e-3
    assert found.engine == EXPECTED[name][0]


def test_batches_give_what_prompts_give_alone(family: tuple[str, LanguageModel]) -> None:
    name, model = family
    prompts = [prompt for of_context in tokenize_prompts(model, CONTEXTS, QUERIES) for prompt in of_context]
    found = torch.log_softmax(read_plain(model, prompts).float(), dim=1)
    torch.testing.assert_close(found, log_probs(model, prompts), atol=1e-4, rtol=0)
    refused = {way for (way, _), verdict in model.traits.verdicts.items() if verdict.reason}
    assert next(way for way in (PADDED, EQUAL, ALONE) if way not in refused) == EXPECTED[name][1]


def test_answers_have_log_probabilities_of_texts_read_alone(family: tuple[str, LanguageModel]) -> None:
    _, model = family
    prompts = [tokens_of(model, context + QUERIES[0]) for context in CONTEXTS]
    found = sample_answers(model, prompts, [(context,) for context in CONTEXTS], samples=2, max_new_tokens=3)
    for prompt, of_prompt in zip(prompts, found, strict=True):
        for answer in every([of_prompt]):
            check_numbers(model, prompt, answer)
        greedy = of_prompt.greedy.token_ids
        assert greedy == tuple(steps(model, prompt, greedy).argmax(dim=1).tolist())


def test_answers_equal_those_read_alone(family: tuple[str, LanguageModel]) -> None:
    name, model = family
    found = answer_set_persuasion(model, CONTEXTS, QUERIES[:1], [["Oslo"], ["Lima"]])
    (lines,), engine = greedy_answers(model, CONTEXTS, QUERIES[:1], max_new_tokens=3)
    ends = [token for token in range(len(model.tokenizer)) if model.tokenizer.decode([token])[:1] in ("\n", ".")]
    for place, context in enumerate(CONTEXTS):
        prompt = tokens_of(model, context + QUERIES[0])
        mass = 0.0
        for answer in (" Oslo", " Lima"):
            tokens = tokens_of(model, answer)
            own = steps(model, prompt, [*tokens, 0]).double()
            mass += float((own[range(len(tokens)), tokens].sum() + own[-1, [1, *ends]].logsumexp(dim=0)).exp())
        assert found.mass[0, place] == pytest.approx(mass, rel=1e-3)
        best = list(prompt)
        for _ in range(3):
            best.append(int(log_probs(model, [best])[0].argmax()))
        text = model.tokenizer.decode(best[len(prompt) :], skip_special_tokens=True)
        assert text.lstrip().startswith(lines[place])
    assert found.engine == engine == EXPECTED[name][0]


def test_a_verdict_on_short_prompts_excludes_longer_ones() -> None:
    model = family_model("phi3 with LongRoPE")
    assert persuasion(model, CONTEXTS[:2], QUERIES).engine == "prefix tree"
    found = persuasion(model, CONTEXTS, QUERIES)
    p = _alone(model).double().exp()
    np.testing.assert_allclose(found.scores, (p * (p / p.mean(dim=1, keepdim=True)).log()).sum(dim=2), atol=1e-5)
    assert found.engine == "plain"
    assert persuasion(model, CONTEXTS[:2], QUERIES).engine == "prefix tree"


def _first_tokens(model: LanguageModel) -> Any:
    read = next_tokens(model, [answer_prompt(model, query).tokens for query in QUERIES])
    return [(read.likeliest(place), read.probability(place, [7, 19])) for place in range(len(QUERIES))]


def _samples(model: LanguageModel) -> Any:
    prompts = [answer_prompt(model, query).tokens for query in QUERIES]
    settings: dict[str, Any] = {"samples": 2, "max_new_tokens": 4, "seed": 3, "temperature": 1.0}
    answers = sample_answers(model, prompts, [(query,) for query in QUERIES], **settings)
    return [(one.token_ids, one.token_log_probs) for one in every(answers)]


SCORES: dict[str, Callable[[LanguageModel], Any]] = {
    "persuasion": lambda model: persuasion(model, CONTEXTS, QUERIES),
    "answer set": lambda model: answer_set_persuasion(model, CONTEXTS, QUERIES, [["O", "Os"], ["N"], ["S. L", "S."]]),
    "greedy": lambda model: greedy_answers(model, CONTEXTS, QUERIES, max_new_tokens=3),
    "fisher": lambda model: fisher_susceptibility(model, QUERIES, top_k=None, exact=5, draws=32),
    "first token": _first_tokens,
    "samples": _samples,
}


def _leaves(value: Any) -> list[Any]:
    """The texts and numbers of a nested value, the numbers to be compared approximately."""
    value = list(vars(value).values()) if is_dataclass(value) else value
    if isinstance(value, list | tuple | np.ndarray):
        return [leaf for one in value for leaf in _leaves(one)]
    return [value if isinstance(value, str) else pytest.approx(value, rel=1e-3, abs=1e-5)]


# gpt2's first and last weights are one tensor; mistral is llama with a window; bloom is read prompt by prompt.
@pytest.mark.parametrize("family", ["gpt2", "gpt_neox", "mistral", "bloom"])
def test_scores_do_not_depend_on_the_device(family: str) -> None:
    model = tiny_language_model(family)
    alone = {name: score(model) for name, score in SCORES.items()}
    with spread(tiny_language_model(family)) as model:
        found = {name: score(model) for name, score in SCORES.items()}
    for name in SCORES:
        assert _leaves(found[name]) == _leaves(alone[name]), name


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("score", SCORES.values(), ids=list(SCORES))
@pytest.mark.parametrize("family", ["gpt2", "bloom", *EXPECTED])
def test_scores_on_gpu_are_those_of_processor(family: str, score: Callable[[LanguageModel], Any]) -> None:
    make = family_model if family in EXPECTED else tiny_language_model
    alone, model = score(make(family)), make(family)
    on_gpu = LanguageModel(model.model.to("cuda:0"), model.tokenizer, model.name, model.revision, model.dtype, "cuda:0")
    assert _leaves(score(on_gpu)) == _leaves(alone)
