"""Memory of glibc: unused memory is released, but a worker keeps memory that its next task needs."""

import os
import subprocess
import sys

import psutil
import pytest
import torch

from swaymeter.tasks.models.memory import release_memory

MIB = 1 << 20
# Prints the page faults of new tensors, before a worker's task and in two tasks. At a fault, the system clears a page.
PAGE_FAULTS = """
import os, resource, sys, threading
import torch
from swaymeter.flows.execution import dask
from swaymeter.flows.graph.graph import RunSettings, Step, StepId

def print_page_faults(*_):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        torch.ones(4 << 20)  # 16 MiB
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)

def compute():  # in a thread, like Dask
    print_page_faults()
    dask.attempt, dask.misfit_of_worker = print_page_faults, lambda *_: ""
    step = Step(StepId("score", "capital", "m"), print_page_faults, {}, {})
    for _ in range(2):
        dask.attempt_in_worker(step, None, dask.package_version())

thread = threading.Thread(target=compute)
thread.start()
thread.join()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is released through glibc")
def test_memory_of_small_tensors_is_released() -> None:
    process = psutil.Process()
    remaining = []
    tensors = [torch.zeros(16 * 1024) for _ in range(4_000)]  # 64 KiB each, below the size that glibc maps separately
    remaining.append(tensors[-1])  # the last tensor keeps the end of the heap in use
    before = process.memory_info().rss
    del tensors
    release_memory("cpu")
    assert before - process.memory_info().rss > 200 * MIB
    assert remaining


@pytest.mark.skipif(sys.platform != "linux", reason="glibc decides how much memory is kept")
def test_a_worker_keeps_freed_memory() -> None:
    environment = {**os.environ, "MALLOC_TRIM_THRESHOLD_": "65536"}  # Dask's default for workers
    before, _, after = map(int, subprocess.check_output([sys.executable, "-c", PAGE_FAULTS], env=environment).split())
    assert after < before / 10
