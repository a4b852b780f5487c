import os
from pathlib import Path

import pytest

from swaymeter.flows.execution.threads import usable_processors


@pytest.mark.parametrize(
    ("own", "files", "slurm", "processors"),
    [
        ("", {}, "", 8),
        ("0::/a/b", {"a/b/cpu.max": "max 100000", "a/cpu.max": "250000 100000"}, "", 2),
        ("0::/", {"cpu.max": "50000 100000"}, "", 1),
        ("3:cpuset:/x\n2:cpu,cpuacct:/x", {"cpu,cpuacct/x/cpu.cfs_quota_us": "400000",
                                           "cpu,cpuacct/x/cpu.cfs_period_us": "100000"}, "", 4),
        ("1:cpu:/", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, "", 8),
        ("0::/", {"cpu.max": "nonsense"}, "3", 3),
        ("0::/", {"cpu.max": "200000 100000"}, "6", 2),
        ("", {}, "2(x3)", 8),
    ],
)  # fmt: skip
def test_processors_are_the_least_of_all_limits(
    own: str, files: dict[str, str], slurm: str, processors: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)))
    (tmp_path / "own").write_text(own)
    for name, content in files.items():
        file = tmp_path / "cgroup" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content + "\n")
    found = usable_processors({"SLURM_CPUS_PER_TASK": slurm}, tmp_path / "cgroup", tmp_path / "own")
    assert found == processors
