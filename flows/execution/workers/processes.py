"""Worker processes on this machine, one a GPU: each keeps its models, and is replaced when it dies.

Every process is a pool of one of the standard library. Prefect's ProcessPoolTaskRunner is a pool of several: it gives
no process a GPU of its own, and one that dies takes the whole pool with it.
"""

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import wait
from queue import SimpleQueue
from typing import Any

from swaymeter.flows.execution.attempt import Outcome
from swaymeter.flows.execution.threads import usable_processors
from swaymeter.flows.execution.workers.elsewhere import attempt_elsewhere, here
from swaymeter.flows.execution.workers.workers import AHEAD, AT_ONCE, INTERRUPTED, TRIES, Elsewhere, lost
from swaymeter.flows.graph.step import Run, Step

log = logging.getLogger(__name__)

WITHOUT_GPU = 2
"""Worker processes where a machine has no GPU and nobody says how many."""


def environments(workers: int | None) -> list[dict[str, str]]:
    """The variables of each worker process of this machine: its GPU, or its share of the processors."""
    gpus = visible_gpus()
    count = workers or len(gpus) or WITHOUT_GPU
    threads = str(max(1, usable_processors(os.environ) // count))
    of_each: list[dict[str, str]] = [{"OMP_NUM_THREADS": threads} for _ in range(count)]
    for number, variables in enumerate(of_each if gpus else []):
        variables["CUDA_VISIBLE_DEVICES"] = gpus[number % len(gpus)]
    return of_each


def visible_gpus() -> list[str]:
    """The GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them."""
    import torch

    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return named.split(",")[:count] if named else [str(number) for number in range(count)]


class Processes(Elsewhere):
    """Worker processes of this machine for the steps that ask a model."""

    def __init__(self, workers: int | None = None, shares: int = 1) -> None:
        """None is started yet; workers: how many, None for one a GPU."""
        super().__init__(shares)
        self._environments = environments(workers)
        self._idle: SimpleQueue[_Process] = SimpleQueue()
        self._all: list[_Process] = []

    def __enter__(self) -> "Processes":
        self._all = [_Process(f"process {n}", variables) for n, variables in enumerate(self._environments, 1)]
        for process in self._all:
            self._idle.put(process)
        return self

    def __exit__(self, *error: Any) -> None:
        for process in self._all:
            process.end()

    def at_once(self) -> Mapping[str, int]:
        return {**AT_ONCE, "model": len(self._environments) + AHEAD}

    def place(self, step: Step) -> str:
        return "model" if step.device else step.resource

    def _compute(self, step: Step, run: Run) -> Outcome:
        for _ in range(TRIES):
            process = self._idle.get()
            try:
                return process.compute(step, run)
            except BrokenProcessPool:
                if self._is_abandoned:
                    return INTERRUPTED
                log.warning("%s: %s ended in the middle; another one begins anew", step.id, process.name)
                process.start()
            finally:
                self._idle.put(process)
        return lost(step, run)

    def abandon(self) -> None:
        super().abandon()
        for process in self._all:
            process.kill()


class _Process:
    """A worker process, and the one that takes its place when it has died."""

    def __init__(self, name: str, variables: Mapping[str, str]) -> None:
        self.name, self._variables = name, dict(variables)
        self.start()

    def start(self) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(1, spawn, _begin, (self._variables,))
        self._pool.submit(_warm)  # a pool starts its process when it is first given something

    def compute(self, step: Step, run: Run) -> Outcome:
        return self._pool.submit(attempt_elsewhere, step, run, here(), self.name).result()

    def kill(self) -> None:
        for process in [*(self._pool._processes or {}).values()]:
            with suppress(OSError):
                process.kill()

    def end(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)


def _begin(variables: Mapping[str, str]) -> None:
    """What a worker process does first of all, before torch is imported."""
    os.environ.update(variables)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the process above decides
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def _warm() -> None:
    """Imports what takes seconds."""
    for name in ("torch", "transformers"):
        import_module(name)
