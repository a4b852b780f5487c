"""A study of a model that is only a folder's name, and its steps run one after the other, without Prefect."""

import shutil
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import yaml

from swaymeter.data.records.table import Table
from swaymeter.flows.api import Study
from swaymeter.flows.execution.executor import Executor
from swaymeter.flows.execution.progress import Progress
from swaymeter.flows.execution.task import Outcome, Task, Workers
from swaymeter.flows.graph.graph import Graph, RunSettings, Step
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.graph.stage import Stage
from swaymeter.flows.study_graph import graph_of
from tests.data.warehouse.small_study import row

PREPARED: tuple[Stage, ...] = ("fetch", "build")
NOTED = {
    "started_at": "2026-03-01T12:00:00+00:00",
    "finished_at": "2026-03-01T12:00:03+00:00",
    "forward_passes": 1,
    "swaymeter_version": "0",
    "torch_version": "0",
    "transformers_version": "0",
    "hardware": "0",
}


def small_study(folder: Path, **changes: Any) -> dict[str, Any]:
    """A sound study; its model is a folder that can be identified, and its entailment model another."""
    for name in ("model", "judge"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "config.json").write_text("{}")
        (folder / name / "model.safetensors").write_bytes(name.encode())
    return {
        "name": "small",
        "workspace": str(folder / "workspace"),
        "facts": {"relations": ["capital", "father"], "real_entities": 2, "invented_entities": 1},
        "contexts": {"base": 1, "assertive": 1, "negation": 0},
        "questions": {"partitions": ["static"], "per_partition": 3},
        "models": [{"name": str(folder / "model"), "dtype": "float32", "device": "cpu"}],
        "measures": {
            "persuasion": {},
            "susceptibility": {},
            "answers": {"samples": 2},
            "accuracy": {},
            "clusters": {"entailment": str(folder / "judge")},
            "semantic_entropy": {},
        },
    } | changes


def labelled_models(folder: Path) -> list[dict[str, Any]]:
    """The models of the sound study, with a label."""
    return [{**model, "label": "tuned"} for model in small_study(folder)["models"]]


def write_study(folder: Path, study: Any) -> str:
    """A study file with that content."""
    file = folder / "study.yaml"
    file.write_text(yaml.safe_dump(study), encoding="utf-8")
    return str(file)


def selected(folder: Path, **changes: Any) -> Study:
    """The sound study, with changes to it; its graph is resolved when it is first asked for."""
    return Study.load(write_study(folder, small_study(folder, **changes)))


def prepare(study: Study) -> Study:
    """The study with its facts and questions fetched and its prompts built; what is alike is built once and copied."""
    root, alike = study.workspace.root, study.study.model_dump_json(exclude={"models", "workspace"})
    if alike in _prepared and not root.exists():
        shutil.copytree(_prepared[alike], root)
    shared_results: dict[Any, Any] = {}
    graph = run(lambda: graph_of(study.plan, shared_results), Selection(stages=PREPARED))
    failed = {str(node.id): node.reason for node in graph if node.id.stage in PREPARED and node.state == "failed"}
    assert failed == {}
    if alike not in _prepared:
        _prepared[alike] = Path(tempfile.mkdtemp(dir=_folder.name)) / "workspace"
        shutil.copytree(root, _prepared[alike], ignore=shutil.ignore_patterns("scores", ".lock"))
    return again(study)


_folder = tempfile.TemporaryDirectory(prefix="swaymeter-tests-")
_prepared: dict[str, Path] = {}


def score(study: Study, *, seconds: float = 3.0, prompts: int = 6) -> Study:
    """The study with a row in each of its score files."""
    while True:
        nodes = [node for node in study.graph if node.id.stage == "score" and node.step and node.state != "done"]
        if not nodes:
            return study
        for node in nodes:
            assert node.step is not None
            for role in node.step.outputs:
                table = node.step.table(role)
                table.write(_one_row(table.table), {**NOTED, "seconds": seconds, "prompts": prompts})
            study.workspace.forget_failure(str(node.id), node.step.key)
        study = again(study)


def again(study: Study) -> Study:
    """The study, whose graph is resolved anew."""
    return Study(study.name, study.study, study.workspace, study.selection)


class Ended:
    """The future of a task that has run already."""

    def add_done_callback(self, fn: Callable[[Any], None]) -> None:
        fn(self)


class Here(Workers):
    """Workers that tell each step after it has run."""

    def __init__(self, ran: Callable[[Step], None]) -> None:
        super().__init__()
        self._ran = ran

    def compute_step(self, step: Step, settings: RunSettings) -> Outcome:
        outcome = super().compute_step(step, settings)
        self._ran(step)
        return outcome


def executor(
    renew_graph: Callable[[], Graph],
    selection: Selection | None = None,
    workers: Workers | None = None,
    progress: Progress | None = None,
    pool: ThreadPoolExecutor | None = None,
) -> Executor:
    """An executor that runs tasks in threads of a pool, or in this one."""
    shown, workers = progress or Progress(), workers or Workers()
    here = RunSettings(renew_graph().workspace.root)

    def submit(task: Task, upstream: Mapping[str, bool]) -> Any:
        if pool:
            return pool.submit(task.compute, here, workers, shown)
        task.compute(here, workers, shown)
        return Ended()

    return Executor(renew_graph, selection or Selection(), submit, shown, workers)


def run(
    renew_graph: Callable[[], Graph],
    selection: Selection | None = None,
    ran: Callable[[Step], None] = lambda step: None,
    progress: Any = None,
) -> Graph:
    """Runs the steps of a graph in this thread; `ran` is told each, after it has run."""
    with renew_graph().workspace.lock():
        return executor(renew_graph, selection, Here(ran), progress).run()


def _one_row(table: Table) -> Any:
    return table.of([row(table)])
