"""Templates of the texts of a relation: the rules that they follow, and the replacement of their slots.

The slots are {entity} (the entity of a query) and {answer}; a pair of entities has {entity1} and {entity2}.
Names are inserted unchanged, such as "The Beatles". A template may therefore have no article directly before a slot
("the The Beatles") and no ending directly after a slot ("The Beatles's").
"""

import re
from collections.abc import Sequence
from functools import partial
from typing import Annotated

from pydantic import AfterValidator

from swaymeter.data.catalog.reading import Text
from swaymeter.data.errors import InputError

_SLOT = re.compile(r"\{(entity[12]?|answer)\}")
_ANY_SLOT = re.compile(r"\{[^{}]*\}|[{}]")
_END = re.compile(r"\??\n(A:)?\Z")
"""The end of a question ("?\\nA:") or of a sentence ("\\n"); a text may have no other line break."""
_ARTICLE = r"\b(?:an?|the)"
_RULES = (
    (re.compile(rf"{_ARTICLE}\s+[\"'“‘(]*\{{", re.IGNORECASE), "has an article directly before a slot"),
    (re.compile(r"\}['’]?\w"), "has an ending directly after a slot"),
    (re.compile(rf"{_ARTICLE}\s+(?:an?|the)\b", re.IGNORECASE), "has two articles in a row"),
)
_ARTICLE_LAST = re.compile(rf"{_ARTICLE}\s*$", re.IGNORECASE)


def fill(template: str, **names: str | None) -> str:
    """Replace the slots of a template in one pass, so that a name may contain braces.

    Args:
        template: the template.
        names: the name for each slot, such as entity="Norway" and answer="Oslo".

    Raises:
        InputError: a slot of the template has no text.
    """

    def text_for(slot: re.Match[str]) -> str:
        text = names.get(slot[1])
        if text is None:
            raise InputError(f"the slot {slot[0]} of the template {template!r} has no value")
        return text

    return _SLOT.sub(text_for, template)


def checked_question(template: str, slots: Sequence[str]) -> str:
    """Return the template if it is a question with exactly these slots; ValueError if it breaks a rule."""
    if not template.startswith("Q: ") or not template.endswith("?\nA:"):
        raise ValueError(r"must begin with 'Q: ' and end with '?\nA:'")
    return checked_template(template, slots)


def checked_beginning(template: str, slots: Sequence[str]) -> str:
    """Return the template if it begins a sentence and has exactly these slots; ValueError if it breaks a rule."""
    if _ARTICLE_LAST.search(template):
        raise ValueError("must not end with an article, because the answer may need another article or none")
    if not template[-1].isalnum():
        raise ValueError("must end with a letter or a digit, because a space and the answer follow")
    return checked_template(template, slots)


def _checked_sentence(template: str) -> str:
    if not template.endswith(".\n"):
        raise ValueError("must end with a full stop and a newline")
    return checked_template(template, ["{answer}", "{entity}"])


def checked_template(template: str, slots: Sequence[str]) -> str:
    """Return the template if it has exactly these slots; ValueError if it breaks a rule that holds for all texts.

    Args:
        template: the template.
        slots: the slots in alphabetical order, such as {answer} and {entity}.
    """
    present = sorted(_ANY_SLOT.findall(template))
    if present != list(slots):
        expected = " and ".join(f"{slot} once" for slot in slots)
        raise ValueError(f"must have {expected} and no other slot; the text has {', '.join(present) or 'none'}")
    for pattern, problem in _RULES:
        if pattern.search(template):
            raise ValueError(problem)
    line = _END.sub("", template)
    if " ".join(line.split()) != line:
        raise ValueError("must be one line without leading, trailing or double spaces")
    return template


OpenQuestion = Annotated[Text, AfterValidator(partial(checked_question, slots=["{entity}"]))]
ClosedQuestion = Annotated[Text, AfterValidator(partial(checked_question, slots=["{answer}", "{entity}"]))]
Beginning = Annotated[Text, AfterValidator(partial(checked_beginning, slots=["{entity}"]))]
"""The beginning of a sentence that an answer completes; it ends before the answer."""
Sentence = Annotated[Text, AfterValidator(_checked_sentence)]
