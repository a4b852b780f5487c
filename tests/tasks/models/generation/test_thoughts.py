"""Answers after thoughts: the probabilities of answers are conditioned on the thoughts.

The models are random. Tokens that open or end thoughts, or end an answer, have raised logits.
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
from tests.tasks.models.reference_values import all_answers, check_probabilities, step_log_probs, token_ids, tokens_of
from tests.tasks.models.tiny import CHAT, byte_tokenizer, tiny_language_model

QUESTIONS = ["Where is Oslo?", "Who?", "What is the capital of Norway, if not Lima?"]
IDENTITIES = [(question, "none") for question in QUESTIONS]  # random draws depend on them
CHAT_OPENS_THOUGHTS = CHAT.replace("<turn>assistant\n", "<turn>assistant\n<think>\n")
Merges = Sequence[tuple[str, str]]
OPTIONS: dict[str, Any] = {"samples": 6, "seed": 3, "temperature": 1.0, "max_new_tokens": 12}
# The token %T has the mark % that ends thoughts, and the first letter of the answer.
TOKENS = {"opens": "<think>", "closes": "</think>", "ends": "<end>", "closes_and_answers": "%T"}
HARMONY = "<|channel|>analysis<|message|>So.<|end|><|start|>assistant<|channel|>final<|message|>Oslo"


def thinking_model(template: str, *, special: bool = False, merges: Merges = (), **biases: float) -> LanguageModel:
    """Return a random model with tokens for the marks of thoughts; `biases` are added to the logits of TOKENS."""
    tokenizer = byte_tokenizer(merges, chat_template=template)
    tokenizer.add_tokens([AddedToken(text, special=special, normalized=False) for text in ("<think>", "</think>")])
    model = tiny_language_model(tokenizer=tokenizer, name="thinker")
    logit_biases = torch.zeros(len(tokenizer))
    for name, bias in biases.items():
        logit_biases[tokenizer.convert_tokens_to_ids(TOKENS[name])] = bias
    model.model.lm_head.bias = torch.nn.Parameter(logit_biases)
    return model


@pytest.fixture(
    scope="module", params=[CHAT_OPENS_THOUGHTS, CHAT], ids=["prompt opens thoughts", "model opens thoughts"]
)
def thinker(request: pytest.FixtureRequest) -> LanguageModel:
    opens = {} if request.param == CHAT_OPENS_THOUGHTS else {"opens": 9.0}
    return thinking_model(request.param, closes=10.0, ends=8.0, **opens)


def prompts_of(model: LanguageModel) -> list[tuple[int, ...]]:
    return [answer_prompt(model, question).tokens for question in QUESTIONS]


def _sample(model: LanguageModel, **options: Any) -> list[SampledAnswers]:
    return sample_answers(model, prompts_of(model), IDENTITIES, **{**OPTIONS, **options})


@pytest.mark.parametrize("limit", [30, None], ids=["thinking requested", "thinking not requested"])
def test_probabilities_of_answers_are_conditioned_on_thoughts(thinker: LanguageModel, limit: int | None) -> None:
    opens, closes = thinker.tokenizer.convert_tokens_to_ids(["<think>", "</think>"])
    sampled = _sample(thinker, max_thoughts=limit)
    for prompt, sampled_answers in zip(prompts_of(thinker), sampled, strict=True):
        for answer in all_answers([sampled_answers]):
            if answer.state == "unfinished_thoughts":
                assert closes not in answer.thought_ids or opens in answer.thought_ids[1:]  # the model thinks once more
                assert (answer.text, answer.token_ids, answer.token_log_probs) == ("", (), ())
                continue
            assert not answer.thought_ids or closes in answer.thought_ids
            check_probabilities(thinker, (*prompt, *answer.thought_ids), answer)
            assert len(answer.token_ids) <= OPTIONS["max_new_tokens"]
            assert "</think>" not in answer.thoughts
    kinds = {
        (bool(answer.thought_ids), answer.state == "unfinished_thoughts", bool(answer.text))
        for answer in all_answers(sampled)
    }
    assert {(True, False, True), (True, True, False)} <= kinds  # an answer after thoughts, and unfinished thoughts


def test_greedy_answer_has_likeliest_thoughts_and_tokens(thinker: LanguageModel) -> None:
    sampled = _sample(thinker, max_thoughts=30)
    assert any(sampled_answers.greedy.token_ids for sampled_answers in sampled)
    for prompt, sampled_answers in zip(prompts_of(thinker), sampled, strict=True):
        greedy = sampled_answers.greedy
        if tokens := [*greedy.thought_ids, *greedy.token_ids]:  # thoughts that the prompt opens may end at once
            assert tokens == step_log_probs(thinker, prompt, tokens).argmax(dim=-1).tolist()


@pytest.mark.parametrize("batch_size", [1, 2])
def test_answers_do_not_depend_on_batches(thinker: LanguageModel, batch_size: int) -> None:
    default, batched = _sample(thinker, max_thoughts=30), _sample(thinker, max_thoughts=30, batch_size=batch_size)
    assert token_ids(default) == token_ids(batched)
    assert [answer.thought_ids for answer in all_answers(default)] == [
        answer.thought_ids for answer in all_answers(batched)
    ]


def test_more_thoughts_and_samples_begin_like_fewer(thinker: LanguageModel) -> None:
    opens = thinker.tokenizer.convert_tokens_to_ids("<think>")
    few, more = _sample(thinker, max_thoughts=10, samples=2), _sample(thinker, max_thoughts=30)
    for few_answers, more_answers in zip(few, more, strict=True):
        for short, long in zip(
            (*few_answers.samples, few_answers.greedy), (*more_answers.samples[:2], more_answers.greedy), strict=True
        ):
            if opens not in short.thought_ids[1:]:  # otherwise the model thinks once more, with other draws
                assert long.thought_ids[: len(short.thought_ids)] == short.thought_ids


def test_reply_without_thoughts_is_an_answer() -> None:
    model = thinking_model(CHAT, ends=8.0, opens=-99.0)
    plain, with_limit = _sample(model), _sample(model, max_thoughts=30)
    for answer in (*all_answers(plain), *all_answers(with_limit)):
        assert (answer.thought_ids, answer.thoughts, answer.is_missing) == ((), "", False)
    assert [sampled.greedy.token_ids for sampled in plain] == [sampled.greedy.token_ids for sampled in with_limit]


@pytest.mark.parametrize("limit", [16, None], ids=["thinking requested", "thinking not requested"])
def test_answers_contain_no_thoughts(limit: int | None) -> None:
    model = thinking_model(CHAT, opens=7.0, closes=8.0, ends=6.0)  # sometimes opens thoughts, also after other thoughts
    opens = model.tokenizer.convert_tokens_to_ids("<think>")
    answers = all_answers(_sample(model, max_thoughts=limit, samples=12))
    assert any(answer.thought_ids.count(opens) > 1 for answer in answers if answer.is_missing)
    assert any(answer.text for answer in answers)
    assert not any(answer.text.startswith("<think>") for answer in answers)


def test_token_across_thoughts_and_answer_is_cut() -> None:
    model = thinking_model(CHAT_OPENS_THOUGHTS, merges=[("%", "T")], closes_and_answers=9.0, ends=8.0)
    model.tokenizer.response_template = {"fields": {"thinking": {"open": "<think>", "close": "%"}}}
    ends, percent = AnswerEnd(model, "chat"), model.tokenizer.convert_tokens_to_ids("%")
    texts = []
    for prompt, sampled_answers in zip(prompts_of(model), _sample(model, max_thoughts=30), strict=True):
        for answer in all_answers([sampled_answers]):
            if not answer.is_missing:
                texts.append(answer.text)
                assert answer.thought_ids[-1] == percent
                assert answer.text == ends.text(answer.token_ids)
                check_probabilities(model, (*prompt, *answer.thought_ids), answer)
    assert any(texts)


def reply_tokens(model: LanguageModel, text: str) -> tuple[int, ...]:
    return tuple(tokens_of(model, text))


@pytest.mark.parametrize(
    ("text", "thoughts", "answer", "is_finished"),
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
def test_thoughts_end_at_their_token(text: str, thoughts: str, answer: str, is_finished: bool) -> None:
    model = thinking_model(CHAT, special=True)
    reader, tokens = Thoughts(model, prompts_of(model)[0]), reply_tokens(model, text)
    thought_tokens, has_ended = reader.split(tokens)
    assert (reader.text(thought_tokens), has_ended) == (thoughts, is_finished)
    if is_finished:
        rest = list(tokens[len(thought_tokens) :])
        assert model.tokenizer.decode(rest, skip_special_tokens=False) == answer


@pytest.mark.parametrize("end", ["</think>\n\nOslo", ""])
def test_tokens_of_long_thoughts_are_decoded_few_times(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = thinking_model(CHAT)
    reader, tokens = Thoughts(model, prompts_of(model)[0]), reply_tokens(model, f"<think>{'so, ' * 500}{end}")
    decode, decoded_counts = model.tokenizer.decode, list[int]()

    def count_and_decode(ids: list[int], **options: Any) -> str:
        decoded_counts.append(len(ids))
        return str(decode(ids, **options))

    monkeypatch.setattr(model.tokenizer, "decode", count_and_decode)
    assert reader.split(tokens)[1] is bool(end)
    assert sum(decoded_counts) < 5 * len(tokens)


def test_prompt_may_open_the_thoughts() -> None:
    model = thinking_model(CHAT_OPENS_THOUGHTS)
    reader = Thoughts(model, prompts_of(model)[0])
    assert reader.split(reply_tokens(model, "So.\n</think>\nOslo"))[1]
    assert reader.split(reply_tokens(model, "Oslo.")) == (reply_tokens(model, "Oslo."), False)
    closed = thinking_model(CHAT.replace("<turn>assistant\n", "<turn>assistant\n<think>\n\n</think>\n\n"))
    assert Thoughts(closed, prompts_of(closed)[0]).split(reply_tokens(closed, "Oslo.")) == ((), True)
