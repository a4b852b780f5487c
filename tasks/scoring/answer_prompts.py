"""The prompt that asks a model for a short answer, and what ends such an answer.

Two forms, told apart by the tokenizer:
    chat     it has a chat template: the instruction of the catalog as one turn of the user, after the system text where
             the template takes one, else behind it in the same turn; an answer ends with an end-of-turn token
    plain    it has none: the question-answer form of the catalog; an answer ends with the line, since a base model
             goes on with the next question by itself
Nothing of the model's own generation settings is used but the list of its end tokens.
"""

import re
from typing import Any, Literal

from data.catalog import prompts
from data.errors import ModelError
from tasks.models.language_model import LanguageModel

PromptForm = Literal["chat", "plain"]

_SLOT = re.compile(r"\{(question|context)\}")
_PROBE = "xyzzy"


def prompt_form(model: LanguageModel) -> PromptForm:
    """Which of the two forms the model is asked in; it belongs into a score's key."""
    return "chat" if model.has_chat_template else "plain"


def answer_prompt(model: LanguageModel, question: str, context: str | None = None) -> tuple[int, ...]:
    """The token ids of the prompt for a short answer to a question, with a context put before it or without (None).

    The chat template's own marks are in it, and no other special token. Raises ModelError for a template that fails.
    """
    forms = prompts()
    if prompt_form(model) == "plain":
        template = forms.plain_without_context if context is None else forms.plain_with_context
        text = _filled(template, question, context)
    else:
        template = forms.without_context if context is None else forms.with_context
        text = _conversation(model, forms.system, _filled(template, question, context))
    return tuple(model.tokenizer(text, add_special_tokens=False)["input_ids"])


def end_tokens(model: LanguageModel) -> frozenset[int]:
    """The ids that end an answer: every end-of-sequence the model names, and its chat template's end of turn."""
    found: set[int] = set()
    named: list[Any] = [getattr(holder, "eos_token_id", None) for holder in (model.model.config, model.tokenizer)]
    named.append(getattr(model.model.generation_config, "eos_token_id", None))
    for ids in named:
        found.update([ids] if isinstance(ids, int) else ids or [])
    end_of_turn = _end_of_turn(model) if model.has_chat_template else None
    return frozenset(found if end_of_turn is None else found | {end_of_turn})


def _filled(template: str, question: str, context: str | None) -> str:
    texts = {"question": question, "context": context or ""}
    return _SLOT.sub(lambda slot: texts[slot[1]], template)


def _conversation(model: LanguageModel, system: str, instruction: str) -> str:
    asked = {"role": "user", "content": instruction}
    try:
        text = _rendered(model, [{"role": "system", "content": system}, asked])
        if system in text:
            return text
    except Exception:  # a template says no to a system turn with whatever its author chose to raise
        pass
    try:
        return _rendered(model, [{**asked, "content": f"{system}\n\n{instruction}"}])
    except Exception as error:
        raise ModelError(f"the chat template of {model.name} cannot write a question: {error}") from error


def _rendered(model: LanguageModel, turns: list[dict[str, str]], *, asks: bool = True) -> str:
    return str(model.tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=asks))


def _end_of_turn(model: LanguageModel) -> int | None:
    """The special token that the template puts directly behind what the assistant said."""
    turns = [{"role": "user", "content": "?"}, {"role": "assistant", "content": _PROBE}]
    try:
        behind = _rendered(model, turns, asks=False).rpartition(_PROBE)[2]
    except Exception:  # then the end-of-sequence tokens have to do
        return None
    tokens = model.tokenizer(behind.lstrip(), add_special_tokens=False)["input_ids"]
    return tokens[0] if tokens and tokens[0] in model.tokenizer.all_special_ids else None
