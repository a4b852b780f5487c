"""Studies with questions of an invented world, which run once in a session."""

from collections.abc import Iterator

import pytest

from tests.end_to_end.wiki_runs import Done, run_before_and_after_repair
from tests.end_to_end.wiki_studies import WikiStudies


@pytest.fixture(scope="session")
def studies(tmp_path_factory: pytest.TempPathFactory, api: str) -> WikiStudies:
    """Return the maker of studies with questions from Wikidata."""
    return WikiStudies.of(tmp_path_factory.mktemp("wiki-studies"), api)


@pytest.fixture(scope="session")
def done(studies: WikiStudies) -> Iterator[Done]:
    """Yield a finished study with questions from Wikidata; tests must not change its workspace."""
    with run_before_and_after_repair(studies) as runs:
        yield runs
