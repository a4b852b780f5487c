"""Programs that use our servers, run in a folder of a user who has packages of the same names as ours."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.flows.conftest import nothing_configured

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A Prefect home of this module's own, with nothing configured: its tables are created once."""
    return nothing_configured(tmp_path_factory.mktemp("prefect"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with packages named as ours, which raise when they are imported."""
    folder = tmp_path_factory.mktemp("user")
    for name in ("data", "flows", "reports", "tasks"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(f"raise RuntimeError('the package {name} of the user')")
    return folder


@pytest.fixture(scope="module")
def start(environment: dict[str, str], folder: Path) -> Start:
    """Starts Python in that folder, with variables beside those of the environment."""

    def start(*arguments: str, **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, *arguments], cwd=folder, env=environment | variables, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    return start
