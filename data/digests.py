"""Every digest of the project. Keys, file names, caches and published folders hold them: none may ever change.

SHA-256 wherever people or other programs compare it; BLAKE3 for large files; BLAKE2 for short ids and for large files
that are remembered. Imports swaymeter.data.errors alone.
"""

import base64
import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from functools import lru_cache
from io import FileIO
from pathlib import Path
from typing import Any

from swaymeter.data.errors import MissingFile

_SEPARATOR = "\x1f"
_PIECE = 1 << 16  # in the processor's cache; larger ones are written to large pages, for which Linux may look long


def sha256(*parts: str | bytes | memoryview) -> str:
    """The SHA-256 (hex) of texts in UTF-8 and bytes, one after the other."""
    return sha256_of_all(parts)


def sha256_of_all(parts: Iterable[str | bytes | memoryview]) -> str:
    """As `sha256`, of parts that need not be in memory together."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() if isinstance(part, str) else part)
    return digest.hexdigest()


def sha256_of_json(value: Any, **form: Any) -> str:
    """The SHA-256 (hex) of a value as JSON; form: options of json.dumps."""
    return sha256(json.dumps(value, **form))


def content_key(inputs: Mapping[str, object]) -> str:
    """The SHA-256 (hex) of everything a file was made from; equal mappings give equal keys, whatever their order."""
    return sha256_of_json(inputs, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def identity(*parts: object) -> str:
    """A short id (16 hex digits) of what a row is about, the same in every order and on every machine."""
    return hashlib.blake2b(_joined(parts), digest_size=8).hexdigest()


def blake2_of_lines(lines: Iterable[str]) -> str:
    """A digest (32 hex digits) of lines, whatever their order."""
    return hashlib.blake2b("\n".join(sorted(lines)).encode(), digest_size=16).hexdigest()


def seed_bytes(*parts: object) -> bytes:
    """The 32 bytes of SHA-256 that random numbers start from: of the parts as texts, so that 1 is "1"."""
    return hashlib.sha256(_joined(parts)).digest()


def typed_seed_bytes(*parts: str | int) -> bytes:
    """As `seed_bytes`, where 1 and "1" differ."""
    return hashlib.sha256(json.dumps(parts).encode()).digest()


def _joined(parts: Iterable[object]) -> bytes:
    return _SEPARATOR.join(map(str, parts)).encode()


def git_sha1(content: bytes) -> str:
    """Return the digest by which git and the hub name a small file."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def integrity(text: str) -> str:
    """Return the digest by which a page or its content security policy names a style or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def sha256_of(path: Path) -> str:
    """The SHA-256 (hex) of a file's bytes; OSError where it cannot be read."""
    return _file_digest(path, "sha256")


def open_file(path: Path) -> FileIO:
    """A file for reading; OSError for anything else: a pipe or a device in a folder of others never ends."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        kind = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(kind):
            raise OSError(errno.EINVAL, "it is not a file", str(path))
        return os.fdopen(descriptor, "rb", buffering=0)
    except BaseException:
        os.close(descriptor)
        raise


def _file_digest(path: Path, algorithm: str) -> str:
    with open_file(path) as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


@lru_cache(maxsize=4096)
def digest_once(path: Path, algorithm: str, state: tuple[int, ...]) -> str:
    """The digest (hex) of a file, read once in a process as long as its state (size, times) stays the same."""
    return _file_digest(path, algorithm)


def digest_of_large(path: Path, copy: Path | None = None) -> str:
    """The BLAKE3 (hex) of a file: SHA-256 takes several times as long for a large one.

    copy: where to write the bytes that are digested, too: what is copied is what was verified, and read once.
    """
    from blake3 import blake3  # here, as scoring alone does without it

    digest, piece = blake3(), memoryview(bytearray(_PIECE))
    with open_file(path) as file, copy.open("wb", buffering=0) if copy else nullcontext() as target:
        while count := file.readinto(piece):
            digest.update(piece[:count])
            if target is not None and target.write(piece[:count]) < count:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(copy))
    return digest.hexdigest()


def is_endless(path: Path) -> bool:
    """Return True if the path is a device or a pipe, whose reading may never end."""
    return path.is_char_device() or path.is_block_device() or path.is_fifo()


def file_digest(file: Path, key: str) -> str:
    """The SHA-256 (hex) of a file that a study names under that key; MissingFile where it cannot be read."""
    try:
        if is_endless(file):
            raise MissingFile(f"{key}: {file} is a device or a pipe; name a file")
        return sha256_of(file)
    except OSError as error:
        raise MissingFile(f"{key}: {file} cannot be read: {error.strerror}; correct the path or get the file") from None
