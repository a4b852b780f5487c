"""Lists and ordered steps, compared as sets and as sequences.

    lists       "red, white and blue", "grey/green", "1) red 2) blue", lines with bullets or numbers: a set of items
    sequences   "flour, then butter", "flour → butter", or any list if the question asks for an order or for steps

A list in a reply states an answer if both have the same number of items, and each item of the answer is part of a
different item of the reply. For example, "passport" is part of "A valid passport". A date or a number with a comma is
no list.
"""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from swaymeter.data.wording.word import MONTHS, Texts, texts_of
from swaymeter.data.wording.words import words
from swaymeter.tasks.scoring.wording.mentions import is_part

_MAX_ITEMS = 12
_MAX_WORDS = 4
"""Limit of the words of an item; a longer part is a sentence."""
_ARROW = re.compile(r"\s*(?:→|⇒|->|=>|➔|>)\s*")
_NUMBERED = re.compile(r"(?:^|(?<=[\s,;]))\(?(?:\d{1,2}|[a-h])[).]\s+", re.IGNORECASE)
_BULLET = re.compile(r"^[ \t]*(?:[-*•–+]|\(?\d{1,2}[).:]|\(?[a-h]\))[ \t]+(?=\S)(.+)$", re.MULTILINE)
_THEN = re.compile(
    r"[,;]?\s*(?:and )?\b(?:then|followed by|afterwards|dann|danach|puis|luego)\b[,:]?\s*", re.IGNORECASE
)
_SEPARATORS = re.compile(r"[,;/&]|\b(?:and|und|et|y|e)\b")
_NUMBER_WITH_COMMA = re.compile(r"\d, ?\d")
ORDERING = frozenset(("order", "sequence", "step", "reihenfolge", "schritt", "ordre", "orden"))
"""Words of a question that asks for an order or for steps."""


class Items(NamedTuple):
    """The items of an answer that is a list.

    Attributes:
        items: The words of each item.
        are_ordered: True if the order of the items matters.
    """

    items: tuple[Texts, ...]
    are_ordered: bool


def items_of_answer(written: str, question_words: Collection[str] = ()) -> Items | None:
    """Return the items of an answer that is a list; None for any other answer.

    Args:
        written: The answer.
        question_words: The normal forms of the question's words.
    """
    are_ordered = not ORDERING.isdisjoint(question_words)
    for separator in (_ARROW, _THEN):
        if len(parts := separator.split(written)) > 1:
            are_ordered = True
            break
    else:
        parts = [part.strip(" ,;") for part in _NUMBERED.split(written)]
        if len(parts) < 3:  # the text before the first number, and at most one item
            if _NUMBER_WITH_COMMA.search(written):
                return None
            parts = _SEPARATORS.split(written)
    items = tuple(filter(None, (texts_of(words(part)) for part in parts)))
    is_list = 1 < len(items) <= _MAX_ITEMS and all(len(item) <= _MAX_WORDS for item in items)
    has_month = any(set(item).intersection(MONTHS) for item in items)
    return Items(items, are_ordered) if is_list and not has_month else None


def items_of_reply(text: str) -> tuple[Texts, ...]:
    """Return the items of a reply with bullets, numbers or arrows; empty for any other reply."""
    parts = _BULLET.findall(text)
    if len(parts) < 2 and len(text) < 200:
        parts = _ARROW.split(text) if "→" in text or "->" in text else []
    return tuple(texts_of(words(part)) for part in parts) if len(parts) > 1 else ()


def states_items(reply: Sequence[Texts], answer: Items) -> bool:
    """Return True if a reply states each item of an answer, in the answer's order if the order matters."""
    if len(reply) != len(answer.items):
        return False
    if answer.are_ordered:
        return all(_states_item(entry, item) for item, entry in zip(answer.items, reply, strict=True))
    unmatched = list(reply)
    for item in sorted(answer.items, key=len, reverse=True):
        fitting = next((entry for entry in unmatched if _states_item(entry, item)), None)
        if fitting is None:
            return False
        unmatched.remove(fitting)
    return True


def _states_item(text: Texts, item: Texts) -> bool:
    return "not" not in text and is_part(item, text)
