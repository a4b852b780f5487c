"""A Dask worker killed in the middle of a step costs only chunks in progress, and the run goes on by itself."""

import json
from pathlib import Path

import httpx
import pytest

from tests.end_to_end import worker_preload
from tests.end_to_end.tiny_study import RELATIONS, Run, TinyStudy, task_runs


def test_killed_worker_loses_and_repeats_no_score(
    undisturbed: tuple[TinyStudy, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill_marker = tmp_path / "died"
    monkeypatch.setenv(worker_preload.KILLED, str(kill_marker))
    monkeypatch.setenv("DASK_DISTRIBUTED__WORKER__PRELOAD", json.dumps([worker_preload.__name__]))
    study = undisturbed[0].with_two_measures(tmp_path / "fewer.yaml").copy(tmp_path / "space", with_files=False)

    run = study.run("run", "--runner", "dask")
    assert run.code == 0, run.output
    assert kill_marker.exists(), run.output
    assert study.processes() == []

    score_files = 2 * len(RELATIONS)  # two measures
    scores, expected = study.scores(), undisturbed[0].scores()
    assert len(scores) == score_files
    assert scores == {name: expected[name] for name in scores}
    assert len([*study.workspace.glob("scores/*/*/*.parquet")]) == score_files

    with httpx.Client(base_url=study.api, trust_env=False, timeout=60) as api:
        flows = api.post("/flow_runs/filter", json={"sort": "START_TIME_DESC", "limit": 20}).json()
        (flow,) = [run for run in flows if run["parameters"]["workspace"] == str(study.workspace)]
        assert flow["state_type"] == "COMPLETED"
        tasks = task_runs(api, flow["id"])
        assert {task["state_type"] for task in tasks} == {"COMPLETED"}
        scored = [task["name"].split(" · ")[1] for task in tasks if task["name"].startswith("score")]
        assert sorted(scored) == sorted(RELATIONS)
