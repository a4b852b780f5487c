"""Real servers: llama.cpp's, which the package xllamacpp starts in a moment, and vLLM's, by `make test-servers`.

Scores over llama.cpp, whose weights are quantised, equal what a plain client reckons from the same server; over vLLM,
with the weights in float32, what the engine of this machine gives.
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
RELATIONS = range(3)
SOME = slice(0, 2)  # of an oracle's contexts, as llama.cpp takes half a second for a whole distribution
TURNS = [{"role": "user", "content": "Name a city."}]
K = (1, 5, 20, 1000)


@pytest.fixture(scope="module")
def llama() -> Iterator[str]:
    """The address of a llama.cpp server with the embedded model, in a process of its own."""
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp is not installed")
    with llama_server(slots=1) as address:  # several prompts in one batch change its low bits
        yield address


@pytest.fixture(scope="module")
def model(llama: str, tmp_path_factory: pytest.TempPathFactory) -> ServedModel:
    endpoint = Endpoint("smol", f"{llama}/v1", tokenizer=EMBEDDED, in_flight=1)
    return load_served(endpoint, tmp_path_factory.mktemp("llama"))


def test_probe(model: ServedModel) -> None:
    assert model.probe.api == "llama.cpp"
    assert model.probe.failed.keys() <= {"greedy", "seed"}, model.probe.failed
    assert not model.probe.missing
    assert model.vocabulary_size == 49_152
    assert "Q4_1" in model.hardware


class Plain:
    """A plain client of llama.cpp's server: log-probabilities after tokens, float64."""

    def __init__(self, address: str, tokenizer: Any) -> None:
        self._address, self.tokenizer = address, tokenizer

    def after(self, tokens: list[int]) -> Any:
        body = {"prompt": tokens, "n_predict": 1, "n_probs": 60_000, "temperature": 0.0}
        request = urllib.request.Request(f"{self._address}/completion", json.dumps(body).encode())
        with urllib.request.urlopen(request) as answer:
            top = json.load(answer)["completion_probabilities"][0]["top_logprobs"]
        whole = np.empty(len(top))
        whole[[token["id"] for token in top]] = [token["logprob"] for token in top]
        return whole

    def tokens(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def persuasion(self, contexts: list[str], query: str) -> Any:
        of_contexts = np.array([self.after(self.tokens(context + query)) for context in contexts])
        mixture = np.log(np.exp(of_contexts).mean(axis=0))
        return (np.exp(of_contexts) * (of_contexts - mixture)).sum(axis=1)


@pytest.fixture(scope="module")
def plain(llama: str, model: ServedModel) -> Plain:
    return Plain(llama, model.tokenizer)


def test_persuasion(model: ServedModel, plain: Plain, smollm2: Any, oracle_persuasion: Any) -> None:
    relation = oracle_persuasion["relations"][1]
    contexts, query = list(dict.fromkeys(relation["contexts"]))[SOME], relation["cases"][5]["query"]
    found = persuasion(model, contexts, [query])
    expected = plain.persuasion(contexts, query)
    np.testing.assert_allclose(found.scores[0], expected, atol=1e-4)
    assert found.susceptibility[0] == pytest.approx(expected.mean(), abs=1e-4)
    here = persuasion(smollm2, contexts, [query]).scores
    np.testing.assert_allclose(found.scores, here, atol=0.1)  # the same weights, other rounding of activations
    prompts = [plain.tokens(context + query) for context in contexts]
    assert_bounds(model, prompts, found.scores[0])


def assert_bounds(model: ServedModel, prompts: list[list[int]], exact: Any) -> None:
    """Lower bounds lie below the exact scores, and rise with the number of tokens that are known."""
    equal = [1 / len(prompts)] * len(prompts)
    bounds = [persuasion_bound(model.likeliest(prompts, count), equal) for count in K]
    for less, more in itertools.pairwise(bounds):
        assert (less.scores <= more.scores + 1e-6).all()
        assert (less.mass <= more.mass + 1e-6).all()
    assert all((bound.scores <= exact + 1e-5).all() for bound in bounds)
    assert bounds[-1].scores.sum() > 0


def test_parts_of_letters(model: ServedModel, plain: Plain) -> None:
    """The server says nothing of a token that ends within a character, nor of the distribution after it."""
    begun = plain.tokens("Tokyo is written 東京")
    within = next(end for end in range(len(begun), 0, -1) if model.tokenizer.decode(begun[:end]).endswith("\ufffd"))
    whole = model.server.next_token(Prompt(tokens=tuple(begun[:within])))
    assert np.exp(whole.astype(np.float64)).sum() == pytest.approx(1, abs=1e-3)
    assert len(model.likeliest([begun[:within]], 5)[0]) == 5
    usual = plain.tokens("The capital of France is")
    np.testing.assert_allclose(model.server.next_token(Prompt(tokens=tuple(usual))), plain.after(usual), atol=1e-4)
    replies = model.server.replies(Prompt(tokens=tuple(plain.tokens("東京、大阪、京都、"))), Decoding(12))
    assert all(len(reply.token_ids) == 12 for reply in replies)
    assert {len(reply.token_log_probs) for reply in replies} <= {0, 12}


def test_given_answers(model: ServedModel, plain: Plain, oracle_persuasion: Any) -> None:
    relation = oracle_persuasion["relations"][0]
    context, query = relation["contexts"][0], "The capital of Norway is"
    begun = plain.tokens(context + query)
    log_probs, sound, engine = model.complete_answers(
        [context], [query], ["Oslo"], terminators=["."], prompts=[[begun]]
    )
    assert (engine, sound.all().item()) == ("llama.cpp", True)
    expected, tokens = 0.0, plain.tokens(f"{context}{query} Oslo")
    assert tokens[: len(begun)] == begun
    for place in range(len(begun), len(tokens)):
        expected += plain.after(tokens[:place])[tokens[place]]
    last = plain.after(tokens)
    names = model.tokenizer.convert_ids_to_tokens(range(len(last)))
    ends = {place for place, name in enumerate(names) if name.lstrip("Ġ").startswith(".")}
    ends |= {model.tokenizer.eos_token_id, *model.tokenizer.convert_tokens_to_ids(["<|endoftext|>", "<|im_end|>"])}
    expected += np.logaddexp.reduce(last[sorted(ends)])
    assert log_probs.item() == pytest.approx(expected, abs=1e-3)


def test_stored_entropies(llama: str, tmp_path: Path) -> None:
    """What a study stores follows from its stored log-probabilities and clusters."""
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
    """The entropy of each kind, from the token log-probabilities of every answer of every cluster."""
    whole = [sum(math.exp(sum(answer)) for answer in cluster) for cluster in clusters]
    by_length = [sum(math.exp(sum(answer) / len(answer)) for answer in cluster) for cluster in clusters]
    sizes = [len(cluster) for cluster in clusters]
    rao, assignment = (
        -sum(each / sum(shares) * math.log(each / sum(shares)) for each in shares) for shares in (by_length, sizes)
    )
    sums, means = (-sum(map(math.log, of)) / len(clusters) for of in (whole, by_length))
    return {"sum": sums, "length_normalised": means, "rao": rao, "assignment": assignment}


def test_samples(model: ServedModel) -> None:
    prompt = model.tokenizer.apply_chat_template(TURNS, add_generation_prompt=True, return_dict=False)
    (answers,) = model.sample_answers([prompt], [("q", "none")], samples=3, max_new_tokens=8, temperature=1.0)
    for answer in (*answers.samples, answers.greedy):
        assert len(answer.token_ids) == len(answer.token_log_probs) > 0
        assert answer.text == model.tokenizer.decode(answer.token_ids, skip_special_tokens=True).strip()
        assert all(value < 0 for value in answer.token_log_probs)
    first = model.server.next_token(model._prompt(prompt))
    assert answers.greedy.token_ids[0] == first.argmax()
    assert answers.greedy.token_log_probs[0] == pytest.approx(float(first.max()), abs=1e-3)


@pytest.fixture(scope="module")
def vllm(tmp_path_factory: pytest.TempPathFactory) -> ServedModel:
    address = os.environ["SWAYMETER_VLLM"]  # which `make test-servers` sets
    model = load_served(Endpoint("smol", address, tokenizer=EMBEDDED), tmp_path_factory.mktemp("vllm"))
    assert model.probe.api == "vllm"
    assert not model.probe.missing
    return model


@pytest.mark.servers
@pytest.mark.parametrize("place", RELATIONS)
def test_persuasion_over_vllm(place: int, vllm: ServedModel, smollm2: Any, oracle_persuasion: Any) -> None:
    relation = oracle_persuasion["relations"][place]
    queries = [case["query"] for case in relation["cases"][::4]]
    found, here = (persuasion(model, relation["contexts"], queries) for model in (vllm, smollm2))
    np.testing.assert_allclose(found.scores, here.scores, atol=1e-3)
    np.testing.assert_allclose(found.susceptibility, here.susceptibility, atol=1e-3)
    printed = [case["persuasion"] for case in relation["cases"][::4]]
    np.testing.assert_allclose(found.scores, printed, atol=1e-3)
    contexts = list(dict.fromkeys(relation["contexts"]))[SOME]
    prompts = [vllm.tokenizer(context + queries[0])["input_ids"] for context in contexts]
    assert_bounds(vllm, prompts, persuasion(smollm2, contexts, queries[:1]).scores[0])


@pytest.mark.servers
def test_given_answers_over_vllm(vllm: ServedModel, smollm2: Any, oracle_persuasion: Any) -> None:
    relation = oracle_persuasion["relations"][0]
    contexts, queries = relation["contexts"][:4], [case["query"] for case in relation["cases"][:2]]
    prompts = [[tuple(vllm.tokenizer(context + query)["input_ids"]) for query in queries] for context in contexts]
    found, here = (
        model.complete_answers(contexts, queries, ["Oslo", "Lima"], terminators=["."], prompts=prompts)[0]
        for model in (vllm, smollm2)
    )
    np.testing.assert_allclose(found, here, atol=1e-3)
    sets, sets_here = (
        answer_set_persuasion(model, contexts, queries, [["Oslo"], ["Lima"]]) for model in (vllm, smollm2)
    )
    np.testing.assert_allclose(sets.scores, sets_here.scores, atol=1e-3)
    np.testing.assert_allclose(sets.mass, sets_here.mass, atol=1e-3)


@pytest.mark.servers
def test_samples_over_vllm(vllm: ServedModel, smollm2: Any) -> None:
    prompt = vllm.tokenizer.apply_chat_template(TURNS, add_generation_prompt=True, return_dict=False)
    of_both = [
        model.sample_answers([prompt], [("q", "none")], samples=6, temperature=1.0)[0] for model in (vllm, smollm2)
    ]
    assert of_both[0].greedy.token_ids == of_both[1].greedy.token_ids
    np.testing.assert_allclose(*(each.greedy.token_log_probs for each in of_both), atol=1e-3)
    samples = of_both[0].samples
    assert len({answer.token_ids for answer in samples}) > 1
    here = [log_probs_here(smollm2, prompt, answer.token_ids) for answer in samples]
    for answer, expected in zip(samples, here, strict=True):
        np.testing.assert_allclose(answer.token_log_probs, expected, atol=1e-3)
    assert_entropies([answer.token_log_probs for answer in samples], here)
    along = [[model.mean_distribution(prompt, answer.token_ids[:8]) for answer in samples] for model in (vllm, smollm2)]
    np.testing.assert_allclose(along[0], along[1], atol=1e-4)
    moved, moved_here = (coherent_persuasion(of[:3], [[0, 2], [1]], of[3:], [[0], [1, 2]]) for of in along)
    assert moved == pytest.approx(moved_here, abs=1e-3)
    assert moved > 0.01


def log_probs_here(model: Any, prompt: list[int], answer: tuple[int, ...]) -> list[float]:
    """The log-probabilities of given tokens by a plain pass of the network of this machine."""
    with torch.inference_mode():
        logits = model.model(torch.tensor([[*prompt, *answer]])).logits[0, len(prompt) - 1 : -1]
    steps = torch.log_softmax(logits.double(), dim=-1)
    return [float(step[token]) for step, token in zip(steps, answer, strict=True)]


def assert_entropies(log_probs: list[tuple[float, ...]], here: list[list[float]]) -> None:
    """Semantic entropy is what the formulas say of the server's log-probabilities, and near that of those here."""
    groups = [[0, 2, 3], [1, 4], [5]]
    expected = entropies_by_hand([[list(log_probs[member]) for member in group] for group in groups])
    for kind in KINDS:
        assert semantic_entropy(log_probs, groups, kind=kind) == pytest.approx(expected[kind], abs=1e-6)
        assert semantic_entropy(here, groups, kind=kind) == pytest.approx(expected[kind], abs=1e-3)
