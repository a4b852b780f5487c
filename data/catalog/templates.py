"""The texts of a relation: the rules that they keep, and how their slots are filled.

The slots are {entity}, who is asked about, and {answer}. A name is put into them as it is, whatever it is: "The
Beatles", a number, a title with a quotation mark. So nothing may stand at a slot that goes wrong with such names: no
article before it ("the The Beatles"), no ending behind it ("The Beatles's").
"""

import re
from collections.abc import Collection

from data.errors import InputError

OPEN_SLOTS = ("{entity}",)
CLOSED_SLOTS = ("{answer}", "{entity}")

_SLOT = re.compile(r"\{(entity|answer)\}")
_ANY_SLOT = re.compile(r"\{[^{}]*\}|[{}]")
_ARTICLE_BEFORE = re.compile(r"\b(?:an?|the)\s+[\"'“‘(]*\{", re.IGNORECASE)
_ENDING_BEHIND = re.compile(r"\}['’]?\w")
_TWO_ARTICLES = re.compile(r"\b(?:an?|the)\s+(?:an?|the)\b", re.IGNORECASE)
_ARTICLE_LAST = re.compile(r"\b(?:an?|the)$", re.IGNORECASE)
_QUESTION_START, _QUESTION_END = "Q: ", "?\nA:"


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


def check_question(where: str, template: str, slots: Collection[str]) -> None:
    """Refuses, with an InputError that begins with `where`, what is no "Q: …?", line break, "A:" with those slots."""
    if not template.startswith(_QUESTION_START):
        raise InputError(f"{where} must begin with {_QUESTION_START!r}: {template!r}")
    if not template.endswith(_QUESTION_END):
        raise InputError(f"{where} must end with {_QUESTION_END!r}: {template!r}")
    _check(where, template, template[: -len(_QUESTION_END)], slots)


def check_beginning(where: str, template: str) -> None:
    """Refuses what is no beginning of a sentence that an answer completes: it stops where the answer begins."""
    if _ARTICLE_LAST.search(template.rstrip()):
        raise InputError(f"{where} ends with an article, which goes wrong with other articles: {template!r}")
    if not template[-1].isalnum():
        raise InputError(f"{where} must end with the word before the answer, without a space: {template!r}")
    _check(where, template, template, OPEN_SLOTS)


def check_context(where: str, template: str) -> None:
    """Refuses what is no sentence of its own line with both slots."""
    if not template.endswith("\n"):
        raise InputError(f"{where} must end with a newline: {template!r}")
    if not template.endswith(".\n"):
        raise InputError(f"{where} must end with a full stop and a newline: {template!r}")
    _check(where, template, template[:-1], CLOSED_SLOTS)


def _check(where: str, template: str, line: str, slots: Collection[str]) -> None:
    present = sorted(_ANY_SLOT.findall(template))
    if present != sorted(slots):
        expected = " and ".join(f"{slot} once" for slot in sorted(slots))
        raise InputError(
            f"{where} must have {expected} and no other slot, not {', '.join(present) or 'none'}: {template!r}"
        )
    for form, what in (
        (_ARTICLE_BEFORE, "has an article directly before a slot"),
        (_ENDING_BEHIND, "has an ending directly behind a slot"),
        (_TWO_ARTICLES, "has two articles in a row"),
    ):
        if form.search(template):
            raise InputError(f"{where} {what}: {template!r}")
    if " ".join(line.split()) != line:
        raise InputError(f"{where} must be one line, without a space too many: {template!r}")
