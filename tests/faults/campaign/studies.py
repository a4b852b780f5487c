"""The tiny study under faults: its server, where its commands are held, and whether it ended as undisturbed."""

import faulthandler
import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from swaymeter.flows.graph.step import Run, Stage, Step
from swaymeter.flows.server import api as prefect
from swaymeter.flows.server.settings import QUIET, TEMPORARY
from tests.end_to_end.tiny_study import Command, TinyStudy, begin_to_preload
from tests.faults.test_damage import everything
from tests.faults.test_kills import runs

Verdict = tuple[str, str]
"""A verdict, and what to look at."""


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """The address of a Prefect server that all runs share."""
    begin_to_preload()
    home = folder / "prefect"
    home.mkdir()
    settings = {**QUIET, **TEMPORARY, "PREFECT_HOME": str(home)}
    with (home / "log").open("w+b") as log, prefect.server(settings, log) as (_, url):
        yield url


def as_in_a_terminal() -> None:
    """Lets Ctrl-C interrupt also where the campaign runs in the background, and lets a run that hangs say where."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    faulthandler.register(signal.SIGUSR1, all_threads=True)


def where_it_hangs(running: Command) -> str:
    """What a run has said, and what each of its threads is at."""
    os.kill(running.pid, signal.SIGUSR1)
    time.sleep(2)
    return running.file.read_text()


def without_prefect() -> None:
    """Lets the run go on without Prefect from its beginning, as it does where the API fails."""
    as_in_a_terminal()
    from swaymeter.flows.execution import flow

    def fail(*arguments: object, **options: object) -> None:
        raise RuntimeError("no Prefect in this run")

    flow.study = fail  # type: ignore[assignment]


@dataclass(frozen=True)
class Held:
    """What is called first of all in a command that waits once: where the first step of a stage begins.

    Scoring waits where the first chunk is stored. folder: has the files by which it says that it waits, and is told to
    go on. host: what the machine calls itself, where that is not its name.
    """

    stage: Stage
    folder: Path
    host: str = ""

    def __call__(self) -> None:
        """Makes the command wait in time."""
        as_in_a_terminal()
        from swaymeter.flows.execution.workers import workers
        from swaymeter.tasks.measures import run

        if self.host:
            socket.gethostname = lambda: self.host
        attempt, store = workers.attempt, run._store

        def attempt_later(step: Step, of: Run) -> object:
            if step.id.stage == self.stage != "score":
                self._wait()
            return attempt(step, of)

        def store_later(*arguments: object) -> None:
            if self.stage == "score":
                self._wait()
            store(*arguments)  # type: ignore[arg-type]

        workers.attempt, run._store = attempt_later, store_later  # type: ignore[assignment]

    def _wait(self) -> None:
        with suppress(FileExistsError):
            self.reached.touch(exist_ok=False)
            while not self.may_go.exists():
                time.sleep(0.02)

    @property
    def reached(self) -> Path:
        """Is there once the command waits."""
        return self.folder / "reached"

    @property
    def may_go(self) -> Path:
        """Lets the command go on."""
        return self.folder / "go"


def compared(study: TinyStudy, undisturbed: TinyStudy) -> Verdict:
    """Scores, database, processes and files of a study against those of one that was left alone."""
    found, expected = study.scores(), undisturbed.scores()
    for name, rows in expected.items():
        if name not in found or found[name].num_rows < rows.num_rows:
            return "LOST", f"{name} in {study.workspace}"
        if found[name].num_rows > rows.num_rows:
            return "DOUBLED", f"{name} in {study.workspace}"
        if found[name] != rows:
            return "DIFFERENT", f"{name} in {study.workspace}"
    if len([*study.workspace.glob("scores/*/*/*.parquet")]) != len(expected):
        return "DOUBLED", f"files of scores in {study.workspace}"
    if everything(study) != everything(undisturbed) or runs(study) != runs(undisturbed):
        return "DIFFERENT", f"the database in {study.workspace}"
    if left := study.temporary_files():
        return "LEFT BEHIND", str(left)
    if alive := study.processes():
        return "LEFT RUNNING", str([process.cmdline() for process in alive])
    return "equal", ""
