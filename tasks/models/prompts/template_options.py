"""A model's chat template: its keywords, its switch of thoughts, the prompts that it writes, and the end of a turn.

A keyword is a name that a template uses and does not set itself. A switch is a keyword of `SWITCHES` whose values give
different prompts.
"""

import ctypes
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from jinja2 import Environment, TemplateError, meta, nodes

from swaymeter.data.catalog import AnswerPrompts
from swaymeter.data.errors import ModelError
from swaymeter.tasks.models.capabilities import Speaker
from swaymeter.tasks.models.network import Network
from swaymeter.tasks.models.prompts.thoughts import has_opening_mark

TEMPLATE_SECONDS = 10.0
"""Limit of the seconds that a chat template may take for a prompt; an ordinary template takes milliseconds."""
PROBE = "xyzzy"
"""The text of prompts that show how a template writes."""
PromptForm = Literal["chat", "plain"]
Turns = list[dict[str, str]]
"""The turns of a conversation, each with a `role` and a `content`."""

SWITCHES: Mapping[str, tuple[Any, Any]] = {
    "enable_thinking": (False, True),
    "thinking": (False, True),
    "think": (False, True),
    "enable_reasoning": (False, True),
    "reasoning": (False, True),
    "reasoning_effort": ("none", "high"),
    "thinking_budget": (0, -1),
}
"""By the name of a switch, the values that turn thinking off and on. The keyword `reasoning_effort` is a switch only in
templates that contain the value "none"."""
_STANDARD_VARIABLES = frozenset(
    {
        "add_generation_prompt",
        "bos_token",
        "documents",
        "eos_token",
        "messages",
        "pad_token",
        "raise_exception",
        "strftime_now",
        "tools",
        "unk_token",
    }
)
# A macro that gives templates a fixed date in place of the clock: the date that Llama 3 writes without a clock.
_FIXED_DATE = (
    "{% macro strftime_now(form) %}{{ form | replace('%Y', '2024') | replace('%m', '07') | replace('%d', '26')"
    " | replace('%B', 'July') | replace('%b', 'Jul') }}{% endmacro %}\n"
)
MAX_BYTES = 1 << 30
"""Limit of the memory in bytes that a template may take, on systems with /proc."""
_CHECK_SECONDS = 0.05  # between two checks of the memory
_raise_in_thread = ctypes.pythonapi.PyThreadState_SetAsyncExc
# Marks for training, which the parser of Jinja does not know.
_GENERATION = re.compile(r"\{%-?\s*(?:end)?generation\s*-?%\}")


def prompt_form(model: Speaker, prompts: AnswerPrompts | None = None) -> PromptForm:
    """Return the form of the model's prompts; without `prompts`, chat if the model has a chat template."""
    never = prompts is not None and prompts.chat_template == "never"
    return "chat" if model.has_chat_template and not never else "plain"


def options_of(model: Speaker, prompts: AnswerPrompts) -> dict[str, Any]:
    """Return keywords and values for the chat template: its switch of thoughts, if any, and the study's keywords.

    Raises:
        ModelError: the template lacks a keyword of the study, or cannot be read.
    """
    if prompt_form(model, prompts) == "plain":
        if prompts.template_options:
            raise ModelError(f"{model.name} is used without a chat template, so leave prompt.template_options out")
        return {}
    template = chat_template(model)
    try:
        names = keywords(template)
    except TemplateError as error:
        raise cannot_write(model, error) from error
    # A hidden template is known only to its server, which reports unknown keywords itself.
    is_hidden = getattr(model.tokenizer, "takes_any_keyword", False)
    unknown = set() if is_hidden else prompts.template_options.keys() - names
    for name in unknown:
        supported = ", ".join(sorted(names)) or "none"
        raise ModelError(
            f"prompt.template_options: the chat template of {model.name} has no keyword {name!r} (its keywords: "
            f"{supported}); leave {name} out, or run this model in a separate study"
        )
    turns = [{"role": "user", "content": PROBE}]
    return switch(
        template,
        lambda options: render(model, turns, options={**prompts.template_options, **options}),
        thinking=prompts.thinking,
    ) | dict(prompts.template_options)


def opens_thoughts(model: Speaker, prompts: AnswerPrompts, options: Mapping[str, Any]) -> bool:
    """Return True if the chat template opens thoughts, and `options` from `options_of` do not turn thinking off."""
    is_off = any(options[name] == off for name, (off, _) in SWITCHES.items() if name in options)
    return prompt_form(model, prompts) == "chat" and not is_off and has_opening_mark(chat_template(model))


def chat_template(model: Speaker) -> str:
    """Return the model's chat template, with a fixed date if it uses the date; ModelError if it cannot be used."""
    try:
        template: str = model.tokenizer.get_chat_template()
    except ValueError as error:  # several templates without a default
        raise cannot_write(model, error) from error
    try:
        signs = [sign for _, kind, sign in Environment().lex(template) if kind == "operator"]
    except TemplateError as error:
        raise cannot_write(model, error) from error
    if "**" in signs:
        raise cannot_write(model, "powers (**) are refused, because no time limit stops 9 ** (9 ** 9)")
    return _FIXED_DATE + template if "strftime_now" in template else template


def render(
    model: Speaker, turns: Turns, *, generation_prompt: bool = True, options: Mapping[str, Any] | None = None
) -> str:
    """Write turns by the model's chat template with the keywords `options`; a template can raise any exception."""
    arguments = {"tokenize": False, "add_generation_prompt": generation_prompt}
    return str(apply_template(model, turns, chat_template(model), {**(options or {}), **arguments}))


def apply_template(model: Speaker, turns: Turns, template: str, options: Mapping[str, Any]) -> Any:
    """Apply a chat template to turns within limits of time and memory, because a template is a program."""
    with resource_limits(TEMPLATE_SECONDS):
        return model.tokenizer.apply_chat_template(turns, chat_template=template, **options)


def cannot_write(model: Speaker, problem: Exception | str) -> ModelError:
    """Return the error of a chat template that cannot write a question."""
    return ModelError(
        f"the chat template of {model.name} cannot write a question: {problem}; correct the template, or set "
        "chat_template: never for this model"
    )


def keywords(template: str) -> frozenset[str]:
    """Return the keywords of a chat template, without the variables that every template receives."""
    return frozenset(meta.find_undeclared_variables(_parse(template))) - _STANDARD_VARIABLES


def switch(template: str, write: Callable[[Mapping[str, Any]], str], *, thinking: bool) -> dict[str, Any]:
    """Return the keyword and value that turn thinking on or off; empty if the template has no switch.

    Args:
        template: the chat template.
        write: returns the template's prompt for options, or raises any exception.
        thinking: True to turn thinking on, False to turn it off.
    """
    names, texts = keywords(template), {constant.value for constant in _parse(template).find_all(nodes.Const)}
    for name, values in SWITCHES.items():
        if name not in names or (values[0] == "none" and "none" not in texts):
            continue
        try:
            off, on = (write({name: value}) for value in values)
        except Exception:  # a template can refuse a value with any exception
            continue
        if off != on:
            return {name: values[thinking]}
    return {}


def _parse(template: str) -> nodes.Template:
    return Environment(extensions=["jinja2.ext.loopcontrols"]).parse(_GENERATION.sub("", template))


def end_tokens(model: Network) -> frozenset[int]:
    """Return the ids of tokens that end an answer: end-of-sequence tokens, and the chat template's end of a turn."""
    ids: set[int] = set()
    network = getattr(model, "model", None)  # None for a model at a server
    for holder in (getattr(network, "config", None), model.tokenizer, getattr(network, "generation_config", None)):
        ids_of_holder = getattr(holder, "eos_token_id", None)
        ids.update([ids_of_holder] if isinstance(ids_of_holder, int) else ids_of_holder or [])
    end_of_turn = _end_of_turn(model) if model.has_chat_template else None
    return frozenset(ids if end_of_turn is None else ids | {end_of_turn})


def vocabulary_texts(model: Network) -> tuple[str, ...]:
    """Return the text that each token id adds after a letter: (len(tokenizer),); decoded once for each model.

    Special tokens add nothing. A token with a part of a character adds the replacement character U+FFFD.
    """
    if model.traits.vocabulary is None:
        tokenizer = model.tokenizer
        letter: list[int] = tokenizer("a", add_special_tokens=False)["input_ids"]
        options = {"skip_special_tokens": True, "clean_up_tokenization_spaces": False}
        before = str(tokenizer.decode(letter, **options))
        texts = tokenizer.batch_decode([[*letter, token] for token in range(len(tokenizer))], **options)
        model.traits.vocabulary = tuple(text.removeprefix(before) for text in texts)
    return model.traits.vocabulary


def _end_of_turn(model: Network) -> int | None:
    """Return the special token that the template writes directly after the assistant's text; None without one."""
    turns = [{"role": "user", "content": "?"}, {"role": "assistant", "content": PROBE}]
    try:
        _, is_written, after = render(model, turns, generation_prompt=False).rpartition(PROBE)
    except Exception:  # the template refuses the turns
        return None
    tokens = model.tokenizer(after.lstrip(), add_special_tokens=False)["input_ids"]
    return tokens[0] if is_written and tokens and tokens[0] in model.tokenizer.added_tokens_decoder else None


class _LimitExceeded(Exception):
    """The exception that `resource_limits` raises inside its block."""


@contextmanager
def resource_limits(seconds: float) -> Iterator[None]:
    """Stop a block between two steps of Python if it takes more than `seconds` or MAX_BYTES.

    Raises:
        TimeoutError: the block takes too long.
        MemoryError: the block takes too much memory.
    """
    thread, lock, is_over = ctypes.c_ulong(threading.get_ident()), threading.Lock(), threading.Event()
    until, before, is_full = time.monotonic() + seconds, _resident_bytes(), False

    def watch() -> None:
        nonlocal is_full
        while not is_over.wait(min(_CHECK_SECONDS, max(0.0, until - time.monotonic()))):
            is_full = _resident_bytes() - before > MAX_BYTES
            if is_full or time.monotonic() >= until:
                with lock:
                    if not is_over.is_set():
                        _raise_in_thread(thread, ctypes.py_object(_LimitExceeded))
                return

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    except _LimitExceeded:
        if is_full:
            raise MemoryError(f"the template takes more than {MAX_BYTES >> 20:,} MiB of memory") from None
        raise TimeoutError(f"the template does not end within {seconds:g} s") from None
    finally:
        with lock:
            is_over.set()
            _raise_in_thread(thread, None)  # a pending exception must not be raised later


def _resident_bytes() -> int:
    """Return the memory of this process in bytes; 0 on a system without /proc."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
