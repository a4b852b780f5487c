"""Replaced folders: simultaneous writers, failed writers, and folders that cannot be replaced."""

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path

import pytest

from swaymeter.data.errors import WorkspaceBusy, WorkspaceError
from swaymeter.data.storage.writing import replacing_folder


def replacing(folder: Path, may_replace: Callable[[Path], bool] = Path.exists) -> AbstractContextManager[Path]:
    return replacing_folder(folder, may_replace, kind="publication", advice="choose another")


def test_one_of_two_writers_wins(tmp_path: Path) -> None:
    folder = tmp_path / "paper"
    with replacing(folder) as temporary:
        (temporary / "a.txt").write_text("of the first")
        with (
            pytest.raises(WorkspaceBusy, match="another process is writing the publication"),
            replacing(folder),
        ):
            pass
    assert [path.read_text() for path in folder.iterdir()] == ["of the first"]
    assert [*tmp_path.iterdir()] == [folder]


def write_earlier(folder: Path) -> None:
    with replacing(folder) as temporary:
        (temporary / "a.txt").write_text("earlier")


@pytest.mark.parametrize("failure", ["in the block", "between the renames"])
def test_failed_writer_leaves_the_earlier_folder(failure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, rename = tmp_path / "paper", Path.rename
    write_earlier(folder)

    def fail(path: Path, target: Path) -> Path:
        if path.name.endswith("-new"):
            raise KeyboardInterrupt
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail)
    with (
        suppress(KeyboardInterrupt),
        replacing(folder) as temporary,
    ):
        (temporary / "a.txt").write_text("later")
        if failure == "in the block":
            raise KeyboardInterrupt
    assert [*tmp_path.iterdir()] == [folder]
    assert (folder / "a.txt").read_text() == "earlier"


def test_folder_set_aside_stays_beside_a_foreign_folder(tmp_path: Path) -> None:
    folder, aside = tmp_path / "paper", tmp_path / ".paper.swaymeter-old"
    write_earlier(aside)  # a killed writer leaves the earlier folder set aside
    folder.mkdir()
    (folder / "of-others.txt").touch()
    with (
        pytest.raises(WorkspaceError, match="is not a publication folder"),
        replacing(folder, may_replace=lambda folder: False),
    ):
        pass
    assert (aside / "a.txt").exists()


def test_circular_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "paper").symlink_to(tmp_path / "paper")
    with (
        pytest.raises(WorkspaceError, match=r"paper cannot be written: .*; choose another"),
        replacing(tmp_path / "paper"),
    ):
        pass


def test_the_root_is_not_replaced() -> None:
    with (
        pytest.raises(WorkspaceError, match="name a folder below it"),
        replacing(Path("/")),
    ):
        pass
