"""Files and folders that are written whole or not at all: under a name of their own beside, then put in place.

Two that write the same target at the same moment do not mix: the temporary names are unique, also between hosts, and
of a folder there is one writer at a time.
"""

import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

from filelock import FileLock, Timeout

from swaymeter.data.errors import WorkspaceBusy, WorkspaceError

TEMPORARY = ".unfinished"


def write_file(path: Path, content: str | bytes) -> None:
    """Writes a file whole or not at all, a text in UTF-8; WorkspaceError where it cannot be written."""
    with written_whole(path) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` that takes its place once all is written and on the disk."""
    with unfinished(path) as temporary:
        yield temporary
        put(temporary, path)


@contextmanager
def unfinished(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`, removed on leaving; WorkspaceError where it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside(path) as temporary:
            yield temporary
    except OSError as error:
        raise WorkspaceError(
            f"{path} cannot be written: {error.strerror or error}; choose another --workspace"
        ) from error


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """As `unfinished`, for a file or a folder, with the errors of the system and in a folder that exists."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}{TEMPORARY}")  # also on another host no other's
    try:
        yield temporary
    finally:
        _remove(temporary)


def remove_leftovers(path: Path) -> None:
    """Removes what killed writers of `path` left; for the one that holds its lock."""
    for leftover in path.parent.glob(f".{escape(path.name)}.*{TEMPORARY}*"):
        _remove(leftover)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def put(temporary: Path, path: Path, *, new: bool = False) -> None:
    """Brings a written file or folder to the disk and gives it its name, in one step that a kill cannot divide.

    new: FileExistsError where the name is taken, also in this moment; else a file of that name is replaced.
    """
    _sync(*temporary.rglob("*"), temporary)
    if new:
        _take(temporary, path)
    else:
        temporary.replace(path)
    _sync(path.parent)


def _take(temporary: Path, path: Path) -> None:
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        with path.open("x"):
            temporary.replace(path)


def _sync(*paths: Path) -> None:
    """Brings files, and the names in folders, to the disk."""
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


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
    folder = Path(os.path.realpath(folder))  # Path.resolve raises where links lead round
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
    _sync(*new.rglob("*"), new)
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    _sync(folder.parent)
    shutil.rmtree(old, ignore_errors=True)
