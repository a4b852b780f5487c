"""The prompt for a short answer, in the form that the tokenizer decides, unless a study never uses chat templates.

    chat     with a chat template: the instruction as one turn of the user, behind the system text, either of which has
             the context; an answer ends with an end-of-turn token
    plain    without one: the question-answer form, behind the tokenizer's start token; an answer ends with the line

The letters of a control token, a slot or a template in questions, contexts and a study's texts are tokenized as text;
marks that a template writes in ordinary letters, such as [INST], cannot be distinguished from the same letters.
"""

import inspect
import json
import re
import sys
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple

import transformers
from transformers import PreTrainedTokenizerBase

from swaymeter.data import catalog
from swaymeter.data.catalog import AnswerPrompts
from swaymeter.data.errors import ModelError
from swaymeter.tasks.models.capabilities import Model
from swaymeter.tasks.models.network import Conversation
from swaymeter.tasks.models.prompts import template_options as templates
from swaymeter.tasks.models.prompts.template_options import PROBE, Turns, prompt_form, rendered
from swaymeter.tasks.models.prompts.thoughts import opened_thoughts
from swaymeter.tasks.models.prompts.tokens import does_not_fit, shortened, start_tokens

_SLOT = re.compile(r"\{(\w+)\}")
_ABOUT = re.compile(r"\{about\}\s?")
# Older versions hand a keyword that they do not know to the template, which ignores it.
_KEEPS_TEXT = "sanitize_control_tokens" in inspect.signature(PreTrainedTokenizerBase.apply_chat_template).parameters
_AS_IT_IS = "{{ messages[0]['content'] }}"


@dataclass(frozen=True)
class AnswerPrompt:
    """A prompt's token ids; context_cut: the tokens of the context's end that were cut."""

    tokens: tuple[int, ...]
    context_cut: int


class _Fields(NamedTuple):
    """What is put into the slots of a prompt; about: the sentence that says which page it is about, or nothing."""

    question: str
    context: str | None = None
    about: str = ""


def answer_prompt(
    model: Model,
    question: str,
    context: str | None = None,
    *,
    page: str | None = None,
    reserved_tokens: int = 0,
    prompts: AnswerPrompts | None = None,
) -> AnswerPrompt:
    """The prompt for a short answer to a question, with or without (None) a context before it.

    page: what the prompt says that the question is about, if anything; prompts: None for the catalog's. A prompt that
    does not fit the context window with `reserved_tokens` more tokens has as many tokens of its context as fit, and is
    tokenized again as one text. ModelError where the chat template fails or leaves the question out, ScoreError where
    the question does not fit even without its context.
    """
    prompts = prompts or catalog.prompts()
    fields = _Fields(question, context, filled(prompts.about, page=page) if page else "")
    tokens = _tokens(model, prompts, fields)
    most = sys.maxsize if model.context_window is None else model.context_window - reserved_tokens
    if len(tokens) <= most:
        return AnswerPrompt(tokens, context_cut=0)
    if context is None:
        raise does_not_fit(model, "questions", question, f"{len(tokens)} tokens", reserved_tokens)
    # The longest context that fits: too many tokens are removed first, then added again.
    cuts = _cuts(model.tokenizer, context)

    def tokens_at(place: int) -> tuple[int, ...]:
        return _tokens(model, prompts, fields._replace(context=context[: cuts[place][1]]))

    place = len(cuts) - 1
    tokens = tokens_at(place)
    while (excess := len(tokens) - most) > 0:
        if place == 0:
            alone = f"{len(tokens)} tokens without its context"
            raise does_not_fit(model, "questions", question, alone, reserved_tokens)
        place = max(bisect_right(cuts, cuts[place][0] - excess, key=itemgetter(0)) - 1, 0)
        tokens = tokens_at(place)
    while len(more := tokens_at(place + 1)) <= most:
        place, tokens = place + 1, more
    return AnswerPrompt(tokens, context_cut=cuts[-1][0] - cuts[place][0])


def turn_prompt(model: Model, text: str, *, begun: str) -> tuple[int, ...]:
    """The prompt with a text as the user's turn and the begun answer or, in the plain form, the text as it is.

    ModelError where the chat template opens thoughts before an answer.
    """
    turns = [{"role": "user", "content": text}]
    tokens = _tokenized(model, catalog.prompts(), turns, text, text)
    if prompt_form(model) == "plain":
        return tokens
    if opened_thoughts(model.tokenizer, tokens):
        raise ModelError(
            f"the chat template of {model.name} opens thoughts, and a text that it is to continue would be a part of "
            "them; use a model that can answer without"
        )
    return (*tokens, *model.tokenizer(begun, add_special_tokens=False)["input_ids"])


def answer_header(model: Model, prompts: AnswerPrompts) -> str:
    """What an answer begins with that is not the answer: the assistant's header, where the prompt does not write it."""
    if prompts.generation_prompt or prompt_form(model, prompts) == "plain":
        return ""
    turns = [{"role": "user", "content": "?"}]
    options = template_options(model, prompts)
    before = rendered(model, turns, generation_prompt=False, options=options)
    header = rendered(model, turns, options=options).removeprefix(before)
    tokens = model.tokenizer(header, add_special_tokens=False)["input_ids"]
    text = str(model.tokenizer.decode(tokens, skip_special_tokens=True)).lstrip()
    written = text.rstrip()
    return f"{written}\n" if "\n" in text[len(written) :] else written


def _tokens(model: Model, prompts: AnswerPrompts, fields: _Fields) -> tuple[int, ...]:
    turns = _turns(model, prompts, _conversation(model, prompts).system_turn, fields)
    texts = [*(turn["content"] for turn in turns), str(prompts.template_options)]
    own = "" if prompts == catalog.prompts() else "\n".join(texts)
    untrusted = own or f"{fields.question}\n{fields.context or ''}\n{fields.about}"
    return _tokenized(model, prompts, turns, untrusted, fields.question)


def _tokenized(model: Model, prompts: AnswerPrompts, turns: Turns, untrusted: str, question: str) -> tuple[int, ...]:
    """The tokens of turns; untrusted: the part whose control tokens stay text; question: for messages."""
    conversation = _conversation(model, prompts)
    holds_control = any(token in untrusted for token in conversation.control)
    as_text: dict[str, Any] = {"sanitize_control_tokens": True} if holds_control else {}
    if as_text and not _KEEPS_TEXT:
        raise ModelError(
            f"{model.name} cannot answer {shortened(question)}: its prompt has the letters of a control token, "
            f"which transformers {transformers.__version__} cannot tokenize as text; use 5.23 or later"
        )
    _check_whole(model, prompts, turns, question)
    own = {"add_generation_prompt": prompts.generation_prompt, "return_dict": False}
    options = {**conversation.options, **own, **as_text}
    try:
        ids = templates.applied(model, turns, conversation.template, options)
    except Exception as error:  # a template can raise anything
        raise ModelError(f"the chat template of {model.name} fails for {shortened(question)}: {error}") from error
    return (*conversation.start, *ids)


def _check_whole(model: Model, prompts: AnswerPrompts, turns: Turns, question: str) -> None:
    """Raise ModelError if the chat template cuts turns as long as these, and so may cut the question.

    The template writes probes of the same lengths. A turn that is no longer than one seen whole is not checked again.
    """
    longest = max(len(turn["content"]) for turn in turns)
    if prompt_form(model, prompts) == "plain" or longest <= model.engine.longest_turns.get(prompts, 0):
        return
    probe = f"{PROBE} " * (longest // len(PROBE) + 1)
    probes = [{**turn, "content": probe[: len(turn["content"])]} for turn in turns]
    try:
        written = _letters(rendered(model, probes, options=_conversation(model, prompts).options))
    except Exception as error:  # a template can raise anything
        raise ModelError(f"the chat template of {model.name} fails for {shortened(question)}: {error}") from error
    if not all(_letters(turn["content"]) in written for turn in probes):
        raise ModelError(
            f"the chat template of {model.name} cuts a turn of {longest:,} characters, and may lose the question "
            f"{shortened(question)}; shorten the contexts, or set chat_template: never for this model"
        )
    model.engine.longest_turns[prompts] = longest


def _letters(text: str) -> str:
    """Return a text without capitals and with single spaces, because templates change both."""
    return " ".join(text.casefold().split())


def _turns(model: Model, prompts: AnswerPrompts, system_turn: bool, fields: _Fields) -> Turns:
    alone = fields.context is None
    if prompt_form(model, prompts) == "plain":
        template = prompts.plain_without_context if alone else prompts.plain_with_context
        return [{"role": "user", "content": _request(template, fields)}]
    request = _request(prompts.without_context if alone else prompts.with_context, fields)
    with_context = prompts.system if prompts.system_with_context is None else prompts.system_with_context
    system = prompts.system if alone else filled(with_context, context=fields.context or "")
    if system_turn and system:
        return [{"role": "system", "content": system}, {"role": "user", "content": request}]
    return [{"role": "user", "content": f"{system}\n\n{request}" if system else request}]


def _request(template: str, fields: _Fields) -> str:
    """The template with its slots filled; the page's sentence has its own or stands before the context or question."""
    if not fields.about:
        template = _ABOUT.sub("", template)
    elif "{about}" not in template:
        first = "{context}" if "{context}" in template else "{question}"
        template = template.replace(first, f"{{about}} {first}")
    return filled(template, question=fields.question, context=fields.context or "", about=fields.about)


def filled(template: str, **texts: str) -> str:
    """The template with each slot's text, all at once, so that braces in a text stay text."""
    return _SLOT.sub(lambda slot: texts.get(slot[1], slot[0]), template)


def _conversation(model: Model, prompts: AnswerPrompts) -> Conversation:
    known = model.engine.conversations
    if prompts not in known:
        control = tuple(token for token in model.tokenizer.added_tokens_encoder if not token.isspace())
        is_chat = prompt_form(model, prompts) == "chat"
        template = templates.chat_template(model) if is_chat else _AS_IT_IS
        options = templates.options_of(model, prompts)
        system_turn = is_chat and _takes_system_turn(model, prompts, options)
        start = () if is_chat or prompts.start_token == "never" else start_tokens(model)
        known[prompts] = Conversation(template, system_turn, control, options, start)
    return known[prompts]


def template_options(model: Model, prompts: AnswerPrompts) -> Mapping[str, Any]:
    """The keywords that the chat template is given; ModelError where it does not have one that `prompts` names."""
    return _conversation(model, prompts).options


def thinks_always(model: Model, prompts: AnswerPrompts) -> bool:
    """Whether the chat template opens thoughts, and nothing turns them off."""
    return templates.opens_thoughts(model, prompts, template_options(model, prompts))


def thinking_words(model: Model, prompts: AnswerPrompts, max_thoughts: int | None) -> str | None:
    """How a model is asked to think, such as "enable_thinking=false"; None where its template knows of no thoughts."""
    options = template_options(model, prompts)
    words = [f"{name}={json.dumps(options[name])}" for name in templates.SWITCHES if name in options]
    if not words and thinks_always(model, prompts):
        words = ["the chat template has no switch"]
    if max_thoughts is not None:
        words.append(f"at most {max_thoughts} tokens of thoughts")
    return ", ".join(words) or None


def _takes_system_turn(model: Model, prompts: AnswerPrompts, options: Mapping[str, Any]) -> bool:
    """Whether the system text gets a turn of its own; raises ModelError for a template that leaves texts out."""
    with_context = filled(prompts.system_with_context or "", context="")
    required = (_letters(prompts.system), _letters(with_context), PROBE)
    problem: Exception | str = ""
    probes = (_Fields(PROBE),) if prompts.system_with_context is None else (_Fields(PROBE), _Fields(PROBE, ""))
    for system_turn in (True, False) if any(required[:2]) else (False,):
        try:
            written = (rendered(model, _turns(model, prompts, system_turn, one), options=options) for one in probes)
            text = " ".join(map(_letters, written))
        except (TimeoutError, MemoryError) as error:  # that is no refusal of a turn
            raise templates.cannot_write(model, error) from error
        except Exception as error:  # a template can refuse a system turn with any exception
            problem = error
        else:
            if all(text_part in text for text_part in required):
                return system_turn
            problem = "it leaves out the text of a turn"
    raise templates.cannot_write(model, problem)


def _cuts(tokenizer: Any, text: str) -> list[tuple[int, int]]:
    """Every place where a text can be cut, from its start to its end: the tokens and characters before it."""
    cuts = [(0, 0)]
    if tokenizer.is_fast:
        spans = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        count = len(spans)
        cuts += [(place, end) for place, (_, end) in enumerate(spans[:-1], start=1)]
    else:  # no offsets: a place is where the tokens before it decode to a prefix of the text
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        count = len(ids)
        for place in range(1, count):
            before = tokenizer.decode(ids[:place], clean_up_tokenization_spaces=False)
            if len(before) > cuts[-1][1] and text.startswith(before):
                cuts.append((place, len(before)))
    return [*cuts, (count, len(text))]
