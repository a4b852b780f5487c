"""A tiny study is killed at random moments and run again until it is done: then all is as if nothing had happened."""

import random
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import psutil

from tests.end_to_end.tiny_study import Command, TinyStudy, new_study, prefect_server
from tests.faults.campaign.case import BrokenError, Case, as_in_a_terminal, judged
from tests.faults.campaign.record import LONGEST_SECONDS, Outcome

OF_RUN, OF_ALL, OF_WORKER = "SIGKILL of the run", "SIGKILL of all its processes", "SIGKILL of a worker"
ALONE = (OF_RUN, OF_RUN, "SIGTERM", "SIGINT")
WITH_WORKERS = (*ALONE, OF_ALL, OF_WORKER)
MOST_KILLS = 10
"""In one series, before the study is left alone."""


@dataclass
class Way:
    """A way in which a study is run; it is run here, undisturbed, for what it comes to.

    seconds: of the second such run, within which kills come.
    """

    study: TinyStudy
    before: Callable[[], None]
    options: tuple[str, ...] = ()
    targets: tuple[str, ...] = ALONE
    seconds: float = field(init=False)

    def __post_init__(self) -> None:
        for _ in range(2):
            shutil.rmtree(self.study.workspace, ignore_errors=True)
            began = time.monotonic()
            run = self.study.run("run", *self.options, before=self.before)
            assert run.code == 0, run.said
            self.seconds = time.monotonic() - began


def outcomes(kills: int, seed: int) -> Iterator[Outcome]:
    """An outcome for each kill, when its series has ended."""
    generator = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="swaymeter-kills-") as name, prefect_server(Path(name)) as api:
        folder = Path(name)
        ways, number, done = _ways(folder / "study", api), 0, 0
        while done < kills:
            number += 1
            (way,) = generator.choices(ways, weights=(2, 1, 2, 2))
            study = way.study.elsewhere(folder / f"workspace-{number}", with_files=False)
            case, killed = Case(study, way.study, folder, generator), list[str]()
            most = min(kills - done, generator.randint(1, MOST_KILLS))
            verdict, detail = judged(case, partial(series, way=way, most=most, killed=killed))
            for target in killed or ["a run that nothing had killed"] * verdict.isupper():
                yield Outcome(target, verdict, case.took, f"seed {seed}, series {number}: {detail}")
            done += len(killed)
            shutil.rmtree(study.workspace, ignore_errors=True)


def _ways(folder: Path, api: str) -> list[Way]:
    """A few measures; all of them; worker processes; those of Dask."""
    folder.mkdir()
    whole = new_study(folder, api)
    few, by_workers, by_dask = (
        whole.with_fewer_figures(folder / "few.yaml").elsewhere(folder / name, with_files=False)
        for name in ("few", "by-workers", "by-dask")
    )
    return [
        Way(few, as_in_a_terminal),
        Way(whole, as_in_a_terminal),
        Way(by_workers, as_in_a_terminal, ("--runner", "processes"), WITH_WORKERS),
        Way(by_dask, as_in_a_terminal, ("--runner", "dask"), WITH_WORKERS),
    ]


def series(case: Case, way: Way, most: int, killed: list[str]) -> str:
    """Kills a study up to so many times, and lets it end; what was killed is added to a list."""
    for _ in range(most):
        target, after = case.generator.choice(way.targets), case.generator.uniform(0.0, way.seconds)
        with case.study.start("run", *way.options, before=way.before) as running:
            running.process.join(after)
            case.happened()
            is_hit = running.poll() is None and _kill(case, target, running)
            if is_hit:
                killed.append(target)
            if is_hit and target != OF_WORKER:
                _check_died(case, target, running)
            else:
                case.outcome(running)  # of a worker that was killed another one takes the place
        if not is_hit:
            break
    began = time.monotonic()
    case.complete(*way.options, before=way.before)
    case.took = max(case.took, time.monotonic() - began)
    return "equal"


def _kill(case: Case, target: str, running: Command) -> bool:
    """Sends a signal to the processes that are the target; whether there are any."""
    number = {"SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT}.get(target, signal.SIGKILL)
    processes = []
    with suppress(psutil.NoSuchProcess):
        run = psutil.Process(running.pid)
        processes = [*run.children(recursive=True), run] if target == OF_ALL else [run]
        if target == OF_WORKER:
            workers = [one for one in case.study.processes() if "spawn_main" in " ".join(one.cmdline())]
            processes = [case.generator.choice(workers)] if workers else []
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(number)
    return bool(processes)


def _check_died(case: Case, target: str, running: Command) -> None:
    """Returns when nothing of a killed run is left; BrokenError where something is, or it was not prepared."""
    running.process.join(LONGEST_SECONDS)
    if running.poll() is None:
        raise BrokenError("HUNG", f"{target} did not end it")
    _, alive = psutil.wait_procs(case.study.processes(), timeout=30)
    case.took = max(case.took, time.monotonic() - case.began)
    if alive:
        raise BrokenError("LEFT RUNNING", str([process.cmdline() for process in alive]))
    if "Traceback" in (said := running.file.read_text()):
        raise BrokenError("CRASHED", said)
