"""What two studies cost each other on one machine: one command `score` alone, and two at once, in turns.

    alone       one study
    at once     the same study and its copy in another workspace, begun together
    spinning    two at once as OpenMP waits by default, only with --spinning: that takes several times as long

Seconds are those in which prompts were scored, as the files of the scores say; the starts of the programs, which
overlap, too, are not in them. Two studies that share the processors fairly take twice as long each.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from benchmarks.machine import this_machine
from benchmarks.made_up import MODEL, write_facts, write_prompts, write_study
from benchmarks.measuring import Table, arguments, publish
from swaymeter.data.storage.files import verify

BY_DEFAULT = {"GOMP_SPINCOUNT": "300000"}
"""GNU's OpenMP without any variable: 300,000 looks before a thread sleeps."""
COLUMNS = ("side", "scoring, seconds", "times as long as alone")


def main() -> None:
    """Measures, prints and writes."""
    asked = _asked()
    with TemporaryDirectory() as folder:
        studies = [_study(Path(folder) / name, asked) for name in ("first", "second")]
        sides: dict[str, tuple[Sequence[Path], Mapping[str, str]]] = {
            "alone": (studies[:1], {}),
            "at once": (studies, {}),
            **({"spinning": (studies, BY_DEFAULT)} if asked.spinning else {}),
        }
        seconds: dict[str, list[float]] = {name: [] for name in sides}
        if not asked.quick:
            _scored(*sides["alone"])  # not counted: files come into the system's cache
        for number in range(asked.rounds):
            for name in [*sides][:: 1 if number % 2 else -1]:
                seconds[name].append(statistics.mean(_scored(*sides[name])))
                print(f"  round {number + 1} of {asked.rounds}: {name}: {seconds[name][-1]:.1f} s each", flush=True)
    slower = {
        name: statistics.median(one / alone for one, alone in zip(seconds[name], seconds["alone"], strict=True))
        for name in sides
    }
    machine = this_machine("cpu")
    rows = [(name, f"{statistics.median(seconds[name]):.1f}", f"{slower[name]:.2f}") for name in sides]
    measured = {"model": asked.model, "seconds": seconds, "times_as_long": slower}
    publish("shared_machine", machine, [Table(f"{asked.model}, {machine.name}", COLUMNS, rows)], measured, asked)


def _asked() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--model", default=MODEL, help="an alias of the catalog, a folder or a hub id")
    parser.add_argument("--relations", type=int, default=2, help="of each study; by default 2")
    parser.add_argument("--entities", type=int, default=3, help="real ones of a relation, and as many invented ones")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--spinning", action="store_true", help="also with OpenMP's own way of waiting")
    asked = parser.parse_args()
    if asked.quick:
        asked.relations, asked.entities, asked.rounds = 1, 2, 1
    return asked


def _study(folder: Path, asked: argparse.Namespace) -> Path:
    """A study of made-up facts that is built, and whose scores are missing."""
    folder.mkdir()
    file = write_study(folder, asked.relations, asked.entities)
    content: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    content["models"][0]["name"] = asked.model
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    write_facts(file)
    write_prompts(file)
    return file


def _scored(studies: Sequence[Path], variables: Mapping[str, str]) -> list[float]:
    """Scores the studies at once; the seconds of each in which prompts were scored."""
    for study in studies:
        shutil.rmtree(study.parent / "workspace" / "scores", ignore_errors=True)
    command = [sys.executable, "-m", "swaymeter.flows.cli.main", "score", "--offline"]
    running = [
        subprocess.Popen([*command, str(study)], env={**os.environ, **variables}, stdout=subprocess.DEVNULL)
        for study in studies
    ]
    for process in running:
        if process.wait():
            raise subprocess.CalledProcessError(process.returncode, process.args)
    return [sum(map(_seconds, study.parent.glob("workspace/scores/*/*/*.parquet"))) for study in studies]


def _seconds(file: Path) -> float:
    return float(verify(file)["about"]["seconds"])


if __name__ == "__main__":
    main()
