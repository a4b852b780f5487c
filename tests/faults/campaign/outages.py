"""What a run needs fails in its middle: the run goes on, or ends with a sentence, and the next one ends as undisturbed.

Dask's scheduler and workers, Prefect's database and folder, the folder of the workspace; a second run on the same
workspace; Ctrl-C; and a machine that others keep busy.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import psutil

from swaymeter.flows.graph.step import STAGES
from swaymeter.flows.server import api as prefect
from swaymeter.flows.server.settings import QUIET, TEMPORARY
from tests.docker.test_docker import POSTGRES, free_port, postgresql
from tests.end_to_end.tiny_study import TinyStudy, new_study, prefect_server, until
from tests.faults.campaign.case import BrokenError, Case, Held, NotHitError, as_in_a_terminal, judged
from tests.faults.campaign.folders import no_more_files, prefect_full, workspace_away, workspace_full
from tests.faults.campaign.interrupts import RUNNERS, interrupted
from tests.faults.campaign.on_dask import conductor_killed, scheduler_killed, scheduler_started_again, workers_killed
from tests.faults.campaign.record import Outcome
from tests.mounts import can_mount

STALLED_SECONDS = 60.0
"""The timeout of a lock of the server's database: what takes longer stood still."""
Happens = Callable[[Case], str]
"""What happens to a case, and what comes of it."""


def outcomes(seed: int) -> Iterator[Outcome]:
    """An outcome for each kind of outage."""
    generator = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="swaymeter-outages-") as name, prefect_server(Path(name)) as api:
        folder = Path(name)
        (folder / "study").mkdir()
        undisturbed = new_study(folder / "study", api).with_fewer_figures(folder / "few.yaml")
        run = undisturbed.run("run")
        assert run.code == 0, run.said
        for number, (row, happens) in enumerate(_cases()):
            of_case = folder / f"case-{number}"
            of_case.mkdir()
            study = undisturbed.elsewhere(of_case / "workspace", with_files=False)
            case = Case(study, undisturbed, of_case, generator)
            verdict, detail = judged(case, happens)
            yield Outcome(row, verdict, case.took, detail)
            shutil.rmtree(of_case, ignore_errors=True)


def _cases() -> Iterator[tuple[str, Happens]]:
    yield "Dask's scheduler killed", scheduler_killed
    yield "Dask's scheduler killed and started again", scheduler_started_again
    for workers in (2, 4):
        for _ in range(3):
            yield f"three of {workers} Dask workers killed", partial(workers_killed, workers=workers)
    yield "a run on Dask workers killed, another begun", conductor_killed
    yield "two runs on one workspace, of two hosts", two_hosts
    for seconds in (0.0, 20.0) if POSTGRES else ():
        yield "PostgreSQL of Prefect's server restarted", partial(database_restarted, seconds=seconds)
        yield "PostgreSQL of Prefect's server killed", partial(database_restarted, seconds=seconds, killed=True)
    if can_mount():
        for stage in STAGES:
            yield "workspace full", partial(workspace_full, stage=stage)
            yield "no more files in the workspace", partial(no_more_files, stage=stage)
        for seconds in (5.0, 60.0):
            yield f"workspace away for {seconds:.0f} s", partial(workspace_away, seconds=seconds)
        for stage in (None, "fetch", "score"):
            yield "Prefect's folder full", partial(prefect_full, stage=stage)
    for runner in RUNNERS:
        yield f"Ctrl-C while a model computes: {runner}", partial(interrupted, runner=runner)
    for runner in RUNNERS:
        yield f"SIGTERM while a model computes: {runner}", partial(interrupted, runner=runner, number=signal.SIGTERM)
    for _ in range(5):
        yield "a short run on a busy machine", on_a_busy_machine


def two_hosts(case: Case, there: TinyStudy | None = None) -> str:
    """While a run of one host scores, a second one is refused by name, and a third one waits and computes nothing.

    there: the study as the other host sees it.
    """
    there = there or case.study
    held, other = Held("score", case.folder, "host-a"), Held("report", case.folder / "nowhere", "host-b")
    with case.study.start("run", before=held) as first:
        until(held.reached.exists, first)
        second = there.run("run", before=other)
        refusal = f"error  process {first.pid} on host-a "
        if second.code != 1 or not second.said.startswith(refusal):
            raise BrokenError("NOT REFUSED", second.said)
        with there.start("run", "--wait", before=other) as third:
            until(lambda: "on host-a" in third.file.read_text(), third)
            case.happened()
            held.may_go.touch()
            outcome = case.outcome(first)
            waited = third.ended()
            if (waited.code, waited.prompts) != (0, 0):
                raise BrokenError("COMPUTED TWICE", waited.said)
    case.complete()
    return outcome


def on_a_busy_machine(case: Case) -> str:
    """Only the page is missing, and Prefect's server is temporary: it would stand still at a lock of its database."""
    shutil.copytree(case.undisturbed.workspace, case.study.workspace)
    shutil.rmtree(case.study.workspace / "report")
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        case.happened()
        with replace(case.study, api="").start("run", before=as_in_a_terminal) as running:
            outcome = case.outcome(running)
    finally:
        for other in others:
            other.kill()
            other.wait()
    if case.took > STALLED_SECONDS:
        raise BrokenError("STALLED", f"{case.took:.1f} s")
    case.complete()
    return outcome


def database_restarted(case: Case, seconds: float, *, killed: bool = False) -> str:
    """PostgreSQL stops, or is killed, while chunks are scored, and starts again after so many seconds."""
    port, names = free_port(), {"POSTGRES_USER": "prefect", "POSTGRES_PASSWORD": "secret", "POSTGRES_DB": "prefect"}
    later = threading.Timer(seconds, lambda: control("start"))
    with postgresql(names, port) as control, (case.folder / "server.log").open("w+b") as log, ExitStack() as stack:
        stack.callback(later.cancel)
        database = f"postgresql+asyncpg://prefect:secret@127.0.0.1:{port}/prefect"
        home = {"PREFECT_HOME": str(case.folder), "PREFECT_SERVER_DATABASE_CONNECTION_URL": database}

        def restart() -> None:
            if killed:
                _kill_postgresql(port)
            else:
                control("stop", "--mode", "fast")
            later.start()
            if not seconds:
                later.join()

        with prefect.server({**QUIET, **TEMPORARY, **home}, log) as (_, url):
            outcome = case.through("score", restart, study=replace(case.study, api=url))
        later.join()
    case.complete()
    return outcome


def _kill_postgresql(port: int) -> None:
    """Kills the server at a port, and all of its processes, with SIGKILL."""
    arguments = ["-p", str(port)]
    for server in psutil.process_iter(["name", "cmdline"]):
        command = server.info["cmdline"] or []
        if server.info["name"] == "postgres" and any(command[at : at + 2] == arguments for at in range(len(command))):
            processes = [server, *server.children(recursive=True)]
            for process in processes:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            psutil.wait_procs(processes, timeout=10)
            return
    raise NotHitError("no PostgreSQL listens there")
