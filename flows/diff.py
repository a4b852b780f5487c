"""What `swaymeter diff` says: two datasets, what changed from one to the other by relation, and the single changes."""

import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from data.dataset import Dataset
from data.dataset_diff import Change, ChangedFact, Difference, RelationDifference, Value, difference
from data.errors import SwaymeterError, UsageError
from data.records import Fact, as_row

LONGEST = 160
"""Characters of a name that are shown; a longer one is cut in sight."""

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
}
"""What the fields of a fact are called."""


def compare(old: str, new: str) -> Difference:
    """What changed from one dataset to another; UsageError where one cannot be read.

    As with other programs of that name, exit code 1 says that they differ, so trouble must be another one.
    """
    try:
        return difference(Dataset.of(Path(old)), Dataset.of(Path(new)))
    except SwaymeterError as error:
        raise UsageError(str(error)) from error


def show(console: Console, found: Difference, *, limit: int) -> None:
    """Both versions, a table of the relations, and at most `limit` single changes of each."""
    for side, dataset in (("A", found.old), ("B", found.new)):
        console.print(_about(side, dataset), soft_wrap=True)
    if found.not_compared:
        said = ", ".join(NAMES.get(field, field) for field in found.not_compared)
        console.print(Text(f"not compared, since only one of them says it: {said}"), soft_wrap=True)
    console.print(_table(found))
    for relation in found.relations:
        if relation.differs and limit:
            _show_changes(console, relation, limit)
    if not found.differs and found.old.version == found.new.version:
        console.print("They are the same.")
    elif not found.differs:
        console.print("No fact differs; the versions do, since they count sources and what was not compared.")


def as_json(found: Difference) -> str:
    """All of it, as JSON in ASCII: nothing in a name can reach the terminal as anything but a letter."""
    made = {
        "a": _dataset_row(found.old),
        "b": _dataset_row(found.new),
        "differs": found.differs,
        "not_compared": list(found.not_compared),
        "relations": {relation.relation: _relation_row(relation) for relation in found.relations},
    }
    return json.dumps(made, indent=2)


def visible(text: str) -> str:
    """The text with everything that cannot be seen, or turns what is around it, written as its number."""
    return "".join(sign if _is_seen(sign) else _number(sign) for sign in text)


def _is_seen(sign: str) -> bool:
    return sign == " " or unicodedata.category(sign)[0] not in "CZ"


def _number(sign: str) -> str:
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"


def _short(text: str) -> str:
    return visible(text) if len(text) <= LONGEST else f"{visible(text[:LONGEST])}… ({len(text)} characters)"


def _about(side: str, dataset: Dataset) -> Text:
    times = f", fetched {' to '.join(dict.fromkeys(dataset.retrieved))}" if dataset.retrieved else ""
    return Text(
        f"{side}  {visible(str(dataset.path))}\n"
        f"   version {dataset.version}: {len(dataset.facts)} facts of {len(dataset.relations)} relations "
        f"from {visible(', '.join(dataset.sources))}{visible(times)}"
    )


def _table(found: Difference) -> Table:
    table = Table("relation")
    for name in ("added", "gone", "changed", "same"):
        table.add_column(name, justify="right")
    rows = [
        (relation.relation, len(relation.added), len(relation.gone), len(relation.changed), relation.same)
        for relation in found.relations
    ]
    for name, *counts in rows:
        table.add_row(Text(name), *map(str, counts))
    if len(rows) > 1:
        table.add_section()
        table.add_row("all", *(str(sum(counts)) for counts in list(zip(*rows, strict=True))[1:]))
    return table


def _show_changes(console: Console, relation: RelationDifference, limit: int) -> None:
    lines = list(_lines(relation))
    console.print(Text(f"\n{relation.relation}", style="bold"))
    for sign, style, line in lines[:limit]:
        console.print(Text.assemble((f"  {sign} ", style), line), soft_wrap=True)
    if len(lines) > limit:
        more = f"  … and {len(lines) - limit} more; --limit {len(lines)} shows them, --json everything"
        console.print(Text(more), soft_wrap=True)


def _lines(relation: RelationDifference) -> Iterator[tuple[str, str, str]]:
    for fact in relation.gone:
        yield "-", "red", _fact(fact)
    for fact in relation.added:
        yield "+", "green", _fact(fact)
    for changed in sorted(relation.changed, key=_only_degrees):
        said = "; ".join(map(_change, changed.changes))
        yield "~", "yellow", f"{_short(changed.old.subject)}: {said}"


def _only_degrees(changed: ChangedFact) -> bool:
    return all(change.field.endswith("degree") for change in changed.changes)


def _fact(fact: Fact) -> str:
    return f"{_short(fact.subject)} → {_short(fact.object)}"


def _change(change: Change) -> str:
    name = NAMES.get(change.field, change.field)
    if isinstance(change.old, tuple) and isinstance(change.new, tuple):
        signed = [f"- {_short(value)}" for value in change.old if value not in change.new]
        signed += [f"+ {_short(value)}" for value in change.new if value not in change.old]
        return f"{name} {', '.join(signed)}"
    return f"{name} {_value(change.old)} → {_value(change.new)}"


def _value(value: Value) -> str:
    return "none" if value is None else _short(str(value))


def _dataset_row(dataset: Dataset) -> dict[str, Any]:
    return {
        "path": str(dataset.path),
        "version": dataset.version,
        "facts": len(dataset.facts),
        "sources": dataset.sources,
        "retrieved": dataset.retrieved,
        "warnings": dataset.warnings,
    }


def _relation_row(relation: RelationDifference) -> dict[str, Any]:
    return {
        "added": [as_row(fact) for fact in relation.added],
        "gone": [as_row(fact) for fact in relation.gone],
        "changed": [_changed_row(changed) for changed in relation.changed],
        "same": relation.same,
    }


def _changed_row(changed: ChangedFact) -> dict[str, Any]:
    return {
        "subject": changed.new.subject,
        "subject_uri": changed.new.subject_uri,
        "changes": [{"field": change.field, "from": change.old, "to": change.new} for change in changed.changes],
    }
