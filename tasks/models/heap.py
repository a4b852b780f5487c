"""What the C library does with memory that is freed: glibc keeps some of it, by thresholds that it can be told."""

import ctypes
import functools
import sys
from typing import Any

KEPT = {-3: 32 << 20, -1: 64 << 20}
"""Bytes of glibc's M_MMAP_THRESHOLD and M_TRIM_THRESHOLD, by number: what it comes to where it is left to itself."""


@functools.cache
def keep_freed_memory() -> None:
    """Lets this process keep what it frees, between two chunks of a step, whatever its environment says.

    Dask starts its workers with MALLOC_TRIM_THRESHOLD_=65536: then glibc gives every freed tensor back at once, and the
    kernel clears the memory of the next one, page by page. A third of a worker's time went into that.
    """
    if mallopt := _of_glibc("mallopt"):
        for option, size in KEPT.items():
            mallopt(option, size)


def give_freed_memory_back() -> None:
    """Gives back all that is kept: after many tensors of many sizes that is twice what is in use, and grows."""
    if trim := _of_glibc("malloc_trim"):
        trim(0)


def _of_glibc(function: str) -> Any:
    """A function of this machine's C library; None where it has none of that name."""
    return getattr(ctypes.CDLL(None) if sys.platform == "linux" else None, function, None)
