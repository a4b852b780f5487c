"""A tiny study is killed at random moments and run again until it is done: then all is as if nothing had happened."""

import random
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import psutil

from tests.end_to_end.tiny_study import Command, TinyStudy, new_study
from tests.faults.campaign.record import LONGEST_SECONDS, Outcome
from tests.faults.campaign.studies import as_in_a_terminal, compared, server, where_it_hangs, without_prefect

Target = Literal["SIGKILL of the run", "SIGKILL of all its processes", "SIGTERM", "SIGINT", "SIGKILL of a worker"]

ALONE: tuple[Target, ...] = ("SIGKILL of the run", "SIGKILL of the run", "SIGTERM", "SIGINT")
WITH_WORKERS: tuple[Target, ...] = (*ALONE, "SIGKILL of all its processes", "SIGKILL of a worker")
MOST_KILLS = 10
"""In one series, before the study is left alone."""


@dataclass(frozen=True)
class _Way:
    """One of the ways in which a study is run, and what it comes to where nothing disturbs it.

    seconds: of a run that nothing disturbs, within which kills come.
    """

    study: TinyStudy
    before: Callable[[], None]
    options: tuple[str, ...] = ()
    targets: tuple[Target, ...] = ALONE
    seconds: float = 0.0

    def undisturbed(self) -> "_Way":
        """The way after a run that nothing disturbed, with the seconds of the second such run."""
        for _ in range(2):
            shutil.rmtree(self.study.workspace, ignore_errors=True)
            began = time.monotonic()
            with self.study.start("run", *self.options, before=self.before) as running:
                run = running.ended()
            assert run.code == 0, run.said
        return replace(self, seconds=time.monotonic() - began)


def outcomes(kills: int, seed: int) -> Iterator[Outcome]:
    """An outcome for each kill, when its series has ended."""
    generator = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="swaymeter-kills-") as name, server(Path(name)) as api:
        ways, number, done = _ways(Path(name, "study"), api), 0, 0
        while done < kills:
            number += 1
            (way,) = generator.choices(ways, weights=(2, 1, 2, 2))
            study = way.study.elsewhere(Path(name, f"workspace-{number}"), with_files=False)
            wanted = min(kills - done, generator.randint(1, MOST_KILLS))
            found = _Series(study, way, generator).outcomes(wanted, f"seed {seed}, series {number}")
            done += len(found)
            yield from found
            shutil.rmtree(study.workspace, ignore_errors=True)


def _ways(folder: Path, api: str) -> list[_Way]:
    """A few measures without Prefect, which takes half of the time; all with it; worker processes; those of Dask."""
    folder.mkdir()
    whole = new_study(folder, api)
    few = whole.with_fewer_figures(folder / "few.yaml").elsewhere(folder / "few", with_files=False)
    by_workers = few.elsewhere(folder / "by-workers", with_files=False)
    by_dask = few.elsewhere(folder / "by-dask", with_files=False)
    ways = (
        _Way(few, without_prefect),
        _Way(whole, as_in_a_terminal),
        _Way(by_workers, without_prefect, ("--runner", "processes"), WITH_WORKERS),
        _Way(by_dask, without_prefect, ("--runner", "dask"), WITH_WORKERS),
    )
    return [way.undisturbed() for way in ways]


@dataclass
class _Series:
    """Kills of one study in one workspace."""

    study: TinyStudy
    way: _Way
    generator: random.Random

    def outcomes(self, kills: int, name: str) -> list[Outcome]:
        """Kills the study up to so many times, lets it end, and judges all kills by what is there then."""
        targets, slowest, is_done = list[tuple[Target, float]](), 0.0, False
        verdict, detail = "equal", ""
        for _ in range(kills):
            target = self.generator.choice(self.way.targets)
            after = self.generator.uniform(0.0, self.way.seconds)
            was_killed, took, problem = self._kill(target, after)
            if was_killed:
                targets.append((target, took))
            if problem:
                verdict, detail = problem
                break
            if is_done := not was_killed:
                break
        if verdict == "equal" and not is_done:
            began = time.monotonic()
            with self._started() as running:
                verdict, detail = self._ended(running)
            slowest = time.monotonic() - began
        if verdict == "equal":
            verdict, detail = compared(self.study, self.way.study)
        for process in self.study.processes():
            process.kill()
        return [Outcome(target, verdict, max(took, slowest), 0.0, f"{name}: {detail}") for target, took in targets]

    def _started(self) -> Command:
        return self.study.start("run", *self.way.options, before=self.way.before)

    def _kill(self, target: Target, after: float) -> tuple[bool, float, tuple[str, str] | None]:
        """Whether the run was killed, the seconds until nothing of it was left, and what is wrong."""
        with self._started() as running:
            running.process.join(after)
            if running.poll() is not None:
                return False, 0.0, self._problem(running)
            began = time.monotonic()
            if target == "SIGKILL of a worker":
                workers = [one for one in self.study.processes() if "spawn_main" in " ".join(one.cmdline())]
                if not workers:
                    return False, 0.0, self._problem(running)
                self.generator.choice(workers).kill()
                problem = self._problem(running)  # another worker takes its place
                return True, time.monotonic() - began, problem
            self._signal(target, running.pid)
            running.process.join(LONGEST_SECONDS)
            if running.poll() is None:
                return True, time.monotonic() - began, ("HUNG", f"{target} did not end it")
            said = running.file.read_text()
        _, alive = psutil.wait_procs(self.study.processes(), timeout=30)
        took = time.monotonic() - began
        if alive:
            return True, took, ("LEFT RUNNING", str([process.cmdline() for process in alive]))
        if "Traceback" in said:
            return True, took, ("CRASHED", said)
        return True, took, None

    def _signal(self, target: Target, pid: int) -> None:
        named = {"SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT}.get(target, signal.SIGKILL)
        everything = target == "SIGKILL of all its processes"
        with suppress(psutil.NoSuchProcess):
            run = psutil.Process(pid)
            for process in [*(run.children(recursive=True) if everything else ()), run]:
                with suppress(psutil.NoSuchProcess):
                    process.send_signal(named)

    def _problem(self, running: Command) -> tuple[str, str] | None:
        """What is wrong where a run does not end by itself, or not well."""
        verdict, detail = self._ended(running)
        return None if verdict == "equal" else (verdict, detail)

    def _ended(self, running: Command) -> tuple[str, str]:
        running.process.join(2 * LONGEST_SECONDS)
        if running.poll() is None:
            return "HUNG", f"{self.way.options}: {where_it_hangs(running)}"
        said = running.file.read_text()
        return ("equal", "") if running.poll() == 0 else ("CRASHED", f"exit status {running.poll()}: {said}")
