"""The difference of two datasets on the terminal or as JSON: by relation, and the single changes.

What is compared came from the web: nothing of it may move the terminal's cursor, reverse the line or go on without end.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from rich.console import Console
from rich.text import Text

from swaymeter.data.dataset import differences
from swaymeter.data.dataset.dataset import Dataset
from swaymeter.data.dataset.differences import Change, Changed, Difference, RelationDifference, Value
from swaymeter.data.errors import SwaymeterError, UsageError
from swaymeter.data.escaping import visible
from swaymeter.data.records import Fact, Question, as_row
from swaymeter.flows.cli.console import print_line, print_table

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


def compare(old: str, new: str) -> Difference:
    """The difference; UsageError (exit code 2) where one cannot be read: 1 means that they differ, as of any diff."""
    try:
        return differences.difference(Dataset.of(old), Dataset.of(new))
    except SwaymeterError as error:
        raise UsageError(str(error)) from error


def show(console: Console, difference: Difference, *, limit: int) -> None:
    """Both versions, a table of the relations, and at most `limit` single changes of each."""
    for side, dataset in (("A", difference.old), ("B", difference.new)):
        print_line(_about(side, dataset), console)
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
    facts, questions = (
        {"not_compared": left_out, "relations": {relation.relation: _relation_row(relation) for relation in relations}}
        for left_out, relations in (
            (difference.not_compared, difference.relations), (difference.questions_not_compared, difference.questions)
        )
    )  # fmt: skip
    sides = {"a": _dataset_row(difference.old), "b": _dataset_row(difference.new)}
    return json.dumps({**sides, "differs": difference.differs, **facts, "questions": questions}, indent=2)


def _about(side: str, dataset: Dataset) -> str:
    times = f", fetched {' to '.join(dict.fromkeys(dataset.retrieved))}" if dataset.retrieved else ""
    counts = {
        "facts": (len(dataset.facts), len(dataset.relations)),
        "questions": (len(dataset.questions), len(dataset.question_relations)),
    }
    rows = " and ".join(f"{count} {what} of {of} relations" for what, (count, of) in counts.items() if count)
    version = f"version {dataset.version}: {rows} from {visible(', '.join(dataset.sources))}{visible(times)}"
    return f"{side}  {visible(str(dataset.path))}\n   {version}"


def _show_relations(
    console: Console, what: str, relations: Sequence[RelationDifference], not_compared: Sequence[str], limit: int
) -> None:
    if not_compared:
        fields = ", ".join(NAMES.get(field, field) for field in not_compared)
        print_line(f"not compared, since only one of them has it: {fields}", console)
    numbers = ("added", "gone", "changed", "same")
    counts = [(len(each.added), len(each.gone), len(each.changed), each.same) for each in relations]
    rows: list[Sequence[str] | None] = [
        (relation.relation, *map(str, row)) for relation, row in zip(relations, counts, strict=True)
    ]
    if len(counts) > 1:
        rows += [None, ("all", *(str(sum(column)) for column in zip(*counts, strict=True)))]
    print_table(("relation" if what == "facts" else f"{what} about", *numbers), rows, console, numbers=numbers)
    for relation in relations if limit else ():
        lines = list(_lines(relation))
        if lines:
            print_line(Text(f"\n{relation.relation}", style="bold"), console)
        for sign, style, line in lines[:limit]:
            print_line(Text.assemble((f"  {sign} ", style), line), console)
        if len(lines) > limit:
            more = f"{len(lines) - limit} more; --limit {len(lines)} shows them, --json everything"
            print_line(f"  … and {more}", console)


def _lines(relation: RelationDifference) -> Iterator[tuple[str, str, str]]:
    for sign, style, rows in (("-", "red", relation.gone), ("+", "green", relation.added)):
        for row in rows:
            partition = f" ({row.partition})" if isinstance(row, Question) else ""
            yield sign, style, f"{_short(row.subject)} → {_short(row.object)}{partition}"
    for changed in sorted(relation.changed, key=_only_counts):
        row = changed.old  # of a dispute, of which a page may have several, the answer, too
        disputed = isinstance(row, Question) and row.partition == "disputable"
        subject = _short(f"{row.subject} ({row.object})" if disputed else row.subject)
        yield "~", "yellow", f"{subject}: {'; '.join(map(_change_text, changed.changes))}"


def _only_counts(changed: Changed) -> bool:
    return all(change.field.endswith(("degree", "popularity")) for change in changed.changes)


def _short(text: str) -> str:
    return visible(text) if len(text) <= LONGEST else f"{visible(text[:LONGEST])}… ({len(text)} characters)"


def _change_text(change: Change) -> str:
    """A field's old and new value, texts from where they differ; of several names those that were added and removed."""
    name, old, new = NAMES.get(change.field, change.field), change.old, change.new
    if isinstance(old, tuple) and isinstance(new, tuple):
        signed = [f"- {_short(value)}" for value in old if value not in new]
        signed += [f"+ {_short(value)}" for value in new if value not in old]
        return f"{name} {', '.join(signed)}"
    if isinstance(old, str) and isinstance(new, str):
        same = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False))))
        if same > LONGEST - COMMON:
            old, new = f"…{old[same - COMMON :]}", f"…{new[same - COMMON :]}"
    return f"{name} {_value(old)} → {_value(new)}"


def _value(value: Value) -> str:
    return "none" if value is None else _short(str(value))


def _dataset_row(dataset: Dataset) -> dict[str, Any]:
    counts = {"facts": len(dataset.facts), "questions": len(dataset.questions)}
    about = {name: getattr(dataset, name) for name in ("version", "sources", "retrieved", "warnings")}
    return {"path": str(dataset.path), **counts, **about}


def _relation_row(relation: RelationDifference) -> dict[str, Any]:
    rows = {name: [as_row(row) for row in getattr(relation, name)] for name in ("added", "gone")}
    return {**rows, "changed": [_changed_row(changed) for changed in relation.changed], "same": relation.same}


def _changed_row(changed: Changed) -> dict[str, Any]:
    identity = ("subject_id", "property_id", "page", "object", "partition")
    names = ("subject", *(("subject_uri",) if isinstance(changed.new, Fact) else identity))
    changes = [{"field": change.field, "from": change.old, "to": change.new} for change in changed.changes]
    return {**{name: getattr(changed.new, name) for name in names}, "changes": changes}
