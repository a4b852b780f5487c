"""What is kept for later goes back to the machine."""

import sys

import psutil
import pytest
import torch

from swaymeter.tasks.models.memory import release_memory

MIB = 1 << 20


@pytest.mark.skipif(sys.platform != "linux", reason="glibc alone is asked to give memory back")
def test_memory_of_many_small_tensors_goes_back_to_the_machine() -> None:
    process = psutil.Process()
    kept = []
    tensors = [torch.zeros(16 * 1024) for _ in range(4_000)]  # 64 KiB each, below what glibc maps by itself
    kept.append(tensors[-1])  # the last one holds the end of the heap
    full = process.memory_info().rss
    del tensors
    release_memory("cpu")
    assert full - process.memory_info().rss > 200 * MIB
    assert kept
