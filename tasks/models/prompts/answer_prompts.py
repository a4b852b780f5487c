"""Prompts for a short answer, in the form `chat` or `plain`.

    chat     the request is the turn of the user, after the system text; the context is in the request or in the system
             text; an answer ends with an end-of-turn token
    plain    if the tokenizer has no chat template, or the study forbids its use: a text such as "Q: ... A:" after the
             tokenizer's start token; an answer ends with its first line

Control tokens such as <|im_end|>, gaps such as {question} and code of templates in a question, a context or a text of
the study are tokenized like any other text. But marks that a template itself writes in ordinary letters, such as
[INST], cannot be distinguished from the same letters in a question.
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
from swaymeter.tasks.models.prompts.template_options import PROBE, Turns, prompt_form, render
from swaymeter.tasks.models.prompts.thoughts import opened_thoughts
from swaymeter.tasks.models.prompts.tokens import does_not_fit, shorten, start_tokens

_GAP = re.compile(r"\{(\w+)\}")
_ABOUT = re.compile(r"\{about\}\s?")
# True if transformers has this keyword. Older versions pass the keyword on to the template, which ignores it.
_HAS_SANITIZE = "sanitize_control_tokens" in inspect.signature(PreTrainedTokenizerBase.apply_chat_template).parameters
_ONLY_CONTENT = "{{ messages[0]['content'] }}"
"""The template of plain prompts: the text of the only turn."""


@dataclass(frozen=True)
class AnswerPrompt:
    """A prompt for an answer.

    Attributes:
        tokens: token ids.
        context_cut: number of tokens that were cut from the end of the context.
    """

    tokens: tuple[int, ...]
    context_cut: int


class _Fields(NamedTuple):
    """Texts for the gaps of a prompt; `about` is a sentence that names the page of the question, or empty."""

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
    """Write the prompt for a short answer to a question, after a context if there is one.

    If the prompt exceeds the context window, the end of the context is cut, and the text is tokenized again.

    Args:
        model: the model.
        question: the question.
        context: the context, if any.
        page: the page that the prompt names, if any.
        reserved_tokens: tokens of the window that are reserved for the reply.
        prompts: the texts of the prompts; None for the catalog's.

    Raises:
        ModelError: the chat template fails or leaves the question out.
        ScoreError: the question does not fit even without its context.
    """
    prompts = prompts or catalog.prompts()
    fields = _Fields(question, context, fill_gaps(prompts.about, page=page) if page else "")
    tokens = _tokens(model, prompts, fields)
    limit = sys.maxsize if model.context_window is None else model.context_window - reserved_tokens
    if len(tokens) <= limit:
        return AnswerPrompt(tokens, context_cut=0)
    if context is None:
        raise does_not_fit(model, "questions", question, f"{len(tokens)} tokens", reserved_tokens)
    # The longest context that fits: first remove too many tokens, then add tokens again.
    cuts = _cuts(model.tokenizer, context)

    def tokens_at(cut: int) -> tuple[int, ...]:
        return _tokens(model, prompts, fields._replace(context=context[: cuts[cut][1]]))

    cut = len(cuts) - 1
    tokens = tokens_at(cut)
    while (excess := len(tokens) - limit) > 0:
        if cut == 0:
            alone = f"{len(tokens)} tokens without its context"
            raise does_not_fit(model, "questions", question, alone, reserved_tokens)
        cut = max(bisect_right(cuts, cuts[cut][0] - excess, key=itemgetter(0)) - 1, 0)
        tokens = tokens_at(cut)
    while len(longer := tokens_at(cut + 1)) <= limit:
        cut, tokens = cut + 1, longer
    return AnswerPrompt(tokens, context_cut=cuts[-1][0] - cuts[cut][0])


def turn_prompt(model: Model, text: str, *, answer_start: str) -> tuple[int, ...]:
    """Return the tokens of a prompt with a text as the user's turn.

    Args:
        model: the model.
        text: the text of the user.
        answer_start: the beginning of the answer, which the model continues; unused in the form `plain`.

    Raises:
        ModelError: the chat template opens thoughts, so that the answer cannot begin with `answer_start`.
    """
    turns = [{"role": "user", "content": text}]
    tokens = _tokenize(model, catalog.prompts(), turns, text, text)
    if prompt_form(model) == "plain":
        return tokens
    if opened_thoughts(model.tokenizer, tokens):
        raise ModelError(
            f"the chat template of {model.name} begins the reply with thoughts, but this reply must begin with the "
            "answer; use a model that answers without thoughts"
        )
    return (*tokens, *model.tokenizer(answer_start, add_special_tokens=False)["input_ids"])


def answer_header(model: Model, prompts: AnswerPrompts) -> str:
    r"""Return the header of the assistant's turn, such as "assistant\n", if the model has to write it; else empty.

    A prompt lacks the header if the study turns the generation prompt off.
    """
    if prompts.generation_prompt or prompt_form(model, prompts) == "plain":
        return ""
    turns = [{"role": "user", "content": "?"}]
    options = template_options(model, prompts)
    before = render(model, turns, generation_prompt=False, options=options)
    header = render(model, turns, options=options).removeprefix(before)
    tokens = model.tokenizer(header, add_special_tokens=False)["input_ids"]
    text = str(model.tokenizer.decode(tokens, skip_special_tokens=True)).lstrip()
    written = text.rstrip()
    return f"{written}\n" if "\n" in text[len(written) :] else written


def _tokens(model: Model, prompts: AnswerPrompts, fields: _Fields) -> tuple[int, ...]:
    turns = _turns(model, prompts, _conversation(model, prompts).system_turn, fields)
    if prompts == catalog.prompts():
        untrusted = f"{fields.question}\n{fields.context or ''}\n{fields.about}"
    else:  # the study's texts are not trusted either
        untrusted = "\n".join([*(turn["content"] for turn in turns), str(prompts.template_options)])
    return _tokenize(model, prompts, turns, untrusted, fields.question)


def _tokenize(model: Model, prompts: AnswerPrompts, turns: Turns, untrusted: str, question: str) -> tuple[int, ...]:
    """Return the tokens of turns; control tokens in the text `untrusted` are tokenized as letters."""
    conversation = _conversation(model, prompts)
    holds_control = any(token in untrusted for token in conversation.control)
    as_text: dict[str, Any] = {"sanitize_control_tokens": True} if holds_control else {}
    if as_text and not _HAS_SANITIZE:
        raise ModelError(
            f"{model.name} cannot answer {shorten(question)}: the prompt has the letters of a control token, "
            f"which transformers {transformers.__version__} cannot tokenize as text; install transformers 5.23 or later"
        )
    _check_whole(model, prompts, turns, question)
    arguments = {"add_generation_prompt": prompts.generation_prompt, "return_dict": False}
    options = {**conversation.options, **arguments, **as_text}
    try:
        ids = templates.apply_template(model, turns, conversation.template, options)
    except Exception as error:  # a template can raise anything
        raise _template_error(model, question, error) from error
    return (*conversation.start, *ids)


def _check_whole(model: Model, prompts: AnswerPrompts, turns: Turns, question: str) -> None:
    """Raise ModelError if the chat template cuts probes as long as these turns, and so may cut the question."""
    # Turns that are no longer than turns that passed the check need no check.
    longest = max(len(turn["content"]) for turn in turns)
    if prompt_form(model, prompts) == "plain" or longest <= model.traits.longest_turns.get(prompts, 0):
        return
    probe = f"{PROBE} " * (longest // len(PROBE) + 1)
    probes = [{**turn, "content": probe[: len(turn["content"])]} for turn in turns]
    try:
        written = _normalised(render(model, probes, options=_conversation(model, prompts).options))
    except Exception as error:  # a template can raise anything
        raise _template_error(model, question, error) from error
    if not all(_normalised(turn["content"]) in written for turn in probes):
        raise ModelError(
            f"the chat template of {model.name} cuts a turn of {longest:,} characters, and may lose the question "
            f"{shorten(question)}; shorten the contexts, or set chat_template: never for this model"
        )
    model.traits.longest_turns[prompts] = longest


def _template_error(model: Model, question: str, error: Exception) -> ModelError:
    return ModelError(
        f"the chat template of {model.name} fails for {shorten(question)}: {error}; correct the template, or set "
        "chat_template: never for this model"
    )


def _normalised(text: str) -> str:
    """Return a text without capitals and with single spaces, because templates change both."""
    return " ".join(text.casefold().split())


def _turns(model: Model, prompts: AnswerPrompts, system_turn: bool, fields: _Fields) -> Turns:
    """Return the turns of a prompt; without `system_turn`, the system text is the beginning of the user's turn."""
    is_closed_book = fields.context is None
    if prompt_form(model, prompts) == "plain":
        template = prompts.plain_without_context if is_closed_book else prompts.plain_with_context
        return [{"role": "user", "content": _request(template, fields)}]
    request = _request(prompts.without_context if is_closed_book else prompts.with_context, fields)
    system_with_context = prompts.system if prompts.system_with_context is None else prompts.system_with_context
    system = prompts.system if is_closed_book else fill_gaps(system_with_context, context=fields.context or "")
    if system_turn and system:
        return [{"role": "system", "content": system}, {"role": "user", "content": request}]
    return [{"role": "user", "content": f"{system}\n\n{request}" if system else request}]


def _request(template: str, fields: _Fields) -> str:
    """Fill the gaps of a template; a template without {about} gets this gap before {context} or {question}."""
    if not fields.about:
        template = _ABOUT.sub("", template)
    elif "{about}" not in template:
        first = "{context}" if "{context}" in template else "{question}"
        template = template.replace(first, f"{{about}} {first}")
    return fill_gaps(template, question=fields.question, context=fields.context or "", about=fields.about)


def fill_gaps(template: str, **texts: str) -> str:
    """Fill the gaps of a template in one step, so that braces in a text stay text."""
    return _GAP.sub(lambda gap: texts.get(gap[1], gap[0]), template)


def _conversation(model: Model, prompts: AnswerPrompts) -> Conversation:
    """Return the format of a model's prompts, computed once for the same `prompts`."""
    conversations = model.traits.conversations
    if prompts not in conversations:
        control = tuple(token for token in model.tokenizer.added_tokens_encoder if not token.isspace())
        is_chat = prompt_form(model, prompts) == "chat"
        template = templates.chat_template(model) if is_chat else _ONLY_CONTENT
        options = templates.options_of(model, prompts)
        system_turn = is_chat and _takes_system_turn(model, prompts, options)
        start = () if is_chat or prompts.start_token == "never" else start_tokens(model)
        conversations[prompts] = Conversation(template, system_turn, control, options, start)
    return conversations[prompts]


def template_options(model: Model, prompts: AnswerPrompts) -> Mapping[str, Any]:
    """Return the keywords that the chat template receives; ModelError for a keyword that the template lacks."""
    return _conversation(model, prompts).options


def thinks_always(model: Model, prompts: AnswerPrompts) -> bool:
    """Return True if the chat template opens thoughts, and nothing turns them off."""
    return templates.opens_thoughts(model, prompts, template_options(model, prompts))


def thinking_words(model: Model, prompts: AnswerPrompts, max_thoughts: int | None) -> str | None:
    """Describe the switch and the limit of thoughts, such as "enable_thinking=false"; None without both."""
    options = template_options(model, prompts)
    words = [f"{name}={json.dumps(options[name])}" for name in templates.SWITCHES if name in options]
    if not words and thinks_always(model, prompts):
        words = ["the chat template has no switch"]
    if max_thoughts is not None:
        words.append(f"at most {max_thoughts} tokens of thoughts")
    return ", ".join(words) or None


def _takes_system_turn(model: Model, prompts: AnswerPrompts, options: Mapping[str, Any]) -> bool:
    """Return True if there is a system text and the template takes it as a turn of its own.

    Raises:
        ModelError: the template fails or leaves out a text, even with the system text in the user's turn.
    """
    with_context = fill_gaps(prompts.system_with_context or "", context="")
    required = (_normalised(prompts.system), _normalised(with_context), PROBE)
    problem: Exception | str = ""
    probes = (_Fields(PROBE),) if prompts.system_with_context is None else (_Fields(PROBE), _Fields(PROBE, ""))
    for system_turn in (True, False) if any(required[:2]) else (False,):
        try:
            written = (render(model, _turns(model, prompts, system_turn, fields), options=options) for fields in probes)
            text = " ".join(map(_normalised, written))
        except (TimeoutError, MemoryError) as error:  # not a refusal of a system turn
            raise templates.cannot_write(model, error) from error
        except Exception as error:  # a template can refuse a system turn with any exception
            problem = error
        else:
            if all(text_part in text for text_part in required):
                return system_turn
            problem = "it leaves out the text of a turn"
    raise templates.cannot_write(model, problem)


def _cuts(tokenizer: Any, text: str) -> list[tuple[int, int]]:
    """Return the places at which a text can be cut, in order: the numbers of tokens and characters before each."""
    cuts = [(0, 0)]
    if tokenizer.is_fast:
        spans = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        count = len(spans)
        cuts += [(index, end) for index, (_, end) in enumerate(spans[:-1], start=1)]
    else:  # no offsets: a cut is possible if the tokens before it decode to a prefix of the text
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        count = len(ids)
        for index in range(1, count):
            before = tokenizer.decode(ids[:index], clean_up_tokenization_spaces=False)
            if len(before) > cuts[-1][1] and text.startswith(before):
                cuts.append((index, len(before)))
    return [*cuts, (count, len(text))]
