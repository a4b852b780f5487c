"""How many threads compute, and how they wait: decided before torch is imported, whose OpenMP reads it once.

torch starts a thread for each processor of the machine, also where this process may use fewer. And an idle thread of
OpenMP spins before it sleeps: where two programs share the processors, each spins away the other's time. torch's own
builds for Linux bring GNU's OpenMP, which heeds GOMP_SPINCOUNT before OMP_WAIT_POLICY; other OpenMPs heed the latter.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

PASSIVE = {"OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": "1000"}
"""An idle thread sleeps after some microseconds; by default after milliseconds."""


def limit_threads() -> None:
    """Sets OpenMP's variables for this process and its children, except those that the environment sets."""
    os.environ.setdefault("OMP_NUM_THREADS", str(usable_processors(os.environ)))
    if not os.environ.keys() & PASSIVE.keys():
        os.environ.update(PASSIVE)


def usable_processors(
    environment: Mapping[str, str], cgroups: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")
) -> int:
    """How many processors this process may use: the least of what its affinity, its cgroups and SLURM allow.

    cgroups: where they are mounted, version 1 or 2; own: the file that says which are those of this process.
    """
    limits = [float(_affinity()), *_quotas(cgroups, own)]
    if (slurm := environment.get("SLURM_CPUS_PER_TASK", "")).isdigit():
        limits.append(float(slurm))
    return max(1, int(min(limits)))


def _affinity() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _quotas(cgroups: Path, own: Path) -> Iterator[float]:
    """Processors that the quotas of this process's cgroup and of those around it allow."""
    for line in _content(own).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        mounted = cgroups / controllers.replace("cpuacct,cpu", "cpu,cpuacct") if controllers else cgroups
        folder = mounted / path.lstrip("/")
        for one in (folder, *folder.parents):
            if not one.is_relative_to(mounted):
                break
            quota, _, period = _content(one / "cpu.max").partition(" ")  # such as "200000 100000", or "max 100000"
            quota, period = quota or _content(one / "cpu.cfs_quota_us"), period or _content(one / "cpu.cfs_period_us")
            if quota.isdigit() and period.isdigit() and int(period):
                yield int(quota) / int(period)


def _content(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
