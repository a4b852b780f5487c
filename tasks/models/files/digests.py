"""Digests of files as they are now, and the folder in which this machine keeps what it made or verified of models."""

import hashlib
import os
from functools import lru_cache
from pathlib import Path

State = tuple[int, int, int]


def cache_folder() -> Path:
    """$SWAYMETER_CACHE, else ~/.cache/swaymeter."""
    chosen = os.environ.get("SWAYMETER_CACHE")
    return Path(chosen).expanduser() if chosen else Path.home() / ".cache" / "swaymeter"


def file_state(path: Path) -> State:
    """What changes when a file is written: its size, and its times of change in nanoseconds."""
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file in hex; remembered for as long as the file's state stays the same."""
    return _digest(str(path), file_state(path), "sha256", b"")


def git_sha1_of(path: Path) -> str:
    """The SHA-1 in hex by which git, and the hub for files that are not large, names a file's content."""
    state = file_state(path)
    return _digest(str(path), state, "sha1", f"blob {state[0]}\0".encode())


@lru_cache(maxsize=2048)
def _digest(path: str, state: State, name: str, header: bytes) -> str:
    digest = hashlib.new(name, header, usedforsecurity=False)
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: digest).hexdigest()
