"""Digests: all functions of the project that compute digests.

Keys, file names, caches and published folders contain digests. Each function therefore returns the same digest for the
same content in every version.

SHA-256 is for digests that people or other programs compare. BLAKE3 is for large files that Swaymeter writes. BLAKE2 is
for short ids, and for large files that a study reads (`swaymeter.data.storage.remembered`). SHA-1 is for git's digests.
"""

import base64
import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from functools import lru_cache
from io import FileIO
from pathlib import Path
from typing import Any

from swaymeter.data.errors import MissingFile

_SEPARATOR = "\x1f"
_PIECE = 1 << 16
"""Bytes per read; they fit into the processor's cache."""


def sha256(*parts: str | bytes | memoryview) -> str:
    """Return the SHA-256 (hex) of the joined parts; a text is encoded as UTF-8."""
    return sha256_of_all(parts)


def sha256_of_all(parts: Iterable[str | bytes | memoryview]) -> str:
    """Return the digest of `sha256` for parts that are read one by one, to save memory."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() if isinstance(part, str) else part)
    return digest.hexdigest()


def sha256_of_json(value: Any, **options: Any) -> str:
    """Return the SHA-256 (hex) of a value as JSON, written with these options of json.dumps."""
    return sha256(json.dumps(value, **options))


def content_key(inputs: Mapping[str, object]) -> str:
    """Return the SHA-256 (hex) of everything a file is made from; the order of the inputs does not matter."""
    return sha256_of_json(inputs, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def identity(*parts: object) -> str:
    """Return a short id (16 hex digits) of a row from the parts that identify the row; equal on every machine."""
    return hashlib.blake2b(_separated(parts), digest_size=8).hexdigest()


def blake2_of_lines(lines: Iterable[str]) -> str:
    """Return a digest (32 hex digits) of lines; their order does not matter."""
    return hashlib.blake2b("\n".join(sorted(lines)).encode(), digest_size=16).hexdigest()


def seed_bytes(*parts: object) -> bytes:
    """Return 32 bytes from which random numbers start: the SHA-256 of the parts as texts, so that 1 equals "1"."""
    return hashlib.sha256(_separated(parts)).digest()


def typed_seed_bytes(*parts: str | int) -> bytes:
    """Return 32 bytes like `seed_bytes`, but with different bytes for 1 and "1"."""
    return hashlib.sha256(json.dumps(parts).encode()).digest()


def _separated(parts: Iterable[object]) -> bytes:
    return _SEPARATOR.join(map(str, parts)).encode()


def git_sha1(content: bytes) -> str:
    """Return the digest by which git and the Hugging Face hub name a small file."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def integrity(text: str) -> str:
    """Return the digest by which a page or its content security policy names a style or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def sha256_of_file(path: Path) -> str:
    """Return the SHA-256 (hex) of a file's bytes; OSError for an unreadable file."""
    with open_file(path) as file:
        return sha256_of_open(file)


def open_file(path: Path) -> FileIO:
    """Open a file for reading; OSError for a folder, and for a pipe or a device, whose reading may never end."""
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


def sha256_of_open(file: FileIO) -> str:
    """Return the SHA-256 (hex) of the bytes of an open file from its position on."""
    return sha256_of_all(pieces(file))


def pieces(file: FileIO) -> Iterator[memoryview]:
    """Yield the bytes of an open file from its position on; each piece overwrites the piece before."""
    piece = memoryview(bytearray(_PIECE))
    while count := file.readinto(piece):
        yield piece[:count]


@lru_cache(maxsize=4096)
def digest_once(path: Path, algorithm: str, state: tuple[int, ...]) -> str:
    """Return the digest (hex) of a file; a process reads the file once for each `state`: the file's size and times."""
    with open_file(path) as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


def digest_of_large(path: Path, copy: Path | None = None) -> str:
    """Return the BLAKE3 (hex) of a large file; SHA-256 would take several times as long.

    Args:
        path: The file.
        copy: The file to which the digested bytes are copied; None for no copy.
    """
    from blake3 import blake3  # a local import, because scoring runs on machines without it

    digest = blake3()
    with open_file(path) as file, copy.open("wb", buffering=0) if copy else nullcontext() as target:
        for piece in pieces(file):
            digest.update(piece)
            if target is not None and target.write(piece) < len(piece):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(copy))
    return digest.hexdigest()


def is_endless(path: Path) -> bool:
    """Return True if the path is a device or a pipe, whose reading may never end."""
    return path.is_char_device() or path.is_block_device() or path.is_fifo()


def digest_of_named_file(file: Path, key: str) -> str:
    """Return the SHA-256 (hex) of a file that a study names under `key`; MissingFile for an unreadable file."""
    try:
        if is_endless(file):
            raise MissingFile(f"{key}: {file} is a device or a pipe; name a file")
        return sha256_of_file(file)
    except OSError as error:
        raise MissingFile(f"{key}: {file} cannot be read: {error.strerror}; correct the path or get the file") from None
