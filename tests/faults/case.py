"""A study that meets a fault, and its comparison with the same study after a run without a fault."""

import signal
import time
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.connection import Connection

import pytest

from tests.end_to_end.tiny_study import EVENT_SECONDS, Command, TinyStudy, pipe
from tests.faults.faulty_server import Server

LONGEST_SECONDS = 120.0
"""A run that takes longer after a fault counts as hung."""


@dataclass
class Case:
    """A study that meets a fault.

    Attributes:
        study: the study in a workspace that is empty before the fault.
        undisturbed: the same study after a run without a fault.
        command: the command that runs the study.
        server: the model server of the run without a fault; unused if the study has no endpoint.
        seconds: the duration of the run without a fault.
    """

    study: TinyStudy
    undisturbed: TinyStudy
    command: tuple[str, ...]
    server: Server
    seconds: float = 0.0

    @classmethod
    def of(cls, study: TinyStudy, *command: str, server: Server | None = None) -> "Case":
        """Run a study without a fault."""
        case, began = cls(study, study, command, server or Server()), time.monotonic()
        with case.server.listening(), case.start() as running:
            run = running.wait()
        assert run.code == 0, run.output
        return replace(case, seconds=time.monotonic() - began)

    def start(self, study: TinyStudy | None = None) -> Command:
        """Start the command of the study, and wait until Ctrl-C can interrupt the command."""
        receiver, sender = pipe()
        running = (study or self.study).start(*self.command, before=partial(_as_in_a_terminal, sender))
        assert receiver.poll(EVENT_SECONDS), "the command did not start"
        return running

    def wait(self, running: Command, seconds: float) -> None:
        """Wait for some seconds, and skip the test if the run is over by then."""
        running.process.join(seconds)
        if running.poll() is not None:
            pytest.skip("the run was over before the fault")

    def check_end(self, running: Command, *sentences: str) -> None:
        """Check that a run ends in time, with success or one of the sentences."""
        began = time.monotonic()
        run = running.wait()
        assert "Traceback" not in run.output, run.output
        assert time.monotonic() - began < LONGEST_SECONDS, run.output
        has_sentence = any(sentence in run.output for sentence in sentences)
        assert run.code == 0 or (run.code in (1, 2) and has_sentence), run.output

    def complete(self, old_files: int = 0) -> None:
        """Run the study again, and compare it with the undisturbed study.

        `old_files` is the number of score files that stay beside the files of the last run.
        """
        with self.start() as running:
            run = running.wait()
        assert run.code == 0, run.output
        scores, undisturbed = self.study.scores(), self.undisturbed.scores()
        assert {name: scores.get(name) for name in undisturbed} == undisturbed
        files = [*self.study.workspace.glob("scores/*/*/*.parquet")]
        assert len(files) == len(undisturbed) + old_files, files
        assert self.study.results() == self.undisturbed.results()
        assert self.study.temporary_files() == []
        assert self.study.processes() == []


def _as_in_a_terminal(sender: Connection) -> None:
    """Let Ctrl-C interrupt a command, although tests in the background ignore Ctrl-C, and send None."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sender.send(None)
