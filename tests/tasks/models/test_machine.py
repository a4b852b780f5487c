"""A worker does not have the kernel clear the same memory again and again."""

import os
import subprocess
import sys

import pytest

PAGES_CLEARED = """
import os, resource, sys, threading
import torch
from swaymeter.flows.execution.workers import elsewhere
from swaymeter.flows.graph.step import Run, Step, StepId

def cleared(*_):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        torch.ones(4 << 20)  # 16 MiB
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)

def compute():  # as Dask does, in a thread
    cleared()
    elsewhere.attempt, elsewhere.why_not = cleared, lambda *_: ""
    step = Step(StepId("score", "capital", "m"), cleared, {}, {})
    for _ in range(2):
        elsewhere.attempt_elsewhere(step, None, elsewhere.here())

thread = threading.Thread(target=compute)
thread.start()
thread.join()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc alone is told what to keep")
def test_a_worker_keeps_the_memory_that_it_frees() -> None:
    as_dask = {**os.environ, "MALLOC_TRIM_THRESHOLD_": "65536"}
    before, _, after = map(int, subprocess.check_output([sys.executable, "-c", PAGES_CLEARED], env=as_dask).split())
    assert after < before / 10
