"""Digests of large files that a study reads, remembered in the file digests.json of a folder of the workspace.

A file is read again if its size or modification time changes. A deleted file keeps its last digest.
"""

import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from swaymeter.data.digests import digest_once
from swaymeter.data.errors import WorkspaceError
from swaymeter.data.storage.notes import read_note, unseal, write_sealed

log = logging.getLogger(__name__)

_DIGESTS = "digests.json"
REMEMBER_SECONDS = 10.0
"""Seconds between two writes of digests.json. A run that reads a corpus takes hours, and may be killed."""


def remembered_digests(files: Sequence[Path], folder: Path) -> list[str]:
    """Return the digest (hex) of each file; OSError for a file that cannot be read and has no remembered digest."""
    remembered = _stored_states(folder)
    current: dict[str, _FileState] = {}
    stored_at = time.monotonic()
    try:
        for file in files:
            name = str(file.absolute())
            current[name] = _state(file, remembered.get(name))
            if time.monotonic() - stored_at > REMEMBER_SECONDS:
                _store(folder, remembered, current)
                stored_at = time.monotonic()
    finally:
        _store(folder, remembered, current)
    return [current[str(file.absolute())].digest for file in files]


class _FileState(NamedTuple):
    size: int
    mtime_ns: int
    digest: str


def _store(folder: Path, remembered: dict[str, _FileState], current: dict[str, _FileState]) -> None:
    """Store the current states, and keep the states that other processes stored."""
    if not current.items() - remembered.items():
        return
    states = {name: state._asdict() for name, state in (_stored_states(folder) | current).items()}
    with suppress(WorkspaceError):  # the next run then reads the files again
        write_sealed(folder / _DIGESTS, {"files": states})


def _stored_states(folder: Path) -> dict[str, _FileState]:
    try:
        states = unseal(read_note(folder / _DIGESTS))["files"]
        return {name: _FileState(**state) for name, state in states.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        log.warning("%s is damaged (%s); the files are read again", folder / _DIGESTS, error)
        return {}


def _state(file: Path, remembered: _FileState | None) -> _FileState:
    try:
        status = file.stat()
    except (FileNotFoundError, NotADirectoryError):
        if remembered is None:
            raise
        return remembered
    if remembered is not None and (status.st_size, status.st_mtime_ns) == (remembered.size, remembered.mtime_ns):
        return remembered
    digest = digest_once(file.resolve(), "blake2b", (status.st_size, status.st_mtime_ns))
    return _FileState(status.st_size, status.st_mtime_ns, digest)
