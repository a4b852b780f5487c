from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.errors import StudyFileError
from swaymeter.flows.execution import flow, progress
from swaymeter.flows.execution.progress import Progress
from swaymeter.flows.execution.workers.workers import Workers
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.graph.step import Run
from tests.flows.graph.toy import BUILD_A, FETCH_B, Toy
from tests.flows.small_study import PREPARED, prepare, selected


def test_what_is_impossible_is_refused_before_anything_runs(tmp_path: Path) -> None:
    model = {"name": str(tmp_path / "model"), "dtype": "float32", "device": "cuda:99"}
    study = selected(tmp_path, questions=None, measures={"persuasion": {}}, models=[model])
    folder = str(study.workspace.root)
    with pytest.raises(StudyFileError, match=r"^study small: models\.0: device 'cuda:99': "):
        flow.run_without_prefect(study.study, folder, Selection(), {}, offline=False)
    refused = flow.study.fn(study.name, folder)
    assert (refused.is_failed(), (refused.message or "")[:40]) == (True, "study small: models.0: device 'cuda:99':")
    assert flow.run_without_prefect(study.study, folder, Selection(stages=()), {}, offline=False).is_completed()
    assert not (study.workspace.root / "facts").exists()


def test_what_failed_stands_first_with_what_to_do(toy: Toy) -> None:
    toy.failing = {BUILD_A, FETCH_B}
    toy.run()
    message = flow._failed([node for node in toy.graph() if node.state != "done"], 8).message or ""
    wrong = {str(node.id): node.reason for node in toy.graph() if node.state == "failed"}
    assert message.startswith(f"{BUILD_A}: {wrong[str(BUILD_A)]}. ")
    assert message.count("correct that and run the study again") == 1


def test_the_end_of_a_step_is_told_without_prefect(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    told, ended = Progress(), Future[Any]()
    monkeypatch.setattr(progress, "_progress", told)
    told.plan({"fetch": 1})
    step = toy.graph().nodes[FETCH_B].step
    assert step is not None
    (toy.root / "workspace.json").parent.mkdir(parents=True)
    (toy.root / "workspace.json").touch()
    ended.set_result(flow._run_step(str(FETCH_B), step, Run(toy.root), Workers()))
    flow._tell(step, ended)
    assert told.stages["fetch"].ended == {str(FETCH_B)}


def test_what_failed_is_nothing(tmp_path: Path) -> None:
    study = prepare(selected(tmp_path))
    told = flow.study.fn(study.name, str(study.workspace.root), stages=[*PREPARED], failed=True)
    done = sum(node.id.stage in PREPARED for node in study.graph)
    assert told.is_completed()
    assert told.message == f"nothing had failed, and nothing was to be done: {done} steps are done"
