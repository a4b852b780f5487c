"""Studies with questions of an invented world, which run once in a session."""

import uuid
from collections.abc import Iterator, Mapping

import pytest

from tests.end_to_end.tiny_study import TinyStudy
from tests.end_to_end.wiki_runs import Done, run_before_and_after_repair
from tests.end_to_end.wiki_studies import NewStudy, save_models_and_facts, study_content


@pytest.fixture(scope="session")
def new_study(tmp_path_factory: pytest.TempPathFactory, api: str) -> NewStudy:
    """Return a function that makes studies with questions from Wikidata."""
    folder = tmp_path_factory.mktemp("wiki-studies")
    save_models_and_facts(folder)

    def make_study(addresses: Mapping[str, str], *, contact: bool = True) -> TinyStudy:
        name = uuid.uuid4().hex
        content = study_content(folder, addresses, contact=contact)
        return TinyStudy.of(folder / f"{name}.yaml", folder / f"workspace-{name}", api, content)

    return make_study


@pytest.fixture(scope="session")
def done(new_study: NewStudy) -> Iterator[Done]:
    """Yield a finished study with questions from Wikidata; tests must not change its workspace."""
    with run_before_and_after_repair(new_study) as runs:
        yield runs
