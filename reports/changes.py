"""What changed from one dataset to another, in lines for people: what is added, what is gone, what says something else.

What is compared came from the web: nothing of it may move a terminal's cursor, reverse the line or go on without end.
"""

from collections.abc import Iterator
from itertools import takewhile

from swaymeter.data.dataset.differences import Change, Changed, RelationDifference, Value
from swaymeter.data.escaping import visible
from swaymeter.data.records import Question

LONGEST = 160
"""Characters of a name that are printed; a longer one is cut, and its length printed."""

NAMES = {
    "subject": "name", "subject_id": "Wikidata id", "object_id": "object's Wikidata id", "subject_uri": "IRI",
    "object_uri": "object's IRI", "other_objects": "further objects", "subject_degree": "degree",
    "subject_relation_degree": "degree in the relation", "object_degree": "object's degree",
    "object_relation_degree": "object's degree in the relation", "property_id": "property's Wikidata id",
    "replacement": "counter-memory answer", "replacement_id": "counter-memory answer's Wikidata id",
    "original_context": "context", "counter_memory_context": "counter-memory context",
    "hidden_edits": "hidden edits", "subject_popularity": "page views", "object_popularity": "object's page views",
}  # fmt: skip
"""What the fields of a fact or a question are called, where that is not their name."""

COMMON = 40
"""Characters that are printed before the first in which two long texts differ."""


def lines_of(relation: RelationDifference) -> Iterator[tuple[str, str]]:
    """The changes of a relation, each with a sign: - what is gone, + what is added, ~ what says something else."""
    for sign, rows in (("-", relation.gone), ("+", relation.added)):
        for row in rows:
            partition = f" ({row.partition})" if isinstance(row, Question) else ""
            yield sign, f"{short(row.subject)} → {short(row.object)}{partition}"
    for changed in sorted(relation.changed, key=_only_counts):
        row = changed.old  # of a dispute, of which a page may have several, the answer, too
        disputed = isinstance(row, Question) and row.partition == "disputable"
        subject = short(f"{row.subject} ({row.object})" if disputed else row.subject)
        yield "~", f"{subject}: {'; '.join(map(_change_text, changed.changes))}"


def _only_counts(changed: Changed) -> bool:
    return all(change.field.endswith(("degree", "popularity")) for change in changed.changes)


def short(text: str) -> str:
    """The visible text, cut where it is long."""
    return visible(text) if len(text) <= LONGEST else f"{visible(text[:LONGEST])}… ({len(text)} characters)"


def _change_text(change: Change) -> str:
    """A field's old and new value, texts from where they differ; of several names those that were added and removed."""
    name, old, new = NAMES.get(change.field, change.field), change.old, change.new
    if isinstance(old, tuple) and isinstance(new, tuple):
        signed = [f"- {short(value)}" for value in old if value not in new]
        signed += [f"+ {short(value)}" for value in new if value not in old]
        return f"{name} {', '.join(signed)}"
    if isinstance(old, str) and isinstance(new, str):
        old, new = _from_where_they_differ(old, new)
    return f"{name} {_value(old)} → {_value(new)}"


def told_apart(old: str, new: str) -> tuple[str, str]:
    """Two texts, cut where they are long, from where they differ."""
    first, second = _from_where_they_differ(old, new)
    return short(first), short(second)


def _from_where_they_differ(old: str, new: str) -> tuple[str, str]:
    same = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False))))
    return (f"…{old[same - COMMON :]}", f"…{new[same - COMMON :]}") if same > LONGEST - COMMON else (old, new)


def _value(value: Value) -> str:
    return "none" if value is None else short(str(value))
