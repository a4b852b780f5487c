from pathlib import Path

import pytest

from data.errors import StudyFileError
from flows.study import capabilities
from tests.flows.study.study_files import changed_study


def test_a_model_without_a_needed_capability_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capabilities, "capabilities", lambda name: frozenset({"samples"}))
    with pytest.raises(StudyFileError, match="persuasion needs next_token_logits, which model a-model cannot") as error:
        capabilities.check_capabilities(changed_study(tmp_path))
    assert "answers" not in str(error.value)
