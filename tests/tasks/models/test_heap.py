"""A worker does not have the kernel clear the same memory again and again."""

import os
import subprocess
import sys

import pytest

PAGES_CLEARED = """
import resource
import torch
from tasks.models.heap import keep_freed_memory

def cleared():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        torch.ones(4 << 20)  # 16 MiB
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

before = cleared()
keep_freed_memory()
cleared()
print(before, cleared())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc alone is told what to keep")
def test_a_worker_keeps_the_memory_that_it_frees() -> None:
    as_dask = {**os.environ, "MALLOC_TRIM_THRESHOLD_": "65536"}
    before, after = map(int, subprocess.check_output([sys.executable, "-c", PAGES_CLEARED], env=as_dask).split())
    assert after < before / 10
