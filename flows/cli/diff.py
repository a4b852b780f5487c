"""The difference of two datasets on the terminal or as JSON: by relation, and the single changes."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from data.dataset import differences
from data.dataset.dataset import Dataset
from data.dataset.differences import Changed, Difference, RelationDifference
from data.errors import SwaymeterError, UsageError
from data.records import Fact, as_row
from flows.cli.diff_text import change_text, field_name, row_text, short, subject_of, visible

Relation = RelationDifference[Any]


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
        fields = ", ".join(map(field_name, not_compared))
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
        yield "-", "red", row_text(row)
    for row in relation.added:
        yield "+", "green", row_text(row)
    for changed in sorted(relation.changed, key=_only_counts):
        yield "~", "yellow", f"{short(subject_of(changed.old))}: {'; '.join(map(change_text, changed.changes))}"


def _only_counts(changed: Changed[Any]) -> bool:
    return all(change.field.endswith(("degree", "popularity")) for change in changed.changes)


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
