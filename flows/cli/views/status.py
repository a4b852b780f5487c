"""The state of the steps of a study, on the terminal or as JSON."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from swaymeter.flows.api import StatusRow
from swaymeter.flows.cli.console import by_reason, print_line, print_table

MAX_NAMED = 3
"""Limit of the relation names in the line of a stage."""
STYLES = {"done": "green", "missing": "yellow", "blocked": "yellow", "failed": "red", "damaged": "red"}


def is_broken(rows: Sequence[StatusRow]) -> bool:
    """Return True if a step failed or is damaged."""
    return any(row.state in ("failed", "damaged") for row in rows)


def show(console: Console, rows: Sequence[StatusRow], workspace: Path, *, everything: bool = False) -> None:
    """Print the states of steps, the reasons of steps that are not done, and the number of steps in each state.

    Args:
        console: The terminal.
        rows: A row for each step or, for a scoring step, for each of its measures.
        workspace: The folder of the study.
        everything: True to print a line for every step.
    """
    if everything:
        cells = [(row.subject, row.model, row.measure, row.stage, _state(row.state)) for row in rows]
        print_table(("subject", "model", "measure", "stage", "state"), cells, console)
    else:
        _show_stages(console, rows)
    for state in STYLES:
        reasons = by_reason((row.name, row.reason) for row in rows if row.state == state and row.reason)
        for reason, names in reasons.items():
            print_line(Text.assemble((state, STYLES[state]), f"  {names}: {reason}"), console)
    if rejected := sum((Counter(row.rejected) for row in rows), Counter[str]()):
        why = ", ".join(f"{reason} ({count})" for reason, count in rejected.most_common())
        print_line(f"rejected candidates of facts: {why}; --json has them by relation", console)
    counts = ", ".join(f"{count} {state}" for state, count in _counts(rows).items())
    print_line(f"{counts} in {workspace}", console)


def _show_stages(console: Console, rows: Sequence[StatusRow]) -> None:
    """Print a line for each stage, and below it a line for each relation with an unfinished step.

    For a stage with only one relation, the line below names the unfinished steps, not the relation.
    """
    table = Table.grid(padding=(0, 2, 0, 0))
    for stage in dict.fromkeys(row.stage for row in rows):
        stage_rows = [row for row in rows if row.stage == stage]
        relations = list(dict.fromkeys(row.subject for row in stage_rows))
        by_relation = {name: [row for row in stage_rows if row.subject == name] for name in relations}
        unfinished = {name: group for name, group in by_relation.items() if any(row.state != "done" for row in group)}
        names = ", ".join(by_relation) if len(by_relation) <= MAX_NAMED else f"{len(by_relation)} relations"
        table.add_row(stage, _summary(stage_rows), Text(names, "dim"))
        for name, relation_rows in unfinished.items():
            steps = ", ".join(row.measure for row in relation_rows if row.state != "done")  # `measure` names the step
            table.add_row("", _summary(relation_rows), Text(name if len(by_relation) > 1 else steps))
    console.print(table)


def _summary(rows: Sequence[StatusRow]) -> Text:
    counts = _counts(rows)
    text = Text(f"{counts['done']} of {len(rows)} done", "green" if counts["done"] == len(rows) else "")
    for state, count in counts.items():
        if count and state != "done":
            text.append(f", {count} {state}", STYLES[state])
    return text


def _state(state: str) -> Text:
    return Text(state, STYLES.get(state, ""))


def as_json(rows: Sequence[StatusRow], workspace: Path) -> str:
    """Return all rows and the number of rows in each state as JSON."""
    document = {"workspace": str(workspace), "counts": _counts(rows), "rows": [asdict(row) for row in rows]}
    return json.dumps(document, indent=2)


def _counts(rows: Sequence[StatusRow]) -> dict[str, int]:
    counts = Counter(row.state for row in rows)
    return {state: counts[state] for state in STYLES}
