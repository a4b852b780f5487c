"""The same studies as in the end-to-end tests, on a Prefect server for all of them: each would wait for its own."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.end_to_end.conftest import undisturbed
from tests.end_to_end.tiny_study import Run, TinyStudy, elsewhere

__all__ = ["undisturbed"]


@pytest.fixture(scope="session")
def api(undisturbed: tuple[TinyStudy, Run]) -> Iterator[str]:
    """The server's address."""
    with undisturbed[0].server() as url:
        yield url


@pytest.fixture
def study(undisturbed: tuple[TinyStudy, Run], api: str, tmp_path: Path) -> TinyStudy:
    """A finished study in a workspace of the test's own."""
    return replace(elsewhere(undisturbed[0], tmp_path / "workspace"), api=api)
