import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from swaymeter.data.catalog import prompts
from swaymeter.data.errors import ScoreError
from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.prompts.answer_prompts import answer_prompt
from swaymeter.tasks.scoring.first_token import continuous_utilisation, first_tokens, next_tokens
from tests.tasks.models.alone import log_probs
from tests.tasks.models.chat_templates import FAMILIES, family_model
from tests.tasks.models.tiny import CHAT, byte_pair_tokenizer, tiny_language_model

CONTEXTS = (None, "Oslo is the capital of Norway.", "The capital of Norway is Lima, says a book. " * 5)


def context_prompts(model: LanguageModel) -> list[Sequence[int]]:
    return [answer_prompt(model, "What is the capital of Norway?", context).tokens for context in CONTEXTS]


@pytest.mark.parametrize("batch_size", [None, 2])
def test_a_batch_reads_what_each_prompt_gives_alone(smollm2: LanguageModel, batch_size: int | None) -> None:
    read = context_prompts(smollm2)
    found = next_tokens(smollm2, read, batch_size=batch_size)
    for place, prompt in enumerate(read):
        expected = log_probs(smollm2, [prompt])[0].double().exp()
        assert found.likeliest(place) == int(expected.argmax())
        some = [found.likeliest(place), 7, 7, 19]
        assert found.probability(place, some) == pytest.approx(float(expected[[*{*some}]].sum()), abs=3e-5)
        assert found.probability(place, range(len(expected))) == pytest.approx(1)


def test_context_moves_first_token_of_its_answer(smollm2: LanguageModel) -> None:
    found, tokens = next_tokens(smollm2, context_prompts(smollm2)), first_tokens(smollm2, ["Oslo", "Lima"])
    assert tokens == {name: smollm2.tokenizer(name)["input_ids"][0] for name in ("Oslo", "Lima")}
    for place, name in ((1, "Oslo"), (2, "Lima")):
        after_a_space = smollm2.tokenizer(f" {name}")["input_ids"][:1]
        begun = found.probability(place, [tokens[name]])
        assert begun > 5 * found.probability(0, [tokens[name]])
        assert begun > 5 * found.probability(place, after_a_space)  # this is not how the model begins


@pytest.mark.parametrize(
    ("name", "token"), [("llama-2-chat", "▁the"), ("gemma", "t"), ("smollm2-instruct", "t"), ("llama-3-instruct", "t")]
)
def test_an_answer_begins_as_the_template_writes_it(name: str, token: str) -> None:
    model = family_model(FAMILIES[name])
    assert model.tokenizer.convert_ids_to_tokens(first_tokens(model, ["the sea"])["the sea"]) == token


def test_answer_begins_with_space_in_plain_form() -> None:
    merges = (("Ġ", "O"), ("ĠO", "s"))
    plain = tiny_language_model(tokenizer=byte_pair_tokenizer(merges))
    chat = tiny_language_model(tokenizer=byte_pair_tokenizer(merges, chat_template=CHAT))
    tokens = [model.tokenizer.decode([*first_tokens(model, ["Oslo"]).values()]) for model in (plain, chat)]
    assert tokens == [" Os", "O"]
    on_a_line = replace(prompts(), plain_without_context="{question}\n", chat_template="never")
    assert chat.tokenizer.decode([*first_tokens(chat, ["Oslo"], on_a_line).values()]) == "O"


def test_answer_that_merges_with_its_prompt_is_refused(tiny: LanguageModel) -> None:
    joined = tiny_language_model(tokenizer=byte_pair_tokenizer(((":", "Ġ"),)))
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
        (0.2, 0.6, 0.5),  # 0.4 of the 0.8 that it lacked
        (0.8, 0.2, -0.75),  # 0.6 of the 0.8 that it had
        (0.5, 0.5, 0.0),
        (0.0, 0.25, 0.25),
        (0.0, 1.0, 1.0),
        (0.0, 0.0, 0.0),
        (1.0, 0.25, -0.75),
        (1.0, 0.0, -1.0),
        (1.0, 1.0, None),
    ],
)
def test_change_is_share_of_possible_one(without: float, with_context: float, utilisation: float | None) -> None:
    assert continuous_utilisation(without, with_context) == pytest.approx(utilisation)


@pytest.mark.parametrize("nonsense", [math.nan, -0.1, 1.5])
def test_what_is_no_probability_is_refused(nonsense: float) -> None:
    for pair in ((nonsense, 0.5), (0.5, nonsense)):
        with pytest.raises(ScoreError, match="not a probability"):
            continuous_utilisation(*pair)
