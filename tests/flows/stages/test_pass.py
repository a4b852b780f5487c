"""Passes that stop: the workspace is gone, or the entailment model or the scored model differs from the run's."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.errors import ModelError, WorkspaceError
from swaymeter.flows.graph.graph import RunSettings
from swaymeter.flows.stages import score
from swaymeter.tasks.measures import clusters
from tests.flows.small_study import load_study, prepare


def test_no_chunk_begins_after_the_workspace_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = prepare(load_study(tmp_path))
    root, begun = study.workspace.root, list[int]()
    (root / "workspace.json").touch()
    step = next(node.step for node in study.graph if node.id.stage == "score" and node.step and node.state == "missing")

    def measure_two_chunks(inputs: Any, outputs: Any, load: Any, progress: Any, **others: Any) -> None:
        for number in range(2):
            progress(number, 2)
            begun.append(number)
            root.rename(tmp_path / "away")

    monkeypatch.setattr(score, "measure_relation", measure_two_chunks)
    with pytest.raises(WorkspaceError, match=r"has no workspace\.json"):
        score.run_pass(step, RunSettings(root))
    assert begun == [0]


def test_a_worker_with_another_entailment_model_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = prepare(load_study(tmp_path))
    steps = (
        node.step for node in study.graph if node.id.product == "answers" and node.step and node.state == "missing"
    )
    monkeypatch.setattr(clusters, "identify_entailment", lambda name: "of another worker")
    with pytest.raises(ModelError, match="this worker differs from the run in entailment; restart the worker"):
        score.run_pass(next(steps), RunSettings(study.workspace.root))


def test_a_model_of_another_revision_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = prepare(load_study(tmp_path))
    step = next(node.step for node in study.graph if node.id.product == "persuasion" and node.step)
    changed_step = replace(step, arguments=replace(step.arguments, revision="revision-1"))
    with pytest.raises(ModelError, match="but the run needs revision revision-1; copy the same model files"):
        score.run_pass(changed_step, RunSettings(study.workspace.root))
