"""Real servers: llama.cpp of the package xllamacpp, and vLLM, which `make test-servers` starts.

The weights of llama.cpp are quantised. Its scores are compared to those of a plain client of the same server. The
weights of vLLM are in float32. Its scores are compared to those of this machine's engine.
"""

import importlib.util
import itertools
import json
import math
import os
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from swaymeter.flows.api import Study
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.study_graph import graph_of
from swaymeter.tasks.measures.clusters import KINDS
from swaymeter.tasks.models.endpoints.endpoint import Decoding, Endpoint, Prompt
from swaymeter.tasks.models.endpoints.model import ServedModel, load_served
from swaymeter.tasks.scoring.answer_set import answer_set_persuasion
from swaymeter.tasks.scoring.coherent_persuasion import coherent_persuasion
from swaymeter.tasks.scoring.persuasion import persuasion
from swaymeter.tasks.scoring.persuasion_bound import persuasion_bound
from swaymeter.tasks.scoring.semantic_entropy import semantic_entropy
from tests.flows.small_study import PREPARED, run, write_study
from tests.tasks.models.endpoints.llama_server import llama_server

EMBEDDED = "smollm2-135m-instruct"
FIRST_TWO = slice(2)  # two contexts are enough: llama.cpp takes half a second for a whole distribution
TURNS = [{"role": "user", "content": "Name a city."}]
TOP_COUNTS = (1, 5, 20, 1000)
ALL_TOKENS = 60_000  # more than the vocabulary has


@pytest.fixture(scope="module")
def llama() -> Iterator[str]:
    """Address of a llama.cpp server with the embedded model."""
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp is not installed")
    with llama_server(slots=1) as address:  # a batch of several prompts changes low bits of the scores
        yield address


@pytest.fixture(scope="module")
def model(llama: str, tmp_path_factory: pytest.TempPathFactory) -> ServedModel:
    endpoint = Endpoint("smol", f"{llama}/v1", tokenizer=EMBEDDED, in_flight=1)
    return load_served(endpoint, tmp_path_factory.mktemp("llama"))


def test_llama_server_passes_the_probe(model: ServedModel) -> None:
    assert model.probe.api == "llama.cpp"
    assert model.probe.failed.keys() <= {"greedy", "seed"}, model.probe.failed
    assert not model.probe.missing
    assert model.vocabulary_size == 49_152
    assert "Q4_1" in model.hardware


class PlainClient:
    """A plain client of llama.cpp's server."""

    def __init__(self, address: str, tokenizer: Any) -> None:
        self._address, self.tokenizer = address, tokenizer

    def log_probs_after(self, tokens: list[int]) -> Any:
        """Return the log-distribution of the next token, (V,), in nats."""
        body = {"prompt": tokens, "n_predict": 1, "n_probs": ALL_TOKENS, "temperature": 0.0}
        request = urllib.request.Request(f"{self._address}/completion", json.dumps(body).encode())
        with urllib.request.urlopen(request) as response:
            top = json.load(response)["completion_probabilities"][0]["top_logprobs"]
        log_probs = np.empty(len(top))
        log_probs[[token["id"] for token in top]] = [token["logprob"] for token in top]
        return log_probs

    def tokens(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def persuasion(self, contexts: list[str], query: str) -> Any:
        log_probs = np.array([self.log_probs_after(self.tokens(context + query)) for context in contexts])
        mixture = np.log(np.exp(log_probs).mean(axis=0))
        return (np.exp(log_probs) * (log_probs - mixture)).sum(axis=1)


@pytest.fixture(scope="module")
def plain(llama: str, model: ServedModel) -> PlainClient:
    return PlainClient(llama, model.tokenizer)


def test_persuasion_equals_that_of_plain_requests(
    model: ServedModel, plain: PlainClient, smollm2: Any, oracle: Any
) -> None:
    relation = oracle["persuasion"]["relations"][1]
    contexts, query = list(dict.fromkeys(relation["contexts"]))[FIRST_TWO], relation["cases"][5]["query"]
    result = persuasion(model, contexts, [query])
    expected = plain.persuasion(contexts, query)
    np.testing.assert_allclose(result.scores[0], expected, atol=1e-4)
    assert result.susceptibility[0] == pytest.approx(expected.mean(), abs=1e-4)
    local_scores = persuasion(smollm2, contexts, [query]).scores
    # The weights are the same, but activations are rounded differently.
    np.testing.assert_allclose(result.scores, local_scores, atol=0.1)
    prompts = [plain.tokens(context + query) for context in contexts]
    assert_bounds(model, prompts, result.scores[0])


def assert_bounds(model: ServedModel, prompts: list[list[int]], exact: Any) -> None:
    """Assert that lower bounds lie below the exact scores, and rise with the number of known tokens."""
    weights = [1 / len(prompts)] * len(prompts)
    bounds = [persuasion_bound(model.likeliest(prompts, count), weights) for count in TOP_COUNTS]
    for lower, higher in itertools.pairwise(bounds):
        assert (lower.scores <= higher.scores + 1e-6).all()
        assert (lower.mass <= higher.mass + 1e-6).all()
    assert all((bound.scores <= exact + 1e-5).all() for bound in bounds)
    assert bounds[-1].scores.sum() > 0


def test_prompt_may_end_within_a_character(model: ServedModel, plain: PlainClient) -> None:
    """The server reports neither a token that ends within a character, nor the distribution after this token."""
    prompt = plain.tokens("Tokyo is written 東京")
    length = next(end for end in range(len(prompt), 0, -1) if model.tokenizer.decode(prompt[:end]).endswith("\ufffd"))
    log_probs = model.server.next_token(Prompt(tokens=tuple(prompt[:length])))
    assert np.exp(log_probs.astype(np.float64)).sum() == pytest.approx(1, abs=1e-3)
    assert len(model.likeliest([prompt[:length]], 5)[0]) == 5
    whole_characters = plain.tokens("The capital of France is")
    np.testing.assert_allclose(
        model.server.next_token(Prompt(tokens=tuple(whole_characters))),
        plain.log_probs_after(whole_characters),
        atol=1e-4,
    )
    replies = model.server.replies(Prompt(tokens=tuple(plain.tokens("東京、大阪、京都、"))), Decoding(12))
    assert all(len(reply.token_ids) == 12 for reply in replies)
    assert {len(reply.token_log_probs) for reply in replies} <= {0, 12}


def test_answer_scores_equal_those_of_plain_requests(model: ServedModel, plain: PlainClient, oracle: Any) -> None:
    relation = oracle["persuasion"]["relations"][0]
    context, query = relation["contexts"][0], "The capital of Norway is"
    prompt = plain.tokens(context + query)
    log_probs, is_finite, engine = model.complete_answers(
        [context], [query], ["Oslo"], terminators=["."], prompts=[[prompt]]
    )
    assert (engine, is_finite.all().item()) == ("llama.cpp", True)
    expected, tokens = 0.0, plain.tokens(f"{context}{query} Oslo")
    assert tokens[: len(prompt)] == prompt
    for position in range(len(prompt), len(tokens)):
        expected += plain.log_probs_after(tokens[:position])[tokens[position]]
    last_log_probs = plain.log_probs_after(tokens)
    names = model.tokenizer.convert_ids_to_tokens(range(len(last_log_probs)))
    ends = {token for token, name in enumerate(names) if name.lstrip("Ġ").startswith(".")}
    ends |= {model.tokenizer.eos_token_id, *model.tokenizer.convert_tokens_to_ids(["<|endoftext|>", "<|im_end|>"])}
    expected += np.logaddexp.reduce(last_log_probs[sorted(ends)])
    assert log_probs.item() == pytest.approx(expected, abs=1e-3)


def test_entropies_follow_from_stored_log_probs_and_clusters(llama: str, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("question,answer,context\nName a big city.,Oslo,Oslo is big.\n")
    study = Study.load(
        write_study(
            tmp_path,
            {
                "name": "served",
                "workspace": str(tmp_path / "workspace"),
                "questions": {"source": "file", "file": str(tmp_path / "mine.csv")},
                "models": [{"name": "smol", "endpoint": f"{llama}/v1", "tokenizer": EMBEDDED, "requests_in_flight": 1}],
                "measures": {
                    "answers": {"samples": 6, "max_new_tokens": 8},
                    "clusters": {"entailment": "all-minilm-l6-v2"},
                    "semantic_entropy": {},
                },
            },
        )
    )
    graph = run(lambda: graph_of(study.plan, {}), Selection(stages=(*PREPARED, "score")))
    assert not [node.reason for node in graph if node.state == "failed"]
    steps = [node.step for node in graph if node.id.stage == "score" and node.step]
    tables = {role: step.table(role).read().to_pylist() for step in steps for role in step.outputs}
    log_probs = {(row["context_id"], row["sample"]): row["token_log_probs"] for row in tables["answers"]}
    assert (len(tables["semantic_entropy"]), len(tables["clusters"])) == (2, 12)
    for row in tables["semantic_entropy"]:
        clusters: dict[int, list[list[float]]] = {}
        for answer in tables["clusters"]:
            if answer["context_id"] == row["context_id"]:
                clusters.setdefault(answer["cluster"], []).append(log_probs[answer["context_id"], answer["sample"]])
        expected = entropies_by_hand([*clusters.values()])
        for kind, column in KINDS.items():
            assert row[column] == pytest.approx(expected[kind], abs=1e-6)


def entropies_by_hand(clusters: list[list[list[float]]]) -> dict[str, float]:
    """Return the entropy of each kind from token log-probabilities: [cluster][answer][token]."""
    by_probability = [sum(math.exp(sum(answer)) for answer in cluster) for cluster in clusters]
    by_length = [sum(math.exp(sum(answer) / len(answer)) for answer in cluster) for cluster in clusters]
    sizes = [len(cluster) for cluster in clusters]
    rao, assignment = (
        -sum(share / sum(shares) * math.log(share / sum(shares)) for share in shares) for shares in (by_length, sizes)
    )
    sums, means = (-sum(map(math.log, masses)) / len(clusters) for masses in (by_probability, by_length))
    return {"sum": sums, "length_normalised": means, "rao": rao, "assignment": assignment}


def test_samples_have_texts_and_log_probs(model: ServedModel) -> None:
    prompt = model.tokenizer.apply_chat_template(TURNS, add_generation_prompt=True, return_dict=False)
    (answers,) = model.sample_answers([prompt], [("q", "none")], samples=3, max_new_tokens=8, temperature=1.0)
    for answer in (*answers.samples, answers.greedy):
        assert len(answer.token_ids) == len(answer.token_log_probs) > 0
        assert answer.text == model.tokenizer.decode(answer.token_ids, skip_special_tokens=True).strip()
        assert all(value < 0 for value in answer.token_log_probs)
    first_log_probs = model.server.next_token(model._prompt(prompt))
    assert answers.greedy.token_ids[0] == first_log_probs.argmax()
    assert answers.greedy.token_log_probs[0] == pytest.approx(float(first_log_probs.max()), abs=1e-3)


@pytest.fixture(scope="module")
def vllm(tmp_path_factory: pytest.TempPathFactory) -> ServedModel:
    address = os.environ["SWAYMETER_VLLM"]  # `make test-servers` sets this variable
    model = load_served(Endpoint("smol", address, tokenizer=EMBEDDED), tmp_path_factory.mktemp("vllm"))
    assert model.probe.api == "vllm"
    assert not model.probe.missing
    return model


@pytest.mark.servers
@pytest.mark.parametrize("number", range(3))
def test_vllm_persuasion_equals_the_local_engine(number: int, vllm: ServedModel, smollm2: Any, oracle: Any) -> None:
    relation = oracle["persuasion"]["relations"][number]
    queries = [case["query"] for case in relation["cases"][::4]]
    served, local = (persuasion(model, relation["contexts"], queries) for model in (vllm, smollm2))
    np.testing.assert_allclose(served.scores, local.scores, atol=1e-3)
    np.testing.assert_allclose(served.susceptibility, local.susceptibility, atol=1e-3)
    published = [case["persuasion"] for case in relation["cases"][::4]]
    np.testing.assert_allclose(served.scores, published, atol=1e-3)
    contexts = list(dict.fromkeys(relation["contexts"]))[FIRST_TWO]
    prompts = [vllm.tokenizer(context + queries[0])["input_ids"] for context in contexts]
    assert_bounds(vllm, prompts, persuasion(smollm2, contexts, queries[:1]).scores[0])


@pytest.mark.servers
def test_vllm_answer_scores_equal_the_local_engine(vllm: ServedModel, smollm2: Any, oracle: Any) -> None:
    relation = oracle["persuasion"]["relations"][0]
    contexts, queries = relation["contexts"][:4], [case["query"] for case in relation["cases"][:2]]
    prompts = [[tuple(vllm.tokenizer(context + query)["input_ids"]) for query in queries] for context in contexts]
    served, local = (
        model.complete_answers(contexts, queries, ["Oslo", "Lima"], terminators=["."], prompts=prompts)[0]
        for model in (vllm, smollm2)
    )
    np.testing.assert_allclose(served, local, atol=1e-3)
    served_sets, local_sets = (
        answer_set_persuasion(model, contexts, queries, [["Oslo"], ["Lima"]]) for model in (vllm, smollm2)
    )
    np.testing.assert_allclose(served_sets.scores, local_sets.scores, atol=1e-3)
    np.testing.assert_allclose(served_sets.mass, local_sets.mass, atol=1e-3)


@pytest.mark.servers
def test_vllm_samples_agree_with_the_local_engine(vllm: ServedModel, smollm2: Any) -> None:
    prompt = vllm.tokenizer.apply_chat_template(TURNS, add_generation_prompt=True, return_dict=False)
    answers = [
        model.sample_answers([prompt], [("q", "none")], samples=6, temperature=1.0)[0] for model in (vllm, smollm2)
    ]
    assert answers[0].greedy.token_ids == answers[1].greedy.token_ids
    np.testing.assert_allclose(*(sampled.greedy.token_log_probs for sampled in answers), atol=1e-3)
    samples = answers[0].samples
    assert len({answer.token_ids for answer in samples}) > 1
    local = [local_log_probs(smollm2, prompt, answer.token_ids) for answer in samples]
    for answer, expected in zip(samples, local, strict=True):
        np.testing.assert_allclose(answer.token_log_probs, expected, atol=1e-3)
    assert_entropies([answer.token_log_probs for answer in samples], local)
    distributions = [
        [model.mean_distribution(prompt, answer.token_ids[:8]) for answer in samples] for model in (vllm, smollm2)
    ]
    np.testing.assert_allclose(distributions[0], distributions[1], atol=1e-4)
    served_persuasion, local_persuasion = (
        coherent_persuasion(means[:3], [[0, 2], [1]], means[3:], [[0], [1, 2]]) for means in distributions
    )
    assert served_persuasion == pytest.approx(local_persuasion, abs=1e-3)
    assert served_persuasion > 0.01


def local_log_probs(model: Any, prompt: list[int], answer: tuple[int, ...]) -> list[float]:
    """Return the log-probabilities of an answer's tokens from a plain pass of this machine's network."""
    with torch.inference_mode():
        logits = model.model(torch.tensor([[*prompt, *answer]])).logits[0, len(prompt) - 1 : -1]
    steps = torch.log_softmax(logits.double(), dim=-1)
    return [float(step[token]) for step, token in zip(steps, answer, strict=True)]


def assert_entropies(log_probs: list[tuple[float, ...]], local: list[list[float]]) -> None:
    """Assert that the entropy equals its formula for the server's log-probabilities, and is near the local entropy."""
    groups = [[0, 2, 3], [1, 4], [5]]
    expected = entropies_by_hand([[list(log_probs[member]) for member in group] for group in groups])
    for kind in KINDS:
        assert semantic_entropy(log_probs, groups, kind=kind) == pytest.approx(expected[kind], abs=1e-6)
        assert semantic_entropy(local, groups, kind=kind) == pytest.approx(expected[kind], abs=1e-3)
