"""A study in an empty workspace that meets a fault, and its comparison with an undisturbed run."""

import random
import signal
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.end_to_end.tiny_study import Command, TinyStudy
from tests.faults.faulty_server import Server

LONGEST_SECONDS = 120.0
"""A run that takes longer after a fault counts as hung."""


@dataclass(frozen=True)
class Undisturbed:
    """A study after a run without a fault.

    Attributes:
        study: the study.
        command: the command that ran it.
        seconds: the duration of the run.
        server: the model server of the run, if any.
    """

    study: TinyStudy
    command: tuple[str, ...] = ("run",)
    seconds: float = 0.0
    server: Server = field(default_factory=Server)


def as_in_a_terminal() -> None:
    """Let Ctrl-C interrupt a command also if the tests run in the background."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass
class Case:
    """A study in an empty workspace that meets a fault.

    Attributes:
        study: the study.
        undisturbed: the same study after a run without a fault.
        folder: a folder for the files of the fault.
        generator: the draws.
        options: further options of the command.
        kills: the number of killed runs.
        superseded: the number of tables that were computed from failed replies.
    """

    study: TinyStudy
    undisturbed: Undisturbed
    folder: Path
    generator: random.Random
    options: tuple[str, ...] = ()
    kills: int = 0
    superseded: int = 0

    def start(self, study: TinyStudy | None = None) -> Command:
        """Start the command of the study."""
        return (study or self.study).start(*self.undisturbed.command, *self.options, before=as_in_a_terminal)

    def wait(self, running: Command, seconds: float) -> None:
        """Wait for a random moment within some seconds, and skip the test if the run is over by then."""
        running.process.join(self.generator.uniform(0.0, seconds))
        if running.poll() is not None:
            pytest.skip("the run was over before the fault")

    def check_end(self, running: Command, *sentences: str) -> None:
        """Check that a run ends in time, with success or one of the sentences."""
        began = time.monotonic()
        run = running.ended()
        assert "Traceback" not in run.said, run.said
        assert time.monotonic() - began < LONGEST_SECONDS, run.said
        assert run.code == 0 or (run.code in (1, 2) and any(map(run.said.__contains__, sentences))), run.said

    def complete(self) -> None:
        """Run the study once more and compare it with the undisturbed one."""
        with self.start() as running:
            run = running.ended()
        assert run.code == 0, run.said
        scores, undisturbed = self.study.scores(), self.undisturbed.study.scores()
        assert {name: scores.get(name) for name in undisturbed} == undisturbed
        files = [*self.study.workspace.glob("scores/*/*/*.parquet")]
        assert len(files) == len(undisturbed) + self.superseded, files
        assert self.study.results() == self.undisturbed.study.results()
        assert self.study.temporary_files() == []
        assert self.study.processes() == []


Disturbance = Callable[[Case], AbstractContextManager[None]]
"""A context that lets a run of a case meet a fault; the case is completed within the context."""
