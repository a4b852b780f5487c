"""Cache slots against plain passes, for each family of models; and models that slots do not support."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch

from swaymeter.data.errors import ScoreError
from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.capabilities import Answer, SampledAnswers
from swaymeter.tasks.models.generation import readers
from swaymeter.tasks.models.generation.prompt_cache import PromptCache
from swaymeter.tasks.models.generation.readers import PLAIN, SLOTS, engine_of_answers
from swaymeter.tasks.models.generation.sample import sample_answers
from swaymeter.tasks.models.generation.slots import Slots, _calls
from swaymeter.tasks.models.generation.tree import Node, Tree, sort_by_prefix
from tests.tasks.models.reference_values import (
    all_answers,
    break_token,
    check_probabilities,
    ignore_position_ids,
    running_out_of_memory,
    token_ids,
    tokens_of,
)
from tests.tasks.models.tiny import family_model, tiny_language_model

FAMILIES = ["llama", "llama3", "qwen2", "mistral", "gpt2", "gpt_neox"]
BEGINNING = "Answer the question. Question: "
PROMPTS = [
    BEGINNING + "Where is Oslo?",
    "Who?",
    BEGINNING + "What is the capital of Norway, if it is not Lima any more?",
    BEGINNING + "When was that?",
    "W",
    BEGINNING + "Why?",
    BEGINNING + "Why?",
]
IDENTITIES = [(str(number),) for number in range(len(PROMPTS))]


def _sample(model: LanguageModel, prompts: Sequence[str] = PROMPTS, **options: Any) -> list[SampledAnswers]:
    settings = {"samples": 4, "max_new_tokens": 6, "temperature": 0.7, "batch_size": 3, **options}
    return sample_answers(model, [tokens_of(model, text) for text in prompts], IDENTITIES, **settings)


def _choose_engine(model: LanguageModel) -> None:
    """Choose the engine before a test counts tokens or limits memory, because the choice reads prompts, too."""
    engine_of_answers(model, [tokens_of(model, text) for text in PROMPTS], new_tokens=6)


def _check_answers_and_engine(model: LanguageModel, engine: str) -> None:
    for text, sampled_answers in zip(PROMPTS, _sample(model, samples=2), strict=True):
        for answer in all_answers([sampled_answers]):
            check_probabilities(model, tokens_of(model, text), answer)
    assert engine_of_answers(model, []) == engine


@pytest.mark.parametrize("family", [*FAMILIES, "olmo3"])
def test_slots_equal_a_plain_pass(family: str) -> None:
    _check_answers_and_engine(tiny_language_model(family) if family in FAMILIES else family_model(family), SLOTS)


@pytest.mark.parametrize(
    ("load", "reason"),
    [
        (lambda: tiny_language_model("bloom"), "its forward pass does not take position_ids"),
        (lambda: tiny_language_model("mamba"), "its forward pass does not take position_ids, past_key_values"),
        (lambda: family_model("gemma2"), "attention with softcapping is not supported"),
        (lambda: family_model("gpt_neo"), "local"),
        (lambda: ignore_position_ids(tiny_language_model("gpt2")), "it changes answers by"),
    ],
)
def test_unsupported_models_are_read_plainly_with_warning(
    load: Callable[[], LanguageModel], reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    _check_answers_and_engine(load(), PLAIN)
    (warning,) = [record.message for record in caplog.records if "method 'slots'" in record.message]
    assert reason in warning


def test_the_models_own_attention_is_restored() -> None:
    model = tiny_language_model()
    before = model.model.config._attn_implementation
    _sample(model)
    assert model.model.config._attn_implementation == before
    with torch.no_grad():
        model.model.lm_head.weight[7] = float("nan")
    with pytest.raises(ScoreError, match="NaN"):
        _sample(model)
    assert model.model.config._attn_implementation == before


def test_error_names_the_prompt_that_fails() -> None:
    model = tiny_language_model()
    _sample(model)  # chooses the engine before the model is broken
    break_token(model, "#")
    prompts = [tokens_of(model, text) for text in (*PROMPTS, "This # breaks it")]
    identities = [*IDENTITIES, ("the broken one",)]
    with pytest.raises(ScoreError, match=r"the broken one.*This # breaks it"):
        sample_answers(model, prompts, identities, samples=3, max_new_tokens=4)


def test_out_of_memory_halves_prompts_decoded_together(caplog: pytest.LogCaptureFixture) -> None:
    model = tiny_language_model()
    prompts = [f"{number} {prompt}" for number, prompt in enumerate(PROMPTS)]  # without a common prefix
    expected = _sample(model, prompts, batch_size=7)
    with running_out_of_memory(model, over=200):
        sampled = _sample(model, prompts, batch_size=7)
    assert "memory ran out; prompts are answered in smaller batches" in caplog.text
    assert model.traits.prompts_at_once == 3  # half of seven
    assert token_ids(sampled) == token_ids(expected)


def test_prompt_too_large_for_memory_is_an_error() -> None:
    model = tiny_language_model()
    _choose_engine(model)
    with running_out_of_memory(model, over=3), pytest.raises(ScoreError, match="answers to a single prompt"):
        _sample(model)


def test_small_memory_budget_gives_fewer_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[int] = []
    reader = readers.SlotReader

    class Counted(reader):  # type: ignore[misc, valid-type]
        def __init__(self, model: LanguageModel, count: int, slot_tokens: int, **options: Any) -> None:
            counts.append(count)
            super().__init__(model, count, slot_tokens, **options)

    model = tiny_language_model()
    _choose_engine(model)
    monkeypatch.setattr("swaymeter.tasks.models.generation.sample.SlotReader", Counted)
    _sample(model, batch_size=None)
    monkeypatch.setattr("swaymeter.tasks.models.generation.sample.memory_budget", lambda device: 150_000)
    _sample(model, batch_size=None)
    assert counts[0] == len(PROMPTS)
    assert 1 <= counts[1] < len(PROMPTS)


def test_common_prefixes_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_language_model()
    _choose_engine(model)
    # With rounding, an answer near a tie would be read alone.
    monkeypatch.setattr("swaymeter.tasks.models.generation.sample.rounding", lambda _: 0.0)
    read_tokens: list[int] = []
    model.model.register_forward_pre_hook(
        lambda module, args, options: read_tokens.append(options["input_ids"].numel()), with_kwargs=True
    )
    sampled = _sample(model, batch_size=7)
    prompts = [list(map(ord, text)) for text in PROMPTS]  # a byte is a token
    # Each beginning of answers is a node, whose last token is read once.
    nodes = sum(
        len({answer[:step] for answer in token_ids([answers]) for step in range(1, len(answer))}) for answers in sampled
    )
    prefix = BEGINNING + "Wh"
    copies = sum(text.startswith(prefix) for text in PROMPTS) - 1
    assert copies == 4
    assert sum(read_tokens) == sum(map(len, prompts)) - copies * len(prefix) + nodes
    answers = all_answers(sampled)
    # Equal answers to a prompt are one object. A prompt has five answers.
    assert len({id(answer) for answer in answers}) == len(
        {(index // 5, answer.token_ids) for index, answer in enumerate(answers)}
    )


PASSAGES = [f"{name} and its passages, of which there are many. " for name in ("Alp", "Brumvek", "Alpine Railways")]
QUESTIONS = [f"{passage}Question {number}?" for number in range(4) for passage in PASSAGES]


@pytest.mark.parametrize("batch_size", [1, 3, 12])
def test_passages_are_read_once_with_few_slots(batch_size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_language_model()
    prompts, identities = [tokens_of(model, text) for text in QUESTIONS], [(text,) for text in QUESTIONS]
    settings: dict[str, Any] = {"samples": 2, "max_new_tokens": 4}
    expected = [
        sample_answers(model, [prompt], [identity], **settings)[0]
        for prompt, identity in zip(prompts, identities, strict=True)
    ]
    # With rounding, an answer near a tie would be read alone.
    monkeypatch.setattr("swaymeter.tasks.models.generation.sample.rounding", lambda _: 0.0)
    read_tokens: list[int] = []
    in_passes = readers.SlotReader._in_passes

    def count_tokens(reader: Any, unread: Any) -> torch.Tensor:
        read_tokens.extend(len(tokens.prompt) - tokens.start for tokens in unread)
        return in_passes(reader, unread)

    monkeypatch.setattr(readers.SlotReader, "_in_passes", count_tokens)
    sampled = sample_answers(model, prompts, identities, **settings, batch_size=batch_size)
    assert token_ids(sampled) == token_ids(expected)
    question_end = len("0?")
    assert sum(read_tokens) == sum(len(f"{passage}Question ") for passage in PASSAGES) + len(QUESTIONS) * question_end


def test_long_prompts_are_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_language_model()
    expected = _sample(model)
    for module in ("readers", "sample"):
        monkeypatch.setattr(f"swaymeter.tasks.models.generation.{module}.TOKENS_PER_PASS", {"cpu": 10})
    monkeypatch.setattr("swaymeter.tasks.models.generation.sample.rounding", lambda _: 0.0)
    read_tokens: list[int] = []
    model.model.register_forward_pre_hook(
        lambda module, args, options: read_tokens.append(options["input_ids"].numel()), with_kwargs=True
    )
    assert token_ids(_sample(model, batch_size=1)) == token_ids(expected)
    assert max(read_tokens) == 10


def test_a_slot_remembers_its_last_prompt() -> None:
    cache = PromptCache(tiny_language_model(), 2, 16)
    prompt, other = [*range(1, 12)], [*range(1, 10), 40, 41]
    assert cache.longest_prefix(prompt) == (0, 0)
    cache.record(1, prompt)
    assert cache.longest_prefix(other) == (1, 9)
    assert cache.longest_prefix(prompt) == (1, 10)  # the last token is read again
    assert cache.longest_prefix(other[:8]) == (1, 0)  # a copy of seven tokens is not worth its cost
    cache.record(1, prompt[:8])
    assert cache.longest_prefix(other) == (1, 8)


def test_prompts_are_sorted_by_their_prefixes() -> None:
    prompts = [[1, 2, 3, 9], [7, 7], [5, 5, 5, 5, 5], [1, 2, 3, 8, 8, 8], [7, 8, 9]]
    trees = sort_by_prefix([Tree(number, prompt, np.zeros((1, 1))) for number, prompt in enumerate(prompts)])
    assert [tree.index for tree in trees] == [3, 0, 2, 4, 1]


@pytest.mark.parametrize(
    ("lengths", "calls"),  # a call of attention has at most eight slots
    [([30] * 9, [8, 1]), ([5, 5, 300, 5, 5, 5], [2, 2, 2]), ([60, 1, 1], [2, 1]), ([1, 3, 2, 1], [4])],
)
def test_a_call_is_not_mostly_padding(lengths: list[int], calls: list[int]) -> None:
    slots = Slots(tiny_language_model(), len(lengths), 304)
    chunks = [slots.prefill_chunk(slot, [1] * length, 0, length) for slot, length in enumerate(lengths)]
    assert [len(call.seen) for call in _calls(chunks)] == calls


def tree_with(answers: int) -> Tree:
    tree = Tree(0, [1, 2], np.zeros((answers, 1)))
    tree.live = [Node(tree, [answer], torch.empty(0)) for answer in range(answers)]
    return tree


def test_keys_of_an_ended_answer_are_reused() -> None:
    tree = tree_with(3)
    for _ in range(2):
        tree.assign_keys()
    ended = tree.live.pop(1)
    assert [node.key_indices.tolist() for node in (*tree.live, ended)] == [[2, 5], [4, 7], [3, 6]]
    tree.ended[1] = Answer("", (), (), np.zeros(0, dtype=np.float32), "complete")
    for _ in range(2):
        tree.assign_keys()
    assert [node.key_indices.tolist() for node in tree.live] == [[2, 5, 3, 8], [4, 7, 6, 9]]


def test_keys_of_long_answers_are_assigned_fast() -> None:
    tree, start = tree_with(4), time.process_time()
    for _ in range(4000):
        tree.assign_keys()
    assert time.process_time() - start < 0.7
