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
class Failing:
    """What is called first of all in a command whose temporary server is to fail when the first chunk is begun.

    told: the signal that the command gets then, too.
    """

    fault: Fault
    told: signal.Signals | None = None

    def __call__(self) -> None:
        """Lets it fail in time."""
        from prefect.context import refresh_global_settings_context

        from swaymeter.flows.server import api, temporary
        from swaymeter.tasks.measures import stored_chunks

        signal.signal(signal.SIGINT, signal.default_int_handler)  # also where pytest runs in the background
        api.ANSWER_SECONDS = api.STOP_SECONDS = temporary.STOP_SECONDS = 1.0  # the test is over sooner
        os.environ.update({"PREFECT_API_REQUEST_TIMEOUT": "2", "PREFECT_CLIENT_RETRY_JITTER_FACTOR": "0"})
        refresh_global_settings_context()
        count_prompts, has_failed = stored_chunks.count_prompts, False

        def fail_first(*arguments: object) -> int:
            nonlocal has_failed
            if not has_failed:
                has_failed = True
                self._fail()
                if self.told:
                    os.kill(os.getpid(), self.told)
            return count_prompts(*arguments)  # type: ignore[arg-type]

        stored_chunks.count_prompts = fail_first  # type: ignore[assignment]

    def _fail(self) -> None:
        if self.fault == "damaged":  # every request that needs a run is answered by 500
            with closing(sqlite3.connect(Path(os.environ["PREFECT_HOME"], "prefect.db"), timeout=30)) as database:
                database.execute("PRAGMA foreign_keys = OFF")
                database.execute("DROP TABLE flow_run_state")
                database.commit()
            return
        from swaymeter.flows.server.temporary import APP

        (server,) = [one for one in psutil.Process().children() if APP in one.cmdline()]
        server.send_signal(signal.SIGKILL if self.fault == "killed" else signal.SIGSTOP)


@pytest.fixture
def alone(undisturbed: tuple[TinyStudy, Run], tmp_path: Path) -> Iterator[TinyStudy]:
    """The study, with the scores of one relation missing, whose commands start servers on a database of their own."""
    study = undisturbed[0].elsewhere(tmp_path / "workspace")
    home = tmp_path / "prefect"
    home.mkdir()
    shutil.copy(study.prefect_home / "prefect.db", home)  # making its tables takes ten seconds
    study.forget_scores("capital")
    yield replace(study, prefect_home=home, api="")
    for process in study.processes():
        process.kill()


@pytest.mark.parametrize("fault", ["killed", "hung", "damaged"])
def test_the_next_run_resumes_after_a_failed_server(
    fault: Fault, alone: TinyStudy, undisturbed: tuple[TinyStudy, Run]
) -> None:
    run = alone.run("run", "--stage", "score", before=Failing(fault))
    assert run.code == 1, run.said
    (error,) = [line for line in run.said.splitlines() if line.startswith("error  ")]
    assert error.startswith("error  Prefect's API at http://127.0.0.1:")
    assert error.endswith("what was computed is kept: run the same command again")
    assert "Traceback" not in run.said
    assert alone.processes() == []
    if fault != "damaged":
        again = alone if fault == "killed" else replace(alone, api=undisturbed[0].api)
        assert again.run("run", "--stage", "score").code == 0
        assert alone.scores() == undisturbed[0].scores()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_run_told_to_end_does_not_go_on(number: signal.Signals, alone: TinyStudy) -> None:
    run = alone.run("run", "--stage", "score", before=Failing("killed", number))
    assert run.code == {signal.SIGTERM: -signal.SIGTERM, signal.SIGINT: 130}[number], run.said
    assert "run the same command again" not in run.said.partition("stopped; ")[0]
    assert "Traceback" not in run.said
    assert alone.processes() == []
