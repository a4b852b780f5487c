import pytest

from data.errors import ModelError
from tasks.models import LanguageModel
from tasks.scoring.answer_prompts import answer_prompt, end_tokens, prompt_form
from tests.tasks.models.tiny import CHAT, tiny_language_model

NO_SYSTEM = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system turn') }}{% endif %}" + CHAT
SILENT = CHAT.replace("{% for message in messages %}", "{% for message in messages if message.role != 'system' %}")


def _text(model: LanguageModel, *asked: str) -> str:
    return str(model.tokenizer.decode(list(answer_prompt(model, *asked))))


def test_base_model_is_asked_in_the_plain_form(tiny: LanguageModel) -> None:
    assert prompt_form(tiny) == "plain"
    assert _text(tiny, "Where is Oslo?") == "Q: Where is Oslo?\nA:"
    assert _text(tiny, "Where is Oslo?", "Oslo is in Peru.") == "Oslo is in Peru.\nQ: Where is Oslo?\nA:"


def test_chat_model_is_asked_in_its_template(tiny_chat: LanguageModel) -> None:
    text = _text(tiny_chat, "Where is Oslo?", "Oslo is in Peru.")
    assert prompt_form(tiny_chat) == "chat"
    assert text.startswith("<turn>system\n")
    assert "Passage: Oslo is in Peru.\n" in text
    assert text.endswith("Question: Where is Oslo?\nAnswer:<end>\n<turn>assistant\n")


@pytest.mark.parametrize("template", [NO_SYSTEM, SILENT])
def test_system_text_joins_the_turn_of_the_user_where_there_is_no_system_turn(template: str) -> None:
    text = _text(tiny_language_model(chat_template=template), "Where is Oslo?")
    assert text.startswith("<turn>user\nYou answer questions")
    assert "Where is Oslo?" in text


def test_broken_template_is_a_model_error() -> None:
    with pytest.raises(ModelError, match="chat template of tiny"):
        answer_prompt(tiny_language_model(chat_template="{{ raise_exception('never') }}"), "Where?")


def test_braces_of_a_question_are_left_alone(tiny: LanguageModel) -> None:
    assert _text(tiny, "What is {context}?", "{question}") == "{question}\nQ: What is {context}?\nA:"


def test_end_tokens_are_those_of_model_tokenizer_and_template() -> None:
    model = tiny_language_model(chat_template=CHAT.replace("<end>", "<turn>"))
    model.model.generation_config.eos_token_id = [1, 9]
    assert end_tokens(model) == {1, 9, model.tokenizer.convert_tokens_to_ids("<turn>")}


def test_embedded_model_ends_its_turn_with_its_own_mark(smollm2: LanguageModel) -> None:
    assert {smollm2.tokenizer.convert_ids_to_tokens(token) for token in end_tokens(smollm2)} == {"<|im_end|>"}
