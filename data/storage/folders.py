"""Folders that are written whole or not at all: made under a hidden name beside, then put in place in two renames."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from swaymeter.data.errors import WorkspaceBusy, WorkspaceError
from swaymeter.data.storage.files import sync


@contextmanager
def replaced(folder: Path, is_earlier: Callable[[Path], bool], what: str, advice: str) -> Iterator[Path]:
    """A new folder that takes the place of `folder` where the block ends well, and else leaves no trace.

    What a killed run left is put right first. One process at a time writes a folder; another one is told so.

    Args:
        folder: where it goes.
        is_earlier: whether a folder with files is one that may be replaced.
        what: what it is, for messages.
        advice: what to do where it cannot be written.

    Raises:
        WorkspaceBusy: another process is writing it.
        WorkspaceError: the folder cannot be written, or holds something else.
    """
    folder = folder.resolve()
    if not folder.name:
        raise WorkspaceError(f"{folder} cannot be replaced; name a folder below it")
    new, old, lock = (folder.with_name(f".{folder.name}.swaymeter-{state}") for state in ("new", "old", "lock"))
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(lock, timeout=0):
            try:
                _put_right(folder, new, old)
                if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not is_earlier(folder))):
                    raise WorkspaceError(f"{folder} is not a {what} folder; move it away or {advice}")
                shutil.rmtree(old, ignore_errors=True)
                new.mkdir()
                yield new
                _swap(folder, new, old)
            finally:
                _put_right(folder, new, old)
                lock.unlink(missing_ok=True)
    except Timeout:
        raise WorkspaceBusy(f"another process is writing the {what} {folder}; try again once it has ended") from None
    except OSError as error:
        raise WorkspaceError(f"the {what} {folder} cannot be written: {error.strerror or error}; {advice}") from error


def _put_right(folder: Path, new: Path, old: Path) -> None:
    """Undoes what a run left that ended in between: a half-made folder, or one set aside that has no successor."""
    shutil.rmtree(new, ignore_errors=True)
    if old.exists() and not folder.exists():
        old.rename(folder)


def _swap(folder: Path, new: Path, old: Path) -> None:
    for path in sorted(new.rglob("*")):
        sync(path)
    sync(new)
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    sync(folder.parent)
    shutil.rmtree(old, ignore_errors=True)
