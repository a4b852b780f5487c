"""A study in an empty workspace that meets a fault, and the comparison with an undisturbed one."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from swaymeter.flows.graph.graph import RunSettings, Step
from swaymeter.flows.graph.stage import Stage
from tests.end_to_end.tiny_study import Command, TinyStudy, until

LONGEST_SECONDS = 120.0
"""A run that takes longer after a fault counts as hung."""


def as_in_a_terminal() -> None:
    """Let Ctrl-C interrupt a command also if the tests run in the background."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass(frozen=True)
class Pause:
    """A pause of a command where the first step of a stage begins, or the first chunk of scores is stored."""

    stage: Stage
    folder: Path
    """Folder of the files `reached` and `go`."""
    host: str = ""
    """Host name that the command sees, if another than the machine's."""

    def __call__(self) -> None:
        """Patch the command, which calls this first of all."""
        as_in_a_terminal()
        import socket

        from swaymeter.flows.execution import task
        from swaymeter.tasks.measures import stored_chunks

        if self.host:
            socket.gethostname = lambda: self.host
        attempt, store = task.attempt, stored_chunks._store

        def attempt_later(step: Step, of: RunSettings) -> object:
            if step.id.stage == self.stage != "score":
                self._wait()
            return attempt(step, of)

        def store_later(*arguments: object) -> None:
            if self.stage == "score":
                self._wait()
            store(*arguments)

        task.attempt, stored_chunks._store = attempt_later, store_later

    def _wait(self) -> None:
        with suppress(FileExistsError):
            self.reached.touch(exist_ok=False)
            while not self.go.exists():
                time.sleep(0.02)

    @property
    def reached(self) -> Path:
        """File that exists once the command waits."""
        return self.folder / "reached"

    @property
    def go(self) -> Path:
        """File that lets the command go on."""
        return self.folder / "go"


@contextmanager
def process_group(process: "subprocess.Popen[bytes]") -> Iterator["subprocess.Popen[bytes]"]:
    """Kill a process of a session of its own, and its children, on leaving."""
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@dataclass
class Case:
    """A study in an empty workspace that meets a fault."""

    study: TinyStudy
    finished: TinyStudy
    """The same study after an undisturbed run."""
    folder: Path
    generator: random.Random
    command: tuple[str, ...] = ("run",)
    """The command of the study, with its options."""

    def run_through(
        self, stage: Stage, fault: Callable[[], None], *sentences: str, study: TinyStudy | None = None
    ) -> bool:
        """Run the study with a fault where a stage begins, and return True if the run ends with success."""
        pause = Pause(stage, self.folder)
        with (study or self.study).start("run", before=pause) as running:
            until(pause.reached.exists, running)
            fault()
            pause.go.touch()
            return self.check_end(running, *sentences)

    def check_end(self, running: Command, *sentences: str, codes: tuple[int, ...] = (0, 1)) -> bool:
        """Check that a run ends in time, with success or one of the sentences; return True for success."""
        began = time.monotonic()
        run = running.ended()
        assert "Traceback" not in run.said
        assert run.code in codes, run.said
        assert time.monotonic() - began < LONGEST_SECONDS, run.said
        assert run.code == 0 or any(sentence in run.said for sentence in sentences), run.said
        return run.code == 0

    def check_scoring(self, running: Command) -> None:
        """Skip the test if the run has scored everything before the fault."""
        assert not running.poll(), running.file.read_text()
        if running.poll() is not None or len(_scores(self.study)) >= len(_scores(self.finished)):
            pytest.skip("the run was over before the fault")

    def has_begun_scoring(self) -> bool:
        """Test if a chunk of scores is stored."""
        return any(self.study.workspace.glob("scores/*/*/*.parquet"))

    def complete(self, *options: str) -> None:
        """Run the study once more and compare it with the undisturbed one."""
        run = self.study.run(*self.command, *options, before=as_in_a_terminal)
        assert run.code == 0, run.said
        assert self.study.scores() == self.finished.scores()
        assert len([*self.study.workspace.glob("scores/*/*/*.parquet")]) == len(self.finished.scores())
        assert self.study.results() == self.finished.results()
        assert self.study.temporary_files() == []
        assert self.study.processes() == []


@contextmanager
def empty_case(
    finished: TinyStudy, folder: Path, generator: random.Random, command: tuple[str, ...] = ("run",)
) -> Iterator[Case]:
    """Give a finished study in an empty workspace; processes that a failed test leaves are killed."""
    case = Case(finished.elsewhere(folder / "workspace", with_files=False), finished, folder, generator, command)
    yield case
    for process in case.study.processes():
        process.kill()


def _scores(study: TinyStudy) -> list[Path]:
    """Return the files of scores without those of chunks."""
    return [path for path in study.workspace.glob("scores/*/*/*.parquet") if ".part-" not in path.name]
