"""Real servers: llama.cpp's, which the package xllamacpp starts in a moment, and vLLM's, by `make test-servers`.

Persuasion over llama.cpp, whose weights are quantised, equals what a plain client reckons from the same server; over
vLLM, with the weights in float32, what the engine of this machine gives.
"""

import importlib.util
import json
import os
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from swaymeter.tasks.models import load_language_model
from swaymeter.tasks.models.endpoints.endpoint import Endpoint
from swaymeter.tasks.models.endpoints.model import ServedModel, load_served
from swaymeter.tasks.scoring.persuasion import persuasion
from tests.tasks.models.endpoints.llama_server import llama_server

EMBEDDED = "smollm2-135m-instruct"
CONTEXTS = ["The capital of France is Lima.\n", "Norway is cold.\n", "The capital of Norway is Lima.\n"]
QUERIES = ["The capital of France is", "The capital of Norway is"]


@pytest.fixture(scope="module")
def llama() -> Iterator[str]:
    """The address of a llama.cpp server with the embedded model, in a process of its own."""
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp is not installed")
    with llama_server() as address:
        yield address


@pytest.fixture(scope="module")
def model(llama: str, tmp_path_factory: pytest.TempPathFactory) -> ServedModel:
    endpoint = Endpoint("smol", f"{llama}/v1", tokenizer=EMBEDDED, in_flight=2)
    return load_served(endpoint, tmp_path_factory.mktemp("llama"))


def test_probe(model: ServedModel) -> None:
    assert model.found.api == "llama.cpp"
    assert model.found.failed.keys() <= {"greedy", "seed"}, model.found.failed
    assert not model.found.taken
    assert model.vocabulary_size == 49_152
    assert "Q4_1" in model.hardware


def test_persuasion(model: ServedModel, llama: str) -> None:
    def log_probs(text: str) -> Any:
        tokens = model.tokenizer(text, add_special_tokens=False)["input_ids"]
        body = {"prompt": tokens, "n_predict": 1, "n_probs": 60_000, "temperature": 0.0}
        request = urllib.request.Request(f"{llama}/completion", json.dumps(body).encode())
        with urllib.request.urlopen(request) as answer:
            top = json.load(answer)["completion_probabilities"][0]["top_logprobs"]
        whole = np.empty(len(top))
        whole[[token["id"] for token in top]] = [token["logprob"] for token in top]
        return whole

    of_contexts = np.array([log_probs(context + QUERIES[0]) for context in CONTEXTS])
    mixture = np.log(np.exp(of_contexts).mean(axis=0))
    expected = (np.exp(of_contexts) * (of_contexts - mixture)).sum(axis=1)
    scores = persuasion(model, CONTEXTS, QUERIES[:1]).scores
    np.testing.assert_allclose(scores[0], expected, atol=1e-4)
    here = persuasion(load_language_model(EMBEDDED), CONTEXTS, QUERIES[:1]).scores
    np.testing.assert_allclose(scores, here, atol=0.1)  # the same weights, other rounding of activations


def test_samples(model: ServedModel) -> None:
    turns = [{"role": "user", "content": "Name a city."}]
    prompt = model.tokenizer.apply_chat_template(turns, add_generation_prompt=True, return_dict=False)
    (answers,) = model.sample_answers([prompt], [("q", "none")], samples=3, max_new_tokens=8, temperature=1.0)
    for answer in (*answers.samples, answers.greedy):
        assert len(answer.token_ids) == len(answer.token_log_probs) > 0
        assert answer.text == model.tokenizer.decode(answer.token_ids, skip_special_tokens=True).strip()
        assert all(value < 0 for value in answer.token_log_probs)
    first = model.served.next_token(model._sent(prompt))
    assert answers.greedy.token_ids[0] == first.argmax()
    assert answers.greedy.token_log_probs[0] == pytest.approx(float(first.max()), abs=1e-3)


@pytest.mark.servers
def test_vllm(tmp_path: Path) -> None:
    address = os.environ["SWAYMETER_VLLM"]  # which `make test-servers` sets
    served = load_served(Endpoint("smol", address, tokenizer=EMBEDDED), tmp_path)
    assert served.found.api == "vllm"
    assert not served.found.taken
    here = load_language_model(EMBEDDED, dtype="float32", device="cpu")
    scores, expected = (persuasion(model, CONTEXTS, QUERIES) for model in (served, here))
    np.testing.assert_allclose(scores.scores, expected.scores, atol=1e-3)
    np.testing.assert_allclose(scores.susceptibility, expected.susceptibility, atol=1e-3)
    turns = [{"role": "user", "content": "Name a city."}]
    prompt = served.tokenizer.apply_chat_template(turns, add_generation_prompt=True, return_dict=False)
    both: Any = [model.sample_answers([prompt], [("q", "none")], samples=1) for model in (served, here)]
    greedy = [answers[0].greedy for answers in both]
    assert greedy[0].token_ids == greedy[1].token_ids
    np.testing.assert_allclose(greedy[0].token_log_probs, greedy[1].token_log_probs, atol=1e-3)
    texts = [[tuple(served.tokenizer(CONTEXTS[0] + QUERIES[0])["input_ids"])]]
    given = [
        model.complete_answers(CONTEXTS[:1], QUERIES[:1], ["Oslo"], terminators=["."], prompts=texts)[0]
        for model in (served, here)
    ]
    np.testing.assert_allclose(given[0], given[1], atol=1e-3)
