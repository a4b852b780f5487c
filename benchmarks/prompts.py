"""Seconds and memory of building a study's prompts: `swaymeter build` over 122 relations of 100 entities each.

The facts are made up beforehand, 200 pairs a relation, and lie in the workspace as a fetch leaves them; what is timed
is the command as a person starts it, with its conductor: prompts of 50 real and 50 invented entities a relation, 400
queries and 600 contexts. Memory is what all processes of the command hold together at most, seen 20 times a second.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
import yaml
from data.sources.fetch import write_facts, write_names
from flows.plan import Plan

from benchmarks.machine import this_machine
from benchmarks.measuring import Table, arguments, publish
from data import catalog
from data.records import Fact, RelationName

MIB = 1 << 20
PAIRS, ENTITIES, PER_KIND = 200, 50, 2
COLUMNS = ("relations", "entities each", "queries", "contexts", "seconds", "peak of all processes, MiB")


def main() -> None:
    """Measures, prints and writes."""
    asked = _asked()
    with tempfile.TemporaryDirectory() as folder:
        plan = _prepared(Path(folder), asked.relations)
        seconds, peak = _timed("build", str(Path(folder) / "study.yaml"))
        queries = sum(plan.queries(name).read().num_rows for name in plan.relations())
        contexts = sum(plan.contexts(name).read().num_rows for name in plan.relations())
    assert queries == asked.relations * 8 * ENTITIES, queries
    assert contexts == asked.relations * 2 * ENTITIES * 3 * PER_KIND, contexts
    machine = this_machine("cpu")
    counts = (asked.relations, 2 * ENTITIES, queries, contexts)
    cells = (*map(str, counts), f"{seconds:.1f}", f"{peak / MIB:.0f}")
    measured: dict[str, Any] = {
        "relations": asked.relations, "queries": queries, "contexts": contexts, "seconds": seconds, "peak_bytes": peak,
    }  # fmt: skip
    publish("prompts", machine, [Table(f"swaymeter build, {machine.name}", COLUMNS, [cells])], measured, asked)


def _asked() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--relations", type=int, default=122, help="how many of the catalog's; by default 122")
    asked = parser.parse_args()
    if asked.quick:
        asked.relations = 2
    return asked


def _prepared(folder: Path, count: int) -> Plan:
    """The plan of a study whose facts and names are there."""
    relations = list(catalog.relations_of_yago())[:count]
    study = {
        "name": "prompts",
        "workspace": str(folder / "workspace"),
        "facts": {
            "source": "yago", "relations": relations, "pairs": PAIRS,
            "real_entities": ENTITIES, "invented_entities": ENTITIES, "absent_from": [],
        },
        "contexts": dict.fromkeys(("base", "assertive", "negation"), PER_KIND),
        "models": [{"name": "smollm2-135m-instruct"}],
        "measures": {"susceptibility": {}},
    }  # fmt: skip
    (folder / "study.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
    plan = Plan.of(str(folder / "study.yaml"))
    for name in plan.relations():
        write_facts(name, [_fact(name, number) for number in range(PAIRS)], plan.facts(name))
    for entity_class in plan.entity_classes():
        names = [f"Ostrem {entity_class} {number}" for number in range(2 * ENTITIES)]
        write_names(entity_class, names, plan.names(entity_class), made_by="benchmark", looked_for_in=())
    return plan


def _fact(relation: str, number: int) -> Fact:
    return Fact(
        RelationName(relation), f"Quell {number}", f"Vandrov {number % (PAIRS // 2)}", None, None, None,
        "made up", "CC0 1.0", subject_uri=f"http://quell.example/{number}",
        object_uri=f"http://vandrov.example/{number}", other_objects=(f"Ulv {number}", f"Morv {number}"),
        subject_degree=number, subject_relation_degree=1, object_degree=number, object_relation_degree=1,
        address="http://quell.example/query", query="SELECT " * 60, retrieved_at="2026-01-01T00:00:00+00:00",
    )  # fmt: skip


def _timed(*command: str) -> tuple[float, int]:
    """Seconds that the command took, and the most bytes that it and its processes held at once."""
    start, peak = time.perf_counter(), 0
    with subprocess.Popen([sys.executable, "-m", "flows.cli.main", *command], stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            peak = max(peak, _held(psutil.Process(process.pid)))
            time.sleep(0.05)
    if process.returncode:
        raise SystemExit(f"swaymeter {' '.join(command)} ended with {process.returncode}")
    return time.perf_counter() - start, peak


def _held(process: psutil.Process) -> int:
    held = 0
    for one in (process, *process.children(recursive=True)):
        try:
            held += one.memory_info().rss
        except psutil.Error:
            continue  # over between being listed and being asked
    return held


if __name__ == "__main__":
    main()
