"""Environment variables with the number of computing threads and the behaviour of idle threads.

OpenMP reads its variables once, when torch is imported. By default, torch starts a thread for each processor of the
machine, even if the process may use fewer processors. An idle thread of OpenMP spins before it sleeps, so two
programs on the same processors slow each other down. torch's builds for Linux bring GNU's OpenMP, in which
GOMP_SPINCOUNT overrides OMP_WAIT_POLICY. Other implementations of OpenMP read only OMP_WAIT_POLICY.

The statistics multiply many small matrices with NumPy's OpenBLAS, whose threads spin longer than a product takes. Two
threads used five to ten times the processor seconds of one thread and were no faster, so OpenBLAS gets one thread.
"""

import os
from contextlib import suppress
from pathlib import Path

PASSIVE = {"OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": "1000"}
"""Variables with which an idle thread sleeps after some microseconds, and not only after milliseconds."""
OPENBLAS = "OPENBLAS_NUM_THREADS"


def limit_threads() -> None:
    """Set the variables of OpenMP and OpenBLAS for this process and its children, unless the user has set them."""
    os.environ.setdefault("OMP_NUM_THREADS", str(usable_processors()))
    os.environ.setdefault(OPENBLAS, "1")
    if not os.environ.keys() & PASSIVE.keys():
        os.environ.update(PASSIVE)


def usable_processors(cgroups: Path = Path("/sys/fs/cgroup")) -> int:
    """Return the number of usable processors: the least of CPU affinity, the container's quota and SLURM's share.

    joblib has such a function, but the import of joblib takes longer than `swaymeter --help`.
    """
    limits = [len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1]
    for files in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):  # of cgroups 2 and 1
        with suppress(OSError, ValueError):  # the file is missing, or has "max 100000"
            quota, period = map(int, " ".join((cgroups / file).read_text(encoding="ascii") for file in files).split())
            limits += [quota // period] if quota > 0 else []
    if (slurm := os.environ.get("SLURM_CPUS_PER_TASK", "")).isdigit():
        limits.append(int(slurm))
    return max(1, min(limits))
