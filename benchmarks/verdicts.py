"""Shares of right, wrong and undecided verdicts of the rule, by kind of reply.

Each reply has the verdict of a reader, who judged it by reading it:

    right        the rule's verdict is the reader's; an undecided reply counts with the verdict "neither"
    wrong side   the rule decided context, original or both, and the reader gave another verdict
    missed       the rule decided neither or refusal, and the reader gave another verdict
    undecided    the rule leaves the reply to a judge

Nobody who knew the rule read the replies of the split `blind` before the rule was final.

Two made-up judges decide the undecided replies. A perfect judge always gives the reader's verdict. A judge that errs in
10% of the replies gives each of the four wrong verdicts in 2.5% of them; its numbers are expectations. `--judge NAME`
asks a language model about a sample of all replies. The share of verdicts that are the reader's, and Cohen's kappa, are
then printed for this judge and for the rule. Intervals are 95% intervals over questions.
"""

import argparse
import csv
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.machine import this_machine
from benchmarks.measuring import Table, arguments, publish
from swaymeter.tasks.models import load_language_model
from swaymeter.tasks.scoring.accuracy import answers_match
from swaymeter.tasks.scoring.followed import Decision, decide
from swaymeter.tasks.scoring.judging import Case, ask_language_model
from swaymeter.tasks.statistics.formulas.agreement import cohens_kappa, counts_of
from swaymeter.tasks.statistics.formulas.intervals import share_interval

JUDGED = Path(__file__).parent / "judged"
SIDES = ("context", "original", "both")
"""Verdicts on a reply that states an answer: the context's, the original one, or both."""
COLUMNS = ("replies", "right", "wrong side", "missed", "undecided")
JUDGES = ("wrong side", "right, perfect judge", "wrong side, 10% judge")
"""Columns of shares: without a judge, with the perfect judge, and with the judge that errs in 10%."""
ALL = "all"
ERROR = 0.1
"""Share of replies that the erring judge gets wrong."""
SEED = 0
AT_ONCE = 64
"""Number of replies that a judge is asked about at once."""
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
        for split in ("blind", ALL)
        if (part := [row for row in judged if kind in (row["kind"], ALL) and split in (row["split"], ALL)])
    ]
    recalls = {name: recall(judged, name) for name in ("rule", "ROUGE-L")}
    notes = [
        f"{1e3 * seconds:.2f} ms a reply on one core.",
        "Stated answers found: " + ", ".join(f"{name} {one} of {of}" for name, (one, of) in recalls.items()) + ".",
    ]
    table = Table(
        "Verdicts by kind of answer",
        ("kind", "split", *COLUMNS, *(f"{name} (%)" for name in JUDGES)),
        [_cells(row) for row in counts],
        notes,
    )
    tables, content = [table], {"answers": len(rows), "by_kind": counts, "recall": recalls}
    if options.judge:
        content["judge"] = agreements(judged, options)
        tables.append(_table_of_judge(content["judge"]))
    publish("verdicts", this_machine(options.device), tables, content, options)


def read(place: Path = JUDGED) -> list[Row]:
    """Return the judged replies of a file, or of all files of a folder; their columns of answers are lists."""
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


def counted(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the counts of right, wrong and undecided verdicts, and the shares with the perfect and erring judges."""
    counts: dict[str, Any] = {"replies": len(rows)}
    counts |= {name: sum(row[name] for row in rows) for name in COLUMNS[1:]}
    wrong, missed = counts["wrong side"], counts["missed"]
    # SIDES has three of the five verdicts. Of the four wrong ones, it has two if the right one is in it, else three.
    erring = sum(ERROR * (0.5 if row["judged"] in SIDES else 0.75) for row in rows if row["undecided"])
    return counts | {
        "shares": {
            "wrong side": wrong / len(rows),
            "right, perfect judge": 1 - (wrong + missed) / len(rows),
            "wrong side, 10% judge": (wrong + erring) / len(rows),
        }
    }


def recall(rows: Sequence[Row], name: str) -> tuple[int, int]:
    """Return the number of stated answers that a method finds, and the number of all stated answers.

    Args:
        rows: Judged replies with the rule's verdicts.
        name: "rule", or "ROUGE-L" for the published rule.
    """
    stated = [(row, side) for row in rows for side in SIDES[:2] if row["judged"] in (side, "both")]
    if name == "rule":
        return sum(row["verdict"] in (side, "both") for row, side in stated), len(stated)
    matches = [
        any(answers_match(row["answer"], answer, threshold=0.3) for answer in row[f"{side}_answers"])
        for row, side in stated
    ]
    return sum(matches), len(stated)


def agreements(rows: Sequence[Row], options: argparse.Namespace) -> dict[str, Any]:
    """Return the agreement of a judge, and of the rule, with the reader on a sample of the replies."""
    sample = random.Random(SEED).sample(rows, min(options.sample, len(rows)))
    model = load_language_model(options.judge, dtype=options.dtype, device=options.device)
    cases = [
        Case(row["question"], tuple(row["context_answers"]), tuple(row["original_answers"]), row["answer"])
        for row in sample
    ]
    started, verdicts = time.perf_counter(), []
    for start in range(0, len(cases), AT_ONCE):
        verdicts += ask_language_model(model, cases[start : start + AT_ONCE])
    seconds = (time.perf_counter() - started) / len(cases)
    pairs = [(row | {"judge": one.verdict}) for row, one in zip(sample, verdicts, strict=True) if one.verdict]
    parts = {ALL: pairs, "undecided": [row for row in pairs if row["undecided"]]}
    return {
        "name": model.name,
        "dtype": model.dtype,
        "seconds_a_reply": seconds,
        "unjudged": len(sample) - len(pairs),
        "agreement": [
            {"who": who, "replies": part, **_agreement(of_part, who)}
            for who in ("judge", "verdict")  # "verdict" is the rule's
            for part, of_part in parts.items()
            if of_part
        ],
    }


def _agreement(rows: Sequence[Row], who: str) -> dict[str, Any]:
    clusters = [row["question"] for row in rows]
    share = share_interval([float(row[who] == row["judged"]) for row in rows], clusters)
    kappa = cohens_kappa(counts_of([row[who] for row in rows], [row["judged"] for row in rows]))
    same = sum(row[who] == row["judged"] for row in rows) / len(rows)
    return {"n": len(rows), "same": same, "interval": [share.low, share.high], "kappa": kappa}


def _table_of_judge(judge: Row) -> Table:
    cells = [
        [
            "rule" if row["who"] == "verdict" else row["who"],
            row["replies"],
            str(row["n"]),
            f"{row['same']:.3f}",
            " to ".join(f"{end:.3f}" for end in row["interval"] if end is not None),
            "undefined" if row["kappa"] is None else f"{row['kappa']:.3f}",
        ]
        for row in judge["agreement"]
    ]
    seconds, unjudged = judge["seconds_a_reply"], judge["unjudged"]
    note = f"{judge['name']} in {judge['dtype']}: {seconds:.2g} s a reply; {unjudged} without a verdict."
    columns = ("who", "replies", "n", "same verdict", "interval", "kappa")
    return Table("Agreement with the reader", columns, cells, [note])


def _outcome(judged: str, decision: Decision) -> Row:
    is_wrong = decision.is_decided and decision.verdict != judged
    return {
        "verdict": decision.verdict,
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
    parser.add_argument("--judge", help="a language model that judges a sample: an alias, a hub id or a folder")
    parser.add_argument("--sample", type=int, default=200, help="replies that the judge is asked about; by default 200")
    parser.add_argument("--dtype", default="float32", help="of the judge; by default float32")
    return parser.parse_args()


if __name__ == "__main__":
    main()
