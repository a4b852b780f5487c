from pathlib import Path

import pytest

from swaymeter.data.errors import UsageError
from swaymeter.flows.server.home import check_home, enter


@pytest.fixture(autouse=True)
def deployment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the test as a deployment: in a temporary working directory, without the variable SWAYMETER_HOME."""
    monkeypatch.setenv("PREFECT__RUNTIME__DEPLOYMENT__ID", "3f0c")
    monkeypatch.setattr("atexit.register", lambda function: None)
    monkeypatch.setenv("TMPDIR", str(tmp_path.parent))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.delenv("SWAYMETER_HOME", raising=False)
    monkeypatch.chdir(tmp_path)


def test_a_worker_without_a_folder_is_refused() -> None:
    assert enter() == {}
    with pytest.raises(UsageError, match="has no environment variable SWAYMETER_HOME; start the worker with"):
        check_home()


def test_a_missing_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWAYMETER_HOME", str(tmp_path / "away"))
    assert enter() == {}
    with pytest.raises(UsageError, match=f"the folder {tmp_path}/away, which SWAYMETER_HOME names, does not exist on"):
        check_home()


def test_the_folder_of_a_worker_is_entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWAYMETER_HOME", str(tmp_path))
    assert enter() == {"directory": str(tmp_path)}
    check_home()


def test_a_run_without_a_deployment_needs_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PREFECT__RUNTIME__DEPLOYMENT__ID")
    check_home()
