"""Seconds and memory of building a study's prompts: `swaymeter build` over 122 relations of 100 entities each.

The facts are made up beforehand and lie in the workspace as a fetch leaves them; what is timed is the command as a
person starts it: prompts of 50 real and 50 invented entities a relation, 400 queries and 600 contexts.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.machine import this_machine
from benchmarks.made_up import CONTEXTS, QUERIES, graph_of, write_facts, write_study
from benchmarks.measuring import Table, arguments, publish
from benchmarks.process import cost_of

MIB = 1 << 20
ENTITIES = 50
COLUMNS = ("relations", "entities each", "queries", "contexts", "seconds", "peak of all processes, MiB")


def main() -> None:
    """Measures, prints and writes."""
    asked = _asked()
    with TemporaryDirectory() as folder:
        study = write_study(Path(folder), asked.relations, ENTITIES)
        write_facts(study)
        cost = cost_of("build", study)
        queries, contexts = (_rows(study, role) for role in ("queries", "contexts"))
    assert queries == asked.relations * 2 * ENTITIES * QUERIES, queries
    assert contexts == asked.relations * 2 * ENTITIES * CONTEXTS, contexts
    machine = this_machine("cpu")
    counts = (asked.relations, 2 * ENTITIES, queries, contexts)
    cells = (*map(str, counts), f"{cost.seconds:.1f}", f"{cost.peak_bytes / MIB:.0f}")
    measured: dict[str, Any] = {
        "relations": asked.relations, "queries": queries, "contexts": contexts, "seconds": cost.seconds,
        "peak_bytes": cost.peak_bytes,
    }  # fmt: skip
    publish("prompts", machine, [Table(f"swaymeter build, {machine.name}", COLUMNS, [cells])], measured, asked)


def _asked() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--relations", type=int, default=122, help="how many of the catalog's; by default 122")
    asked = parser.parse_args()
    if asked.quick:
        asked.relations = 2
    return asked


def _rows(study: Path, role: str) -> int:
    return sum(node.checks[role].rows for node in graph_of(study) if role in node.checks)


if __name__ == "__main__":
    main()
