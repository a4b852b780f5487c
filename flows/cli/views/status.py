"""How the steps of a study stand, on the terminal or as JSON: a table, and below it each reason once and whole."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.text import Text

from swaymeter.flows.api import StatusRow
from swaymeter.flows.cli.console import by_reason, print_line, print_table

STYLES = {"done": "green", "missing": "yellow", "blocked": "yellow", "failed": "red", "damaged": "red"}


def is_broken(rows: Sequence[StatusRow]) -> bool:
    """Whether anything failed or is damaged."""
    return any(row.state in ("failed", "damaged") for row in rows)


def show(console: Console, rows: Sequence[StatusRow], workspace: Path) -> None:
    """A table of every score, and of the other stages what is not done; the reasons; the counts of all steps."""
    shown = [row for row in rows if row.stage == "score" or row.state != "done"]
    print_table(
        ("subject", "model", "measure", "stage", "state"),
        [(row.subject, row.model, row.measure, row.stage, Text(row.state, STYLES.get(row.state, ""))) for row in shown],
        console,
    )
    for state in STYLES:
        reasons = by_reason((row.name, row.reason) for row in shown if row.state == state and row.reason)
        for reason, names in reasons.items():
            print_line(Text.assemble((state, STYLES[state]), f"  {names}: {reason}"), console)
    if rejected := sum((Counter(row.rejected) for row in rows), Counter[str]()):
        why = ", ".join(f"{reason} ({count})" for reason, count in rejected.most_common())
        print_line(f"rejected of the candidates of facts: {why}; --json has them by relation", console)
    counts = ", ".join(f"{count} {state}" for state, count in _counts(rows).items())
    print_line(f"{counts} in {workspace}", console)


def as_json(rows: Sequence[StatusRow], workspace: Path) -> str:
    """All rows, also those that the table leaves out, and the counts; in ASCII."""
    document = {"workspace": str(workspace), "counts": _counts(rows), "rows": [asdict(row) for row in rows]}
    return json.dumps(document, indent=2)


def _counts(rows: Sequence[StatusRow]) -> dict[str, int]:
    counts = Counter(row.state for row in rows)
    return {state: counts[state] for state in STYLES}
