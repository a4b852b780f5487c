"""How often a judge, a language model, and the rule by words give a reader's verdict on replies judged by reading.

    judge   swaymeter.tasks.scoring.judging, as the measure judged_answers asks it
    rule    swaymeter.tasks.scoring.followed, by words

Both are held against the judgements of benchmarks/judged: the share of replies with the same verdict, of five, and
Cohen's kappa with it. Intervals have 95% and draw whole questions. "judge and rule" says how far the two agree with
each other, which is what a study can say of its own answers.
"""

import argparse
import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.machine import this_machine
from benchmarks.measuring import MODEL, Table, arguments, publish
from benchmarks.verdicts import ALL, JUDGED, Row, decision, read, verdict
from swaymeter.data.catalog.language_models import VERDICTS
from swaymeter.tasks.models import load_language_model
from swaymeter.tasks.scoring.judging import Case, ask_language_model
from swaymeter.tasks.statistics.formulas.agreement import cohens_kappa, counts_of, kappa_interval
from swaymeter.tasks.statistics.formulas.intervals import share_interval

SEED = 0
AT_ONCE = 64
PAIRS = {"judge": ("judge", "judged"), "rule": ("rule", "judged"), "judge and rule": ("judge", "rule")}


def main() -> None:
    """Measures, prints and writes."""
    asked = _asked()
    rows = read(asked.judged)[:: 60 if asked.quick else 1]
    if asked.undecided:
        rows = [row for row in rows if not decision(row).is_decided]
        rows = random.Random(SEED).sample(rows, min(asked.undecided, len(rows)))
    model = load_language_model(asked.judge, dtype=asked.dtype, device=asked.device)
    cases = [
        Case(row["question"], tuple(row["context_answers"]), tuple(row["original_answers"]), row["answer"])
        for row in rows
    ]
    started, found = time.perf_counter(), []
    for start in range(0, len(cases), AT_ONCE):
        found += ask_language_model(model, cases[start : start + AT_ONCE])
        print(f"  {len(found)} of {len(cases)} replies, {time.perf_counter() - started:.0f} s", flush=True)
    seconds = (time.perf_counter() - started) / len(cases)
    rows = [row | {"judge": one.verdict, "rule": verdict(row)} for row, one in zip(rows, found, strict=True)]
    told = [row for row in rows if row["judge"]]
    kinds = [*dict.fromkeys(row["kind"] for row in told), ALL]
    by_kind = [
        {"who": who, "kind": kind, **compared([row for row in told if kind in (row["kind"], ALL)], *columns)}
        for who, columns in PAIRS.items()
        for kind in kinds
    ]
    said = {name: Counter(row[name] for row in told) for name in ("judge", "rule", "judged")}
    notes = [
        f"{model.name} in {model.dtype}; {len(rows) - len(told)} of {len(rows)} replies have no verdict of the judge. "
        f"{seconds:.2g} s a reply on this machine."
    ]
    tables = [
        Table(
            "Agreement with the reader, and of judge and rule",
            ("who", "kind", "n", "same verdict", "interval", "kappa", "interval of kappa"),
            [_cells(one) for one in by_kind], notes,
        ),
        Table(
            "How often each verdict is given", ("verdict", *said),
            [[one, *(str(counts[one]) for counts in said.values())] for one in VERDICTS],
        ),
    ]  # fmt: skip
    measured = {
        "judge": model.name, "dtype": model.dtype, "answers": len(rows), "unjudged": len(rows) - len(told),
        "seconds_a_reply": seconds, "by_kind": by_kind, "verdicts": {name: dict(of) for name, of in said.items()},
    }  # fmt: skip
    publish("judge", this_machine(asked.device), tables, measured, asked)


def compared(rows: Sequence[Row], first: str, second: str) -> dict[str, Any]:
    """How far two columns of verdicts agree: the share, kappa (None: one verdict alone), and their intervals."""
    one, other = [row[first] for row in rows], [row[second] for row in rows]
    clusters = [row["question"] for row in rows]
    same = [float(this == that) for this, that in zip(one, other, strict=True)]
    kappa = cohens_kappa(counts_of(one, other))
    of_share = share_interval(same, clusters)
    of_kappa = None if kappa is None else kappa_interval(one, other, clusters, SEED)
    return {
        "n": len(rows), "same": sum(same) / len(same), "interval": [of_share.low, of_share.high],
        "kappa": kappa, "interval_of_kappa": [of_kappa.low, of_kappa.high] if of_kappa else [None, None],
    }  # fmt: skip


def _cells(one: Mapping[str, Any]) -> list[str]:
    kappa = "undefined" if one["kappa"] is None else f"{one['kappa']:.3f}"
    ends = [
        "" if one[name][0] is None else f"{one[name][0]:.3f} to {one[name][1]:.3f}"
        for name in ("interval", "interval_of_kappa")
    ]
    return [one["who"], one["kind"], str(one["n"]), f"{one['same']:.3f}", ends[0], kappa, ends[1]]


def _asked() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--judge", default=MODEL, help=f"an alias, a hub id or a folder; by default {MODEL}")
    parser.add_argument("--dtype", default="float32", help="by default float32")
    parser.add_argument("--undecided", type=int, default=0, help="only so many replies, drawn of those undecided")
    parser.add_argument("--judged", type=Path, default=JUDGED, help="another file or folder of judged answers")
    return parser.parse_args()


if __name__ == "__main__":
    main()
