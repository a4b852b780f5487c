import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from swaymeter.flows.cli import early
from swaymeter.flows.cli.pipeline import Selected
from swaymeter.flows.server.api import Starting
from tests.flows.small_study import prepare, selected, small_study, write_study
from tests.flows.study.test_reading import HOSTILE


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A mark for each API that is started, and one for its end."""
    marks: list[str] = []

    @contextmanager
    def temporary_api() -> Iterator[Starting]:
        marks.append("started")
        yield Starting(None, "http://127.0.0.1:1/api", None)  # type: ignore[arg-type]
        marks.append("ended")

    monkeypatch.setattr(early, "temporary_api", temporary_api)
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    return marks


def _make_database(study: Selected) -> None:
    study.workspace.database_artifact({}).manifest.touch()


def _write_scores(study: Selected) -> None:
    """As if a second later."""
    folder = study.workspace.root / "scores" / "capital"
    folder.mkdir(parents=True)
    made_at = study.workspace.database_artifact({}).manifest.stat().st_mtime
    os.utime(folder, (made_at + 1, made_at + 1))


@pytest.mark.parametrize("by_option", [False, True])
def test_an_api_is_started_where_tables_are_newer(by_option: bool, begun: list[str], tmp_path: Path) -> None:
    study = prepare(selected(tmp_path))
    _make_database(study)
    moved = str(study.workspace.root) if by_option else None
    if by_option:
        write_study(tmp_path, {**small_study(tmp_path), "workspace": str(tmp_path / "elsewhere")})
    with early.started_early("aggregate", study.name, moved) as starting:
        assert starting is None  # the database is newer
    _write_scores(study)
    with early.started_early("aggregate", study.name, moved) as starting:
        assert starting is not None
        assert begun == ["started"]
    with early.started_early("score", study.name, moved) as starting:
        assert starting is None
    assert begun == ["started", "ended"]


WRONG = [None, [], {"workspace": 3}, {"name": ["a"]}, {"name": "x", "workspace": "~nobody-of-that-name/x"}]


@pytest.mark.parametrize("content", WRONG)
def test_a_study_file_that_is_wrong_starts_nothing(content: object, begun: list[str], tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    for text in (yaml.safe_dump(content), *(text for text, _ in HOSTILE.values())):
        file.write_text(text)
        with early.started_early("run", str(file), None) as starting:
            assert starting is None
    assert begun == []


def test_a_configured_api_is_left_alone(begun: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = prepare(selected(tmp_path))
    _make_database(study)
    _write_scores(study)
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:1/api")
    with early.started_early("run", study.name, None) as starting:
        assert starting is None
    assert begun == []
