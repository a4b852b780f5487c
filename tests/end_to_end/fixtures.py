"""Studies that are run once for all the tests of a session: the tiny one, and one of an invented world's questions."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.tiny_study import Run, TinyStudy, new_study, prefect_server
from tests.end_to_end.wiki_runs import Done, failing_at_first
from tests.end_to_end.wiki_studies import WikiStudies


@pytest.fixture(scope="session")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Prefect server for many commands."""
    with prefect_server(tmp_path_factory.getbasetemp()) as url:
        yield url


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, api: str) -> tuple[TinyStudy, Run]:
    """A study after a run that nothing disturbed, and what that run said; not to be changed."""
    study = new_study(tmp_path_factory.mktemp("tiny"), api)
    run = study.run("run")
    assert run.code == 0, run.said
    return study, run


@pytest.fixture
def study(undisturbed: tuple[TinyStudy, Run], tmp_path: Path) -> TinyStudy:
    """A finished study in a workspace of the test's own."""
    return undisturbed[0].elsewhere(tmp_path / "workspace")


@pytest.fixture(scope="session")
def studies(tmp_path_factory: pytest.TempPathFactory, api: str) -> WikiStudies:
    """Studies of live questions."""
    return WikiStudies.of(tmp_path_factory.mktemp("wiki-studies"), api)


@pytest.fixture(scope="session")
def done(studies: WikiStudies) -> Iterator[Done]:
    """A study of live questions that was run to its end; its workspace is not to be changed."""
    with failing_at_first(studies) as study:
        yield study
