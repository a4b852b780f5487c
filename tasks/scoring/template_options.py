"""The keywords that a chat template takes, and the one among them that switches thinking on and off.

Templates are programs of their authors, and nothing declares what they take: a keyword is a name that the template
uses and does not set itself. A switch is a keyword of `SWITCHES` with which the template writes another prompt when
thinking is off than when it is on.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import Environment, meta, nodes

SWITCHES: Mapping[str, tuple[Any, Any]] = {
    "enable_thinking": (False, True), "thinking": (False, True), "enable_reasoning": (False, True),
    "reasoning": (False, True), "reasoning_effort": ("none", "high"), "thinking_budget": (0, -1),
}  # fmt: skip
"""The values of a switch that turn thinking off, and on. A template of `reasoning_effort` has a switch where it names
the value "none"."""
_ITS_OWN = frozenset({
    "add_generation_prompt", "bos_token", "documents", "eos_token", "messages", "pad_token", "raise_exception",
    "strftime_now", "tools", "unk_token",
})  # fmt: skip
_GENERATION = re.compile(r"\{%-?\s*(?:end)?generation\s*-?%\}")


def keywords(template: str) -> frozenset[str]:
    """The keywords of a chat template, without those that every template is given."""
    return frozenset(meta.find_undeclared_variables(_parsed(template))) - _ITS_OWN


def switch(template: str, write: Callable[[Mapping[str, Any]], str], *, thinking: bool) -> dict[str, Any]:
    """The keyword and value that turn thinking on or off; empty where the template has no switch.

    write: (options) -> a prompt as the template writes it with these options; it can raise any exception.
    """
    known = keywords(template)
    for name, values in SWITCHES.items():
        if name not in known or (values[0] == "none" and "none" not in _texts(template)):
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


def _texts(template: str) -> set[Any]:
    return {constant.value for constant in _parsed(template).find_all(nodes.Const)}
