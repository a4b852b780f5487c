"""A study in an empty workspace to which something happens, and what comes of its run."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from swaymeter.flows.graph.step import Stage
from tests.end_to_end.tiny_study import Command, TinyStudy
from tests.end_to_end.waiting import until
from tests.faults.campaign.record import NOT_HIT
from tests.faults.campaign.studies import Held, as_in_a_terminal, compared

WENT_ON, WITHOUT_PREFECT, SAID = "went on", "went on without Prefect", "said what to do, next run went on"


class BrokenError(Exception):
    """A guarantee is broken: the verdict, and what to look at."""


class NotHitError(Exception):
    """What was to happen came too late, or to nobody: nothing is known."""


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
        if not self.is_scoring(running):
            raise NotHitError("the run had scored all of it before")
        self.happened()

    def outcome(self, running: Command, *sentences: str) -> str:
        """What comes of a run: it goes on to its end, or says one of the sentences."""
        run = running.ended()
        self.took = max(self.took, time.monotonic() - self.began)
        if "Traceback" in run.said or run.code not in (0, 1):
            raise BrokenError("CRASHED", f"exit status {run.code}: {run.said}")
        if run.code == 0:
            return WITHOUT_PREFECT if "it goes on without it" in run.said else WENT_ON
        if not any(sentence in run.said for sentence in sentences):
            raise BrokenError("SAID NOTHING CLEAR", run.said)
        return SAID

    def complete(self, *options: str) -> None:
        """Runs the study once more, and sees that all is as if nothing had happened."""
        with self.study.start("run", *options, before=as_in_a_terminal) as running:
            run = running.ended()
        if run.code:
            raise BrokenError("NOT COMPLETED", run.said)
        verdict, detail = compared(self.study, self.undisturbed)
        if verdict != "equal":
            raise BrokenError(verdict, detail)

    def has_begun_scoring(self) -> bool:
        """Whether a chunk is stored."""
        return any(self.study.workspace.glob("scores/*/*/*.parquet"))

    def is_scoring(self, running: Command) -> bool:
        """Whether a run is at it and has scores to compute still."""
        return running.poll() is None and len(_whole(self.study)) < len(_whole(self.undisturbed))


def _whole(study: TinyStudy) -> list[Path]:
    """The files of scores that are not parts."""
    return [path for path in study.workspace.glob("scores/*/*/*.parquet") if ".part-" not in path.name]


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
