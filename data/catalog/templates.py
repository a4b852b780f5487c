"""The texts of a relation: the rules that they keep, and how their slots are filled.

The slots are {entity}, who is asked about, and {answer}. A name is put into them as it is, whatever it is: "The
Beatles", a number, a title with a quotation mark. So nothing may stand at a slot that goes wrong with such names: no
article before it ("the The Beatles"), no ending behind it ("The Beatles's").
"""

import re
from functools import partial
from typing import Annotated

from pydantic import AfterValidator

from data.catalog.reading import Text
from data.errors import InputError

_SLOT = re.compile(r"\{(entity|answer)\}")
_ANY_SLOT = re.compile(r"\{[^{}]*\}|[{}]")
_END = re.compile(r"\??\n(A:)?\Z")
_ARTICLE = r"\b(?:an?|the)"
_RULES = (
    (re.compile(rf"{_ARTICLE}\s+[\"'“‘(]*\{{", re.IGNORECASE), "has an article directly before a slot"),
    (re.compile(r"\}['’]?\w"), "has an ending directly behind a slot"),
    (re.compile(rf"{_ARTICLE}\s+(?:an?|the)\b", re.IGNORECASE), "has two articles in a row"),
)
_ARTICLE_LAST = re.compile(rf"{_ARTICLE}\s*$", re.IGNORECASE)


def fill(template: str, *, entity: str, answer: str | None = None) -> str:
    """The template with {entity} and {answer} replaced in one pass, so that a name may itself contain braces.

    Raises InputError when the template asks for an answer and none is given.
    """
    names = {"entity": entity, "answer": answer}

    def name(slot: re.Match[str]) -> str:
        value = names[slot[1]]
        if value is None:
            raise InputError(f"no answer is given for the template {template!r}")
        return value

    return _SLOT.sub(name, template)


def _question(template: str, slots: list[str]) -> str:
    if not template.startswith("Q: ") or not template.endswith("?\nA:"):
        raise ValueError(r"must begin with 'Q: ' and end with '?\nA:'")
    return _sound(template, slots)


def _beginning(template: str) -> str:
    if _ARTICLE_LAST.search(template):
        raise ValueError("ends with an article, which goes wrong with other articles")
    if not template[-1].isalnum():
        raise ValueError("must end with the word before the answer, without a space")
    return _sound(template, ["{entity}"])


def _sentence(template: str) -> str:
    if not template.endswith(".\n"):
        raise ValueError("must end with a full stop and a newline")
    return _sound(template, ["{answer}", "{entity}"])


def _sound(template: str, slots: list[str]) -> str:
    present = sorted(_ANY_SLOT.findall(template))
    if present != slots:
        expected = " and ".join(f"{slot} once" for slot in slots)
        raise ValueError(f"must have {expected} and no other slot, not {', '.join(present) or 'none'}")
    for pattern, problem in _RULES:
        if pattern.search(template):
            raise ValueError(problem)
    line = _END.sub("", template)
    if " ".join(line.split()) != line:
        raise ValueError("must be one line, without a space too many")
    return template


OpenQuestion = Annotated[Text, AfterValidator(partial(_question, slots=["{entity}"]))]
ClosedQuestion = Annotated[Text, AfterValidator(partial(_question, slots=["{answer}", "{entity}"]))]
Beginning = Annotated[Text, AfterValidator(_beginning)]
"""The beginning of a sentence that an answer completes: it stops where the answer begins."""
Sentence = Annotated[Text, AfterValidator(_sentence)]
