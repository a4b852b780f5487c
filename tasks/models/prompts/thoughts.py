"""Thoughts: text that a model writes before its answer, between marks that its tokenizer or its family defines.

Thoughts without marks are found only under a heading "Thinking Process:"; they end before the last paragraph.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from swaymeter.data.errors import ModelError

WINDOW = 64
"""Number of tokens into which any mark fits, even if each letter of the mark is a token."""


class Marks(NamedTuple):
    """Patterns of the marks that open and close thoughts."""

    open: re.Pattern[str]
    close: re.Pattern[str]


_TEXTS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<|channel>thought", "<channel|>"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
)
_HARMONY = Marks(  # the format of gpt-oss, whose channel `final` has the answer
    re.compile(r"<\|channel\|>(?:analysis<\|message\|>)?"),
    re.compile(r"(?:<\|end\|>(?:<\|start\|>assistant)?)?<\|channel\|>final<\|message\|>"),
)
MARKS = (*(Marks(re.compile(re.escape(opens)), re.compile(re.escape(closes))) for opens, closes in _TEXTS), _HARMONY)

_MARK = re.compile(
    f"(?P<close>{'|'.join(mark.close.pattern for mark in MARKS)})|{'|'.join(mark.open.pattern for mark in MARKS)}",
    re.IGNORECASE,
)
_ANSWER_MARKS = re.compile(
    r"^\s*<(?:answer|response)>|</(?:answer|response)>\s*$|<\|(?:START|END)_RESPONSE\|>|<\|(?:begin|end)_of_solution\|>"
)
_CHANNELS = re.compile(r"\s*analysis(?=[A-Z\s])(?P<thoughts>.*assistant\s*final)?", re.DOTALL)
"""The channels of the Harmony format in a text that has lost its special tokens: "analysis ... assistantfinal"."""
_HEADING = re.compile(r"\W*(?:thinking|thought|reasoning) process\W*:", re.IGNORECASE)  # **Thinking Process:**
_PARAGRAPHS = re.compile(r"\n\s*\n")
# Names of the field for thoughts in a response template.
_FIELDS = ("thinking", "reasoning_content", "reasoning", "thoughts")


def without_thoughts(text: str) -> str | None:
    """Return a reply without its thoughts and the marks of the answer; None if the thoughts do not end."""
    marks = list(_MARK.finditer(text))
    if marks and marks[-1]["close"] is None:
        return None
    if marks:
        text = text[marks[-1].end() :]
    elif (channels := _CHANNELS.match(text)) and (channels["thoughts"] or channels.end() == len(text)):
        text = text[channels.end() :]
    elif _HEADING.match(text):
        *thoughts, text = _PARAGRAPHS.split(text.strip())
        if len(thoughts) < 2:
            return None
    return _ANSWER_MARKS.sub("", text)


def has_opening_mark(text: str) -> bool:
    """Return True if a text, such as a chat template, contains a mark that opens thoughts."""
    return any(mark["close"] is None for mark in _MARK.finditer(text))


def opened_thoughts(tokenizer: Any, prompt: Sequence[int]) -> Marks | None:
    """Return the marks of the thoughts that a prompt opens at its end, so that a reply begins within them."""
    text = text_of(tokenizer, prompt[-WINDOW:])
    for marks in marks_of(tokenizer):
        if any(not text[mark.end() :].strip() for mark in marks.open.finditer(text)):
            return marks
    return None


def begins_thoughts(tokenizer: Any, reply: Sequence[int]) -> bool:
    """Return True if a reply with these first tokens opens thoughts."""
    text = text_of(tokenizer, reply).lstrip()
    return any(marks.open.match(text) for marks in marks_of(tokenizer))


def text_of(tokenizer: Any, tokens: Sequence[int]) -> str:
    """Return the text of tokens, marks included."""
    return str(tokenizer.decode(list(tokens), skip_special_tokens=False, clean_up_tokenization_spaces=False))


def marks_of(tokenizer: Any) -> tuple[Marks, ...]:
    """Return the marks that a model may use, those of its tokenizer's response template first."""
    fields = (getattr(tokenizer, "response_template", None) or {}).get("fields", {})
    thoughts: Mapping[str, Any] = next((fields[name] for name in _FIELDS if name in fields), {})
    opens = _mark_pattern(thoughts, "open")
    # The mark that opens the answer closes the thoughts, because other messages may stand between thoughts and answer.
    closes = _mark_pattern(fields.get("content", {}), "open") or _mark_pattern(thoughts, "close")
    try:
        return (Marks(re.compile(opens), re.compile(closes)), *MARKS) if opens and closes else MARKS
    except re.error as error:
        name = getattr(tokenizer, "name_or_path", "")
        raise ModelError(
            f"the response template of the tokenizer {name!r} has an invalid regular expression ({error}); correct "
            "the expression"
        ) from error


def _mark_pattern(field: Mapping[str, Any], name: str) -> str:
    """Return the pattern of the mark `name` ("open" or "close") in a response template's field; "" without a mark."""
    texts = field.get(name, [])
    literal = "|".join(re.escape(text) for text in ([texts] if isinstance(texts, str) else texts))
    return literal or str(field.get(f"{name}_pattern", ""))
