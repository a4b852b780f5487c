"""Slots against a plain pass over the same tokens, model family by family, and what they cannot serve."""

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
from tests.tasks.models.alone import (
    break_token,
    check_numbers,
    counts_positions_itself,
    every,
    running_out_of_memory,
    token_ids,
    tokens_of,
)
from tests.tasks.models.families import family_model
from tests.tasks.models.tiny import tiny_language_model

FAMILIES = ["llama", "llama3", "qwen2", "mistral", "gpt2", "gpt_neox"]
BEGUN = "Answer the question. Question: "
PROMPTS = [
    BEGUN + "Where is Oslo?",
    "Who?",
    BEGUN + "What is the capital of Norway, if it is not Lima any more?",
    BEGUN + "When was that?",
    "W",
    BEGUN + "Why?",
    BEGUN + "Why?",
]
IDENTITIES = [(str(number),) for number in range(len(PROMPTS))]


def _answered(model: LanguageModel, prompts: Sequence[str] = PROMPTS, **options: Any) -> list[SampledAnswers]:
    settings = {"samples": 4, "max_new_tokens": 6, "temperature": 0.7, "batch_size": 3, **options}
    return sample_answers(model, [tokens_of(model, text) for text in prompts], IDENTITIES, **settings)


def _check(model: LanguageModel, engine: str) -> None:
    for text, of_prompt in zip(PROMPTS, _answered(model, samples=2), strict=True):
        for answer in every([of_prompt]):
            check_numbers(model, tokens_of(model, text), answer)
    assert engine_of_answers(model, []) == engine


@pytest.mark.parametrize("family", [*FAMILIES, "olmo3"])
def test_slots_equal_a_plain_pass(family: str) -> None:
    _check(tiny_language_model(family) if family in FAMILIES else family_model(family), SLOTS)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: tiny_language_model("bloom"), "its forward pass does not take position_ids"),
        (lambda: tiny_language_model("mamba"), "its forward pass does not take position_ids, past_key_values"),
        (lambda: family_model("gemma2"), "has softcapping"),
        (lambda: family_model("gpt_neo"), "local"),
        (lambda: counts_positions_itself(tiny_language_model("gpt2")), "it changes answers by"),
    ],
)
def test_unsupported_models_are_read_plainly_with_a_note(
    make: Callable[[], LanguageModel], reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    _check(make(), PLAIN)
    (warning,) = [one.message for one in caplog.records if "is not read by slots" in one.message]
    assert reason in warning


def test_the_models_own_attention_is_restored() -> None:
    model = tiny_language_model()
    before = model.model.config._attn_implementation
    _answered(model)
    assert model.model.config._attn_implementation == before
    with torch.no_grad():
        model.model.lm_head.weight[7] = float("nan")
    with pytest.raises(ScoreError, match="NaN"):
        _answered(model)
    assert model.model.config._attn_implementation == before


def test_only_prompt_that_breaks_model_is_blamed() -> None:
    model = tiny_language_model()
    _answered(model)
    break_token(model, "#")
    prompts = [tokens_of(model, text) for text in (*PROMPTS, "This # breaks it")]
    identities = [*IDENTITIES, ("the broken one",)]
    with pytest.raises(ScoreError, match=r"the broken one.*This # breaks it"):
        sample_answers(model, prompts, identities, samples=3, max_new_tokens=4)


def test_out_of_memory_reduces_prompts_in_flight(caplog: pytest.LogCaptureFixture) -> None:
    model = tiny_language_model()
    begun_apart = [f"{number} {prompt}" for number, prompt in enumerate(PROMPTS)]  # no beginning to read once for all
    expected = _answered(model, begun_apart, batch_size=7)
    with running_out_of_memory(model, over=200):
        found = _answered(model, begun_apart, batch_size=7)
    assert "memory ran out; prompts are answered in smaller batches" in caplog.text
    assert model.traits.prompts_at_once == 3
    assert token_ids(found) == token_ids(expected)


def test_a_prompt_that_fits_nowhere_is_an_error() -> None:
    model = tiny_language_model()
    engine_of_answers(model, [tokens_of(model, text) for text in PROMPTS], new_tokens=6)
    with running_out_of_memory(model, over=3), pytest.raises(ScoreError, match="answers to a single prompt"):
        _answered(model)


def test_a_budget_of_memory_makes_fewer_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    slots = readers.SlotReader

    class Counted(slots):  # type: ignore[misc, valid-type]
        def __init__(self, model: LanguageModel, count: int, room: int, **more: Any) -> None:
            made.append(count)
            super().__init__(model, count, room, **more)

    model = tiny_language_model()
    engine_of_answers(model, [tokens_of(model, text) for text in PROMPTS], new_tokens=6)
    monkeypatch.setattr("swaymeter.tasks.models.generation.sample.SlotReader", Counted)
    _answered(model, batch_size=None)
    monkeypatch.setattr("swaymeter.tasks.models.generation.sample.memory_budget", lambda device: 150_000)
    _answered(model, batch_size=None)
    assert made[0] == len(PROMPTS)
    assert 1 <= made[1] < len(PROMPTS)


def test_what_answers_share_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_language_model()
    engine_of_answers(model, [tokens_of(model, text) for text in PROMPTS], new_tokens=6)
    monkeypatch.setattr("swaymeter.tasks.models.generation.sample.rounding", lambda _: 0.0)  # none is read alone
    read: list[int] = []
    model.model.register_forward_pre_hook(
        lambda module, args, options: read.append(options["input_ids"].numel()), with_kwargs=True
    )
    found = _answered(model, batch_size=7)
    tokens = [list(map(ord, text)) for text in PROMPTS]  # a byte is a token
    nodes = sum(len({answer[:step] for answer in token_ids([one]) for step in range(1, len(answer))}) for one in found)
    begun = BEGUN + "Wh"
    shared = sum(text.startswith(begun) for text in PROMPTS) - 1
    assert shared == 4
    assert sum(read) == sum(map(len, tokens)) - shared * len(begun) + nodes
    answers = every(found)
    assert len({id(answer) for answer in answers}) == len(
        {(place // 5, answer.token_ids) for place, answer in enumerate(answers)}
    )


COMPANIES = [f"{name} and its passages, of which there are many. " for name in ("Alp", "Brumvek", "Alpine Railways")]
ABOUT = [f"{about}Question {number}?" for number in range(4) for about in COMPANIES]


@pytest.mark.parametrize("batch_size", [1, 3, 12])
def test_passages_are_read_once_however_many_slots(batch_size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_language_model()
    asked, names = [tokens_of(model, text) for text in ABOUT], [(text,) for text in ABOUT]
    short: dict[str, Any] = {"samples": 2, "max_new_tokens": 4}
    expected = [sample_answers(model, [one], [name], **short)[0] for one, name in zip(asked, names, strict=True)]
    monkeypatch.setattr("swaymeter.tasks.models.generation.sample.rounding", lambda _: 0.0)  # none is read alone
    read: list[int] = []
    prefilled = readers.SlotReader._in_passes

    def counted(reader: Any, prompts: Any) -> torch.Tensor:
        read.extend(len(one.prompt) - one.start for one in prompts)
        return prefilled(reader, prompts)

    monkeypatch.setattr(readers.SlotReader, "_in_passes", counted)
    found = sample_answers(model, asked, names, **short, batch_size=batch_size)
    assert token_ids(found) == token_ids(expected)
    rest = len("0?")
    assert sum(read) == sum(len(f"{about}Question ") for about in COMPANIES) + len(ABOUT) * rest


def test_long_prompts_are_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_language_model()
    expected = _answered(model)
    for module in ("readers", "sample"):
        monkeypatch.setattr(f"swaymeter.tasks.models.generation.{module}.TOKENS_PER_PASS", {"cpu": 10})
    monkeypatch.setattr("swaymeter.tasks.models.generation.sample.rounding", lambda _: 0.0)
    read: list[int] = []
    model.model.register_forward_pre_hook(
        lambda module, args, options: read.append(options["input_ids"].numel()), with_kwargs=True
    )
    assert token_ids(_answered(model, batch_size=1)) == token_ids(expected)
    assert max(read) == 10


def test_a_slot_holds_what_it_was_given_last() -> None:
    cache = PromptCache(tiny_language_model(), 2, 16)
    one, other = [*range(1, 12)], [*range(1, 10), 40, 41]
    assert cache.longest_prefix(one) == (0, 0)
    cache.record(1, one)
    assert cache.longest_prefix(other) == (1, 9)
    assert cache.longest_prefix(one) == (1, 10)  # the last token is read again
    assert cache.longest_prefix(other[:8]) == (1, 0)  # seven are not worth it
    cache.record(1, one[:8])
    assert cache.longest_prefix(other) == (1, 8)


def test_prompts_that_begin_alike_stand_together() -> None:
    prompts = [[1, 2, 3, 9], [7, 7], [5, 5, 5, 5, 5], [1, 2, 3, 8, 8, 8], [7, 8, 9]]
    trees = sort_by_prefix([Tree(number, prompt, np.zeros((1, 1))) for number, prompt in enumerate(prompts)])
    assert [tree.number for tree in trees] == [3, 0, 2, 4, 1]


@pytest.mark.parametrize(
    ("lengths", "calls"),
    [([30] * 9, [8, 1]), ([5, 5, 300, 5, 5, 5], [2, 2, 2]), ([60, 1, 1], [2, 1]), ([1, 3, 2, 1], [4])],
)
def test_a_call_is_not_mostly_padding(lengths: list[int], calls: list[int]) -> None:
    slots = Slots(tiny_language_model(), len(lengths), 304)
    chunks = [slots.prefill_chunk(slot, [1] * length, 0, length) for slot, length in enumerate(lengths)]
    assert [len(call.seen) for call in _calls(chunks)] == calls


def tree_of(answers: int) -> Tree:
    tree = Tree(0, [1, 2], np.zeros((answers, 1)))
    tree.live = [Node(tree, [answer], torch.empty(0)) for answer in range(answers)]
    return tree


def test_places_of_an_ended_answer_are_used_again() -> None:
    tree = tree_of(3)
    for _ in range(2):
        tree.assign_keys()
    ended = tree.live.pop(1)
    assert [node.key_indices.tolist() for node in (*tree.live, ended)] == [[2, 5], [4, 7], [3, 6]]
    tree.ended[1] = Answer("", (), (), np.zeros(0, dtype=np.float32), "complete")
    for _ in range(2):
        tree.assign_keys()
    assert [node.key_indices.tolist() for node in tree.live] == [[2, 5, 3, 8], [4, 7, 6, 9]]


def test_tokens_of_long_answers_take_constant_time() -> None:
    tree, began = tree_of(4), time.process_time()
    for _ in range(4000):
        tree.assign_keys()
    assert time.process_time() - began < 0.7
