"""The machine of a measurement: its names and versions, its memory in use, and its speed in matrix products."""

import os
import platform
import re
import statistics
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy
import torch
import transformers

REPEATS = 7


@dataclass(frozen=True)
class Machine:
    """The processor, the GPU if one was measured, and the versions of libraries."""

    processor: str
    cores: int
    """Cores that this process may use."""
    threads: int
    """Threads of torch."""
    units: tuple[str, ...]
    """Instruction sets of the processor that speed up matrix products, such as "avx2"."""
    memory_gib: float
    gpu: str | None
    python: str
    torch: str
    transformers: str
    numpy: str

    @property
    def name(self) -> str:
        """The name of the machine in tables."""
        return self.gpu or f"{self.processor}, {self.cores} cores"

    @property
    def slug(self) -> str:
        """The name of the machine in names of files."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")

    def as_json(self) -> dict[str, Any]:
        """Return all fields and the name, for a file of results."""
        return {"name": self.name, **asdict(self)}


def this_machine(device: str) -> Machine:
    """Return the machine of this process; `device` is the measured one, such as "cpu" or "cuda"."""
    processor, flags = _processor()
    return Machine(
        processor=processor,
        cores=len(os.sched_getaffinity(0)),
        threads=torch.get_num_threads(),
        units=tuple(unit for unit in ("avx2", "avx512f", "avx512_bf16", "amx_bf16") if unit in flags),
        memory_gib=round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        gpu=torch.cuda.get_device_name(device) if torch.device(device).type == "cuda" else None,
        python=platform.python_version(),
        torch=torch.__version__,
        transformers=transformers.__version__,
        numpy=numpy.__version__,
    )


@torch.inference_mode()
def multiplication(dtype: str, device: str, size: int) -> float:
    """Return the median GFLOP/s of a few products of two random square matrices, each of 2 size^3 operations."""
    a, b = torch.randn(2, size, size, device=device).to(getattr(torch, dtype))
    seconds = []
    for _ in range(REPEATS):
        finished(device)
        start = time.perf_counter()
        torch.mm(a, b)
        finished(device)
        seconds.append(time.perf_counter() - start)
    return 2 * size**3 / statistics.median(seconds[1:]) / 1e9  # the first product includes one-time set-up


def finished(device: str) -> None:
    """Wait until the device has finished all submitted work."""
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize(device)


def memory_in_use(device: str) -> int:
    """Return the resident bytes of this process on Linux, or the bytes that torch has allocated on a GPU."""
    return torch.cuda.memory_allocated(device) if torch.device(device).type == "cuda" else _status("VmRSS")


def peak_memory(device: str) -> int:
    """Return the largest value of memory_in_use since the last call of forget_peak."""
    return torch.cuda.max_memory_allocated(device) if torch.device(device).type == "cuda" else _status("VmHWM")


def forget_peak(device: str) -> None:
    """Reset peak_memory to the memory that is in use now."""
    if torch.device(device).type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    else:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _status(name: str) -> int:
    """Return a field of /proc/self/status in bytes, such as VmRSS."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def _processor() -> tuple[str, set[str]]:
    """Return the name of the processor and its flags, such as "avx2"."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    fields = dict(re.findall(r"^(model name|flags)\s*: (.*)$", text, re.MULTILINE))
    return fields.get("model name", platform.machine()), set(fields.get("flags", "").split())
