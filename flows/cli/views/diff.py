"""The difference of two datasets on the terminal or as JSON: by relation, and the single changes.

What is compared came from the web: nothing of it may move the terminal's cursor, reverse the line or go on without end.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any
from unicodedata import category

from rich.console import Console
from rich.table import Table
from rich.text import Text

from swaymeter.data.dataset import differences
from swaymeter.data.dataset.dataset import Dataset
from swaymeter.data.dataset.differences import Change, Changed, Difference, RelationDifference, Value
from swaymeter.data.errors import SwaymeterError, UsageError
from swaymeter.data.records import Fact, Question, as_row

Relation = RelationDifference[Any]

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


def compare(old: str, new: str) -> Difference:
    """The difference; UsageError (exit code 2) where one cannot be read: 1 means that they differ, as of any diff."""
    try:
        return differences.difference(Dataset.of(old), Dataset.of(new))
    except SwaymeterError as error:
        raise UsageError(str(error)) from error


def show(console: Console, difference: Difference, *, limit: int) -> None:
    """Both versions, a table of the relations, and at most `limit` single changes of each."""
    for side, dataset in (("A", difference.old), ("B", difference.new)):
        console.print(_about(side, dataset), soft_wrap=True)
    if difference.relations:
        _show_relations(console, "facts", difference.relations, difference.not_compared, limit)
    if difference.questions:
        _show_relations(console, "questions", difference.questions, difference.questions_not_compared, limit)
    if not difference.differs and difference.old.version == difference.new.version:
        console.print("They are the same.")
    elif not difference.differs:
        what = "fact" if not difference.questions else "fact and no question" if difference.relations else "question"
        console.print(f"No {what} differs; the versions do, since they count sources and what was not compared.")


def as_json(difference: Difference) -> str:
    """All of it, as JSON in ASCII: no name can control the terminal."""
    document = {
        "a": _dataset_row(difference.old),
        "b": _dataset_row(difference.new),
        "differs": difference.differs,
        "not_compared": difference.not_compared,
        "relations": {relation.relation: _relation_row(relation) for relation in difference.relations},
        "questions": {
            "not_compared": difference.questions_not_compared,
            "relations": {relation.relation: _relation_row(relation) for relation in difference.questions},
        },
    }
    return json.dumps(document, indent=2)


def _about(side: str, dataset: Dataset) -> Text:
    times = f", fetched {' to '.join(dict.fromkeys(dataset.retrieved))}" if dataset.retrieved else ""
    counts = {
        "facts": (len(dataset.facts), len(dataset.relations)),
        "questions": (len(dataset.questions), len(dataset.question_relations)),
    }
    rows = " and ".join(f"{count} {what} of {of} relations" for what, (count, of) in counts.items() if count)
    return Text(
        f"{side}  {visible(str(dataset.path))}\n   version {dataset.version}: {rows} "
        f"from {visible(', '.join(dataset.sources))}{visible(times)}"
    )


def _show_relations(
    console: Console, what: str, relations: Sequence[Relation], not_compared: Sequence[str], limit: int
) -> None:
    if not_compared:
        fields = ", ".join(map(_field_name, not_compared))
        console.print(Text(f"not compared, since only one of them has it: {fields}"), soft_wrap=True)
    table = Table("relation" if what == "facts" else f"{what} about")
    for name in ("added", "gone", "changed", "same"):
        table.add_column(name, justify="right")
    counts = [(len(each.added), len(each.gone), len(each.changed), each.same) for each in relations]
    for relation, row in zip(relations, counts, strict=True):
        table.add_row(Text(relation.relation), *map(str, row))
    if len(counts) > 1:
        table.add_section()
        table.add_row("all", *(str(sum(column)) for column in zip(*counts, strict=True)))
    console.print(table)
    for relation in relations:
        if relation.differs and limit:
            _show_changes(console, relation, limit)


def _show_changes(console: Console, relation: Relation, limit: int) -> None:
    lines = list(_lines(relation))
    console.print(Text(f"\n{relation.relation}", style="bold"))
    for sign, style, line in lines[:limit]:
        console.print(Text.assemble((f"  {sign} ", style), line), soft_wrap=True)
    if len(lines) > limit:
        more = f"  … and {len(lines) - limit} more; --limit {len(lines)} shows them, --json everything"
        console.print(Text(more), soft_wrap=True)


def _lines(relation: Relation) -> Iterator[tuple[str, str, str]]:
    for row in relation.gone:
        yield "-", "red", _row_text(row)
    for row in relation.added:
        yield "+", "green", _row_text(row)
    for changed in sorted(relation.changed, key=_only_counts):
        yield "~", "yellow", f"{_short(_subject_of(changed.old))}: {'; '.join(map(_change_text, changed.changes))}"


def _only_counts(changed: Changed[Any]) -> bool:
    return all(change.field.endswith(("degree", "popularity")) for change in changed.changes)


def visible(text: str) -> str:
    """The text with every invisible or direction-changing character written as its code point."""
    return "".join(sign if sign == " " or category(sign)[0] not in "CZ" else _code_point(sign) for sign in text)


def _short(text: str) -> str:
    return visible(text) if len(text) <= LONGEST else f"{visible(text[:LONGEST])}… ({len(text)} characters)"


def _row_text(row: Fact | Question) -> str:
    partition = f" ({row.partition})" if isinstance(row, Question) else ""
    return f"{_short(row.subject)} → {_short(row.object)}{partition}"


def _subject_of(row: Fact | Question) -> str:
    """The subject; of a dispute, of which a page may have several, the answer, too."""
    disputed = isinstance(row, Question) and row.partition == "disputable"
    return f"{row.subject} ({row.object})" if disputed else row.subject


def _change_text(change: Change) -> str:
    """A field's old and new value, texts from where they differ; of several names those that were added and removed."""
    name, old, new = _field_name(change.field), change.old, change.new
    if isinstance(old, tuple) and isinstance(new, tuple):
        signed = [f"- {_short(value)}" for value in old if value not in new]
        signed += [f"+ {_short(value)}" for value in new if value not in old]
        return f"{name} {', '.join(signed)}"
    if isinstance(old, str) and isinstance(new, str):
        same = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False))))
        if same > LONGEST - COMMON:
            old, new = f"…{old[same - COMMON :]}", f"…{new[same - COMMON :]}"
    return f"{name} {_value(old)} → {_value(new)}"


def _field_name(field: str) -> str:
    return NAMES.get(field, field)


def _value(value: Value) -> str:
    return "none" if value is None else _short(str(value))


def _code_point(sign: str) -> str:
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"


def _dataset_row(dataset: Dataset) -> dict[str, Any]:
    return {
        "path": str(dataset.path),
        "version": dataset.version,
        "facts": len(dataset.facts),
        "questions": len(dataset.questions),
        "sources": dataset.sources,
        "retrieved": dataset.retrieved,
        "warnings": dataset.warnings,
    }


def _relation_row(relation: Relation) -> dict[str, Any]:
    return {
        "added": [as_row(row) for row in relation.added],
        "gone": [as_row(row) for row in relation.gone],
        "changed": [_changed_row(changed) for changed in relation.changed],
        "same": relation.same,
    }


def _changed_row(changed: Changed[Any]) -> dict[str, Any]:
    identity = ("subject_id", "property_id", "page", "object", "partition")
    names = ("subject", *(("subject_uri",) if isinstance(changed.new, Fact) else identity))
    changes = [{"field": change.field, "from": change.old, "to": change.new} for change in changed.changes]
    return {**{name: getattr(changed.new, name) for name in names}, "changes": changes}
