from pathlib import Path

import pytest

from swaymeter.data.errors import StudyFileError
from swaymeter.flows.execution import flow
from swaymeter.flows.graph.selection import Selection
from tests.flows.small_study import selected


def test_what_is_impossible_is_refused_before_anything_runs(tmp_path: Path) -> None:
    model = {"name": str(tmp_path / "model"), "dtype": "float32", "device": "cuda:99"}
    study = selected(tmp_path, questions=None, measures={"persuasion": {}}, models=[model])
    with pytest.raises(StudyFileError, match=r"^study small: models\.0: device 'cuda:99': "):
        flow._executed(study.study, None, Selection(), {}, lambda *step: pytest.fail(f"{step} is begun"))
    flow._executed(study.study, None, Selection(stages=()), {}, lambda *step: pytest.fail(f"{step} is begun"))
