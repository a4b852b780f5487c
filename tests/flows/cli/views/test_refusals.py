"""A refused audit changes no study and leaves no new study; its message does not mention the study file."""

from pathlib import Path

import pytest

from swaymeter.data.errors import UsageError
from swaymeter.flows.cli.views.refusals import undone_if_refused


def refuse(folder: Path) -> None:
    with undone_if_refused(folder):
        folder.mkdir(exist_ok=True)
        (folder / "audit.yaml").write_text("models: [nosuch]")
        raise UsageError(f"{folder / 'audit.yaml'}: no model is named 'nosuch'")


def test_a_new_workspace_is_removed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^no model is named 'nosuch'$"):
        refuse(tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("other", [".lock", "scores"])
def test_files_of_another_run_stay(other: str, tmp_path: Path) -> None:
    folder = tmp_path / "new"

    def refuse_late() -> None:
        with undone_if_refused(folder):
            for name in ("downloads", other):
                (folder / name).mkdir(parents=True)
            raise UsageError("the server gave up")

    with pytest.raises(UsageError):
        refuse_late()
    assert {path.name for path in folder.iterdir()} == {"downloads", other}


def test_an_earlier_study_is_restored(tmp_path: Path) -> None:
    (tmp_path / "audit.yaml").write_text("models: [m]")
    with pytest.raises(UsageError):
        refuse(tmp_path)
    assert (tmp_path / "audit.yaml").read_text() == "models: [m]"
