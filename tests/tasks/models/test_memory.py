"""What is kept for later goes back to the machine; a worker does not have the same memory cleared again and again."""

import os
import subprocess
import sys

import psutil
import pytest
import torch

from swaymeter.tasks.models.memory import release_memory

MIB = 1 << 20
PAGES_CLEARED = """
import os, resource, sys, threading
import torch
from swaymeter.flows.execution import dask
from swaymeter.flows.graph.graph import RunSettings, Step, StepId

def cleared(*_):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        torch.ones(4 << 20)  # 16 MiB
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)

def compute():  # as Dask does, in a thread
    cleared()
    dask.attempt, dask.misfit_of_worker = cleared, lambda *_: ""
    step = Step(StepId("score", "capital", "m"), cleared, {}, {})
    for _ in range(2):
        dask.attempt_in_worker(step, None, dask.package_version())

thread = threading.Thread(target=compute)
thread.start()
thread.join()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc alone is asked to give memory back")
def test_memory_of_small_tensors_is_released() -> None:
    process = psutil.Process()
    kept = []
    tensors = [torch.zeros(16 * 1024) for _ in range(4_000)]  # 64 KiB each, below what glibc maps by itself
    kept.append(tensors[-1])  # the last one holds the end of the heap
    full = process.memory_info().rss
    del tensors
    release_memory("cpu")
    assert full - process.memory_info().rss > 200 * MIB
    assert kept


@pytest.mark.skipif(sys.platform != "linux", reason="glibc alone is told what to keep")
def test_a_worker_keeps_the_memory_that_it_frees() -> None:
    as_dask = {**os.environ, "MALLOC_TRIM_THRESHOLD_": "65536"}
    before, _, after = map(int, subprocess.check_output([sys.executable, "-c", PAGES_CLEARED], env=as_dask).split())
    assert after < before / 10
