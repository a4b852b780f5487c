"""Folders that two processes write at the same moment, and ones that cannot be written."""

from pathlib import Path

import pytest

from swaymeter.data.errors import WorkspaceBusy, WorkspaceError
from swaymeter.data.storage.folders import replaced


def test_of_two_writers_one_wins_and_the_other_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "paper"
    with replaced(folder, Path.exists, "publication", "choose another") as one:
        (one / "a.txt").write_text("of the first")
        with (
            pytest.raises(WorkspaceBusy, match="another process is writing the publication"),
            replaced(folder, Path.exists, "publication", "choose another"),
        ):
            pass
    assert [path.read_text() for path in folder.iterdir()] == ["of the first"]
    assert [*tmp_path.iterdir()] == [folder]


def test_the_root_is_not_replaced() -> None:
    with pytest.raises(WorkspaceError, match="name a folder below it"), replaced(Path("/"), Path.exists, "x", "y"):
        pass
