from pathlib import Path

import pytest

from data.errors import InputError, UnknownName
from data.records import Fact, Question, of_row
from data.sources import sample
from data.sources.fetch import fetch_facts, fetch_questions
from data.tables import FACTS, QUESTIONS
from data.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def test_facts_of_the_sample_lie_in_the_workspace(workspace: Workspace) -> None:
    stored = workspace.facts("capital", FACTS, {})
    fetch_facts("capital", stored)
    assert [of_row(Fact, row) for row in stored.read().to_pylist()] == sample.facts("capital")


def test_questions_of_the_sample_lie_in_the_workspace(workspace: Workspace) -> None:
    stored = workspace.facts("static", QUESTIONS, {})
    fetch_questions("static", None, stored)
    assert [of_row(Question, row) for row in stored.read().to_pylist()] == sample.questions("static")


def test_a_relation_without_facts_is_named(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "facts", lambda relation: [])
    stored = workspace.facts("capital", FACTS, {})
    with pytest.raises(InputError, match="relation capital: the bundled sample has no facts"):
        fetch_facts("capital", stored)
    assert not stored.exists()


def test_an_unknown_relation_leaves_no_file(workspace: Workspace) -> None:
    stored = workspace.facts("capitol", FACTS, {})
    with pytest.raises(UnknownName, match="did you mean 'capital'"):
        fetch_facts("capitol", stored)
    assert not stored.exists()


def test_a_folder_without_the_files_leaves_what_was_fetched_before(workspace: Workspace, tmp_path: Path) -> None:
    stored = workspace.facts("static", QUESTIONS, {})
    fetch_questions("static", None, stored)
    before = stored.digest()
    with pytest.raises(InputError, match="cannot be read"):
        fetch_questions("static", tmp_path / "missing", stored)
    assert stored.digest() == before
