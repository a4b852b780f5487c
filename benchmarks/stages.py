"""Seconds of each part of the quickstart and of audits, in the order of the parts.

    imports           `swaymeter --version`: Python and the command line
    preparing         the study, its plan and Prefect's temporary server, with their imports
    fetch … report    from the first step of a stage to the first step of the next stage; `report` draws the figures
    end               from the last step to the end of the process

Each command has a process of its own. The quickstart scores in two worker processes, as in `make study`. The start and
the end of a stage are read from the lines that the command prints. Audits judge recorded replies; with --model, they
ask the model. --setup also times the installation: `make setup` in a clone of the last commit.
"""

import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.machine import this_machine
from benchmarks.measuring import Table, arguments, publish
from swaymeter.flows.graph.stage import STAGES

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("imports", "preparing", *STAGES, "end")
PROGRAM = (sys.executable, "-m", "swaymeter.flows.cli.main")
BEGINS = re.compile(rf"({'|'.join(STAGES)}) begins: ")
ENDS = re.compile(rf"({'|'.join(STAGES)}) \d+ of \d+ ")
"""Lines of a command: a stage begins, such as "fetch begins: ", and a step ends, such as "fetch 2 of 5 "."""


def main() -> None:
    """Measure, print and write."""
    parser = arguments(__doc__)
    parser.add_argument("--questions", type=int, nargs="*", default=[10, 100, 1000], help="of each audit")
    parser.add_argument("--model", help="a model that audits ask in place of recorded replies")
    parser.add_argument("--setup", action="store_true", help="time `make setup` in a clone, too")
    parser.add_argument("--no-quickstart", action="store_true", help="audits alone")
    options = parser.parse_args()
    if options.quick:
        options.questions, options.no_quickstart = [2], True
    seconds: dict[str, dict[str, float]] = {}
    with TemporaryDirectory() as name:
        folder = Path(name)
        if options.setup:
            seconds["make setup"] = {"all": _seconds_of_setup(folder / "clone")}
        if not options.no_quickstart:
            quickstart = ("run", "quickstart", "--runner", "processes", "--workspace", str(folder / "quickstart"))
            seconds["quickstart"] = seconds_of_parts(quickstart)
            seconds["quickstart again"] = seconds_of_parts(quickstart)
        for count in options.questions:
            file = write_questions(folder / f"{count}.jsonl", count)
            replies = ("--model", options.model) if options.model else ("--replies", "response")
            audit = ("audit", str(file), *replies, "--workspace", str(folder / str(count)))
            seconds[f"audit of {count} questions"] = seconds_of_parts(audit)
    machine = this_machine("cpu")
    rows = [[name, *(f"{parts.get(part, 0):.1f}" for part in (*PARTS, "all"))] for name, parts in seconds.items()]
    table = Table(f"Seconds, {machine.name}", ("command", *PARTS, "all"), rows)
    publish("stages", machine, [table], {"model": options.model, "seconds": seconds}, options)


def write_questions(file: Path, count: int) -> Path:
    """Write questions, each with a right and a wrong passage and a reply that follows the passage."""
    rows = []
    for number in range(count):
        right, wrong = (f"{hour % 11 + 1} p.m." for hour in (number, number + 1))
        question = {"question": f"When does hall {number} close?", "answer": right}
        for kind, hour in (("supporting", right), ("conflicting", wrong)):
            passage = {"context": f"Hall {number} closes at {hour}", "kind": kind, "context_answer": hour}
            rows.append(question | passage | {"response": f"It closes at {hour}"})
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return file


def seconds_of_parts(command: Sequence[str]) -> dict[str, float]:
    """Return the seconds of each part of a command, and of all parts together.

    Raises:
        CalledProcessError: The command failed.
    """
    began = time.perf_counter()
    subprocess.run([*PROGRAM, "--version"], check=True, stdout=subprocess.DEVNULL)
    imports = time.perf_counter() - began
    parts = dict.fromkeys(PARTS, 0.0) | {"imports": imports}
    began = time.perf_counter()
    # The command imports for about as long as `--version` did; then "preparing" begins.
    part, part_began, last_event = "preparing", began + imports, began + imports
    with subprocess.Popen([*PROGRAM, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout
        for line in process.stdout:
            if stage_line := BEGINS.search(line):
                last_event = time.perf_counter()
                parts[part] += last_event - part_began
                part, part_began = stage_line[1], last_event
            elif ENDS.search(line):
                last_event = time.perf_counter()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    end = time.perf_counter()
    parts[part] += last_event - part_began
    return parts | {"end": end - last_event, "all": end - began}


def _seconds_of_setup(clone: Path) -> float:
    """Return the seconds of `make setup` in a clone."""
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    began = time.perf_counter()
    subprocess.run(["make", "setup"], cwd=clone, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
