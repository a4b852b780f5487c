"""What two workers give against one, and what the orchestration of a study costs.

throughput       a study of real scores by a Dask cluster of this machine, with one worker of one thread and with two:
                 the stage `score` from the first step that is begun to the last that ends, loading the model among it
orchestration    made-up scoring of 100 ms a step, by threads, one and two Dask workers: the share of the stage in
                 which workers wait, and what a run takes before and after the stage
"""

import argparse
import json
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from benchmarks import made_up, made_up_scores
from benchmarks.machine import multiplication, this_machine
from benchmarks.measuring import MODEL, Table, arguments, publish
from swaymeter.flows.execution.progress import Progress, report_to
from swaymeter.flows.server.api import prefect_api
from swaymeter.flows.stages import score as stage
from swaymeter.flows.study.places import RunnerName
from swaymeter.tasks.measures.run import Spent

MODELS = 6
SIZE = 2048  # of the matrices that say what the machine gave
THREADS: RunnerName = "threads"
DASK: RunnerName = "dask"


@dataclass(eq=False)
class Timed(Progress):
    """When the stage began and ended, and what its steps took."""

    began: float = 0.0
    ended: float = 0.0
    steps: int = 0
    prompts: int = 0
    seconds_of_steps: float = 0.0
    failures: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def started(self, stage: str, name: str) -> None:
        self.began = self.began or time.perf_counter()

    def finished(self, stage: str, name: str, failed: str | None, spent: Spent | None = None) -> None:
        self.ended = time.perf_counter()
        self.steps += 1
        self.failures += [failed] if failed else []
        if spent:
            self.prompts += spent.prompts
            self.seconds_of_steps += spent.seconds

    @property
    def seconds(self) -> float:
        """Of the stage."""
        return self.ended - self.began


@dataclass(frozen=True)
class Run:
    """What a run of the stage `score` took: the stage, and the whole run."""

    stage: Timed
    seconds: float


def main() -> None:
    """Measures, prints and writes."""
    asked = _asked()
    machine = this_machine("cpu")
    before = multiplication("float32", "cpu", SIZE)
    with TemporaryDirectory() as folder, prefect_api():
        throughput = measured_throughput(Path(folder), asked)
        orchestration = measured_orchestration(Path(folder), asked)
    after = multiplication("float32", "cpu", SIZE)
    rates = {workers: statistics.median(each) for workers, each in throughput.items()}
    ratio = statistics.median(two / one for one, two in zip(throughput[1], throughput[2], strict=True))
    first = Table(
        f"Throughput: {asked.model}, {asked.relations} relations, {machine.name}",
        ("Dask workers of one thread", "prompts a second", "times one worker"),
        [("1", f"{rates[1]:.1f}", "1.00"), ("2", f"{rates[2]:.1f}", f"{ratio:.2f}")],
        [
            f"Medians of {asked.rounds} rounds.",
            f"Product of two {SIZE} x {SIZE} matrices before and after: {before:.0f} and {after:.0f} GFLOP/s.",
        ],
    )
    rows = [
        (name.partition(",")[0], str(one["workers"]), str(one["steps"]), f"{one['seconds']:.1f}",
         f"{one['ideal_seconds']:.1f}", f"{one['share']:.1%}", f"{one['seconds_beside']:.1f}")
        for name, one in orchestration.items()
    ]  # fmt: skip
    second = Table(
        f"Orchestration: made-up scoring of {made_up_scores.STEP_SECONDS * 1000:.0f} ms a step, {machine.name}",
        ("runner", "workers", "steps", "seconds of the stage", "seconds of its steps by workers", "share of the stage",
         "seconds before and after it"),
        rows,
        ["The last column is the flow's own begin and end, and of Dask the start and end of its cluster."],
    )  # fmt: skip
    measured = {
        "model": asked.model, "relations": asked.relations, "prompts_a_second": throughput, "times_one_worker": ratio,
        "orchestration": orchestration, "gflops": {"before": before, "after": after},
    }  # fmt: skip
    publish("cluster", machine, [first, second], measured, asked)


def _asked() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--model", default=MODEL, help=f"a language model; by default {MODEL}")
    parser.add_argument("--relations", type=int, default=12, help="of the study of real scores; by default 12")
    parser.add_argument("--entities", type=int, default=2, help="real ones of a relation, and as many invented ones")
    parser.add_argument("--made-up", type=int, default=122, help=f"relations of made-up scores of {MODELS} models")
    parser.add_argument("--rounds", type=int, default=2)
    asked = parser.parse_args()
    if asked.quick:
        asked.relations, asked.entities, asked.made_up, asked.rounds = 2, 1, 2, 1
    return asked


def measured_throughput(folder: Path, asked: argparse.Namespace) -> dict[int, list[float]]:
    """Prompts a second of every round, by the number of workers; another number is first each time."""
    rates: dict[int, list[float]] = {1: [], 2: []}
    for number in range(asked.rounds):
        for workers in (1, 2) if number % 2 == 0 else (2, 1):
            study = _prepared(folder / f"{workers}-{number}", asked.relations, asked.entities, [asked.model])
            run = _run(study, DASK, workers)
            rates[workers].append(run.stage.prompts / run.stage.seconds)
            print(f"  round {number + 1}, {workers} workers: {rates[workers][-1]:.1f} prompts a second", flush=True)
    return rates


def measured_orchestration(folder: Path, asked: argparse.Namespace) -> dict[str, dict[str, float]]:
    """What the stage took, and what its steps did, by runner."""
    found = {}
    models = [str(made_up.write_model(folder / f"model-{number}")) for number in range(MODELS)]
    runners: list[tuple[RunnerName, int]] = [(THREADS, 1), (DASK, 1), (DASK, 2)]
    for runner, workers in runners:
        study = _prepared(folder / f"made-up-{runner}-{workers}", asked.made_up, 1, models)
        with _made_up_scoring():
            run = _run(study, runner, workers)
        ideal = run.stage.seconds_of_steps / workers
        found[f"{runner}, {workers}"] = {
            "workers": workers, "steps": run.stage.steps, "seconds": run.stage.seconds, "ideal_seconds": ideal,
            "share": 1 - ideal / run.stage.seconds, "seconds_beside": run.seconds - run.stage.seconds,
        }  # fmt: skip
        print(f"  {runner}, {workers}: {run.stage.seconds:.1f} s for {ideal:.1f} s of steps", flush=True)
    return found


def _prepared(folder: Path, relations: int, entities: int, models: list[str]) -> Path:
    """A study whose prompts are built; facts are made up, and persuasion is all that is asked."""
    folder.mkdir()
    study = made_up.write_study(folder, relations, entities)
    content = yaml.safe_load(study.read_text(encoding="utf-8"))
    content["models"] = [{"name": name, "dtype": "float32", "device": "cpu"} for name in models]
    content["measures"] = {"persuasion": {}}
    study.write_text(yaml.safe_dump(content), encoding="utf-8")
    made_up.write_facts(study)
    made_up.write_prompts(study)
    return study


def _run(study: Path, runner: RunnerName, workers: int) -> Run:
    """Runs the stage `score`; SystemExit where a step failed."""
    from swaymeter.flows.execution.flow import study as flow

    content = yaml.safe_load(study.read_text(encoding="utf-8"))
    content["execution"] = {"runner": runner, "workers": workers}
    study.write_text(yaml.safe_dump(content), encoding="utf-8")
    timed = Timed()
    report_to(timed)
    start = time.perf_counter()
    state = flow(str(study), stages=["score"], return_state=True)
    seconds = time.perf_counter() - start
    if not state.is_completed():
        raise SystemExit(f"{state.message} {json.dumps(timed.failures[:3])}")
    return Run(timed, seconds)


@contextmanager
def _made_up_scoring() -> Iterator[None]:
    real = stage.SCORES
    stage.SCORES = replace(real, function=made_up_scores.score_in_time)  # type: ignore[misc]
    try:
        yield
    finally:
        stage.SCORES = real  # type: ignore[misc]


if __name__ == "__main__":
    main()
