"""Artifacts of steps: a table in a Parquet file, or files with a manifest, such as the database or the report.

The key of an artifact is the digest of everything it was computed from. `check` alone decides if an artifact is done:
it exists, has the requested key, and every byte is as it was written.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from swaymeter.data.digests import content_key, digest_of_large
from swaymeter.data.errors import DamagedFile, MissingFile
from swaymeter.data.records.table import Table, table_digest
from swaymeter.data.storage.files import DIGEST_CHARACTERS, metadata_of, read_parquet, verify, write_parquet
from swaymeter.data.storage.notes import read_note, unseal, write_sealed

ArtifactState = Literal["done", "missing", "damaged"]
FORCED = "forced"
"""The name of the key input for the time of the last --force or --refresh of an artifact, in milliseconds."""
T = TypeVar("T")

_FILE = re.compile(rf"(?P<name>.+)-[0-9a-f]{{{DIGEST_CHARACTERS}}}-[0-9a-f]{{{DIGEST_CHARACTERS}}}\.parquet")
_PART = re.compile(r"(?P<name>.+)\.part-\d+-(?P<key>[0-9a-f]+)-")


@dataclass(frozen=True)
class Check:
    """The state of an artifact.

    Attributes:
        state: done, missing or damaged.
        reason: the reason why the artifact is damaged; empty otherwise.
        digest: for a table, the digest of the columns with `in_digest`; for files with a manifest, the key. The digest
            is an input of the keys of artifacts that are computed from this artifact.
        path: the file of the table, or the manifest.
        rows: number of rows.
        about: metadata that the writer added.
        digest_of_all: for a table, the digest of all columns.
    """

    state: ArtifactState
    reason: str = ""
    digest: str = ""
    path: Path | None = None
    rows: int = 0
    about: Mapping[str, Any] | None = None
    digest_of_all: str = ""


@dataclass(frozen=True)
class TableArtifact:
    """A table in one Parquet file of a workspace: `<folder>/<name>-<key>-<digest>.parquet`.

    Attributes:
        table: the declaration of the table.
        key_inputs: everything that the table is computed from.
    """

    folder: Path
    name: str
    table: Table
    key_inputs: Mapping[str, Any]

    @cached_property
    def key(self) -> str:
        """The digest of the key inputs."""
        return content_key(self.key_inputs)

    @property
    def stem(self) -> str:
        """The beginning of the file's name: the artifact's name and key."""
        return f"{self.name}-{self.key[:DIGEST_CHARACTERS]}"

    def files(self) -> list[Path]:
        """Return the files with the artifact's name and key, readable or not; a task that ran twice may leave two."""
        return self._files_that_begin(f"{self.stem}-")

    def check(self) -> Check:
        """Check that at least one file of the artifact is as it was written."""
        try:
            return self._load_first(self._done_check)
        except MissingFile:
            return Check("missing")
        except DamagedFile as error:
            return Check("damaged", str(error))

    def read(self) -> pa.Table:
        """Return the verified rows of the table; MissingFile without a file, DamagedFile for changed content."""
        return self._load_first(self._rows)

    def about(self) -> dict[str, Any]:
        """Return the metadata that the writer added; errors as in `read`."""
        return dict(self._load_first(self._done_check).about or {})

    def _load_first(self, load: Callable[[Path], T]) -> T:
        problem: DamagedFile = MissingFile(
            f"{self.folder / self.stem} does not exist; run the study again to make the file"
        )
        for path in self.files():
            try:
                return load(path)
            except MissingFile:  # a run has just replaced the file, or another version wrote it
                continue
            except DamagedFile as error:
                problem = error
            except (KeyError, TypeError, ValueError, pa.ArrowException) as error:
                problem = DamagedFile(
                    f"{path} does not hold table {self.table.name} ({error}); the next run makes the file again"
                )
        raise problem

    def _done_check(self, path: Path) -> Check:
        metadata = self._check_key(path, verify(path))
        digest, full_digest, rows, about = (metadata[name] for name in ("digest", "digest_of_all", "rows", "about"))
        if not (isinstance(rows, int) and isinstance(about, dict) and isinstance(digest, str)):
            raise TypeError("a value in the metadata has a wrong type")
        return Check("done", "", digest, path, rows, about, full_digest)

    def _rows(self, path: Path) -> pa.Table:
        rows, metadata = read_parquet(path)
        self._check_key(path, metadata)
        return rows.select(self.table.schema.names).cast(self.table.schema)

    def _check_key(self, path: Path, metadata: dict[str, Any]) -> dict[str, Any]:
        if metadata.get("key") != self.key:
            raise DamagedFile(
                f"{path} has different keys in the metadata and in the file name; the next run makes the file again"
            )
        if (metadata.get("columns") or pq.read_schema(path).names) != self.table.schema.names:
            raise MissingFile(
                f"{path} has the columns of another version of Swaymeter; run the study again to replace the file"
            )
        return metadata

    def write(self, rows: pa.Table, about: Mapping[str, Any] | None = None) -> Path:
        """Write the rows, whole or not at all, with the metadata `about`, which is not part of the key.

        The file is not synced to the disk: a power cut costs the tables of the last half minute, and a torn file is
        detected by the digest in its name.
        """
        if rows.schema.names != self.table.schema.names:
            raise ValueError(
                f"{self.name}: the columns are {rows.schema.names}; table {self.table.name} has "
                f"{self.table.schema.names}"
            )
        # Listed before writing, so that two concurrent writers do not remove each other's files.
        files_of_any_key = self._files_that_begin(f"{self.name}-")
        full_digest = table_digest(rows)
        are_all_in_digest = all(column.in_digest for column in self.table.columns)
        metadata = {
            "table": self.table.name,
            "columns": self.table.schema.names,
            "key": self.key,
            "digest": full_digest if are_all_in_digest else self.table.digest(rows),
            "digest_of_all": full_digest,
            "made_from": dict(self.key_inputs),
            "made_at": datetime.now(UTC).isoformat(),
            "number": 1 + max(map(_number, files_of_any_key), default=0),
            "about": dict(about or {}),
            "rows": rows.num_rows,
        }
        files_with_key = [file for file in files_of_any_key if file.name.startswith(f"{self.stem}-")]
        older_files = {*files_with_key, *self._replaced_if_forced(files_of_any_key)}
        path = write_parquet(self.folder, self.stem, rows, metadata, sync=False)
        for older_file in older_files - {path}:
            older_file.unlink(missing_ok=True)
        return path

    def _replaced_if_forced(self, files: Iterable[Path]) -> list[Path]:
        """Return the files whose key inputs differ from this artifact's only in FORCED; none without FORCED."""
        if FORCED not in self.key_inputs:
            return []
        key = _unforced_key(self.key_inputs)
        return [path for path in files if _unforced_key(_key_inputs_of(path)) == key]

    def _files_that_begin(self, beginning: str) -> list[Path]:
        try:  # `Path.glob` takes several times as long, and every artifact is checked
            names = [name for name in os.listdir(self.folder) if name.startswith(beginning)]
        except (FileNotFoundError, NotADirectoryError):
            return []
        matches = filter(None, map(_FILE.fullmatch, names))
        return [self.folder / name for name in sorted(match[0] for match in matches if match["name"] == self.name)]

    def discard(self) -> None:
        """Remove the files of the artifact and of its parts."""
        for path in (*self.files(), *self.folder.glob(f"{self.name}.part-*-{self.key[:DIGEST_CHARACTERS]}-*.parquet")):
            path.unlink(missing_ok=True)

    def part(self, number: int) -> "TableArtifact":
        """Return the artifact of one chunk of an unfinished table; the key of a chunk follows from the table's key."""
        name = f"{self.name}.part-{number:05d}-{self.key[:DIGEST_CHARACTERS]}"
        return TableArtifact(self.folder, name, self.table, {"whole": self.key, "part": number})


def is_in_whole_table(part: Path) -> bool:
    """Return True if the whole table of a part is stored, too, with the same key and columns."""
    match = _PART.match(part.name)
    wholes = part.parent.glob(f"{match['name']}-{match['key']}-*.parquet") if match else ()
    try:
        columns = verify(part).get("columns")
        return any(whole.get("columns") == columns for whole in map(verify, wholes))
    except (DamagedFile, TypeError):
        return False


def _key_inputs_of(path: Path) -> Mapping[str, Any]:
    try:
        return dict(metadata_of(path)["made_from"])
    except (DamagedFile, KeyError, TypeError, ValueError):
        return {}


def _unforced_key(key_inputs: Mapping[str, Any]) -> str:
    return content_key({name: value for name, value in key_inputs.items() if name != FORCED})


def _number(path: Path) -> int:
    """Return the number that orders files of the same name by their writing; the clocks of hosts may differ."""
    try:
        return int(metadata_of(path).get("number", 0))
    except (DamagedFile, TypeError, ValueError):
        return 0


@dataclass(frozen=True)
class FilesArtifact:
    """Files with a manifest, such as the database or the report.

    Attributes:
        manifest: the JSON file with the key of the artifact and the digest of each file.
        key_inputs: everything that the files are computed from.
    """

    manifest: Path
    key_inputs: Mapping[str, Any]

    @property
    def folder(self) -> Path:
        """The folder to which paths in the manifest are relative."""
        return self.manifest.parent

    @property
    def key(self) -> str:
        """The digest of the key inputs."""
        return content_key(self.key_inputs)

    def check(self) -> Check:
        """Check that every file of the manifest is as it was written; "missing" if the manifest has another key."""
        try:
            manifest = unseal(read_note(self.manifest))
            key, files = manifest["key"], dict(manifest["files"])
        except FileNotFoundError:
            return Check("missing")
        except (OSError, ValueError, KeyError, TypeError) as error:
            return Check("damaged", f"{self.manifest} cannot be read ({error}); the next run makes the file again")
        if key != self.key:
            return Check("missing")
        for name, digest in files.items():
            if not self._is_as_written(name, digest):
                file = self.folder / name
                problem = "holds other bytes than were written" if os.path.lexists(file) else "is missing"
                return Check("damaged", f"{file} {problem}; the next run makes the file again")
        return Check("done", "", key, self.manifest)

    def digests(self) -> Mapping[str, str]:
        """Return the digests in the manifest by file, whatever the manifest's key; empty for an unreadable manifest."""
        try:
            return dict(unseal(read_note(self.manifest))["files"])
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    def _is_as_written(self, name: str, digest: str) -> bool:
        if ".." in (path := Path(name)).parts or path.is_absolute():  # a manifest may be forged
            return False
        try:
            return digest_of_large(self.folder / path) == digest
        except (OSError, ValueError):  # ValueError: a name with a NUL byte
            return False


def write_manifest(manifest: Path, key: str, files: Iterable[Path]) -> None:
    """Write the manifest of an artifact, once its files are complete: its key and the digests of the files."""
    digests = {path.relative_to(manifest.parent).as_posix(): digest_of_large(path) for path in sorted(files)}
    write_sealed(manifest, {"key": key, "made_at": datetime.now(UTC).isoformat(), "files": digests})


Artifact = TableArtifact | FilesArtifact
"""A stored result of a step."""
