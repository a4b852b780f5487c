"""A pass over a relation in a workspace that is there, and that goes away in its middle."""

from pathlib import Path
from typing import Any

import pytest

from data.errors import WorkspaceError
from flows.graph.step import Run
from flows.steps import score
from tests.flows.small_study import prepare, selected


def test_no_chunk_is_begun_where_the_workspace_went_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = prepare(selected(tmp_path))
    root, begun = study.workspace.root, list[int]()
    (root / "workspace.json").touch()
    step = next(node.step for node in study.graph if node.id.stage == "score" and node.step and node.state == "missing")

    def chunks(inputs: Any, outputs: Any, load: Any, progress: Any, **others: Any) -> None:
        for number in range(2):
            progress(number, 2)
            begun.append(number)
            root.rename(tmp_path / "away")

    monkeypatch.setattr(score, "measure_relation", chunks)
    with pytest.raises(WorkspaceError, match="is away: its workspace"):
        score.run_pass(step, Run(root))
    assert begun == [0]
