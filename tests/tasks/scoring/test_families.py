"""Scores of model families against prompts read alone; scores on two devices and on a GPU against the CPU.

tests/tasks/models/families.yaml has all families that can be built small.
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
from tests.tasks.models.reference_values import all_answers, check_probabilities, log_probs, step_log_probs, tokens_of
from tests.tasks.models.tiny import family_model, tiny_language_model
from tests.tasks.models.two_devices import spread

CONTEXTS = [
    "Oslo is big.\n",
    "x",
    "Lima is small, and it lies by the sea, as everybody in Peru will tell you.\n",
]
QUERIES = ["Q: Who?\nA:", "The capital of Peru is"]
# The engine of each family, and the method by which it reads complete prompts.
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
    """Return the log-distributions after each query and context, each prompt read alone, (queries, contexts, V)."""
    prompts = tokenize_prompts(model, CONTEXTS, QUERIES)
    return torch.stack([log_probs(model, [row[query] for row in prompts]) for query in (0, 1)])


def test_persuasion_matches_prompts_read_alone(family: tuple[str, LanguageModel]) -> None:
    name, model = family
    result = persuasion(model, CONTEXTS, QUERIES)
    p = _alone(model).double().exp()
    expected = (p * (p / p.mean(dim=1, keepdim=True)).log()).sum(dim=2)
    np.testing.assert_allclose(result.scores, expected, atol=1e-5)
    assert result.scores.max() > 1e-3
    assert result.engine == EXPECTED[name][0]


def test_batches_match_prompts_read_alone(family: tuple[str, LanguageModel]) -> None:
    name, model = family
    prompts = [prompt for row in tokenize_prompts(model, CONTEXTS, QUERIES) for prompt in row]
    result = torch.log_softmax(read_plain(model, prompts).float(), dim=1)
    torch.testing.assert_close(result, log_probs(model, prompts), atol=1e-4, rtol=0)
    rejected = {method for (method, _), decision in model.traits.method_decisions.items() if decision.reason}
    assert next(method for method in (PADDED, EQUAL, ALONE) if method not in rejected) == EXPECTED[name][1]


def test_log_probabilities_match_texts_read_alone(family: tuple[str, LanguageModel]) -> None:
    _, model = family
    prompts = [tokens_of(model, context + QUERIES[0]) for context in CONTEXTS]
    result = sample_answers(model, prompts, [(context,) for context in CONTEXTS], samples=2, max_new_tokens=3)
    for prompt, sampled in zip(prompts, result, strict=True):
        for answer in all_answers([sampled]):
            check_probabilities(model, prompt, answer)
        greedy = sampled.greedy.token_ids
        assert greedy == tuple(step_log_probs(model, prompt, greedy).argmax(dim=1).tolist())


def test_answers_match_prompts_read_alone(family: tuple[str, LanguageModel]) -> None:
    name, model = family
    result = answer_set_persuasion(model, CONTEXTS, QUERIES[:1], [["Oslo"], ["Lima"]])
    (lines,), engine = greedy_answers(model, CONTEXTS, QUERIES[:1], max_new_tokens=3)
    ends = [1, *(token for token in range(len(model.tokenizer)) if model.tokenizer.decode([token])[:1] in ("\n", "."))]
    for number, context in enumerate(CONTEXTS):
        prompt = tokens_of(model, context + QUERIES[0])
        mass = 0.0
        for answer in (" Oslo", " Lima"):
            tokens = tokens_of(model, answer)
            steps = step_log_probs(model, prompt, [*tokens, 0]).double()  # the last step is the end after the answer
            mass += float((steps[range(len(tokens)), tokens].sum() + steps[-1, ends].logsumexp(dim=0)).exp())
        assert result.mass[0, number] == pytest.approx(mass, rel=1e-3)
        greedy = list(prompt)
        for _ in range(3):
            greedy.append(int(log_probs(model, [greedy])[0].argmax()))
        text = model.tokenizer.decode(greedy[len(prompt) :], skip_special_tokens=True)
        assert text.lstrip().startswith(lines[number])
    assert result.engine == engine == EXPECTED[name][0]


def test_long_prompts_have_an_engine_of_their_own() -> None:
    model = family_model("phi3 with LongRoPE")
    assert persuasion(model, CONTEXTS[:2], QUERIES).engine == "prefix tree"
    result = persuasion(model, CONTEXTS, QUERIES)
    p = _alone(model).double().exp()
    np.testing.assert_allclose(result.scores, (p * (p / p.mean(dim=1, keepdim=True)).log()).sum(dim=2), atol=1e-5)
    assert result.engine == "plain"
    assert persuasion(model, CONTEXTS[:2], QUERIES).engine == "prefix tree"


def _first_tokens(model: LanguageModel) -> Any:
    tokens = next_tokens(model, [answer_prompt(model, query).tokens for query in QUERIES])
    return [(tokens.likeliest(number), tokens.probability(number, [7, 19])) for number in range(len(QUERIES))]


def _samples(model: LanguageModel) -> Any:
    prompts = [answer_prompt(model, query).tokens for query in QUERIES]
    settings: dict[str, Any] = {"samples": 2, "max_new_tokens": 4, "seed": 3, "temperature": 1.0}
    answers = sample_answers(model, prompts, [(query,) for query in QUERIES], **settings)
    return [(answer.token_ids, answer.token_log_probs) for answer in all_answers(answers)]


SCORES: dict[str, Callable[[LanguageModel], Any]] = {
    "persuasion": lambda model: persuasion(model, CONTEXTS, QUERIES),
    "answer set": lambda model: answer_set_persuasion(model, CONTEXTS, QUERIES, [["O", "Os"], ["N"], ["S. L", "S."]]),
    "greedy": lambda model: greedy_answers(model, CONTEXTS, QUERIES, max_new_tokens=3),
    "fisher": lambda model: fisher_susceptibility(model, QUERIES, top_k=None, exact=5, draws=32),
    "first token": _first_tokens,
    "samples": _samples,
}


def _leaves(value: Any) -> list[Any]:
    """Return the texts of a nested value, and its numbers for an approximate comparison."""
    value = list(vars(value).values()) if is_dataclass(value) else value
    if isinstance(value, list | tuple | np.ndarray):
        return [leaf for part in value for leaf in _leaves(part)]
    return [value if isinstance(value, str) else pytest.approx(value, rel=1e-3, abs=1e-5)]


# gpt2's first and last weights are one tensor, mistral is llama with a window, and bloom has the plain engine.
@pytest.mark.parametrize("family", ["gpt2", "gpt_neox", "mistral", "bloom"])
def test_scores_do_not_depend_on_the_device(family: str) -> None:
    model = tiny_language_model(family)
    alone = {name: score(model) for name, score in SCORES.items()}
    with spread(tiny_language_model(family)) as model:
        result = {name: score(model) for name, score in SCORES.items()}
    for name in SCORES:
        assert _leaves(result[name]) == _leaves(alone[name]), name


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("score", SCORES.values(), ids=list(SCORES))
@pytest.mark.parametrize("family", ["gpt2", "bloom", *EXPECTED])
def test_scores_on_gpu_match_the_cpu(family: str, score: Callable[[LanguageModel], Any]) -> None:
    make = family_model if family in EXPECTED else tiny_language_model
    alone, model = score(make(family)), make(family)
    on_gpu = LanguageModel(model.model.to("cuda:0"), model.tokenizer, model.name, model.revision, model.dtype, "cuda:0")
    assert _leaves(score(on_gpu)) == _leaves(alone)
