"""A study in an empty workspace to which something happens, and whether it ends as one that nothing disturbed."""

import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from swaymeter.flows.graph.step import Run, Stage, Step
from tests.end_to_end.tiny_study import Command, TinyStudy, until
from tests.faults.campaign.record import NOT_HIT

WENT_ON, SAID = "went on", "said what to do, next run went on"


class BrokenError(Exception):
    """A guarantee is broken: the verdict, and what to look at."""


class NotHitError(Exception):
    """What was to happen came too late, or to nobody: nothing is known."""


def as_in_a_terminal() -> None:
    """Lets Ctrl-C interrupt a command also where the campaign runs in the background."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


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
            store(*arguments)

        workers.attempt, run._store = attempt_later, store_later

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


def check_has_not_ended(status: int | None, said: Path) -> None:
    """BrokenError where a run failed by itself before anything happened to it; NotHitError where it ended well."""
    if status:
        raise BrokenError("CRASHED", f"exit status {status}: {said.read_text()}")
    if status is not None:
        raise NotHitError("the run had ended before")


@contextmanager
def group(process: "subprocess.Popen[bytes]") -> Iterator["subprocess.Popen[bytes]"]:
    """A process that was started in a session of its own; it is killed on leaving, with all that it has started."""
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@dataclass
class Case:
    """A study in an empty workspace, to which something happens.

    began: when it did; took: the seconds until the run ended.
    """

    study: TinyStudy
    undisturbed: TinyStudy
    folder: Path
    generator: random.Random
    began: float = 0.0
    took: float = 0.0

    def through(self, stage: Stage, happen: Callable[[], None], *sentences: str, study: TinyStudy | None = None) -> str:
        """What comes of a run to which something happens while it waits where a stage begins."""
        held = Held(stage, self.folder)
        with (study or self.study).start("run", before=held) as running:
            until(held.reached.exists, running)
            self.happened()
            happen()
            held.may_go.touch()
            return self.outcome(running, *sentences)

    def happened(self) -> None:
        """From now on it counts how long the run goes on."""
        self.began = time.monotonic()

    def happened_to_scoring(self, running: Command) -> None:
        """The same of what happens to a run that scores; NotHitError where it does not any more."""
        check_has_not_ended(running.poll(), running.file)
        if len(_whole(self.study)) >= len(_whole(self.undisturbed)):
            raise NotHitError("the run had scored all of it before")
        self.happened()

    def has_begun_scoring(self) -> bool:
        """Whether a chunk is stored."""
        return any(self.study.workspace.glob("scores/*/*/*.parquet"))

    def outcome(self, running: Command, *sentences: str, refused: bool = False) -> str:
        """What comes of a run: it goes on to its end, or says one of the sentences; refused: it may not even begin."""
        run = running.ended()
        self.took = max(self.took, time.monotonic() - self.began)
        if "Traceback" in run.said or run.code not in ((0, 1, 2) if refused else (0, 1)):
            raise BrokenError("CRASHED", f"exit status {run.code}: {run.said}")
        if run.code == 0:
            return WENT_ON
        if not any(sentence in run.said for sentence in ("run the same command again", *sentences)):
            raise BrokenError("SAID NOTHING CLEAR", run.said)
        return SAID

    def complete(self, *options: str, before: Callable[[], None] = as_in_a_terminal) -> None:
        """Runs the study once more, and sees that all is as if nothing had happened."""
        run = self.study.run("run", *options, before=before)
        if run.code:
            raise BrokenError("NOT COMPLETED", run.said)
        compare(self.study, self.undisturbed)


def _whole(study: TinyStudy) -> list[Path]:
    """The files of scores that are not parts."""
    return [path for path in study.workspace.glob("scores/*/*/*.parquet") if ".part-" not in path.name]


def compare(study: TinyStudy, undisturbed: TinyStudy) -> None:
    """BrokenError where scores, database, processes or files of a study differ from those of one left alone."""
    scores, expected = study.scores(), undisturbed.scores()
    for name, rows in expected.items():
        if name not in scores or scores[name].num_rows < rows.num_rows:
            raise BrokenError("LOST", f"{name} in {study.workspace}")
        if scores[name].num_rows > rows.num_rows:
            raise BrokenError("DOUBLED", f"{name} in {study.workspace}")
        if scores[name] != rows:
            raise BrokenError("DIFFERENT", f"{name} in {study.workspace}")
    if len([*study.workspace.glob("scores/*/*/*.parquet")]) != len(expected):
        raise BrokenError("DOUBLED", f"files of scores in {study.workspace}")
    if study.results() != undisturbed.results():
        raise BrokenError("DIFFERENT", f"the database in {study.workspace}")
    if left := study.temporary_files():
        raise BrokenError("LEFT BEHIND", str(left))
    if alive := study.processes():
        raise BrokenError("LEFT RUNNING", str([process.cmdline() for process in alive]))


def judged(case: Case, happens: Callable[[Case], str]) -> tuple[str, str]:
    """The verdict on what happens to a case, and what to look at."""
    try:
        return happens(case), ""
    except BrokenError as broken:
        verdict, detail = broken.args
        return verdict, detail
    except NotHitError as missed:
        return NOT_HIT, str(missed)
    except (AssertionError, subprocess.TimeoutExpired) as error:  # of what waits for a process
        return "HUNG", str(error)
    finally:
        for process in case.study.processes():
            process.kill()
