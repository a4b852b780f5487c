"""The texts of a relation: the rules that they keep, and how their slots are filled.

The slots are {entity}, who is asked about, and {answer}; of a pair they are {entity1} and {entity2}. A name is put into
them as it is, whatever it is: "The Beatles", a number, a title with a quotation mark. So nothing may stand at a slot
that goes wrong with such names: no article before it ("the The Beatles"), no ending behind it ("The Beatles's").
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
_ARTICLE = r"\b(?:an?|the)"
_RULES = (
    (re.compile(rf"{_ARTICLE}\s+[\"'“‘(]*\{{", re.IGNORECASE), "has an article directly before a slot"),
    (re.compile(r"\}['’]?\w"), "has an ending directly behind a slot"),
    (re.compile(rf"{_ARTICLE}\s+(?:an?|the)\b", re.IGNORECASE), "has two articles in a row"),
)
_ARTICLE_LAST = re.compile(rf"{_ARTICLE}\s*$", re.IGNORECASE)


def fill(template: str, **names: str | None) -> str:
    """The template with its slots replaced in one pass, so that a name may itself contain braces.

    names: of {entity} and {answer}, or {entity1} and {entity2}. Raises InputError when the template asks for one that
    is not given.
    """

    def name(slot: re.Match[str]) -> str:
        value = names.get(slot[1])
        if value is None:
            raise InputError(f"no {slot[1]} is given for the template {template!r}")
        return value

    return _SLOT.sub(name, template)


def question(template: str, slots: Sequence[str]) -> str:
    """The question with these slots; ValueError where it breaks a rule."""
    if not template.startswith("Q: ") or not template.endswith("?\nA:"):
        raise ValueError(r"must begin with 'Q: ' and end with '?\nA:'")
    return sound(template, slots)


def beginning(template: str, slots: Sequence[str]) -> str:
    """The beginning of a sentence with these slots; ValueError where it breaks a rule."""
    if _ARTICLE_LAST.search(template):
        raise ValueError("ends with an article, which goes wrong with other articles")
    if not template[-1].isalnum():
        raise ValueError("must end with the word before the answer, without a space")
    return sound(template, slots)


def _sentence(template: str) -> str:
    if not template.endswith(".\n"):
        raise ValueError("must end with a full stop and a newline")
    return sound(template, ["{answer}", "{entity}"])


def sound(template: str, slots: Sequence[str]) -> str:
    """The template, which has these slots; ValueError where it breaks a rule that all texts keep."""
    present = sorted(_ANY_SLOT.findall(template))
    if present != list(slots):
        expected = " and ".join(f"{slot} once" for slot in slots)
        raise ValueError(f"must have {expected} and no other slot, not {', '.join(present) or 'none'}")
    for pattern, problem in _RULES:
        if pattern.search(template):
            raise ValueError(problem)
    line = _END.sub("", template)
    if " ".join(line.split()) != line:
        raise ValueError("must be one line, without a space too many")
    return template


OpenQuestion = Annotated[Text, AfterValidator(partial(question, slots=["{entity}"]))]
ClosedQuestion = Annotated[Text, AfterValidator(partial(question, slots=["{answer}", "{entity}"]))]
Beginning = Annotated[Text, AfterValidator(partial(beginning, slots=["{entity}"]))]
"""The beginning of a sentence that an answer completes: it stops where the answer begins."""
Sentence = Annotated[Text, AfterValidator(_sentence)]
