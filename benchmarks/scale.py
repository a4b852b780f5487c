"""What the database costs at the size of a large study: made-up scores of R relations, each Q queries under C contexts.

Each phase has a process of its own; seconds, processor seconds and the peak memory of all its processes are measured:

    load           the database from all files            over      mean persuasion by kind, from the files in place
    load_again     the database with one relation changed report    what a report asks of the database

With --study and --workspace the program's commands are measured on a study whose scores are there: status, run (with
nothing to do), aggregate, aggregate with the scores of one relation changed, report.
"""

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from benchmarks.machine import this_machine
from benchmarks.measuring import Table, arguments, publish
from benchmarks.scale_phase import PHASES, change_one, make_relation

INTERVAL = 0.05  # seconds between two looks at the memory
GIB = 1 << 30


def main() -> None:
    """Makes the files, measures each phase in a process of its own, prints and writes."""
    asked = _asked()
    if asked.quick:
        asked.relations, asked.queries, asked.contexts = 3, 8, 12
    if asked.study:
        phases = measured_commands(asked.study, asked.workspace)
    else:
        with TemporaryDirectory() as folder:
            for number in range(asked.relations):
                make_relation(Path(folder) / "files", number, asked.queries, asked.contexts)
            phases = {}
            for name in PHASES:
                if name == "load_again":
                    change_one(Path(folder) / "files")
                command = [sys.executable, "-P", "-m", "benchmarks.scale_phase", name, folder]
                phases[name] = measured(command)
    machine = this_machine("cpu")
    prompts = asked.relations * asked.queries * asked.contexts
    table = Table(
        f"{prompts:,} prompts, {machine.name}",
        ("phase", "seconds", "processor seconds", "peak, GiB"),
        [(name, *_cells(phase)) for name, phase in phases.items()],
    )
    sizes = {name: getattr(asked, name) for name in ("relations", "queries", "contexts")}
    figures = {f"{name}_{what}": value for name, phase in phases.items() for what, value in phase.items()}
    publish("scale", machine, [table], {**sizes, "prompts": prompts, **figures}, asked)


def _cells(phase: Mapping[str, float]) -> list[str]:
    scales = {"seconds": 1, "cpu_seconds": 1, "peak_bytes": GIB}
    return [f"{phase[what] / scale:.2f}" if what in phase else "" for what, scale in scales.items()]


def _asked() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--relations", type=int, default=122)
    parser.add_argument("--queries", type=int, default=400, help="of a relation")
    parser.add_argument("--contexts", type=int, default=600, help="of a relation")
    parser.add_argument("--study", help="a study file whose scores are there")
    parser.add_argument("--workspace", type=Path, help="its workspace")
    asked = parser.parse_args()
    if bool(asked.study) != bool(asked.workspace):
        parser.error("--study and --workspace go together")
    return asked


def measured_commands(study: str, workspace: Path) -> dict[str, dict[str, float]]:
    """What the program's commands take, with the scores of one relation changed before the second `aggregate`."""

    def command(name: str) -> dict[str, float]:
        call = [sys.executable, "-P", "-m", "flows.cli.main", name, study, "--workspace", str(workspace)]
        return measured(call)

    phases = {"aggregate": command("aggregate"), "report": command("report")}
    together = phases["aggregate"]["cpu_seconds"] + phases["report"]["cpu_seconds"]
    phases |= {"status": command("status"), "run_again": command("run")}
    phases["aggregate_and_report"] = {"cpu_seconds": together}
    change_one(workspace / "scores")
    return {**phases, "aggregate_one_changed": command("aggregate")}


def measured(command: Sequence[str]) -> dict[str, float]:
    """Seconds, processor seconds and peak memory of a command and all processes that it starts.

    Raises:
        CalledProcessError: it failed.
    """
    before = _children()
    start = time.perf_counter()
    peak = 0
    with subprocess.Popen(command) as process:
        watched = psutil.Process(process.pid)
        while process.poll() is None:
            peak = max(peak, _memory(watched))
            time.sleep(INTERVAL)
    seconds = time.perf_counter() - start
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return {"seconds": seconds, "cpu_seconds": _children() - before, "peak_bytes": peak}


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _memory(process: psutil.Process) -> int:
    """Resident bytes of a process and those below it."""
    total = 0
    for one in [process, *_below(process)]:
        try:
            total += one.memory_info().rss
        except psutil.Error:  # it has ended meanwhile
            continue
    return total


def _below(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


if __name__ == "__main__":
    main()
