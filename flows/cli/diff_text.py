"""Names, rows and changes of `swaymeter diff` as text that is safe to print on a terminal.

What is compared came from the web: nothing of it may move the cursor, reverse the line or go on without end.
"""

from itertools import takewhile
from unicodedata import category

from data.dataset.differences import Change, Value
from data.records import Fact, Question

LONGEST = 160
"""Characters of a name that are printed; a longer one is cut, and its length printed."""

NAMES = {
    "subject": "name",
    "object": "object",
    "subject_id": "Wikidata id",
    "object_id": "object's Wikidata id",
    "subject_uri": "IRI",
    "object_uri": "object's IRI",
    "other_objects": "further objects",
    "subject_degree": "degree",
    "subject_relation_degree": "degree in the relation",
    "object_degree": "object's degree",
    "object_relation_degree": "object's degree in the relation",
    "property_id": "property's Wikidata id",
    "replacement": "counter-memory answer",
    "replacement_id": "counter-memory answer's Wikidata id",
    "original_context": "context",
    "counter_memory_context": "counter-memory context",
    "hidden_edits": "hidden edits",
    "subject_popularity": "page views",
    "object_popularity": "object's page views",
}
"""What the fields of a fact or a question are called, where that is not their name."""

COMMON = 40
"""Characters that are printed before the first in which two long texts differ."""


def visible(text: str) -> str:
    """The text with every invisible or direction-changing character written as its code point."""
    return "".join(sign if sign == " " or category(sign)[0] not in "CZ" else _code_point(sign) for sign in text)


def short(text: str) -> str:
    """The text, visible, and cut where it is long."""
    return visible(text) if len(text) <= LONGEST else f"{visible(text[:LONGEST])}… ({len(text)} characters)"


def row_text(row: Fact | Question) -> str:
    """A fact, or a question with its partition."""
    partition = f" ({row.partition})" if isinstance(row, Question) else ""
    return f"{short(row.subject)} → {short(row.object)}{partition}"


def subject_of(row: Fact | Question) -> str:
    """The subject; of a dispute, of which a page may have several, the answer, too."""
    disputed = isinstance(row, Question) and row.partition == "disputable"
    return f"{row.subject} ({row.object})" if disputed else row.subject


def change_text(change: Change) -> str:
    """A field's old and new value, texts from where they differ; of several names those that were added and removed."""
    name, old, new = field_name(change.field), change.old, change.new
    if isinstance(old, tuple) and isinstance(new, tuple):
        signed = [f"- {short(value)}" for value in old if value not in new]
        signed += [f"+ {short(value)}" for value in new if value not in old]
        return f"{name} {', '.join(signed)}"
    if isinstance(old, str) and isinstance(new, str):
        same = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False))))
        if same > LONGEST - COMMON:
            old, new = f"…{old[same - COMMON :]}", f"…{new[same - COMMON :]}"
    return f"{name} {_value(old)} → {_value(new)}"


def field_name(field: str) -> str:
    """What a field is called."""
    return NAMES.get(field, field)


def _value(value: Value) -> str:
    return "none" if value is None else short(str(value))


def _code_point(sign: str) -> str:
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"
