"""Studies of an invented world's questions, which are run once for all the tests of a session."""

from collections.abc import Iterator

import pytest

from tests.end_to_end.wiki_runs import Done, failing_at_first
from tests.end_to_end.wiki_studies import WikiStudies


@pytest.fixture(scope="session")
def studies(tmp_path_factory: pytest.TempPathFactory, api: str) -> WikiStudies:
    """Studies of questions from Wikidata."""
    return WikiStudies.of(tmp_path_factory.mktemp("wiki-studies"), api)


@pytest.fixture(scope="session")
def done(studies: WikiStudies) -> Iterator[Done]:
    """A study of questions from Wikidata that was run to its end; its workspace is not to be changed."""
    with failing_at_first(studies) as study:
        yield study
