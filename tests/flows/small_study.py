"""A small study whose models cannot be loaded, and functions that run its steps without Prefect."""

import shutil
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from swaymeter.data.errors import StudyFileError
from swaymeter.flows.api import Study
from swaymeter.flows.config.study import StudyFile, read_study
from swaymeter.flows.execution.executor import Executor
from swaymeter.flows.execution.progress import Progress
from swaymeter.flows.execution.task import Outcome, Task, Workers
from swaymeter.flows.graph.graph import Graph, RunSettings, Step
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.graph.stage import Stage
from swaymeter.flows.study_graph import graph_of
from tests.data.warehouse.small_study import row

PREPARED: tuple[Stage, ...] = ("fetch", "build")
_CONTENT = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
SOUND: dict[str, Any] = _CONTENT["study"]
"""The content of a valid study file."""
METADATA: dict[str, Any] = _CONTENT["metadata"]
"""Metadata of a score file."""


def small_study(folder: Path, **changes: Any) -> dict[str, Any]:
    """Return the content of the study file; write the files that identify its two models."""
    for name in ("model", "judge"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "config.json").write_text("{}")
        (folder / name / "model.safetensors").write_bytes(name.encode())
    study = {
        "workspace": str(folder / "workspace"),
        "models": [{"name": str(folder / "model"), "dtype": "float32", "device": "cpu"}],
        "measures": {
            "persuasion": {},
            "susceptibility": {},
            "answers": {"samples": 2},
            "accuracy": {},
            "clusters": {"entailment": str(folder / "judge")},
            "semantic_entropy": {},
        },
    }
    return deepcopy(SOUND) | study | changes


def write_study(folder: Path, study: Any) -> str:
    """Write a study file with this content, and return its path."""
    file = folder / "study.yaml"
    file.write_text(yaml.safe_dump(study), encoding="utf-8")
    return str(file)


def changed_study(folder: Path, **changes: Any) -> StudyFile:
    """Return the study SOUND with these sections in place of its own."""
    return read_study(write_study(folder, SOUND | changes))


def error_message(folder: Path, **changes: Any) -> str:
    """Return the message that refuses the changed study, without the name of the file."""
    with pytest.raises(StudyFileError) as raised:
        changed_study(folder, **changes)
    file, message = str(folder / "study.yaml"), str(raised.value)
    assert message.startswith(f"{file}: ")
    assert "\n" not in message
    return message.removeprefix(f"{file}: ")


def load_study(folder: Path, **changes: Any) -> Study:
    """Write and load the small study with these changes."""
    return Study.load(write_study(folder, small_study(folder, **changes)))


def prepare(study: Study) -> Study:
    """Run the stages fetch and build; studies with equal content share one run, whose workspace is copied."""
    root, content = study.workspace.root, study.study.model_dump_json(exclude={"models", "workspace"})
    if content in _prepared and not root.exists():
        shutil.copytree(_prepared[content], root)
    shared_results: dict[Any, Any] = {}
    graph = run(lambda: graph_of(study.plan, shared_results), Selection(stages=PREPARED))
    failed = {str(node.id): node.reason for node in graph if node.id.stage in PREPARED and node.state == "failed"}
    assert failed == {}
    if content not in _prepared:
        _prepared[content] = Path(tempfile.mkdtemp(dir=_folder.name)) / "workspace"
        shutil.copytree(root, _prepared[content], ignore=shutil.ignore_patterns("scores", ".lock"))
    return renew(study)


_folder = tempfile.TemporaryDirectory(prefix="swaymeter-tests-")
_prepared: dict[str, Path] = {}


def score(study: Study) -> Study:
    """Write one row to each missing score file, and return the study."""
    while True:
        nodes = [node for node in study.graph if node.id.stage == "score" and node.step and node.state != "done"]
        if not nodes:
            return study
        for node in nodes:
            assert node.step is not None
            for role in node.step.outputs:
                output = node.step.table(role)
                rows = output.table.of([row(output.table)])
                output.write(rows, METADATA)
            study.workspace.forget_failure(str(node.id), node.step.key)
        study = renew(study)


def renew(study: Study) -> Study:
    """Return the study with a new graph."""
    return Study(study.name, study.study, study.workspace, study.selection)


class CompletedFuture:
    """The future of a task that has already run."""

    def add_done_callback(self, fn: Callable[[Any], None]) -> None:
        fn(self)


class ReportingWorkers(Workers):
    """Workers that call a function with each step after its run."""

    def __init__(self, after_step: Callable[[Step], None]) -> None:
        super().__init__()
        self._after_step = after_step

    def compute_step(self, step: Step, settings: RunSettings) -> Outcome:
        outcome = super().compute_step(step, settings)
        self._after_step(step)
        return outcome


def executor(
    renew_graph: Callable[[], Graph],
    selection: Selection | None = None,
    after_step: Callable[[Step], None] = lambda step: None,
    progress: Progress | None = None,
    pool: ThreadPoolExecutor | None = None,
) -> Executor:
    """Return an executor that runs tasks in a pool of threads or, without a pool, in this thread."""
    display, workers = progress or Progress(), ReportingWorkers(after_step)
    settings = RunSettings(renew_graph().workspace.root)

    def submit(task: Task, upstream: Mapping[str, bool]) -> Any:
        if pool:
            return pool.submit(task.compute, settings, workers, display)
        task.compute(settings, workers, display)
        return CompletedFuture()

    return Executor(renew_graph, selection or Selection(), submit, display, workers)


def run(renew_graph: Callable[[], Graph], *options: Any, **named_options: Any) -> Graph:
    """Run the steps of a graph in this thread, with the options of `executor`."""
    with renew_graph().workspace.lock():
        return executor(renew_graph, *options, **named_options).run()
