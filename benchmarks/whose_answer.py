"""Precision and recall of two rules for whose answer a reply states, by kind of answer, on answers judged by reading.

    whose_answer   swaymeter.tasks.scoring.followed, as this project counts
    ROUGE-L > 0.3  between the reply and an answer or one of its other names, as published

Each is held against the judgements of benchmarks/judged: does the reply state the context's answer, and does it state
the original one (of replies to which there are both)? "either" pools the two questions, which neither rule tells apart.
Precision is a share of the replies that the rule says state it, recall of those that the
judge says do. Intervals are the exact ones of Clopper and Pearson, 95%.
"""

import argparse
import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from scipy.stats import binomtest

from benchmarks.machine import this_machine
from benchmarks.measuring import Table, arguments, publish
from swaymeter.tasks.scoring.accuracy import answers_match
from swaymeter.tasks.scoring.followed import whose_answer

JUDGED = Path(__file__).parent / "judged"
SIDES = {"context": ["context"], "original": ["original"], "either": ["context", "original"]}
SHARES = ("precision", "interval of precision", "n of rule", "recall", "interval of recall", "n of judge")

ALL = "all"
Row = dict[str, Any]


def main() -> None:
    """Measures, prints and writes."""
    asked = _asked()
    rows = read(asked.judged)[:: 20 if asked.quick else 1]
    kinds = [*dict.fromkeys(row["kind"] for row in rows), ALL]
    by_kind = [
        {"rule": rule, "kind": kind, "split": split, **compared(part, RULES[rule], SIDES["either"])}
        for rule in RULES
        for kind in kinds
        for split in ("held out", ALL)
        if (part := [row for row in rows if kind in (row["kind"], ALL) and split in (row["split"], ALL)])
    ]
    by_side = [
        {"rule": rule, "side": side, "split": split, **compared(part, RULES[rule], SIDES[side])}
        for side in SIDES
        for rule in RULES
        for split in ("tuning", "held out", ALL)
        if (part := [row for row in rows if split in (row["split"], ALL)])
    ]
    apart = [row | {"verdict": found} for row in rows if (found := verdict(row)) != row["judged"]]
    notes = [
        f"{len(rows) - len(apart)} of {len(rows)} verdicts of whose_answer are those of the judge. The others that "
        "are no longer held out:\n",
        *(
            f"- {row['kind']}: judged {row['judged']}, found {row['verdict']}: {row['question']} {row['answer']!r}"
            for row in apart
            if row["split"] != "held out"
        ),
    ]
    tables = [
        Table(
            "By kind of answer", ("rule", "kind", "split", *SHARES),
            [_cells(one, "rule", "kind", "split") for one in by_kind],
        ),
        Table(
            "By whose answer is stated", ("rule", "states the answer of", "split", *SHARES),
            [_cells(one, "rule", "side", "split") for one in by_side], notes,
        ),
    ]  # fmt: skip
    measured = {"answers": len(rows), "by_kind": by_kind, "compared": by_side}
    publish("whose_answer", this_machine("cpu"), tables, measured, asked)


def read(place: Path = JUDGED) -> list[Row]:
    """The judged answers of a file, or of all in a folder, with both lists of answers as lists."""
    rows: list[Row] = []
    for file in sorted(place.glob("*.csv"), reverse=True) if place.is_dir() else [place]:
        with file.open(encoding="utf-8", newline="") as opened:
            rows += csv.DictReader(opened)
    lists = ("context_answers", "original_answers")
    return [row | {column: json.loads(row[column]) for column in lists} for row in rows]


def verdict(row: Row) -> str:
    """What whose_answer says of a judged answer."""
    sides = {"context": row["context_answers"], "original": row["original_answers"]}
    return whose_answer(row["answer"], **sides, question=row["question"])


RULES: dict[str, Callable[[Row, str], bool]] = {
    "whose_answer": lambda row, side: verdict(row) in (side, "both"),
    "ROUGE-L > 0.3": lambda row, side: any(
        answers_match(row["answer"], name, threshold=0.3) for name in row[f"{side}_answers"]
    ),
}


def compared(rows: Sequence[Row], rule: Callable[[Row, str], bool], sides: Sequence[str]) -> dict[str, Any]:
    """Precision and recall of a rule: the share, its interval, and n; None where n is 0."""
    questions = [(row, side) for row in rows for side in sides if row[f"{side}_answers"]]
    found = [rule(row, side) for row, side in questions]
    judged = [row["judged"] in (side, "both") for row, side in questions]
    hits = sum(one and other for one, other in zip(found, judged, strict=True))
    return {"precision": _share(hits, sum(found)), "recall": _share(hits, sum(judged))}


def _share(hits: int, n: int) -> dict[str, Any] | None:
    if n == 0:
        return None
    interval = binomtest(hits, n).proportion_ci(0.95, method="exact")
    return {"share": hits / n, "low": float(interval.low), "high": float(interval.high), "n": n}


def _cells(one: dict[str, Any], *names: str) -> list[str]:
    cells = [one[name] for name in names]
    for share in (one["precision"], one["recall"]):
        if share is None:
            cells += ["", "", "0"]
        else:
            cells += [f"{share['share']:.3f}", f"{share['low']:.3f} to {share['high']:.3f}", str(share["n"])]
    return cells


def _asked() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--judged", type=Path, default=JUDGED, help="another file or folder of judged answers")
    return parser.parse_args()


if __name__ == "__main__":
    main()
