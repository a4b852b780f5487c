"""The difference of two datasets on the terminal or as JSON: by relation, and the single changes.

What is compared came from the web: nothing of it may move the terminal's cursor, reverse the line or go on without end.
"""

import json
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from swaymeter.data.dataset import differences
from swaymeter.data.dataset.dataset import Dataset
from swaymeter.data.dataset.differences import Changed, Difference, RelationDifference
from swaymeter.data.errors import SwaymeterError, UsageError
from swaymeter.data.escaping import visible
from swaymeter.data.records import Fact, as_row
from swaymeter.flows.cli.console import print_line, print_table
from swaymeter.reports.changes import NAMES, lines_of

STYLES = {"-": "red", "+": "green", "~": "yellow"}


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
        lines = list(lines_of(relation))
        if lines:
            print_line(Text(f"\n{relation.relation}", style="bold"), console)
        for sign, line in lines[:limit]:
            print_line(Text.assemble((f"  {sign} ", STYLES[sign]), line), console)
        if len(lines) > limit:
            more = f"{len(lines) - limit} more; --limit {len(lines)} shows them, --json everything"
            print_line(f"  … and {more}", console)


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
