"""What was measured on: names and versions, memory in use, and what a multiplication of matrices reaches there."""

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
    """The processor, or the GPU where one was measured, and the versions of what computed."""

    processor: str
    cores: int
    threads: int
    units: tuple[str, ...]
    memory_gib: float
    gpu: str | None
    python: str
    torch: str
    transformers: str
    numpy: str

    @property
    def name(self) -> str:
        """As tables name it."""
        return self.gpu or f"{self.processor}, {self.cores} cores"

    @property
    def slug(self) -> str:
        """As files name it."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")

    def as_json(self) -> dict[str, Any]:
        """All of it, for a file of results."""
        return {"name": self.name, **asdict(self)}


def this_machine(device: str) -> Machine:
    """The machine that this process runs on, measured on `device`."""
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
    """GFLOP/s of the product of two random square matrices, 2 size^3 operations; the median of a few."""
    a, b = torch.randn(2, size, size, device=device).to(getattr(torch, dtype))
    seconds = []
    for _ in range(REPEATS):
        finished(device)
        start = time.perf_counter()
        torch.mm(a, b)
        finished(device)
        seconds.append(time.perf_counter() - start)
    return 2 * size**3 / statistics.median(seconds[1:]) / 1e9


def finished(device: str) -> None:
    """Waits until the device has done what it was asked for."""
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize(device)


def memory_in_use(device: str) -> int:
    """Bytes that this process has resident, on Linux, or that torch has allocated on a GPU."""
    return torch.cuda.memory_allocated(device) if torch.device(device).type == "cuda" else _status("VmRSS")


def peak_memory(device: str) -> int:
    """The most that memory_in_use was since forget_peak was called."""
    return torch.cuda.max_memory_allocated(device) if torch.device(device).type == "cuda" else _status("VmHWM")


def forget_peak(device: str) -> None:
    """Lets peak_memory start anew from what is in use."""
    if torch.device(device).type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    else:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def _processor() -> tuple[str, set[str]]:
    try:
        said = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        said = ""
    described = dict(re.findall(r"^(model name|flags)\s*: (.*)$", said, re.MULTILINE))
    return described.get("model name", platform.machine()), set(described.get("flags", "").split())
