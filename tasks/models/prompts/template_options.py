"""A model's chat template: what it writes, the keywords that it takes, what switches thinking, and what ends a turn.

A keyword is a name that a template uses and does not set itself. A switch is a keyword of `SWITCHES` with which it
writes another prompt when thinking is off than when it is on.
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
from swaymeter.tasks.models.prompts.thoughts import opens_marks

TEMPLATE_SECONDS = 10.0
"""Most seconds that a chat template may take for a prompt; a sound one takes milliseconds."""
PROBE = "xyzzy"
"""What is written to find out how a template writes."""
PromptForm = Literal["chat", "plain"]
Turns = list[dict[str, str]]

SWITCHES: Mapping[str, tuple[Any, Any]] = {
    "enable_thinking": (False, True), "thinking": (False, True), "think": (False, True),
    "enable_reasoning": (False, True), "reasoning": (False, True), "reasoning_effort": ("none", "high"),
    "thinking_budget": (0, -1),
}  # fmt: skip
"""The values of a switch that turn thinking off, and on. A template of `reasoning_effort` has a switch where it names
the value "none"."""
_ITS_OWN = frozenset({
    "add_generation_prompt", "bos_token", "documents", "eos_token", "messages", "pad_token", "raise_exception",
    "strftime_now", "tools", "unk_token",
})  # fmt: skip
# 26 July 2024, the day that the templates of Llama 3 name where they have no clock.
_CALENDAR = (
    "{% macro strftime_now(form) %}{{ form | replace('%Y', '2024') | replace('%m', '07') | replace('%d', '26')"
    " | replace('%B', 'July') | replace('%b', 'Jul') }}{% endmacro %}\n"
)
MOST_BYTES = 1 << 30
"""Memory that the process may take on while a template writes, where /proc says how much it has."""
_LOOK_SECONDS = 0.05
_raise_in_thread = ctypes.pythonapi.PyThreadState_SetAsyncExc
_GENERATION = re.compile(r"\{%-?\s*(?:end)?generation\s*-?%\}")


def prompt_form(model: Speaker, prompts: AnswerPrompts | None = None) -> PromptForm:
    """The form of the model's prompts; prompts: None for the catalog's."""
    never = prompts is not None and prompts.chat_template == "never"
    return "chat" if model.has_chat_template and not never else "plain"


def options_of(model: Speaker, prompts: AnswerPrompts) -> dict[str, Any]:
    """The study's keywords of the chat template, behind the one that switches thinking where there is a switch.

    ModelError where the template lacks one of the study's, or cannot be read.
    """
    if prompt_form(model, prompts) == "plain":
        if prompts.template_options:
            raise ModelError(
                f"{model.name} is asked without a chat template, which prompt.template_options are for; leave them out"
            )
        return {}
    template = chat_template(model)
    try:
        known = keywords(template)
    except TemplateError as error:
        raise cannot_write(model, error) from error
    is_hidden = getattr(model.tokenizer, "takes_any_keyword", False)  # the template of a server, which says if it fails
    for name in () if is_hidden else prompts.template_options.keys() - known:
        its_own = ", ".join(sorted(known)) or "none"
        raise ModelError(
            f"prompt.template_options: the chat template of {model.name} has no keyword {name!r}; it has: {its_own}; "
            f"leave {name} out, or ask this model in a study of its own"
        )
    turns = [{"role": "user", "content": PROBE}]
    return switch(
        template,
        lambda options: rendered(model, turns, options={**prompts.template_options, **options}),
        thinking=prompts.thinking,
    ) | dict(prompts.template_options)


def opens_thoughts(model: Speaker, prompts: AnswerPrompts, options: Mapping[str, Any]) -> bool:
    """Whether the chat template opens thoughts, and nothing turns them off; options: as `options_of` gives them."""
    is_off = any(options[name] == off for name, (off, _) in SWITCHES.items() if name in options)
    return prompt_form(model, prompts) == "chat" and not is_off and opens_marks(chat_template(model))


def chat_template(model: Speaker) -> str:
    """The model's chat template, with a calendar where it asks for the date; ModelError where it cannot be used."""
    try:
        template: str = model.tokenizer.get_chat_template()
    except ValueError as error:  # several templates, and none of them is the default
        raise cannot_write(model, error) from error
    try:
        signs = [sign for _, kind, sign in Environment().lex(template) if kind == "operator"]
    except TemplateError as error:
        raise cannot_write(model, error) from error
    if "**" in signs:
        raise cannot_write(model, "it has a power, 9 ** (9 ** 9), which nothing can stop; write it without **")
    return _CALENDAR + template if "strftime_now" in template else template


def rendered(
    model: Speaker, turns: Turns, *, generation_prompt: bool = True, options: Mapping[str, Any] | None = None
) -> str:
    """Turns as the model's chat template writes them with its keywords `options`; it can raise any exception."""
    own = {"tokenize": False, "add_generation_prompt": generation_prompt}
    return str(applied(model, turns, chat_template(model), {**(options or {}), **own}))


def applied(model: Speaker, turns: Turns, template: str, options: Mapping[str, Any]) -> Any:
    """What a chat template, a program of the model's author, makes of turns; TimeoutError where it does not end."""
    with at_most(TEMPLATE_SECONDS):
        return model.tokenizer.apply_chat_template(turns, chat_template=template, **options)


def cannot_write(model: Speaker, problem: Exception | str) -> ModelError:
    """The error of a chat template that cannot be used."""
    return ModelError(f"the chat template of {model.name} cannot write a question: {problem}")


def keywords(template: str) -> frozenset[str]:
    """The keywords of a chat template, without those that every template is given."""
    return frozenset(meta.find_undeclared_variables(_parsed(template))) - _ITS_OWN


def switch(template: str, write: Callable[[Mapping[str, Any]], str], *, thinking: bool) -> dict[str, Any]:
    """The keyword and value that turn thinking on or off; empty where the template has no switch.

    write: (options) -> a prompt as the template writes it with these options; it can raise any exception.
    """
    known, texts = keywords(template), {constant.value for constant in _parsed(template).find_all(nodes.Const)}
    for name, values in SWITCHES.items():
        if name not in known or (values[0] == "none" and "none" not in texts):
            continue
        try:
            off, on = (write({name: value}) for value in values)
        except Exception:  # a template can refuse a value with any exception
            continue
        if off != on:
            return {name: values[thinking]}
    return {}


def _parsed(template: str) -> nodes.Template:
    return Environment(extensions=["jinja2.ext.loopcontrols"]).parse(_GENERATION.sub("", template))


def end_tokens(model: Network) -> frozenset[int]:
    """The ids that end an answer: all of the model's end-of-sequence tokens, and its chat template's end of turn."""
    ids: set[int] = set()
    network = getattr(model, "model", None)  # None of a model that is at a server
    for holder in (getattr(network, "config", None), model.tokenizer, getattr(network, "generation_config", None)):
        of_holder = getattr(holder, "eos_token_id", None)
        ids.update([of_holder] if isinstance(of_holder, int) else of_holder or [])
    end_of_turn = _end_of_turn(model) if model.has_chat_template else None
    return frozenset(ids if end_of_turn is None else ids | {end_of_turn})


def vocabulary_texts(model: Network) -> tuple[str, ...]:
    """The text that each token id adds behind a letter: (len(tokenizer),); decoded once for each model.

    Special tokens add nothing; a token with a part of a character adds the replacement character.
    """
    if model.engine.vocabulary is None:
        tokenizer = model.tokenizer
        letter: list[int] = tokenizer("a", add_special_tokens=False)["input_ids"]
        options = {"skip_special_tokens": True, "clean_up_tokenization_spaces": False}
        before = str(tokenizer.decode(letter, **options))
        texts = tokenizer.batch_decode([[*letter, token] for token in range(len(tokenizer))], **options)
        model.engine.vocabulary = tuple(text.removeprefix(before) for text in texts)
    return model.engine.vocabulary


def _end_of_turn(model: Network) -> int | None:
    """The special token that the template writes directly behind the assistant's text."""
    turns = [{"role": "user", "content": "?"}, {"role": "assistant", "content": PROBE}]
    try:
        _, is_written, behind = rendered(model, turns, generation_prompt=False).rpartition(PROBE)
    except Exception:  # then only the end-of-sequence tokens count
        return None
    tokens = model.tokenizer(behind.lstrip(), add_special_tokens=False)["input_ids"]
    return tokens[0] if is_written and tokens and tokens[0] in model.tokenizer.added_tokens_decoder else None


class _Late(Exception):
    """Raised in the middle of what takes too long, or too much."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """TimeoutError where the block takes longer, MemoryError where it fills the memory, between two steps of Python."""
    thread, lock, is_over = ctypes.c_ulong(threading.get_ident()), threading.Lock(), threading.Event()
    until, before, is_full = time.monotonic() + seconds, _resident_bytes(), False

    def watch() -> None:
        nonlocal is_full
        while not is_over.wait(min(_LOOK_SECONDS, max(0.0, until - time.monotonic()))):
            is_full = _resident_bytes() - before > MOST_BYTES
            if is_full or time.monotonic() >= until:
                with lock:
                    if not is_over.is_set():
                        _raise_in_thread(thread, ctypes.py_object(_Late))
                return

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    except _Late:
        if is_full:
            raise MemoryError(f"it takes more than {MOST_BYTES >> 20:,} MiB of memory") from None
        raise TimeoutError(f"it does not end within {seconds:g} s") from None
    finally:
        with lock:
            is_over.set()
            _raise_in_thread(thread, None)  # what was not raised yet must not be raised later


def _resident_bytes() -> int:
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
