"""Parquet files that are written whole or not at all, and verified byte by byte when they are read.

The name of a file, `<name>-<key>-<digest>.parquet`, has the first characters of the SHA-256 of its content. Parquet's
own checksums would cover only pages. The digest also covers headers and footer, so that every flipped bit is detected.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaymeter.data.digests import open_file, pieces, sha256, sha256_of_all
from swaymeter.data.errors import DamagedFile, MissingFile, first_line
from swaymeter.data.storage.notes import json_object
from swaymeter.data.storage.writing import move_to_target, temporary_file

if TYPE_CHECKING:
    import pyarrow as pa

DIGEST_CHARACTERS = 12
"""Number of characters of a key and of a digest in a file name: 48 bits."""

_SMALL = 1 << 16
"""A size in bytes. `verify` reads a smaller file once, and a larger file twice: for its digest and its metadata."""

_METADATA = b"swaymeter"
"""The key of Swaymeter's metadata, a JSON text, in the metadata of a Parquet file."""


def write_parquet(folder: Path, stem: str, rows: "pa.Table", metadata: Mapping[str, Any], *, sync: bool = True) -> Path:
    """Write rows and metadata to `<stem>-<digest>.parquet`, whole or not at all, and return its path.

    Args:
        folder: the folder, made if it is missing.
        stem: the beginning of the file's name.
        rows: the rows.
        metadata: values for JSON, which `metadata_of` returns.
        sync: True syncs the file to the disk; see `move_to_target`.
    """
    import pyarrow as pa  # local imports, because machines that only score lack Arrow
    import pyarrow.parquet as pq

    with_metadata = rows.replace_schema_metadata({_METADATA: json.dumps(metadata, ensure_ascii=False)})
    content = pa.BufferOutputStream()
    pq.write_table(with_metadata, content, compression="zstd")
    file_bytes = memoryview(content.getvalue())
    path = folder / f"{stem}-{sha256(file_bytes)[:DIGEST_CHARACTERS]}.parquet"
    with temporary_file(path) as temporary:
        temporary.write_bytes(file_bytes)
        move_to_target(temporary, path, sync=sync)
    return path


def verify(path: Path) -> dict[str, Any]:
    """Return the metadata of a Parquet file after checking the digest of the file.

    Raises:
        MissingFile: The file does not exist.
        DamagedFile: A byte of the file has changed.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with _reading(path), open_file(path) as file:
        start = file.read(_SMALL)
        _check_digest(path, sha256_of_all(chain([start], pieces(file))))
        if len(start) < _SMALL:
            return _metadata(pq.read_schema(pa.BufferReader(start)))
        file.seek(0)
        return _metadata(pq.read_schema(file))


def metadata_of(path: Path) -> dict[str, Any]:
    """Return the metadata of a Parquet file without verifying the file; DamagedFile for an unreadable file."""
    import pyarrow.parquet as pq

    with _reading(path), open_file(path) as file:
        return _metadata(pq.read_schema(file))


def read_parquet(path: Path) -> tuple["pa.Table", dict[str, Any]]:
    """Return the rows and the metadata of a Parquet file, verified byte by byte; DamagedFile for a changed byte."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with _reading(path):
        with open_file(path) as file:
            content = file.read()  # the same bytes are hashed and parsed, so that nothing changes in between
        _check_digest(path, sha256(content))
        with pq.ParquetFile(pa.BufferReader(content)) as table:  # read_table would import pyarrow.dataset and pandas
            rows = table.read()
        return rows.replace_schema_metadata(None), _metadata(rows.schema)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except FileNotFoundError:
        raise MissingFile(f"{path} does not exist; run the study again to make the file") from None
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError) as error:
        raise DamagedFile(f"{path} cannot be read ({first_line(error)}); the next run makes the file again") from None


def _check_digest(path: Path, digest: str) -> None:
    if path.stem.rpartition("-")[2] != digest[:DIGEST_CHARACTERS]:
        raise DamagedFile(f"{path} holds other bytes than were written; the next run makes the file again")


def _metadata(schema: "pa.Schema") -> dict[str, Any]:
    return json_object((schema.metadata or {})[_METADATA])
