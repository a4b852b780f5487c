from dataclasses import replace
from pathlib import Path

import pytest
from data.sources.fetch import fetch_questions, write_facts, write_names

from data.errors import InputError
from data.records import Fact, Question, of_row
from data.records.tables import FACTS, INVENTED, QUESTIONS
from data.sources import sample
from data.storage.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def test_facts_of_the_sample_lie_in_the_workspace(workspace: Workspace) -> None:
    stored = workspace.facts("capital", FACTS, {})
    write_facts("capital", sample.facts("capital"), stored)
    assert [of_row(Fact, row) for row in stored.read().to_pylist()] == sample.facts("capital")


def test_questions_of_the_sample_lie_in_the_workspace(workspace: Workspace) -> None:
    stored = workspace.facts("static", QUESTIONS, {})
    fetch_questions("static", None, stored)
    assert [of_row(Question, row) for row in stored.read().to_pylist()] == sample.questions("static")


def test_facts_fetched_again_are_the_same_dataset(workspace: Workspace) -> None:
    """When and where a fact was fetched makes it no other fact; what it says does."""
    stored = workspace.facts("capital", FACTS, {})
    facts = sample.facts("capital")
    write_facts("capital", facts, stored)
    before = stored.digest()
    write_facts("capital", [replace(fact, address="a", query="q", retrieved_at="2026-01-01") for fact in facts], stored)
    assert stored.read()["retrieved_at"][0].as_py() == "2026-01-01"
    assert stored.digest() == before
    write_facts("capital", [replace(fact, subject_degree=1) for fact in facts], stored)
    assert stored.digest() != before


def test_a_relation_without_facts_is_named_and_leaves_no_file(workspace: Workspace) -> None:
    stored = workspace.facts("capital", FACTS, {})
    with pytest.raises(InputError, match="relation capital: the source has no facts"):
        write_facts("capital", [], stored)
    assert not stored.exists()


def test_invented_names_are_stored_with_their_origin(
    workspace: Workspace,
) -> None:
    stored = workspace.facts("city", INVENTED, {})
    write_names("city", ["Quellmar", "Dolminster"], stored, made_by="names", absent_from=["http://127.0.0.1/query"])
    assert stored.read().to_pylist()[0] == {
        "entity_class": "city", "name": "Quellmar", "made_by": "names", "absent_from": ["http://127.0.0.1/query"],
    }  # fmt: skip


def test_a_class_of_which_every_name_exists_is_named(workspace: Workspace) -> None:
    stored = workspace.facts("city", INVENTED, {})
    with pytest.raises(InputError, match="entity class city: every name"):
        write_names("city", [], stored, made_by="names", absent_from=())
    assert not stored.exists()


def test_a_folder_without_the_files_leaves_what_was_fetched_before(workspace: Workspace, tmp_path: Path) -> None:
    stored = workspace.facts("static", QUESTIONS, {})
    fetch_questions("static", None, stored)
    before = stored.digest()
    with pytest.raises(InputError, match="cannot be read"):
        fetch_questions("static", tmp_path / "missing", stored)
    assert stored.digest() == before
