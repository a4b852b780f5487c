"""Answers behind thoughts: what the thoughts are, and that all numbers are those of the answer given them.

The model is random, with a higher chance for the tokens that open and end thoughts and for the end of an answer.
"""

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from tokenizers import AddedToken

from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.capabilities import SampledAnswers
from swaymeter.tasks.models.generation.answers import AnswerEnd, Thoughts
from swaymeter.tasks.models.generation.sample import sample_answers
from swaymeter.tasks.models.prompts.answer_prompts import answer_prompt
from tests.tasks.models.alone import check_numbers, every, steps, token_ids, tokens_of
from tests.tasks.models.tiny import CHAT, byte_pair_tokenizer, tiny_language_model

QUESTIONS = ["Where is Oslo?", "Who?", "What is the capital of Norway, if not Lima?"]
IDENTITIES = [(question, "none") for question in QUESTIONS]
OPENED = CHAT.replace("<turn>assistant\n", "<turn>assistant\n<think>\n")
Merges = Sequence[tuple[str, str]]
OPTIONS: dict[str, Any] = {"samples": 6, "seed": 3, "temperature": 1.0, "max_new_tokens": 12}
TOKENS = {"opens": "<think>", "closes": "</think>", "ends": "<end>", "seam": "%T"}
HARMONY = "<|channel|>analysis<|message|>So.<|end|><|start|>assistant<|channel|>final<|message|>Oslo"


def thinking_model(template: str, *, special: bool = False, merges: Merges = (), **chances: float) -> LanguageModel:
    """A random model with tokens for the marks; chances: what is added to the logits of tokens, by their texts."""
    tokenizer = byte_pair_tokenizer(merges, chat_template=template)
    tokenizer.add_tokens([AddedToken(text, special=special, normalized=False) for text in ("<think>", "</think>")])
    model = tiny_language_model(tokenizer=tokenizer, name="thinker")
    bias = torch.zeros(len(tokenizer))
    for name, chance in chances.items():
        bias[tokenizer.convert_tokens_to_ids(TOKENS[name])] = chance
    model.model.lm_head.bias = torch.nn.Parameter(bias)
    return model


@pytest.fixture(scope="module", params=[OPENED, CHAT], ids=["opened", "written"])
def thinker(request: pytest.FixtureRequest) -> LanguageModel:
    opens = {} if request.param == OPENED else {"opens": 9.0}
    return thinking_model(request.param, closes=10.0, ends=8.0, **opens)


def prompts_of(model: LanguageModel) -> list[tuple[int, ...]]:
    return [answer_prompt(model, question).tokens for question in QUESTIONS]


def answered(model: LanguageModel, **options: Any) -> list[SampledAnswers]:
    return sample_answers(model, prompts_of(model), IDENTITIES, **{**OPTIONS, **options})


@pytest.mark.parametrize("limit", [30, None], ids=["asked-to-think", "unasked"])
def test_numbers_are_those_of_answer_given_thoughts(thinker: LanguageModel, limit: int | None) -> None:
    opens, closes = thinker.tokenizer.convert_tokens_to_ids(["<think>", "</think>"])
    found = answered(thinker, max_thoughts=limit)
    for prompt, of_prompt in zip(prompts_of(thinker), found, strict=True):
        for answer in every([of_prompt]):
            if answer.state == "unfinished_thoughts":
                assert closes not in answer.thought_ids or opens in answer.thought_ids[1:]  # it thinks once more
                assert (answer.text, answer.token_ids, answer.token_log_probs) == ("", (), ())
                continue
            assert not answer.thought_ids or closes in answer.thought_ids
            check_numbers(thinker, (*prompt, *answer.thought_ids), answer)
            assert len(answer.token_ids) <= 12
            assert "</think>" not in answer.thoughts
    kinds = {(bool(one.thought_ids), one.state == "unfinished_thoughts", bool(one.text)) for one in every(found)}
    assert {(True, False, True), (True, True, False)} <= kinds  # answered behind thoughts, and not got past them


def test_greedy_answer_is_the_likeliest_behind_likeliest_thoughts(thinker: LanguageModel) -> None:
    found = answered(thinker, max_thoughts=30)
    assert any(of_prompt.greedy.token_ids for of_prompt in found)
    for prompt, of_prompt in zip(prompts_of(thinker), found, strict=True):
        greedy = of_prompt.greedy
        if tokens := [*greedy.thought_ids, *greedy.token_ids]:  # thoughts that the prompt opens may end at once
            assert tokens == steps(thinker, prompt, tokens).argmax(dim=-1).tolist()


@pytest.mark.parametrize("batch_size", [1, 2])
def test_answers_are_same_whatever_they_are_sampled_beside(thinker: LanguageModel, batch_size: int) -> None:
    one, other = answered(thinker, max_thoughts=30), answered(thinker, max_thoughts=30, batch_size=batch_size)
    assert token_ids(one) == token_ids(other)
    assert [answer.thought_ids for answer in every(one)] == [answer.thought_ids for answer in every(other)]


def test_more_thoughts_and_samples_begin_like_fewer(thinker: LanguageModel) -> None:
    opens = thinker.tokenizer.convert_tokens_to_ids("<think>")
    few, more = answered(thinker, max_thoughts=10, samples=2), answered(thinker, max_thoughts=30)
    for one, other in zip(few, more, strict=True):
        for short, long in zip((*one.samples, one.greedy), (*other.samples[:2], other.greedy), strict=True):
            if opens not in short.thought_ids[1:]:  # else it thinks once more, with other numbers
                assert long.thought_ids[: len(short.thought_ids)] == short.thought_ids


def test_reply_without_thoughts_is_an_answer_at_once() -> None:
    model = thinking_model(CHAT, ends=8.0, opens=-99.0)
    plain, let_think = answered(model), answered(model, max_thoughts=30)
    for answer in (*every(plain), *every(let_think)):
        assert (answer.thought_ids, answer.thoughts, answer.is_missing) == ((), "", False)
    assert [one.greedy.token_ids for one in plain] == [one.greedy.token_ids for one in let_think]


@pytest.mark.parametrize("limit", [16, None], ids=["asked-to-think", "unasked"])
def test_no_answer_has_thoughts_of_its_own(limit: int | None) -> None:
    model = thinking_model(CHAT, opens=7.0, closes=8.0, ends=6.0)  # opens them now and then, behind others too
    opens = model.tokenizer.convert_tokens_to_ids("<think>")
    found = every(answered(model, max_thoughts=limit, samples=12))
    assert any(answer.thought_ids.count(opens) > 1 for answer in found if answer.is_missing)
    assert any(answer.text for answer in found)
    assert not any(answer.text.startswith("<think>") for answer in found)


def test_token_that_ends_thoughts_begins_no_answer() -> None:
    model = thinking_model(OPENED, merges=[("%", "T")], seam=9.0, ends=8.0)
    model.tokenizer.response_template = {"fields": {"thinking": {"open": "<think>", "close": "%"}}}
    ends, percent = AnswerEnd(model, "chat"), model.tokenizer.convert_tokens_to_ids("%")
    texts = []
    for prompt, of_prompt in zip(prompts_of(model), answered(model, max_thoughts=30), strict=True):
        for answer in every([of_prompt]):
            if not answer.is_missing:
                texts.append(answer.text)
                assert answer.thought_ids[-1] == percent
                assert answer.text == ends.text(answer.token_ids)
                check_numbers(model, (*prompt, *answer.thought_ids), answer)
    assert any(texts)


def reply(model: LanguageModel, text: str) -> tuple[int, ...]:
    return tuple(tokens_of(model, text))


@pytest.mark.parametrize(
    ("text", "thoughts", "behind", "finished"),
    [
        ("<think>\nSo.\n</think>\n\nOslo", "So.", "Oslo", True),
        ("[THINK]So.[/THINK]Oslo<end>", "So.", "Oslo<end>", True),  # marks of many tokens
        (HARMONY, "So.", "Oslo", True),
        ("<|channel|>final<|message|>Oslo", "", "Oslo", True),
        ("<think></think><end>", "", "<end>", True),
        ("<think>So.<end>", "So.", "", False),
        ("<reasoning>So, " + "and " * 40, "So, " + ("and " * 40).strip(), "", False),
        ("Oslo, <b>not</b> Lima", "", "Oslo, <b>not</b> Lima", True),
    ],
)
def test_thoughts_end_at_their_token(text: str, thoughts: str, behind: str, finished: bool) -> None:
    model = thinking_model(CHAT, special=True)
    reader, tokens = Thoughts(model, prompts_of(model)[0]), reply(model, text)
    within, is_finished = reader.split(tokens)
    assert (reader.text(within), is_finished) == (thoughts, finished)
    if finished:
        assert _decoded(model, tokens[len(within) :]) == behind


def _decoded(model: LanguageModel, tokens: Sequence[int]) -> str:
    return str(model.tokenizer.decode(list(tokens), skip_special_tokens=False))


@pytest.mark.parametrize("end", ["</think>\n\nOslo", ""])
def test_tokens_of_long_thoughts_are_rarely_decoded_twice(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = thinking_model(CHAT)
    reader, tokens = Thoughts(model, prompts_of(model)[0]), reply(model, f"<think>{'so, ' * 500}{end}")
    decode, decoded = model.tokenizer.decode, list[int]()

    def counted(ids: list[int], **options: Any) -> str:
        decoded.append(len(ids))
        return str(decode(ids, **options))

    monkeypatch.setattr(model.tokenizer, "decode", counted)
    assert reader.split(tokens)[1] is bool(end)
    assert sum(decoded) < 5 * len(tokens)


def test_prompt_may_have_opened_the_thoughts() -> None:
    model = thinking_model(OPENED)
    reader = Thoughts(model, prompts_of(model)[0])
    assert reader.split(reply(model, "So.\n</think>\nOslo"))[1]
    assert reader.split(reply(model, "Oslo.")) == (reply(model, "Oslo."), False)
    closed = thinking_model(CHAT.replace("<turn>assistant\n", "<turn>assistant\n<think>\n\n</think>\n\n"))
    assert Thoughts(closed, prompts_of(closed)[0]).split(reply(closed, "Oslo.")) == ((), True)
