"""Files and folders that are written whole or not at all: under a temporary name beside the target, then renamed.

Two processes never mix their content: temporary names of files are unique, and a folder has one writer at a time.
"""

import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path

from swaymeter.data.errors import WorkspaceBusy, WorkspaceError

TEMPORARY = ".unfinished"
"""Ending of temporary names."""


def write_file(path: Path, content: str | bytes) -> None:
    """Write bytes, or a text as UTF-8, to a file: whole or not at all.

    Args:
        path: the file.
        content: the bytes or the text.

    Raises:
        WorkspaceError: the file cannot be written.
    """
    with replacing_file(path) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def replacing_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; the file written there replaces `path` once all content is on the disk."""
    with temporary_file(path) as temporary:
        yield temporary
        move_to_target(temporary, path)


@contextmanager
def temporary_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`, and remove it at the end; OSError becomes WorkspaceError."""
    try:
        if not os.path.isdir(path.parent):  # faster than mkdir for an existing folder
            path.parent.mkdir(parents=True, exist_ok=True)
        with temporary_beside(path) as temporary:
            yield temporary
    except OSError as error:
        raise WorkspaceError(
            f"{path} cannot be written: {error.strerror or error}; choose another --workspace"
        ) from error


@contextmanager
def temporary_beside(path: Path) -> Iterator[Path]:
    """Yield a temporary path for a file or folder beside `path`, and remove it at the end."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}{TEMPORARY}")  # unique between hosts
    try:
        yield temporary
    finally:
        _remove(temporary)


def remove_leftovers(path: Path) -> None:
    """Remove temporary files of killed writers of `path`; only the process that holds the workspace may call this."""
    for leftover in path.parent.glob(f".{escape(path.name)}.*{TEMPORARY}*"):
        _remove(leftover)


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:  # a folder
        shutil.rmtree(path, ignore_errors=True)


def move_to_target(temporary: Path, path: Path, *, new: bool = False, sync: bool = True) -> None:
    """Rename a complete file or folder to its target atomically.

    Args:
        temporary: the complete file or folder.
        path: the target.
        new: True raises FileExistsError for an existing target; False replaces it. With True on a file system without
            hard links, a killed process may leave an empty target.
        sync: True syncs content and name to the disk. With False, a power cut may remove or tear the target, so its
            readers must verify the content.
    """
    if sync:
        _sync(*temporary.rglob("*"), temporary)
    if new:
        _move_to_new(temporary, path)
    else:
        temporary.replace(path)
    if sync:
        _sync(path.parent)


def _move_to_new(temporary: Path, path: Path) -> None:
    try:
        path.hardlink_to(temporary)  # `temporary_beside` later removes the temporary name
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        with path.open("x"):
            temporary.replace(path)


def _sync(*paths: Path) -> None:
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def replacing_folder(folder: Path, may_replace: Callable[[Path], bool], kind: str, advice: str) -> Iterator[Path]:
    """Yield a new folder that replaces `folder` if the block succeeds, and is removed otherwise.

    Args:
        folder: the target.
        may_replace: returns True for a folder that may be replaced.
        kind: the kind of folder, for messages.
        advice: the advice for the user if the folder cannot be written.

    Raises:
        WorkspaceBusy: another process is writing the folder.
        WorkspaceError: the folder cannot be written, or has other content.
    """
    from filelock import FileLock, Timeout  # most commands replace no folder

    folder = Path(os.path.realpath(folder))  # Path.resolve raises for circular links
    if not folder.name:
        raise WorkspaceError(f"{folder} is the root of a file system; name a folder below it")
    new, old, lock = (folder.with_name(f".{folder.name}.swaymeter-{state}") for state in ("new", "old", "lock"))
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(lock, timeout=0):
            try:
                _repair(folder, new, old)
                if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not may_replace(folder))):
                    raise WorkspaceError(f"{folder} is not a {kind} folder; move it away or {advice}")
                shutil.rmtree(old, ignore_errors=True)
                new.mkdir()
                yield new
                _swap(folder, new, old)
            finally:
                _repair(folder, new, old)
                lock.unlink(missing_ok=True)
    except Timeout:
        raise WorkspaceBusy(
            f"another process is writing the {kind} {folder}; try again after the end of the other process"
        ) from None
    except OSError as error:
        raise WorkspaceError(f"the {kind} {folder} cannot be written: {error.strerror or error}; {advice}") from error


def _repair(folder: Path, new: Path, old: Path) -> None:
    """Undo an interrupted replacement, also of a killed run."""
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
