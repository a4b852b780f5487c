"""A study that is over in seconds, of a random model in a folder, and runs of it."""

import json
import multiprocessing
import multiprocessing.forkserver
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import httpx
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from swaymeter.flows.server import api as prefect
from swaymeter.flows.server.settings import QUIET, TEMPORARY
from tests.end_to_end import preloaded
from tests.tasks.models.tiny import save_entailment_model, save_language_model

ROOT = Path(__file__).resolve().parents[2]
RELATIONS = ("capital", "birthPlace", "director")
SECONDS, MOST_SECONDS = 560, 90
_fork = multiprocessing.get_context("forkserver")


@dataclass(frozen=True)
class Run:
    """How a command ended: its exit status and all that it said."""

    code: int
    said: str

    @property
    def prompts(self) -> int:
        """How many prompts the command says that it asked."""
        found = re.search(r"computed now: (\d+) prompts", self.said)
        assert found, self.said
        return int(found[1])


@dataclass(frozen=True)
class TinyStudy:
    """A study file and a workspace; every process of its commands carries a mark by which it can be found.

    api: a Prefect server that its commands use; without one, each starts its own.
    """

    file: Path
    workspace: Path
    prefect_home: Path
    mark: str
    api: str = ""

    @classmethod
    def of(cls, file: Path, workspace: Path, api: str, content: Mapping[str, Any]) -> "TinyStudy":
        """Writes the file of a study with an empty workspace."""
        file.write_text(yaml.safe_dump(dict(content)))
        return cls(file, workspace, file.parents[1] / "prefect", uuid.uuid4().hex, api)

    @property
    def environment(self) -> dict[str, str]:
        """No Prefect configured but a home that the tests share, and no network."""
        foreign = ("PREFECT_", "NO_PROXY", "no_proxy", "PYTHON")
        plain = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        return plain | {
            "PREFECT_HOME": str(self.prefect_home),
            "PYTHONPATH": str(ROOT),
            "HF_HUB_OFFLINE": "1",
            "COLUMNS": "400",
            "SWAYMETER_TEST": self.mark,
            **({"PREFECT_API_URL": self.api} if self.api else {}),
        }

    def start(self, *command: str, group: tuple[str, ...] = (), before: Callable[[], None] | None = None) -> "Command":
        """Starts a command on this study and workspace in a forked process; before: what that calls first of all."""
        verb, *options = command
        return started(
            [*group, verb, str(self.file), "--workspace", str(self.workspace), *options], self.environment, before
        )

    def run(self, *command: str, group: tuple[str, ...] = (), before: Callable[[], None] | None = None) -> Run:
        """Runs a command on this study and workspace to its end."""
        with self.start(*command, group=group, before=before) as running:
            return running.ended()

    def run_by_hand(self, *command: str) -> Run:
        """The same in a process of its own, as a person starts it, with figures and a temporary Prefect server."""
        verb, *options = command
        arguments = ["-m", "tests.end_to_end.preloaded", verb, str(self.file), "--workspace", str(self.workspace)]
        done = subprocess.run(
            [sys.executable, *arguments, *options],
            cwd=ROOT,
            env=replace(self, api="").environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            check=False,
        )
        return Run(done.returncode, done.stdout)

    def elsewhere(self, workspace: Path, *, with_files: bool = True) -> "TinyStudy":
        """The same study in another workspace, with what is done already or empty."""
        if with_files:
            shutil.copytree(self.workspace, workspace)
        return replace(self, workspace=workspace, mark=uuid.uuid4().hex)

    def with_fewer_figures(self, file: Path) -> "TinyStudy":
        """The study with two measures and without questions in another file: they take as long as all of the rest."""
        content = yaml.safe_load(self.file.read_text())
        content["measures"] = {"persuasion": {}, "susceptibility": {}}
        del content["questions"]
        file.write_text(yaml.safe_dump(content))
        return replace(self, file=file)

    def processes(self) -> list[psutil.Process]:
        """Every process that a command of this study has started and that is still there."""
        return [process for process in psutil.process_iter() if _variable("SWAYMETER_TEST", process) == self.mark]

    def temporary_files(self) -> list[Path]:
        """What only a run that is killed leaves behind."""
        return sorted(self.workspace.rglob(".*.unfinished*")) + sorted(self.workspace.glob(".report.*"))

    def scores(self, relation: str = "*") -> dict[str, pa.Table]:
        """The rows of every score file of a relation, by the file's place in the workspace without its digest."""
        return {
            str(path.relative_to(self.workspace)).rpartition("-")[0]: pq.read_table(path, partitioning=None)
            for path in sorted(self.workspace.glob(f"scores/{relation.lower()}/*/*.parquet"))
        }

    def written(self) -> dict[Path, int]:
        """When each file of prompts and scores was written."""
        files = [*self.workspace.glob("prompts/**/*.parquet"), *self.workspace.glob("scores/**/*.parquet")]
        return {path.relative_to(self.workspace): path.stat().st_mtime_ns for path in files}

    def stored_prompts(self, relation: str = "*", measure: str = "*") -> int:
        """Prompts of the chunks that are done, as their files say; measure: of this pass alone."""
        files = self.workspace.glob(f"scores/{relation.lower()}/*/{measure}-*.parquet")
        about = (json.loads(pq.read_schema(path).metadata[b"swaymeter"])["about"] for path in files)
        return sum(int(one["prompts"]) for one in about)

    def forget_scores(self, relation: str) -> None:
        """Removes the scores of a relation."""
        shutil.rmtree(self.workspace / "scores" / relation.lower())

    def results(self) -> dict[str, list[tuple[object, ...]]]:
        """The rows of every table of results in the database, and what it says of the runs."""
        tables = ("statistics", "correlations", "summaries", "susceptibility", "facts", "queries", "contexts")
        queries = {name: f'FROM "{name}" ORDER BY ALL' for name in tables}
        queries["runs"] = "SELECT measure, relation, prompts, rows FROM runs ORDER BY ALL"
        with duckdb.connect(self.workspace / "study.duckdb", read_only=True) as database:
            return {name: database.execute(query).fetchall() for name, query in queries.items()}

    def one_file(self, pattern: str) -> Path:
        """The one file of the workspace that fits the pattern."""
        (found,) = self.workspace.glob(pattern)
        return found


@dataclass(frozen=True)
class Command:
    """A command that runs in a forked process; it is killed on leaving."""

    process: Any
    file: Path

    @property
    def pid(self) -> int:
        """Of its process."""
        return int(self.process.pid)

    def poll(self) -> int | None:
        """Its exit status once it has ended, minus the number of the signal that ended it."""
        code: int | None = self.process.exitcode
        return code

    def ended(self) -> Run:
        """Waits for its end."""
        self.process.join(SECONDS)
        if self.poll() is None:
            os.kill(self.pid, signal.SIGUSR1)  # it says what each of its threads is at
            time.sleep(2)
        assert self.poll() is not None, f"still running after {SECONDS} s: {self.file.read_text()}"
        return Run(self.poll() or 0, self.file.read_text())

    def __enter__(self) -> "Command":
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.join()
        self.file.unlink(missing_ok=True)


def started(
    arguments: list[str],
    environment: Mapping[str, str],
    before: Callable[[], None] | None = None,
    program: Callable[..., None] = preloaded.swaymeter,
) -> Command:
    """Starts the command `swaymeter`, or another program of `preloaded`, with these arguments in a forked process."""
    begin_to_preload()
    handle, file = tempfile.mkstemp(prefix="swaymeter-said-")
    os.close(handle)
    process = _fork.Process(target=program, args=(arguments, dict(environment), file, before))
    process.start()
    return Command(process, Path(file))


def begin_to_preload() -> None:
    """Starts the process that commands are forked from; that goes on importing when this returns."""
    _fork.set_forkserver_preload([preloaded.__name__])
    with mock.patch.dict(os.environ, {"PYTHONPATH": str(ROOT), preloaded.SIGN: "yes"}):
        multiprocessing.forkserver.ensure_running()


@contextmanager
def prefect_server(folder: Path) -> Iterator[str]:
    """The address of a Prefect server for many commands, since each would wait for its own."""
    begin_to_preload()
    home = folder / "prefect"
    home.mkdir(exist_ok=True)
    settings = {**QUIET, **TEMPORARY, "PREFECT_HOME": str(home)}
    with (home / "log").open("w+b") as log, prefect.running_server(settings, log) as (_, url):
        yield url


def until(reached: Callable[[], bool], command: Command) -> None:
    """Returns when it is so; AssertionError where the process ends before, or a minute and a half has passed."""
    last = time.monotonic() + MOST_SECONDS
    while not reached():
        assert command.poll() is None, command.ended().said
        assert time.monotonic() < last
        time.sleep(0.02)


def task_runs(api: httpx.Client, flow_run: str) -> list[dict[str, Any]]:
    """The task runs of a flow run that has ended, once the server has recorded all: it does so every second."""
    last = time.monotonic() + MOST_SECONDS
    while True:
        asked = {"flow_runs": {"id": {"any_": [flow_run]}}}
        rows: list[dict[str, Any]] = api.post("/task_runs/filter", json=asked).json()
        states = {row["name"]: row["state_name"] for row in rows}
        upstream = {one["id"] for row in rows for one in row["task_inputs"].get("wait_for", ())}
        is_whole = "report · study · page" in states and upstream <= {row["id"] for row in rows}
        if is_whole and {*states.values()} <= {"Completed", "Failed", "NotReady"}:
            return rows
        assert time.monotonic() < last, (states, upstream - {row["id"] for row in rows})
        time.sleep(0.2)


def cut_short(path: Path) -> bytes:
    """Leaves the first half of a file; gives what the whole file held."""
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    return whole


def processes_below(folder: Path) -> list[psutil.Process]:
    """Every process whose Prefect home is below a folder."""
    return [process for process in psutil.process_iter() if _variable("PREFECT_HOME", process).startswith(f"{folder}/")]


def _variable(name: str, process: psutil.Process) -> str:
    try:
        return process.environ().get(name, "") if process.status() != psutil.STATUS_ZOMBIE else ""
    except psutil.Error:
        return ""


def new_study(folder: Path, api: str) -> TinyStudy:
    """The tiny study with its models and an empty workspace; api: a Prefect server."""
    model = save_language_model(folder / "tiny-model")
    entailment = save_entailment_model(folder / "tiny-entailment")
    study = {
        "name": "tiny",
        "seed": 1,
        "facts": {"relations": list(RELATIONS), "real_entities": 2, "invented_entities": 1},
        "contexts": {"base": 1, "assertive": 1, "negation": 1},
        "questions": {"partitions": ["static", "disputable"], "per_partition": 1},
        "models": [{"name": str(model), "dtype": "float32", "device": "cpu"}],
        "measures": {
            "persuasion": {},
            "susceptibility": {},
            "entity_independent_susceptibility": {},
            "memorization_ratio": {},
            "greedy_answers": {"max_new_tokens": 3},
            "answer_set_susceptibility": {},
            "fisher_susceptibility": {"top_k": 2, "draws": 0},
            "answers": {"samples": 3, "max_new_tokens": 4},
            "clusters": {"entailment": str(entailment)},
            "semantic_entropy": {},
            "coherent_persuasion": {},
            "accuracy": {},
            "persuaded": {},
        },
    }
    return TinyStudy.of(folder / "tiny.yaml", folder / "workspace", api, study)
