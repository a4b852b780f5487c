"""A study that is over in seconds, of a random model in a folder, and runs of it as a person starts them."""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from tests.tasks.models.tiny import save_entailment_model, save_language_model

ROOT = Path(__file__).resolve().parents[2]
RELATIONS = ("capital", "birthPlace", "director")
COMMAND = ("-m", "tests.end_to_end.in_small_chunks")
# A chunk is done when the last of its measures is written.
LAST = {
    "persuasion": "susceptibility",
    "memorization": "memorization-ratio",
    "answer_set": "answer-set-susceptibility",
    "fisher": "fisher-susceptibility",
    "answers": "coherent-persuasion",
}
SERVER = """
import time
from flows.server.api import prefect_api
with prefect_api() as url:
    print(url, flush=True)
    time.sleep(600)
"""


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

    def start(self, *command: str, by: tuple[str, ...] = COMMAND) -> subprocess.Popen[str]:
        """Starts a command on this study and workspace."""
        verb, *options = command
        arguments = [sys.executable, *by, verb, str(self.file), "--workspace", str(self.workspace), *options]
        return subprocess.Popen(
            arguments, cwd=ROOT, env=self.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

    def run(self, *command: str, by: tuple[str, ...] = COMMAND) -> Run:
        """Runs a command on this study and workspace to its end."""
        with self.start(*command, by=by) as process:
            said, _ = process.communicate(timeout=120)
        return Run(process.returncode, said)

    def processes(self) -> list[psutil.Process]:
        """Every process that a command of this study has started and that is still there."""
        return [process for process in psutil.process_iter() if _mark_of(process) == self.mark]

    def temporary_files(self) -> list[Path]:
        """What only a run that is killed leaves behind."""
        return sorted(self.workspace.rglob(".*.unfinished*")) + sorted(self.workspace.glob(".report.*"))

    def scores(self, relation: str = "*") -> dict[str, pa.Table]:
        """The rows of every score file of a relation, by the file's place in the workspace."""
        return {
            str(path.relative_to(self.workspace)): pq.read_table(path, partitioning=None)
            for path in sorted(self.workspace.glob(f"scores/{relation.lower()}/*/*.parquet"))
        }

    def written(self) -> dict[Path, int]:
        """When each file of prompts and scores was written."""
        files = [*self.workspace.glob("prompts/**/*.parquet"), *self.workspace.glob("scores/**/*.parquet")]
        return {path.relative_to(self.workspace): path.stat().st_mtime_ns for path in files}

    def stored_prompts(self, relation: str = "*", families: Sequence[str] = tuple(LAST)) -> int:
        """Prompts of the chunks of these families that are done, as their files say."""
        folders = self.workspace.glob(f"scores/{relation.lower()}/*")
        return sum(_prompts(folder, LAST[family]) for folder in folders for family in families)

    def forget_scores(self, relation: str) -> None:
        """Removes the scores of a relation."""
        shutil.rmtree(self.workspace / "scores" / relation.lower())

    def one_file(self, pattern: str) -> Path:
        """The one file of the workspace that fits the pattern."""
        (found,) = self.workspace.glob(pattern)
        return found

    @contextmanager
    def server(self) -> Iterator[str]:
        """A Prefect server that stays while this lasts, on the database of all the runs; gives its URL."""
        with subprocess.Popen(
            [sys.executable, "-c", SERVER], cwd=ROOT, env=self.environment, stdout=subprocess.PIPE, text=True
        ) as process:
            try:
                assert process.stdout
                yield process.stdout.readline().strip()
            finally:
                process.terminate()


def cut_short(path: Path) -> bytes:
    """Leaves the first half of a file; gives what the whole file held."""
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    return whole


def _prompts(folder: Path, measure: str) -> int:
    whole = [path for path in folder.glob(f"{measure}-*.parquet") if ".part-" not in path.name]
    return sum(_about(path)["prompts"] for path in whole or folder.glob(f"{measure}-*.part-*.parquet"))


def _about(path: Path) -> dict[str, Any]:
    about: dict[str, Any] = json.loads(pq.read_schema(path).metadata[b"swaymeter"])["about"]
    return about


def _mark_of(process: psutil.Process) -> str | None:
    try:
        return process.environ().get("SWAYMETER_TEST") if process.status() != psutil.STATUS_ZOMBIE else None
    except psutil.Error:
        return None


@functools.cache
def new_study(folder: Path) -> TinyStudy:
    """The tiny study with its models, its Prefect home and an empty workspace; made once in a folder."""
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
            "answers": {"samples": 3, "max_new_tokens": 4, "entailment": str(entailment)},
            "semantic_entropy": {},
            "coherent_persuasion": {},
            "accuracy": {},
            "persuaded": {},
        },
    }
    file = folder / "tiny.yaml"
    file.write_text(yaml.safe_dump(study))
    return TinyStudy(file, folder / "workspace", folder / "prefect", uuid.uuid4().hex)


@functools.cache
def finished_study(folder: Path) -> tuple[TinyStudy, Run]:
    """The tiny study after a run that nothing disturbed, and what that run said; made once in a folder."""
    study = new_study(folder)
    return study, study.run("run")


def elsewhere(study: TinyStudy, workspace: Path, *, with_files: bool = True) -> TinyStudy:
    """The same study in another workspace, with what is done already or empty."""
    if with_files:
        shutil.copytree(study.workspace, workspace)
    return TinyStudy(study.file, workspace, study.prefect_home, uuid.uuid4().hex)
