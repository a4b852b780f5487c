"""Cost of a command with all processes that it starts: seconds, processor seconds and peak memory."""

import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

INTERVAL = 0.05  # seconds between two measurements of the memory


@dataclass(frozen=True)
class Cost:
    """Cost of a command.

    Attributes:
        seconds: Wall time.
        cpu_seconds: Processor seconds of all processes.
        peak_bytes: Largest sum of the resident bytes of all processes.
    """

    seconds: float
    cpu_seconds: float
    peak_bytes: int


def cost_of(study: Path, command: str, *options: str) -> Cost:
    """Return the cost of a `swaymeter` command on a study, in a new process.

    Raises:
        CalledProcessError: The command failed.
    """
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
    """Return the processor seconds of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _memory(process: psutil.Process) -> int:
    """Return the resident bytes of a process and its descendants."""
    total = 0
    for member in [process, *_below(process)]:
        try:
            total += member.memory_info().rss
        except psutil.Error:  # the process has ended
            continue
    return total


def _below(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []
