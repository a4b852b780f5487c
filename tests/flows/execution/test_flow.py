from pathlib import Path

import pytest

from swaymeter.data.errors import StudyFileError
from swaymeter.flows.execution import flow
from swaymeter.flows.graph.selection import Selection
from tests.flows.small_study import selected


def test_what_is_impossible_is_refused_before_anything_runs(tmp_path: Path) -> None:
    model = {"name": str(tmp_path / "model"), "dtype": "float32", "device": "cuda:99"}
    study = selected(tmp_path, questions=None, measures={"persuasion": {}}, models=[model])
    folder = str(study.workspace.root)
    with pytest.raises(StudyFileError, match=r"^study small: models\.0: device 'cuda:99': "):
        flow.run_without_prefect(study.study, folder, Selection(), {}, offline=False)
    assert flow.run_without_prefect(study.study, folder, Selection(stages=()), {}, offline=False).is_completed()
    assert not (study.workspace.root / "facts").exists()
