"""Verdicts of the rule on replies that were judged by reading, by kind: right, wrong and undecided.

    right        the verdict is the reader's; an undecided reply counts with the verdict "neither"
    wrong side   the rule decided context, original or both, and the reader gave another verdict
    missed       the rule decided neither or refusal, and the reader gave another verdict
    undecided    the rule leaves the reply to a judge

Two made-up judges decide the undecided replies. A perfect judge gives the reader's verdict. A judge that errs in 10%
gives each of the other four verdicts in 2.5%; its figures are expectations.
"""

import argparse
import csv
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.machine import this_machine
from benchmarks.measuring import Table, arguments, publish
from swaymeter.tasks.scoring.followed import Decision, decide

JUDGED = Path(__file__).parent / "judged"
SIDES = ("context", "original", "both")
COLUMNS = ("replies", "right", "wrong side", "missed", "undecided")
JUDGES = ("wrong side", "right, perfect judge", "wrong side, 10% judge")
ALL = "all"
ERROR = 0.1
Row = dict[str, Any]


def main() -> None:
    """Judge all replies, print the tables and write them."""
    options = _options()
    rows = read(options.judged)[:: 20 if options.quick else 1]
    started = time.process_time()
    decisions = [decision(row) for row in rows]
    seconds = (time.process_time() - started) / len(rows)
    judged = [row | _outcome(row["judged"], one) for row, one in zip(rows, decisions, strict=True)]
    kinds = [*dict.fromkeys(row["kind"] for row in judged), ALL]
    counts = [
        {"kind": kind, "split": split, **counted(part)}
        for kind in kinds
        for split in ("held out", "written after", ALL)
        if (part := [row for row in judged if kind in (row["kind"], ALL) and split in (row["split"], ALL)])
    ]
    notes = [f"{1e3 * seconds:.2f} ms a reply on one core."]
    table = Table(
        "Verdicts by kind of answer",
        ("kind", "split", *COLUMNS, *(f"{name} (%)" for name in JUDGES)),
        [_cells(row) for row in counts],
        notes,
    )
    publish("verdicts", this_machine("cpu"), [table], {"answers": len(rows), "by_kind": counts}, options)


def read(place: Path = JUDGED) -> list[Row]:
    """Return the judged replies of a file, or of all files of a folder, with both lists of answers as lists."""
    rows: list[Row] = []
    for file in sorted(place.glob("*.csv"), reverse=True) if place.is_dir() else [place]:
        with file.open(encoding="utf-8", newline="") as opened:
            rows += csv.DictReader(opened)
    lists = ("context_answers", "original_answers")
    return [row | {column: json.loads(row[column]) for column in lists} for row in rows]


def decision(row: Row) -> Decision:
    """Return the rule's decision on a judged reply."""
    sides = {"context": row["context_answers"], "original": row["original_answers"]}
    return decide(row["answer"], **sides, question=row["question"])


def verdict(row: Row) -> str:
    """Return the rule's verdict on a judged reply."""
    return decision(row).verdict


def counted(rows: Sequence[Row]) -> dict[str, Any]:
    """Return how often the rule is right, wrong and undecided, and the shares with both judges."""
    counts: dict[str, Any] = {"replies": len(rows)}
    counts |= {name: sum(row[name] for row in rows) for name in COLUMNS[1:]}
    wrong, missed = counts["wrong side"], counts["missed"]
    erring = sum(ERROR * (0.5 if row["judged"] in SIDES else 0.75) for row in rows if row["undecided"])
    return counts | {
        "shares": {
            "wrong side": wrong / len(rows),
            "right, perfect judge": 1 - (wrong + missed) / len(rows),
            "wrong side, 10% judge": (wrong + erring) / len(rows),
        }
    }


def _outcome(judged: str, decision: Decision) -> dict[str, bool]:
    is_wrong = decision.is_decided and decision.verdict != judged
    return {
        "right": decision.verdict == judged,
        "wrong side": is_wrong and decision.verdict in SIDES,
        "missed": is_wrong and decision.verdict not in SIDES,
        "undecided": not decision.is_decided,
    }


def _cells(row: Row) -> list[str]:
    counts = [str(row[name]) for name in COLUMNS]
    return [row["kind"], row["split"], *counts, *(f"{100 * row['shares'][name]:.1f}" for name in JUDGES)]


def _options() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--judged", type=Path, default=JUDGED, help="another file or folder of judged replies")
    return parser.parse_args()


if __name__ == "__main__":
    main()
