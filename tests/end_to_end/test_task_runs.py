"""Prefect's page of a run: a task run for each relation and stage, with edges to its nearest upstream tasks."""

from pathlib import Path
from typing import Any

import httpx

from tests.end_to_end.tiny_study import RELATIONS, Run, TinyStudy, task_runs


def runs_by_name(study: TinyStudy) -> dict[str, dict[str, Any]]:
    """Return the task runs of the last run of a study, by name."""
    with httpx.Client(base_url=study.api, trust_env=False, timeout=60) as api:
        flows = api.post("/flow_runs/filter", json={"sort": "START_TIME_DESC", "limit": 20}).json()
        flow = next(run for run in flows if run["parameters"]["workspace"] == str(study.workspace))
        assert flow["tags"] == ["tiny"]
        rows = task_runs(api, flow["id"])
        tasks = {row["name"]: row for row in rows}
        assert len(tasks) == len(rows)
        return tasks


def edges(tasks: dict[str, dict[str, Any]]) -> dict[str, set[str]]:
    """Return the names of the upstream tasks of each task."""
    names = {task["id"]: name for name, task in tasks.items()}
    return {
        name: {names[upstream["id"]] for upstream in task["task_inputs"].get("wait_for", ())}
        for name, task in tasks.items()
    }


def test_edges_lead_from_facts_to_the_page(undisturbed: tuple[TinyStudy, Run]) -> None:
    upstream = edges(runs_by_name(undisturbed[0]))
    scores = {name for name in upstream if name.startswith("score · ")}
    for relation in RELATIONS:
        # questions are scored in a task of their own
        (score,) = [name for name in scores if name.startswith(f"score · {relation} · ") and "questions" not in name]
        prompts = f"build · {relation} · queries and contexts"
        assert prompts in upstream[score]
        assert f"fetch · {relation} · facts" in upstream[prompts]
    assert upstream["aggregate · study · database"] == scores
    assert upstream["report · study · page"] == {"aggregate · study · database"}


def test_failed_build_stops_its_scores_not_the_page(study: TinyStudy, tmp_path: Path) -> None:
    study = study.with_two_measures(tmp_path / "fewer.yaml").copy(tmp_path / "empty", with_files=False)
    (study.workspace / "prompts").mkdir(parents=True)
    (study.workspace / "workspace.json").write_text('{"layout": 2}')
    (study.workspace / "prompts" / "capital").touch()  # a file in place of a folder
    assert study.run("run").code == 1
    states = {name: task["state_name"] for name, task in runs_by_name(study).items()}
    (score,) = [name for name in states if name.startswith("score · capital")]
    assert (states["build · capital · queries and contexts"], states[score]) == ("Failed", "NotReady")
    assert states["report · study · page"] == "Completed"
