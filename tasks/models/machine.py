"""Names of this machine's processor and GPUs, and settings of its C library for freed memory."""

import ctypes
import functools
import platform
import re
import sys
from pathlib import Path
from typing import Any

GLIBC_THRESHOLDS = {-3: 32 << 20, -1: 64 << 20}
"""Bytes for two options of glibc's mallopt: M_MMAP_THRESHOLD (-3) and M_TRIM_THRESHOLD (-1).

Without MALLOC_TRIM_THRESHOLD_ in the environment, glibc raises both options by itself, up to these values.
"""


@functools.cache
def keep_freed_memory() -> None:
    """Let this process keep freed memory between two chunks of a task.

    With Dask's default for workers, MALLOC_TRIM_THRESHOLD_=65536, freed memory goes back to the system, which fills the
    memory with zeros before its next use. This takes a third of a worker's time.
    """
    if mallopt := _glibc_function("mallopt"):
        for option, size in GLIBC_THRESHOLDS.items():
            mallopt(option, size)


def give_freed_memory_back() -> None:
    """Give freed memory back to the system; after tensors of many sizes, glibc may hold twice the used memory."""
    if trim := _glibc_function("malloc_trim"):
        trim(0)


def _glibc_function(function: str) -> Any:
    return getattr(ctypes.CDLL(None) if sys.platform == "linux" else None, function, None)


def processor() -> str:
    """Return the name of this machine's processor, or its architecture if the name is unknown."""
    return _processor_field("model name") or platform.machine()


def mkl_lacks_avx512() -> bool:
    """Return True if MKL uses only half of the vector width; MKL enables AVX-512 on Intel's processors only."""
    import torch

    is_other_vendor = _processor_field("vendor_id") not in ("", "GenuineIntel")
    return is_other_vendor and torch.backends.cpu.get_cpu_capability() == "AVX512"


def _processor_field(name: str) -> str:
    """Return a field of /proc/cpuinfo; "" if it is missing."""
    file = Path("/proc/cpuinfo")
    match = re.search(rf"^{name}\s*: (.*)$", file.read_text("utf-8") if file.is_file() else "", re.MULTILINE)
    return match[1] if match else ""


def hardware_of(placement: str) -> str:
    """Return the names of the processor or GPUs in a placement, such as "cuda:0+cuda:1"; equal names appear once."""
    import torch

    devices = map(torch.device, placement.split("+"))
    names = (torch.cuda.get_device_name(device) if device.type == "cuda" else processor() for device in devices)
    return ", ".join(dict.fromkeys(names))
