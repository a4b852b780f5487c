from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.errors import StudyFileError
from swaymeter.flows.execution import flow
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.graph.step import Step
from tests.flows.small_study import Ended, selected


def test_what_is_impossible_is_refused_before_anything_runs(tmp_path: Path) -> None:
    model = {"name": str(tmp_path / "model"), "dtype": "float32", "device": "cuda:99"}
    study = selected(tmp_path, questions=None, measures={"persuasion": {}}, models=[model])
    with pytest.raises(StudyFileError, match=r"^study small: models\.0: device 'cuda:99': "):
        flow._executed(study.study, None, Selection(), {}, lambda *step: pytest.fail(f"{step} is begun"))
    flow._executed(study.study, None, Selection(stages=()), {}, lambda *step: pytest.fail(f"{step} is begun"))


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Does what failed once more, as a run of that id for an event; gives the relations that were tried, in vain."""
    study = selected(tmp_path, questions=None, measures={"persuasion": {}})

    def run(event: str | None, run: str) -> list[str]:
        tried: list[str] = []

        def start(name: str, step: Step, *others: object) -> Ended:
            tried.append(step.id.subject)
            study.workspace.note_failure(name, step.key, "no network")
            return Ended()

        monkeypatch.setenv("PREFECT__RUNTIME__FLOW_RUN__ID", run)
        monkeypatch.setattr(flow, "_tell", lambda step, ended: None)
        facts = Selection(relations=("capital",), stages=("fetch",))
        flow._executed(study.study, None, facts, {}, start, failed=True, wait=True, event=event)
        return [one for one in tried if one == "capital"]

    return run


def test_what_failed_is_done_once_for_an_event(started: Any, tmp_path: Path) -> None:
    assert started("failure 1", "run a") == ["capital"]
    assert started("failure 1", "run b") == []
    assert started("failure 1", "run a") == ["capital"]  # a person retries it
    assert started("failure 2", "run c") == started(None, "run d") == ["capital"]
    (selected(tmp_path).workspace.root / flow.EVENTS).write_text("damaged")
    assert started("failure 2", "run e") == ["capital"]
    assert started("failure 2", "run c") == []
