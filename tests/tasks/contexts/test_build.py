from pathlib import Path

import pytest
from data.sources.fetch import write_facts, write_names
from tasks.contexts.build import build_prompts, build_questions

from data import catalog
from data.errors import DamagedFile, InputError
from data.records import Context, ContextKind, Query, Question, of_row
from data.records.tables import CONTEXTS, FACTS, INVENTED, QUERIES, QUESTIONS
from data.sources import sample
from data.storage.workspace import Stored, Workspace

PER_KIND: dict[ContextKind, int] = {"base": 1, "assertive": 1, "negation": 1}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


@pytest.fixture
def files(workspace: Workspace) -> dict[str, Stored]:
    return {
        "facts": workspace.facts("capital", FACTS, {}),
        "names": workspace.facts("country", INVENTED, {}),
        "queries": workspace.prompts("capital", QUERIES, {}),
        "contexts": workspace.prompts("capital", CONTEXTS, {}),
    }


def fetch(files: dict[str, Stored]) -> None:
    write_facts("capital", sample.facts("capital"), files["facts"])
    names = catalog.invented_entities("country")
    write_names("country", names, files["names"], made_by="catalog", looked_for_in=())


def build(files: dict[str, Stored], *, real: int = 2) -> None:
    build_prompts(**files, relation="capital", real=real, invented=2, choice="random", per_kind=PER_KIND, seed=0)


def test_prompts_lie_in_the_workspace_as_the_records_they_are(files: dict[str, Stored]) -> None:
    fetch(files)
    build(files)
    queries = [of_row(Query, row) for row in files["queries"].read().to_pylist()]
    contexts = [of_row(Context, row) for row in files["contexts"].read().to_pylist()]
    assert len(queries) == 4 * 4
    assert len(contexts) == 4 * 3
    assert {query.entity for query in queries} == {context.entity for context in contexts}


def test_the_same_prompts_have_the_same_digest(files: dict[str, Stored]) -> None:
    fetch(files)
    build(files)
    before = files["queries"].digest(), files["contexts"].digest()
    build(files)
    assert (files["queries"].digest(), files["contexts"].digest()) == before


def test_what_cannot_be_built_keeps_what_was_built(files: dict[str, Stored]) -> None:
    fetch(files)
    build(files)
    before = files["queries"].digest()
    with pytest.raises(InputError, match="relation capital: 100000 real entities"):
        build(files, real=100_000)
    assert files["queries"].digest() == before


@pytest.mark.parametrize("content", [None, b"", b"no facts"])
def test_damaged_facts_build_nothing(files: dict[str, Stored], content: bytes | None) -> None:
    if content is not None:
        files["facts"].path.parent.mkdir(parents=True)
        files["facts"].path.write_bytes(content)
    with pytest.raises(DamagedFile, match=files["facts"].path.name):
        build(files)
    assert not files["queries"].exists()
    assert not files["contexts"].exists()


def test_questions_lie_in_the_workspace_in_their_order(workspace: Workspace) -> None:
    chosen = sample.questions("disputable")[::-1]
    stored = workspace.prompts("disputable", QUESTIONS, {})
    build_questions(chosen, stored)
    assert [of_row(Question, row) for row in stored.read().to_pylist()] == chosen
