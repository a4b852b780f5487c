"""What a command costs, with all processes that it starts: seconds, processor seconds, peak memory."""

import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

INTERVAL = 0.05  # seconds between two looks at the memory


@dataclass(frozen=True)
class Cost:
    """What a command cost: its seconds, the processor seconds of all its processes, their resident bytes at most."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


def cost_of(study: Path, command: str, *options: str) -> Cost:
    """What a command of the program costs on a study, in a fresh process; CalledProcessError where it failed."""
    call = [sys.executable, "-m", "swaymeter.flows.cli.main", command, str(study), *options]
    before, start, peak = _children(), time.perf_counter(), 0
    with subprocess.Popen(call, stdout=subprocess.DEVNULL) as process:
        watched = psutil.Process(process.pid)
        while process.poll() is None:
            peak = max(peak, _memory(watched))
            time.sleep(INTERVAL)
    seconds = time.perf_counter() - start
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, call)
    return Cost(seconds, _children() - before, peak)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _memory(process: psutil.Process) -> int:
    """Resident bytes of a process and those below it."""
    total = 0
    for one in [process, *_below(process)]:
        try:
            total += one.memory_info().rss
        except psutil.Error:  # it has ended meanwhile
            continue
    return total


def _below(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []
