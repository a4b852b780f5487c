"""Precision and recall of two rules for whose answer a reply states, on answers that were judged by hand.

    whose_answer   tasks.scoring.followed, as this project counts
    ROUGE-L > 0.3  between the reply and an answer or one of its other names, as published

Each is held against the judgements of benchmarks/judged: does the reply state the context's answer, and does it state
the original one (of replies without a context or with the counter-memory one)? "either" pools the two questions, which
neither rule tells apart. Precision is a share of the replies that the rule says state it, recall of those that the
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
from tasks.scoring.accuracy import answers_match
from tasks.scoring.followed import whose_answer

JUDGED = Path(__file__).parent / "judged" / "smollm2-135m-instruct.csv"
SIDES = {"context": ["context"], "original": ["original"], "either": ["context", "original"]}
COLUMNS = (
    "rule", "states the answer of", "split", "precision", "interval of precision", "n of rule", "recall",
    "interval of recall", "n of judge",
)  # fmt: skip

Row = dict[str, Any]


def main() -> None:
    """Measures, prints and writes."""
    asked = _asked()
    rows = read(asked.judged)[: 40 if asked.quick else None]
    measured = [
        {"rule": name, "side": side, "split": split, **compared(part, rule, SIDES[side])}
        for side in SIDES
        for name, rule in RULES.items()
        for split in ("tuning", "held out", "all")
        if (part := [row for row in rows if split in (row["split"], "all")])
    ]
    apart = [row | {"verdict": found} for row in rows if (found := verdict(row)) != row["judged"]]
    notes = [
        f"{len(rows)} answers of {asked.judged.stem}.",
        f"{len(rows) - len(apart)} of whose_answer's verdicts are those of the judge. The others:\n",
        *(
            f"- judged {row['judged']}, found {row['verdict']} ({row['split']}): {row['question']} {row['answer']!r}"
            for row in apart
        ),
    ]
    machine = this_machine("cpu")
    table = Table("Whose answer a reply states", COLUMNS, [_cells(one) for one in measured], notes)
    publish("whose_answer", machine, [table], {"answers": len(rows), "compared": measured}, asked)


def read(file: Path = JUDGED) -> list[Row]:
    """The judged answers, with both lists of answers as lists."""
    with file.open(encoding="utf-8", newline="") as opened:
        rows: list[Row] = list(csv.DictReader(opened))
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


def _cells(one: dict[str, Any]) -> list[str]:
    cells = [one["rule"], one["side"], one["split"]]
    for share in (one["precision"], one["recall"]):
        if share is None:
            cells += ["", "", "0"]
        else:
            cells += [f"{share['share']:.3f}", f"{share['low']:.3f} to {share['high']:.3f}", str(share["n"])]
    return cells


def _asked() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--judged", type=Path, default=JUDGED, help="another file of judged answers")
    return parser.parse_args()


if __name__ == "__main__":
    main()
