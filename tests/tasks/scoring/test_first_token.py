import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from swaymeter.data.catalog import prompts
from swaymeter.data.errors import ScoreError
from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.prompts.answer_prompts import answer_prompt
from swaymeter.tasks.scoring.first_token import continuous_utilisation, first_tokens, next_tokens
from tests.tasks.models.chat_formats import chat_model
from tests.tasks.models.reference_values import log_probs
from tests.tasks.models.tiny import CHAT, byte_tokenizer, tiny_language_model

CONTEXTS = (None, "Oslo is the capital of Norway.", "The capital of Norway is Lima, says a book. " * 5)


def context_prompts(model: LanguageModel) -> list[Sequence[int]]:
    return [answer_prompt(model, "What is the capital of Norway?", context).tokens for context in CONTEXTS]


@pytest.mark.parametrize("batch_size", [None, 2])
def test_batch_matches_prompts_read_alone(smollm2: LanguageModel, batch_size: int | None) -> None:
    token_lists = context_prompts(smollm2)
    result = next_tokens(smollm2, token_lists, batch_size=batch_size)
    for number, prompt in enumerate(token_lists):
        expected = log_probs(smollm2, [prompt])[0].double().exp()
        assert result.likeliest(number) == int(expected.argmax())
        tokens = [result.likeliest(number), 7, 7, 19]  # a repeated token counts once
        assert result.probability(number, tokens) == pytest.approx(float(expected[[*{*tokens}]].sum()), abs=3e-5)
        assert result.probability(number, range(len(expected))) == pytest.approx(1)


def test_context_moves_first_token_of_its_answer(smollm2: LanguageModel) -> None:
    result, tokens = next_tokens(smollm2, context_prompts(smollm2)), first_tokens(smollm2, ["Oslo", "Lima"])
    assert tokens == {name: smollm2.tokenizer(name)["input_ids"][0] for name in ("Oslo", "Lima")}
    for number, name in ((1, "Oslo"), (2, "Lima")):
        with_space = smollm2.tokenizer(f" {name}")["input_ids"][:1]
        probability = result.probability(number, [tokens[name]])
        assert probability > 5 * result.probability(0, [tokens[name]])
        assert probability > 5 * result.probability(number, with_space)  # replies do not begin with a space


@pytest.mark.parametrize(
    ("name", "token"), [("llama-2-chat", "▁the"), ("gemma", "t"), ("smollm2-instruct", "t"), ("llama-3-instruct", "t")]
)
def test_an_answer_begins_as_the_template_writes_it(name: str, token: str) -> None:
    model = chat_model(name)
    assert model.tokenizer.convert_ids_to_tokens(first_tokens(model, ["the sea"])["the sea"]) == token


def test_answer_begins_with_space_in_plain_form() -> None:
    merges = (("Ġ", "O"), ("ĠO", "s"))
    plain = tiny_language_model(tokenizer=byte_tokenizer(merges))
    chat = tiny_language_model(tokenizer=byte_tokenizer(merges, chat_template=CHAT))
    tokens = [model.tokenizer.decode([*first_tokens(model, ["Oslo"]).values()]) for model in (plain, chat)]
    assert tokens == [" Os", "O"]
    line_prompts = replace(prompts(), plain_without_context="{question}\n", chat_template="never")
    assert chat.tokenizer.decode([*first_tokens(chat, ["Oslo"], line_prompts).values()]) == "O"


def test_answer_that_merges_with_its_prompt_is_refused(tiny: LanguageModel) -> None:
    joined = tiny_language_model(tokenizer=byte_tokenizer(((":", "Ġ"),)))
    for model, answer in ((joined, "Oslo"), (tiny, " ")):
        with pytest.raises(ScoreError, match="cannot be separated"):
            first_tokens(model, [answer])


def test_a_prompt_without_a_distribution_is_named() -> None:
    model = tiny_language_model()
    model.model.lm_head.weight.data[9] = math.nan
    with pytest.raises(ScoreError, match=r"no distribution .* after the prompt 'Q: Who"):
        next_tokens(model, [answer_prompt(model, "Who?").tokens])


@pytest.mark.parametrize(
    ("without", "with_context", "utilisation"),
    [
        (0.2, 0.6, 0.5),  # a rise of 0.4 of at most 0.8
        (0.8, 0.2, -0.75),  # a fall of 0.6 of at most 0.8
        (0.5, 0.5, 0.0),
        (0.0, 0.25, 0.25),
        (0.0, 1.0, 1.0),
        (0.0, 0.0, 0.0),
        (1.0, 0.25, -0.75),
        (1.0, 0.0, -1.0),
        (1.0, 1.0, None),
    ],
)
def test_utilisation_is_share_of_largest_change(without: float, with_context: float, utilisation: float | None) -> None:
    assert continuous_utilisation(without, with_context) == pytest.approx(utilisation)


@pytest.mark.parametrize("number", [math.nan, -0.1, 1.5])
def test_number_that_is_no_probability_is_refused(number: float) -> None:
    for pair in ((number, 0.5), (0.5, number)):
        with pytest.raises(ScoreError, match="in place of a probability"):
            continuous_utilisation(*pair)
