import os
from pathlib import Path

import pytest

from swaymeter.flows.execution.threads import limit_threads, usable_processors


@pytest.mark.parametrize(
    ("files", "slurm", "processors"),
    [
        ({}, "", 8),
        ({}, "2(x3)", 8),  # a value that is no number is ignored
        ({"cpu.max": "max 100000"}, "", 8),
        ({"cpu.max": "250000 100000"}, "", 2),
        ({"cpu.max": "50000 100000"}, "6", 1),
        ({"cpu.max": "nonsense"}, "3", 3),
        ({"cpu/cpu.cfs_quota_us": "400000", "cpu/cpu.cfs_period_us": "100000"}, "", 4),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, "", 8),
    ],
)
def test_the_lowest_limit_decides_the_processors(
    files: dict[str, str], slurm: str, processors: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)))
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", slurm)
    (tmp_path / "cpu").mkdir()
    for name, content in files.items():
        (tmp_path / name).write_text(f"{content}\n")
    assert usable_processors(tmp_path) == processors


def test_openblas_has_one_thread_unless_it_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {})
    limit_threads()
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"
    os.environ["OPENBLAS_NUM_THREADS"] = "3"
    limit_threads()
    assert os.environ["OPENBLAS_NUM_THREADS"] == "3"
