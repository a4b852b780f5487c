"""What this machine's processor and GPUs are called, and what its C library does with memory that is freed."""

import ctypes
import functools
import platform
import re
import sys
from pathlib import Path
from typing import Any

KEPT = {-3: 32 << 20, -1: 64 << 20}
"""Bytes of glibc's M_MMAP_THRESHOLD and M_TRIM_THRESHOLD, by number: what it comes to where it is left to itself."""


@functools.cache
def keep_freed_memory() -> None:
    """Lets this process keep what it frees, between two chunks of a step.

    Dask starts its workers with MALLOC_TRIM_THRESHOLD_=65536, with which a third of their time clears pages.
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


def processor() -> str:
    """The name of this machine's processor, or its kind where the system does not say more."""
    return _of_processor("model name") or platform.machine()


def keeps_mkl_narrow() -> bool:
    """Whether MKL computes with half of the width that this processor has: AVX-512 it gives to Intel's alone."""
    import torch

    others = _of_processor("vendor_id") not in ("", "GenuineIntel")
    return others and torch.backends.cpu.get_cpu_capability() == "AVX512"


def _of_processor(name: str) -> str:
    """What Linux says of the processor; empty where it says nothing."""
    file = Path("/proc/cpuinfo")
    said = re.search(rf"^{name}\s*: (.*)$", file.read_text("utf-8") if file.is_file() else "", re.MULTILINE)
    return said[1] if said else ""


def hardware_of(placement: str) -> str:
    """The names of the devices of a placement such as "cpu" or "cuda:0+cuda:1", each once."""
    import torch

    devices = map(torch.device, placement.split("+"))
    names = (torch.cuda.get_device_name(device) if device.type == "cuda" else processor() for device in devices)
    return ", ".join(dict.fromkeys(names))
