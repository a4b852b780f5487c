"""The prompt that asks a model for a short answer, and what ends such an answer.

Two forms, told apart by the tokenizer alone, so that a base model whose tokenizer has a chat template is asked in it:
    chat     it has a chat template: the instruction of the catalog as one turn of the user, after the system text where
             the template takes one, else behind it in the same turn; an answer ends with an end-of-turn token
    plain    it has none: the question-answer form of the catalog; an answer ends with the line, since a base model
             goes on with the next question by itself
Special tokens are those that the chat template writes; the plain form has none, not even a start token.

Questions and contexts stay text: what looks like a control token in them is read as its letters, what looks like a slot
or like a template is left alone. Marks that a template writes in ordinary letters, such as [INST] for Llama 2, cannot
be told from the same letters in a context. A template that asks for the date is told the same one every day.
Nothing of the model's own generation settings is used but the list of its end tokens.
"""

import inspect
import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import transformers
from transformers import PreTrainedTokenizerBase

from data.catalog import prompts
from data.errors import ModelError, ScoreError
from tasks.models.engine import Conversation
from tasks.models.language_model import LanguageModel
from tasks.scoring.next_token.prompts import shortened

PromptForm = Literal["chat", "plain"]
Turns = list[dict[str, str]]

_SLOT = re.compile(r"\{(question|context)\}")
_PROBE = "xyzzy"
# Older versions hand a keyword that they do not know to the template, which ignores it.
_KEEPS_TEXT = "sanitize_control_tokens" in inspect.signature(PreTrainedTokenizerBase.apply_chat_template).parameters
_AS_IT_IS = "{{ messages[0]['content'] }}"
# 26 July 2024, the day that the templates of Llama 3 name where they have no clock.
_CALENDAR = (
    "{% macro strftime_now(form) %}{{ form | replace('%Y', '2024') | replace('%m', '07') | replace('%d', '26')"
    " | replace('%B', 'July') | replace('%b', 'Jul') }}{% endmacro %}\n"
)


@dataclass(frozen=True)
class AnswerPrompt:
    """A prompt's token ids; context_cut: the tokens of the context's end that did not fit and were left out."""

    tokens: tuple[int, ...]
    context_cut: int


class _Cut(NamedTuple):
    """A place in a text where a token ends: how much of the text is before it."""

    tokens: int
    characters: int


def prompt_form(model: LanguageModel) -> PromptForm:
    """Which of the two forms the model is asked in; it belongs into a score's key."""
    return "chat" if model.has_chat_template else "plain"


def answer_prompt(model: LanguageModel, question: str, context: str | None = None, *, room: int = 0) -> AnswerPrompt:
    """The prompt for a short answer to a question, with a context put before it or without (None).

    room: tokens that are to follow. Where prompt and room are longer than the model's window, the context's end is cut,
    token by token, until one more of its tokens would not fit; the prompt is tokenised as the whole that is left.
    Raises ModelError for a template that fails or leaves the question out, ScoreError for a question that does not fit
    even without its context.
    """
    tokens = _tokens(model, question, context)
    window = model.context_window
    if window is None or len(tokens) + room <= window:
        return AnswerPrompt(tokens, context_cut=0)
    if context is not None:
        return _with_less_context(model, question, context, room=room, window=window)
    raise _too_long(model, tokens, question, room=room, without="")


def turn_prompt(model: LanguageModel, text: str) -> tuple[int, ...]:
    """The prompt that says a text to a model, as the user's turn or, in the plain form, as it is.

    What looks like a control token in it is read as its letters. Raises ModelError for a template that fails.
    """
    return _said(model, _conversation(model), [{"role": "user", "content": text}], text, text)


def end_tokens(model: LanguageModel) -> frozenset[int]:
    """The ids that end an answer: every end-of-sequence the model names, and its chat template's end of turn."""
    found: set[int] = set()
    named: list[Any] = [getattr(holder, "eos_token_id", None) for holder in (model.model.config, model.tokenizer)]
    named.append(getattr(model.model.generation_config, "eos_token_id", None))
    for ids in named:
        found.update([ids] if isinstance(ids, int) else ids or [])
    end_of_turn = _end_of_turn(model) if model.has_chat_template else None
    return frozenset(found if end_of_turn is None else found | {end_of_turn})


def _tokens(model: LanguageModel, question: str, context: str | None) -> tuple[int, ...]:
    conversation = _conversation(model)
    turns = _turns(model, conversation.system_turn, question, context)
    return _said(model, conversation, turns, f"{question}\n{context or ''}", question)


def _said(model: LanguageModel, conversation: Conversation, turns: Turns, said: str, question: str) -> tuple[int, ...]:
    """The tokens of turns; said: what in them is kept as text, whatever it looks like; question: for errors."""
    holds_control = any(token in said for token in conversation.control)
    as_text: dict[str, Any] = {"sanitize_control_tokens": True} if holds_control else {}
    if as_text and not _KEEPS_TEXT:
        raise ModelError(
            f"{model.name} cannot be asked {shortened(question)}: it or its context holds the letters of a control "
            f"token, which transformers {transformers.__version__} cannot keep as text; 5.23 can"
        )
    try:
        ids = model.tokenizer.apply_chat_template(
            turns, chat_template=conversation.template, add_generation_prompt=True, return_dict=False, **as_text
        )
    except Exception as error:  # whatever the author of a template chose to raise
        raise ModelError(f"{model.name} cannot be asked {shortened(question)}: {error}") from error
    return tuple(ids)


def _turns(model: LanguageModel, system_turn: bool, question: str, context: str | None) -> Turns:
    forms = prompts()
    if prompt_form(model) == "plain":
        template = forms.plain_without_context if context is None else forms.plain_with_context
        return [{"role": "user", "content": _filled(template, question, context)}]
    asked = _filled(forms.without_context if context is None else forms.with_context, question, context)
    if system_turn:
        return [{"role": "system", "content": forms.system}, {"role": "user", "content": asked}]
    return [{"role": "user", "content": f"{forms.system}\n\n{asked}"}]


def _filled(template: str, question: str, context: str | None) -> str:
    texts = {"question": question, "context": context or ""}
    return _SLOT.sub(lambda slot: texts[slot[1]], template)


def _conversation(model: LanguageModel) -> Conversation:
    if model.engine.conversation is None:
        control = tuple(token for token in model.tokenizer.added_tokens_encoder if not token.isspace())
        template = chat_template(model)
        model.engine.conversation = Conversation(template, _takes_system_turn(model, template), control)
    return model.engine.conversation


def chat_template(model: LanguageModel) -> str:
    """The template that writes a conversation with this model; raises ModelError where it has several, no default."""
    if prompt_form(model) == "plain":
        return _AS_IT_IS
    try:
        template = model.tokenizer.get_chat_template()
    except ValueError as error:  # several templates, and none of them is the default
        raise _cannot_write(model, error) from error
    return _CALENDAR + template if "strftime_now" in template else template


def _takes_system_turn(model: LanguageModel, template: str) -> bool:
    """Whether the template writes a system turn; raises ModelError for one that leaves out what it is given."""
    if prompt_form(model) == "plain":
        return False
    told = (prompts().system.casefold(), _PROBE)
    problem: Exception | str = ""
    for system_turn in (True, False):
        try:
            text = _rendered(model, template, _turns(model, system_turn, _PROBE, None)).casefold()
        except Exception as error:  # a template says no to a system turn with whatever its author chose to raise
            problem = error
        else:
            if all(one in text for one in told):
                return system_turn
            problem = "it leaves out what it is given"
    raise _cannot_write(model, problem)


def _rendered(model: LanguageModel, template: str, turns: Turns, *, asks: bool = True) -> str:
    return str(
        model.tokenizer.apply_chat_template(turns, chat_template=template, tokenize=False, add_generation_prompt=asks)
    )


def _cannot_write(model: LanguageModel, problem: Exception | str) -> ModelError:
    return ModelError(f"the chat template of {model.name} cannot write a question: {problem}")


def _end_of_turn(model: LanguageModel) -> int | None:
    """The token of its own that the template puts directly behind what the assistant said."""
    turns = [{"role": "user", "content": "?"}, {"role": "assistant", "content": _PROBE}]
    try:
        _, said, behind = _rendered(model, chat_template(model), turns, asks=False).rpartition(_PROBE)
    except Exception:  # then the end-of-sequence tokens have to do
        return None
    tokens = model.tokenizer(behind.lstrip(), add_special_tokens=False)["input_ids"]
    return tokens[0] if said and tokens and tokens[0] in model.tokenizer.added_tokens_decoder else None


def _with_less_context(model: LanguageModel, question: str, context: str, *, room: int, window: int) -> AnswerPrompt:
    """The prompt whose context is as long as fits: what is too much is taken away, and what was not is given back."""
    cuts = _cuts(model.tokenizer, context)

    def tokens_at(place: int) -> tuple[int, ...]:
        return _tokens(model, question, context[: cuts[place].characters])

    place = len(cuts) - 1
    tokens = tokens_at(place)
    while (excess := len(tokens) + room - window) > 0:
        if place == 0:
            raise _too_long(model, tokens, question, room=room, without=" without its context")
        place = max(bisect_right(cuts, cuts[place].tokens - excess, key=lambda cut: cut.tokens) - 1, 0)
        tokens = tokens_at(place)
    while len(more := tokens_at(place + 1)) + room <= window:
        place, tokens = place + 1, more
    return AnswerPrompt(tokens, context_cut=cuts[-1].tokens - cuts[place].tokens)


def _too_long(model: LanguageModel, tokens: tuple[int, ...], question: str, *, room: int, without: str) -> ScoreError:
    return ScoreError(
        f"a prompt of {len(tokens)} tokens{without}{f' and {room} to come' if room else ''} does not fit the window of "
        f"{model.name}, {model.context_window} tokens; questions are never cut: {shortened(question)}"
    )


def _cuts(tokenizer: Any, text: str) -> list[_Cut]:
    """Every place where a text can be cut, behind each of its tokens, from its start to its end.

    A token that ends within a character is taken to reach to that character's end. A slow tokenizer does not say where
    its tokens lie: there a place is where the tokens before it decode to the text.
    """
    cuts = [_Cut(0, 0)]
    if tokenizer.is_fast:
        spans = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        count = len(spans)
        cuts += [_Cut(place, end) for place, (_, end) in enumerate(spans[:-1], start=1)]
    else:
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        count = len(ids)
        for place in range(1, count):
            before = tokenizer.decode(ids[:place], clean_up_tokenization_spaces=False)
            if len(before) > cuts[-1].characters and text.startswith(before):
                cuts.append(_Cut(place, len(before)))
    return [*cuts, _Cut(count, len(text))]
