"""Prefect's server fails in the middle of scoring: the run ends with one sentence, and the next run resumes."""

import os
import shutil
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import psutil
import pytest

from tests.end_to_end.tiny_study import Run, TinyStudy

Fault = Literal["killed", "hung", "damaged"]


@dataclass(frozen=True)
class ServerFault:
    """A function that a command calls first, and that lets its temporary server fail at the first chunk.

    Attributes:
        fault: the server is killed or hung, or its database is damaged.
        command_signal: a signal that the command gets after the fault.
    """

    fault: Fault
    command_signal: signal.Signals | None = None

    def __call__(self) -> None:
        from prefect.context import refresh_global_settings_context

        from swaymeter.flows.server import api, temporary
        from swaymeter.tasks.measures import stored_chunks

        signal.signal(signal.SIGINT, signal.default_int_handler)  # pytest in the background ignores Ctrl-C
        api.ANSWER_SECONDS = api.STOP_SECONDS = temporary.STOP_SECONDS = 1.0  # shorter waits for the test
        os.environ.update({"PREFECT_API_REQUEST_TIMEOUT": "2", "PREFECT_CLIENT_RETRY_JITTER_FACTOR": "0"})
        refresh_global_settings_context()
        count_prompts, has_failed = stored_chunks.count_prompts, False

        def fail_first(*arguments: object) -> int:
            nonlocal has_failed
            if not has_failed:
                has_failed = True
                self._fail()
                if self.command_signal:
                    os.kill(os.getpid(), self.command_signal)
            return count_prompts(*arguments)  # type: ignore[arg-type]

        stored_chunks.count_prompts = fail_first  # type: ignore[assignment]

    def _fail(self) -> None:
        if self.fault == "damaged":  # the server answers every request that needs a run with 500
            with closing(sqlite3.connect(Path(os.environ["PREFECT_HOME"], "prefect.db"), timeout=30)) as database:
                database.execute("PRAGMA foreign_keys = OFF")
                database.execute("DROP TABLE flow_run_state")
                database.commit()
            return
        from swaymeter.flows.server.temporary import APP

        (server,) = [child for child in psutil.Process().children() if APP in child.cmdline()]
        server.send_signal(signal.SIGKILL if self.fault == "killed" else signal.SIGSTOP)


@pytest.fixture
def own_server_study(undisturbed: tuple[TinyStudy, Run], tmp_path: Path) -> Iterator[TinyStudy]:
    """Yield the study without the scores of a relation. Each command starts a server with a copied database."""
    study = undisturbed[0].copy(tmp_path / "workspace")
    home = tmp_path / "prefect"
    home.mkdir()
    shutil.copy(study.prefect_home / "prefect.db", home)  # creating its tables takes ten seconds
    study.delete_scores("capital")
    yield replace(study, prefect_home=home, api="")
    for process in study.processes():
        process.kill()


@pytest.mark.parametrize("fault", ["killed", "hung", "damaged"])
def test_the_next_run_resumes_after_a_failed_server(
    fault: Fault, own_server_study: TinyStudy, undisturbed: tuple[TinyStudy, Run]
) -> None:
    run = own_server_study.run("run", "--stage", "score", before=ServerFault(fault))
    assert run.code == 1, run.output
    (error,) = [line for line in run.output.splitlines() if line.startswith("error  ")]
    assert error.startswith("error  Prefect's API at http://127.0.0.1:")
    assert error.endswith("what was computed is kept: run the same command again")
    assert "Traceback" not in run.output
    assert own_server_study.processes() == []
    if fault != "damaged":
        # After a kill, a new server can read the database. After a hang, the shared server replaces it, to save time.
        again = own_server_study if fault == "killed" else replace(own_server_study, api=undisturbed[0].api)
        assert again.run("run", "--stage", "score").code == 0
        assert own_server_study.scores() == undisturbed[0].scores()


@pytest.mark.parametrize("command_signal", [signal.SIGTERM, signal.SIGINT])
def test_signal_after_server_failure_ends_the_run(command_signal: signal.Signals, own_server_study: TinyStudy) -> None:
    run = own_server_study.run("run", "--stage", "score", before=ServerFault("killed", command_signal))
    assert run.code == {signal.SIGTERM: -signal.SIGTERM, signal.SIGINT: 130}[command_signal], run.output
    before_the_stop, _, _ = run.output.partition("stopped; ")
    assert "run the same command again" not in before_the_stop  # Prefect's failure is not reported
    assert "Traceback" not in run.output
    assert own_server_study.processes() == []
