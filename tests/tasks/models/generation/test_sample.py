import numpy as np
import pytest
import torch

from swaymeter.data.errors import ScoreError, UsageError
from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.capabilities import SampledAnswers, SampleOptions
from swaymeter.tasks.models.generation.sample import sample_answers
from swaymeter.tasks.models.prompts.answer_prompts import answer_prompt
from swaymeter.tasks.models.prompts.template_options import PromptForm, end_tokens
from tests.tasks.models.reference_values import all_answers, check_probabilities, token_ids, tokens_of
from tests.tasks.models.tiny import CHAT, tiny_language_model

QUESTIONS = ["Where is Oslo?", "Who?", "What is the capital of Norway, if not Lima?", "When was that?", "Why?"]
IDENTITIES = [(question, "none") for question in QUESTIONS]
MAX_TOKENS = 20
"""The default limit of the tokens of an answer."""


def _prompts(model: LanguageModel) -> list[tuple[int, ...]]:
    return [answer_prompt(model, question).tokens for question in QUESTIONS]


@pytest.fixture(scope="module")
def answered(tiny_chat: LanguageModel) -> list[SampledAnswers]:
    return sample_answers(tiny_chat, _prompts(tiny_chat), IDENTITIES, samples=6, seed=3, temperature=1.0)


def test_answers_end_at_different_steps(tiny_chat: LanguageModel, answered: list[SampledAnswers]) -> None:
    ends = end_tokens(tiny_chat)
    lengths = {len(answer.token_ids) for answer in all_answers(answered)}
    assert len(lengths) > 3
    assert max(lengths) <= MAX_TOKENS
    for answer in all_answers(answered):
        is_complete = answer.state != "truncated"
        assert is_complete == (answer.token_ids[-1] in ends)
        assert not ends & set(answer.token_ids[:-1])
        assert is_complete or len(answer.token_ids) == MAX_TOKENS
        assert len(answer.token_log_probs) == len(answer.token_ids)
        assert answer.text == answer.text.strip()


def test_fewer_samples_are_the_first_of_more(tiny_chat: LanguageModel, answered: list[SampledAnswers]) -> None:
    fewer = sample_answers(tiny_chat, _prompts(tiny_chat), IDENTITIES, samples=2, seed=3, temperature=1.0)
    first = [SampledAnswers(sampled.samples[:2], sampled.greedy) for sampled in answered]
    assert token_ids(fewer) == token_ids(first)


def test_another_seed_or_identity_draws_other_answers(tiny_chat: LanguageModel, answered: list[SampledAnswers]) -> None:
    prompts = _prompts(tiny_chat)[:1]
    others = [
        sample_answers(tiny_chat, prompts, IDENTITIES[:1], samples=6, seed=4, temperature=1.0)[0],
        sample_answers(tiny_chat, prompts, [("other",)], samples=6, seed=3, temperature=1.0)[0],
    ]
    for other in others:
        assert other.greedy.token_ids == answered[0].greedy.token_ids
        assert [answer.token_ids for answer in other.samples] != [answer.token_ids for answer in answered[0].samples]


def test_probabilities_are_the_models_own_at_every_step(
    tiny_chat: LanguageModel, answered: list[SampledAnswers]
) -> None:
    for prompt, sampled in zip(_prompts(tiny_chat)[:2], answered, strict=False):
        for answer in all_answers([sampled]):
            check_probabilities(tiny_chat, prompt, answer)
            assert answer.mean_distribution.dtype == np.float32
            assert answer.mean_distribution.sum() == pytest.approx(1, abs=1e-5)


def test_generation_settings_of_models_are_ignored(tiny_chat: LanguageModel, answered: list[SampledAnswers]) -> None:
    other = tiny_language_model(chat_template=CHAT)
    settings = other.model.generation_config
    settings.eos_token_id = tiny_chat.model.generation_config.eos_token_id
    settings.top_k, settings.repetition_penalty, settings.temperature, settings.do_sample = 1, 9.0, 0.1, True
    sampled = sample_answers(other, _prompts(other), IDENTITIES, samples=6, seed=3, temperature=1.0)
    assert token_ids(sampled) == token_ids(answered)


@pytest.mark.parametrize(("template", "form"), [(CHAT, "plain"), (CHAT, "chat"), (None, None)])
def test_newline_ends_an_answer_except_in_chat(template: str | None, form: PromptForm | None) -> None:
    model = tiny_language_model(chat_template=template)
    [newline], prompts = tokens_of(model, "\n"), [tokens_of(model, question) for question in QUESTIONS]
    options: SampleOptions = {"samples": 40, "max_new_tokens": 40, "temperature": 3.0, "form": form}
    answers = all_answers(sample_answers(model, prompts, IDENTITIES, **options))
    with_newline = [answer for answer in answers if newline in answer.token_ids]
    assert with_newline
    assert any(newline in answer.token_ids[:-1] for answer in with_newline) is (form == "chat")
    assert form == "chat" or all(answer.state != "truncated" and "\n" not in answer.text for answer in with_newline)


def test_impossible_parameters_are_refused(tiny: LanguageModel) -> None:
    for name, value in (
        ("samples", -1),
        ("max_new_tokens", 0),
        ("batch_size", 0),
        ("temperature", 0.0),
        ("top_k", -1),
        ("temperature", float("nan")),
        ("top_p", 0.0),
        ("top_p", 1.1),
    ):
        with pytest.raises(UsageError, match=name):
            sample_answers(tiny, [[7]], [("a",)], **{name: value})  # type: ignore[misc, arg-type]
    with pytest.raises(UsageError, match="identities"):
        sample_answers(tiny, [[7]], [])
    assert sample_answers(tiny, [], []) == []


def test_prompt_without_room_for_an_answer_is_refused() -> None:
    with pytest.raises(ScoreError, match="and a reply of up to 20 do not fit"):
        sample_answers(tiny_language_model(window=30), [[7] * 11], [("a",)])


def test_error_of_nan_names_the_prompt() -> None:
    model = tiny_language_model()
    with torch.no_grad():
        model.model.lm_head.weight[7] = float("nan")
    with pytest.raises(ScoreError, match=r"question 7 / original.*Who is it"):
        sample_answers(model, [tokens_of(model, "Who is it")], [("question 7", "original")])
