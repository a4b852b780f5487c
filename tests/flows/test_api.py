from pathlib import Path

import pytest

import swaymeter
from swaymeter.data.errors import UnknownName, WorkspaceError
from tests.flows.small_study import load_study, prepare


def test_status_has_a_row_for_each_measure(tmp_path: Path) -> None:
    study = prepare(load_study(tmp_path))
    status = swaymeter.Study.load(study.name, relations=["capital"]).status()
    states = status.groupby("stage")["state"].unique().map(set).to_dict()
    assert states["fetch"] == states["build"] == {"done"}
    assert states["score"] == {"missing", "blocked"}
    assert {"persuasion", "susceptibility"} <= {*status["measure"]}


@pytest.mark.parametrize("names", [{"relations": ["capitol"]}, {"models": ["other"]}, {"measures": ["persuasions"]}])
def test_unknown_names_are_refused(names: dict[str, list[str]], tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"no \w+ is named"):
        swaymeter.Study.load(load_study(tmp_path).name, **names)


def test_frames_need_a_run(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match=r"there is no database .*study\.duckdb; run"):
        swaymeter.Study.load(load_study(tmp_path).name).frame("persuasion")
