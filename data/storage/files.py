"""Files that are written whole or not at all, and Parquet files whose every byte is verified when they are read.

A Parquet file has the first characters of its own SHA-256 in its name: `<name>-<key>-<digest>.parquet`. Page checksums
would cover the pages alone; the digest covers headers and footer, too, so that no flipped bit goes unnoticed.
"""

import errno
import hashlib
import json
import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaymeter.data.errors import DamagedFile, MissingFile, WorkspaceError, first_line

if TYPE_CHECKING:
    import pyarrow as pa

TEMPORARY = ".unfinished"
CHARACTERS = 12
"""How many characters of a key and of a digest a file name has: 48 bits."""

_METADATA = b"swaymeter"
_PIECE = 1 << 20  # what stays in the processor's cache between reading, digesting and writing


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` that takes its place once all is written and on the disk."""
    with unfinished(path) as temporary:
        yield temporary
        put(temporary, path)


@contextmanager
def unfinished(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`, removed on leaving; WorkspaceError where it cannot be written."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}{TEMPORARY}")  # also on another host no other's
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
    except OSError as error:
        raise WorkspaceError(
            f"{path} cannot be written: {error.strerror or error}; choose another --workspace"
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def put(temporary: Path, path: Path) -> None:
    """Brings a written file to the disk and gives it its name, in one step that a kill cannot divide."""
    sync(temporary)
    temporary.replace(path)
    sync(path.parent)


def sync(path: Path) -> None:
    """Brings a file, or the names in a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_endless(path: Path) -> bool:
    """Whether it is a device or a pipe, whose reading may never end."""
    return path.is_char_device() or path.is_block_device() or path.is_fifo()


def sha256_of(path: Path) -> str:
    """The SHA-256 (hex) of a file's bytes; OSError where it cannot be read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of_large(path: Path, copy: Path | None = None) -> str:
    """The BLAKE3 (hex) of a file, by all processors: SHA-256 takes one, and several times as long for a large one.

    copy: where to write the bytes that are digested, too: what is copied is what was verified, and read once.
    """
    from blake3 import blake3  # here, as scoring alone does without it

    digest, piece = blake3(max_threads=blake3.AUTO), memoryview(bytearray(_PIECE))
    with path.open("rb", buffering=0) as file, copy.open("wb", buffering=0) if copy else nullcontext() as target:
        while count := file.readinto(piece):
            digest.update(piece[:count])
            if target is not None and target.write(piece[:count]) < count:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(copy))
    return digest.hexdigest()


def write_parquet(folder: Path, stem: str, rows: "pa.Table", metadata: Mapping[str, Any]) -> Path:
    """Writes rows and metadata to `<stem>-<digest>.parquet`, whole or not at all, and gives its path."""
    import pyarrow.parquet as pq  # here, as others of this module's callers do without it

    described = rows.replace_schema_metadata({_METADATA: json.dumps(metadata, ensure_ascii=False)})
    with unfinished(folder / f"{stem}.parquet") as temporary:
        pq.write_table(described, temporary, compression="zstd")
        path = folder / f"{stem}-{sha256_of(temporary)[:CHARACTERS]}.parquet"
        put(temporary, path)
    return path


def verify(path: Path) -> dict[str, Any]:
    """The metadata of a Parquet file whose every byte is as it was written; DamagedFile otherwise."""
    import pyarrow.parquet as pq

    with _readable(path):
        _compare(path, sha256_of(path))
        return _metadata(pq.read_schema(path))


def metadata_of(path: Path) -> dict[str, Any]:
    """The metadata of a Parquet file, which is not verified; DamagedFile where it cannot be read."""
    import pyarrow.parquet as pq

    with _readable(path):
        return _metadata(pq.read_schema(path))


def read_parquet(path: Path) -> tuple["pa.Table", dict[str, Any]]:
    """The rows and the metadata of a Parquet file, verified byte by byte; DamagedFile where one has changed."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with _readable(path):
        content = path.read_bytes()  # hashed and parsed from the same bytes: nothing can change between the two
        _compare(path, hashlib.sha256(content).hexdigest())
        with pq.ParquetFile(pa.BufferReader(content)) as file:  # read_table would import pyarrow.dataset and pandas
            rows = file.read()
        return rows.replace_schema_metadata(None), _metadata(rows.schema)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except FileNotFoundError:
        raise MissingFile(f"{path} does not exist; run the step that makes it") from None
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError) as error:
        raise DamagedFile(f"{path} cannot be read ({first_line(error)}); it is made again by the next run") from None


def _compare(path: Path, digest: str) -> None:
    if path.stem.rpartition("-")[2] != digest[:CHARACTERS]:
        raise DamagedFile(f"{path} holds other bytes than were written; it is made again by the next run")


def _metadata(schema: "pa.Schema") -> dict[str, Any]:
    return dict(json.loads((schema.metadata or {})[_METADATA]))
