"""A study of a tiny random model, which runs in seconds, and the commands that run it."""

import json
import multiprocessing
import multiprocessing.forkserver
import os
import re
import shutil
import signal
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
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
from swaymeter.flows.server.settings import QUIET, TEMPORARY_SERVER
from tests.end_to_end import forked_programs
from tests.tasks.models.tiny import save_entailment_model, save_language_model

ROOT = Path(__file__).resolve().parents[2]
_STUDY_FILE = Path(__file__).with_name("tiny.yaml")
RELATIONS: tuple[str, ...] = tuple(yaml.safe_load(_STUDY_FILE.read_text())["facts"]["relations"])
COMMAND_SECONDS = 560
"""Limit of the time that a command takes."""
EVENT_SECONDS = 90
"""Limit of the wait for an event, such as a request or the end of a task run."""
_fork = multiprocessing.get_context("forkserver")
pipe = partial(_fork.Pipe, duplex=False)
"""Return the receiver and the sender of a new pipe, which can be an argument of a forked process."""


@dataclass(frozen=True)
class Run:
    """The exit status and the output of a command that has ended."""

    code: int
    output: str

    @property
    def prompts(self) -> int:
        """Return the number of prompts that the command reports as computed."""
        match = re.search(r"computed now: (\d+) prompts", self.output)
        assert match, self.output
        return int(match[1])


@dataclass(frozen=True)
class TinyStudy:
    """A study file and a workspace.

    Attributes:
        file: the study file.
        workspace: the workspace.
        prefect_home: the home folder of Prefect.
        mark: the value of an environment variable by which `processes` finds the processes of the study.
        api: the Prefect server of all commands; if it is empty, each command starts its own.
    """

    file: Path
    workspace: Path
    prefect_home: Path
    mark: str
    api: str = ""

    @classmethod
    def of(cls, file: Path, workspace: Path, api: str, content: Mapping[str, Any]) -> "TinyStudy":
        """Write a study file, and return its study with an empty workspace."""
        file.write_text(yaml.safe_dump(dict(content)))
        return cls(file, workspace, file.parents[1] / "prefect", uuid.uuid4().hex, api)

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of a command: no downloads of models, and no other settings of Prefect and Python."""
        foreign_prefixes = ("PREFECT_", "NO_PROXY", "no_proxy", "PYTHON")
        plain = {name: value for name, value in os.environ.items() if not name.startswith(foreign_prefixes)}
        return plain | {
            "PREFECT_HOME": str(self.prefect_home),
            "PYTHONPATH": str(ROOT),
            "HF_HUB_OFFLINE": "1",
            "COLUMNS": "400",
            "SWAYMETER_TEST": self.mark,
            **({"PREFECT_API_URL": self.api} if self.api else {}),
        }

    def start(self, *command: str, group: tuple[str, ...] = (), before: Callable[[], None] | None = None) -> "Command":
        """Start a command on this study and workspace in a forked process, which first calls `before`.

        `group` has the name of the command's group, such as `annotate`.
        """
        verb, *options = command
        return start_command(
            [*group, verb, str(self.file), "--workspace", str(self.workspace), *options], self.environment, before
        )

    def run(self, *command: str, group: tuple[str, ...] = (), before: Callable[[], None] | None = None) -> Run:
        """Run a command on this study and workspace to its end."""
        with self.start(*command, group=group, before=before) as running:
            return running.wait()

    def copy(self, workspace: Path, *, with_files: bool = True) -> "TinyStudy":
        """Return the study with a copy of its workspace or, without files, with an empty workspace."""
        if with_files:
            shutil.copytree(self.workspace, workspace)
        return replace(self, workspace=workspace, mark=uuid.uuid4().hex)

    def with_two_measures(self, file: Path) -> "TinyStudy":
        """Return the study with two measures and without questions. A run takes about half the time."""
        content = yaml.safe_load(self.file.read_text())
        content["measures"] = {"persuasion": {}, "susceptibility": {}}
        del content["questions"]
        file.write_text(yaml.safe_dump(content))
        return replace(self, file=file)

    def processes(self) -> list[psutil.Process]:
        """Return the running processes of the commands of this study."""
        return [process for process in psutil.process_iter() if _variable("SWAYMETER_TEST", process) == self.mark]

    def temporary_files(self) -> list[Path]:
        """Return the files and folders that only a killed run leaves behind."""
        return sorted(self.workspace.rglob(".*.unfinished*")) + sorted(self.workspace.glob(".report.*"))

    def scores(self, relation: str = "*") -> dict[str, pa.Table]:
        """Return the rows of each score file of a relation, by the file's path without its digest."""
        return {
            str(path.relative_to(self.workspace)).rpartition("-")[0]: pq.read_table(path, partitioning=None)
            for path in sorted(self.workspace.glob(f"scores/{relation.lower()}/*/*.parquet"))
        }

    def write_times(self) -> dict[Path, int]:
        """Return the time when each file of prompts and scores was written."""
        files = [*self.workspace.glob("prompts/**/*.parquet"), *self.workspace.glob("scores/**/*.parquet")]
        return {path.relative_to(self.workspace): path.stat().st_mtime_ns for path in files}

    def stored_prompts(self, relation: str = "*", measure: str = "*") -> int:
        """Return the sum of the numbers of prompts in the notes of score files, for a relation and a measure."""
        files = self.workspace.glob(f"scores/{relation.lower()}/*/{measure}-*.parquet")
        about = (json.loads(pq.read_schema(path).metadata[b"swaymeter"])["about"] for path in files)
        return sum(int(notes["prompts"]) for notes in about)

    def delete_scores(self, relation: str) -> None:
        shutil.rmtree(self.workspace / "scores" / relation.lower())

    def results(self) -> dict[str, list[tuple[object, ...]]]:
        """Return the rows of the tables of results in the database, and a part of its table of runs."""
        tables = ("statistics", "correlations", "summaries", "susceptibility", "facts", "queries", "contexts")
        queries = {name: f'FROM "{name}" ORDER BY ALL' for name in tables}
        queries["runs"] = "SELECT measure, relation, prompts, rows FROM runs ORDER BY ALL"
        with duckdb.connect(self.workspace / "study.duckdb", read_only=True) as database:
            return {name: database.execute(query).fetchall() for name, query in queries.items()}

    def only_file(self, pattern: str) -> Path:
        """Return the only file of the workspace that fits a pattern."""
        (file,) = self.workspace.glob(pattern)
        return file


@dataclass(frozen=True)
class Command:
    """A command that runs in a forked process and is killed at the end of the block; `file` has its output."""

    process: Any
    file: Path

    @property
    def pid(self) -> int:
        return int(self.process.pid)

    def poll(self) -> int | None:
        """Return the exit status, such as -9 after signal 9; None while the command runs."""
        code: int | None = self.process.exitcode
        return code

    def wait(self) -> Run:
        """Wait for the end of the command."""
        self.process.join(COMMAND_SECONDS)
        if self.poll() is None:
            os.kill(self.pid, signal.SIGUSR1)  # the command prints the stacks of its threads
            time.sleep(2)
        assert self.poll() is not None, f"still running after {COMMAND_SECONDS} s: {self.file.read_text()}"
        return Run(self.poll() or 0, self.file.read_text())

    def __enter__(self) -> "Command":
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.join()
        self.file.unlink(missing_ok=True)


def start_command(
    arguments: list[str],
    environment: Mapping[str, str],
    before: Callable[[], None] | None = None,
    program: Callable[..., None] = forked_programs.swaymeter,
) -> Command:
    """Start the command `swaymeter`, or another program of `forked_programs`, in a forked process."""
    start_preloading()
    handle, file = tempfile.mkstemp(prefix="swaymeter-output-")
    os.close(handle)
    options = {"before": before} if before else {}
    process = _fork.Process(target=program, args=(arguments, dict(environment), file), kwargs=options)
    process.start()
    return Command(process, Path(file))


def start_preloading() -> None:
    """Start the process from which commands are forked, without waiting for its imports."""
    _fork.set_forkserver_preload([forked_programs.__name__])
    with mock.patch.dict(os.environ, {"PYTHONPATH": str(ROOT), forked_programs.PRELOAD: "yes"}):
        multiprocessing.forkserver.ensure_running()


@contextmanager
def prefect_server(folder: Path) -> Iterator[str]:
    """Yield the address of a Prefect server for many commands, because each would wait for its own."""
    start_preloading()
    home = folder / "prefect"
    home.mkdir(exist_ok=True)
    settings = {**QUIET, **TEMPORARY_SERVER, "PREFECT_HOME": str(home)}
    with (home / "log").open("w+b") as log, prefect.running_server(settings, log) as (_, url):
        yield url


def wait_until(reached: Callable[[], bool], command: Command) -> None:
    """Wait until a condition holds; AssertionError if the command has ended, or after `EVENT_SECONDS`."""
    deadline = time.monotonic() + EVENT_SECONDS
    while not reached():
        assert command.poll() is None, command.wait().output
        assert time.monotonic() < deadline
        time.sleep(0.02)


def task_runs(api: httpx.Client, flow_run: str) -> list[dict[str, Any]]:
    """Wait until the server has recorded all task runs of a flow run that has ended, and return them."""
    deadline = time.monotonic() + EVENT_SECONDS
    while True:
        body = {"flow_runs": {"id": {"any_": [flow_run]}}}
        rows: list[dict[str, Any]] = api.post("/task_runs/filter", json=body).json()
        states = {row["name"]: row["state_name"] for row in rows}
        upstream = {task["id"] for row in rows for task in row["task_inputs"].get("wait_for", ())}
        is_complete = "report · study · page" in states and upstream <= {row["id"] for row in rows}
        if is_complete and {*states.values()} <= {"Completed", "Failed", "NotReady"}:
            return rows
        assert time.monotonic() < deadline, (states, upstream - {row["id"] for row in rows})
        time.sleep(0.2)


def truncate(path: Path) -> bytes:
    """Delete the second half of a file, and return the content before."""
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    return content


def processes_below(folder: Path) -> list[psutil.Process]:
    """Return the processes whose Prefect home is below a folder."""
    return [process for process in psutil.process_iter() if _variable("PREFECT_HOME", process).startswith(f"{folder}/")]


def _variable(name: str, process: psutil.Process) -> str:
    try:
        return process.environ().get(name, "") if process.status() != psutil.STATUS_ZOMBIE else ""
    except psutil.Error:
        return ""


def new_study(folder: Path, api: str) -> TinyStudy:
    """Save tiny models, and return a study of them with an empty workspace."""
    content = yaml.safe_load(_STUDY_FILE.read_text())
    content["models"][0]["name"] = str(save_language_model(folder / "tiny-model"))
    content["measures"]["clusters"]["entailment"] = str(save_entailment_model(folder / "tiny-entailment"))
    return TinyStudy.of(folder / "tiny.yaml", folder / "workspace", api, content)
