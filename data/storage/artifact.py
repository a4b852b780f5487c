"""What a step makes: a table in a Parquet file, or a set of files with a manifest (the database, the report).

An artifact has a key: the digest of everything that it is made from. It is done when it exists, every byte of it is as
it was written, and it carries the wanted key. `Artifact.check` is the one definition of that; nothing else is asked.
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
from swaymeter.data.storage.files import CHARACTERS, metadata_of, read_parquet, verify, write_parquet
from swaymeter.data.storage.notes import note_of, unsealed, write_sealed

State = Literal["done", "missing", "damaged"]
FORCED = "forced"
"""The entry of the key inputs that has the number of a forced artifact."""
T = TypeVar("T")

_FILE = re.compile(rf"(?P<name>.+)-[0-9a-f]{{{CHARACTERS}}}-[0-9a-f]{{{CHARACTERS}}}\.parquet")
_PART = re.compile(r"(?P<name>.+)\.part-\d+-(?P<key>[0-9a-f]+)-")


@dataclass(frozen=True)
class Check:
    """How an artifact stands.

    reason: why it is damaged. digest: of what counts, part of the keys of what is made from it; digest_of_all: of every
    column. about: what its writer noted beside the rows.
    """

    state: State
    reason: str = ""
    digest: str = ""
    path: Path | None = None
    rows: int = 0
    about: Mapping[str, Any] | None = None
    digest_of_all: str = ""


@dataclass(frozen=True)
class TableArtifact:
    """A table in one Parquet file of a workspace: `<folder>/<name>-<key>-<digest>.parquet`."""

    folder: Path
    name: str
    table: Table
    made_from: Mapping[str, Any]

    @cached_property
    def key(self) -> str:
        """The digest of everything that it is made from."""
        return content_key(self.made_from)

    @property
    def stem(self) -> str:
        """What its file's name begins with."""
        return f"{self.name}-{self.key[:CHARACTERS]}"

    def files(self) -> list[Path]:
        """The files with its name and key, readable or not; after a step that ran twice there may be two."""
        return [path for path in self._of_any_key() if path.name.startswith(f"{self.stem}-")]

    def check(self) -> Check:
        """Whether one of its files is as it was written; the reason names the file that is not."""
        try:
            return self._first(self._checked)
        except MissingFile:
            return Check("missing")
        except DamagedFile as error:
            return Check("damaged", str(error))

    def read(self) -> pa.Table:
        """Its rows, verified; MissingFile where there is none, DamagedFile where it does not hold what was written."""
        return self._first(self._rows)

    def about(self) -> dict[str, Any]:
        """What its writer noted beside the rows; raises as `read`."""
        return dict(self._first(self._checked).about or {})

    def _first(self, load: Callable[[Path], T]) -> T:
        """Load the first undamaged one of its files."""
        problem: DamagedFile = MissingFile(f"{self.folder / self.stem} does not exist; run the step that makes it")
        for path in self.files():
            try:
                return load(path)
            except MissingFile:  # a run has just put a newer one in its place
                continue
            except DamagedFile as error:
                problem = error
            except (KeyError, TypeError, ValueError, pa.ArrowException) as error:
                problem = DamagedFile(
                    f"{path} does not hold table {self.table.name} ({error}); it is made again by the next run"
                )
        raise problem

    def _checked(self, path: Path) -> Check:
        metadata = self._of_this_key(path, verify(path))
        digest, of_all, rows, about = (metadata[name] for name in ("digest", "digest_of_all", "rows", "about"))
        if not (isinstance(rows, int) and isinstance(about, dict) and isinstance(digest, str)):
            raise TypeError("its metadata is not as we write it")
        return Check("done", "", digest, path, rows, about, of_all)

    def _rows(self, path: Path) -> pa.Table:
        rows, metadata = read_parquet(path)
        self._of_this_key(path, metadata)
        return rows.select(self.table.schema.names).cast(self.table.schema)

    def _of_this_key(self, path: Path, metadata: dict[str, Any]) -> dict[str, Any]:
        if metadata.get("key") != self.key:
            raise DamagedFile(f"{path} has another key than its name says; it is made again by the next run")
        if (metadata.get("columns") or pq.read_schema(path).names) != self.table.schema.names:
            raise MissingFile(f"{path} has the columns of another version")
        return metadata

    def write(self, rows: pa.Table, about: Mapping[str, Any] | None = None) -> Path:
        """Writes the rows whole or not at all; `about` is kept beside them and is not part of the key."""
        if rows.schema.names != self.table.schema.names:
            raise ValueError(f"{self.name}: columns {rows.schema.names} are not those of table {self.table.name}")
        of_all = table_digest(rows)
        metadata = {
            "table": self.table.name,
            "columns": self.table.schema.names,
            "key": self.key,
            "digest": of_all if all(column.counts for column in self.table.columns) else self.table.digest(rows),
            "digest_of_all": of_all,
            "made_from": dict(self.made_from),
            "made_at": datetime.now(UTC).isoformat(),
            "number": 1 + max(map(_number, self._of_any_key()), default=0),
            "about": dict(about or {}),
            "rows": rows.num_rows,
        }
        before = {*self.files(), *self._of_other_numbers()}  # two workers that write at once keep each other's file
        path = write_parquet(self.folder, self.stem, rows, metadata)
        for other in before:
            if other != path:
                other.unlink(missing_ok=True)
        return path

    def _of_other_numbers(self) -> list[Path]:
        """The files that a forced artifact replaces."""
        if FORCED not in self.made_from:
            return []
        key = _key_without_number(self.made_from)
        return [path for path in self._of_any_key() if _key_without_number(_made_from(path)) == key]

    def _of_any_key(self) -> list[Path]:
        try:  # a glob takes several times as long, and this is asked of every artifact
            files = [(_FILE.fullmatch(name), name) for name in os.listdir(self.folder) if name.startswith(self.name)]
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted(self.folder / name for match, name in files if match and match["name"] == self.name)

    def discard(self) -> None:
        """Removes its files, and those of its parts."""
        for path in (*self.files(), *self.folder.glob(f"{self.name}.part-*-{self.key[:CHARACTERS]}-*.parquet")):
            path.unlink(missing_ok=True)

    def part(self, number: int) -> "TableArtifact":
        """One chunk of it, while it is not finished; its key names the whole."""
        name = f"{self.name}.part-{number:05d}-{self.key[:CHARACTERS]}"
        return TableArtifact(self.folder, name, self.table, {"whole": self.key, "part": number})


def is_joined(part: Path) -> bool:
    """Return True if a whole of the same key and columns has replaced the part."""
    named = _PART.match(part.name)
    wholes = part.parent.glob(f"{named['name']}-{named['key']}-*.parquet") if named else ()
    try:
        columns = verify(part).get("columns")
        return any(whole.get("columns") == columns for whole in map(verify, wholes))
    except (DamagedFile, TypeError):
        return False


def _made_from(path: Path) -> Mapping[str, Any]:
    try:
        return dict(metadata_of(path)["made_from"])
    except (DamagedFile, KeyError, TypeError, ValueError):
        return {}


def _key_without_number(key_inputs: Mapping[str, Any]) -> str:
    return content_key({name: value for name, value in key_inputs.items() if name != FORCED})


def _number(path: Path) -> int:
    """Which of the files of its name it is, in the order in which they were written: clocks of hosts differ."""
    try:
        return int(metadata_of(path).get("number", 0))
    except (DamagedFile, TypeError, ValueError):
        return 0


@dataclass(frozen=True)
class FilesArtifact:
    """Files with a manifest beside them that holds the key and the digest of each: the database, or the report."""

    manifest: Path
    made_from: Mapping[str, Any]

    @property
    def folder(self) -> Path:
        """What the paths in the manifest are relative to."""
        return self.manifest.parent

    @property
    def key(self) -> str:
        """The digest of everything that it is made from."""
        return content_key(self.made_from)

    def check(self) -> Check:
        """Whether every file of the manifest is as it was written; missing where the key is another."""
        try:
            manifest = unsealed(note_of(self.manifest))
            key, files = manifest["key"], dict(manifest["files"])
        except FileNotFoundError:
            return Check("missing")
        except (OSError, ValueError, KeyError, TypeError) as error:
            return Check("damaged", f"{self.manifest} cannot be read ({error}); it is made again by the next run")
        if key != self.key:
            return Check("missing")
        if path := next((self.folder / name for name in files if not self._is_as_written(name, files[name])), None):
            return Check("damaged", f"{path} holds other bytes than were written; it is made again by the next run")
        return Check("done", "", key, self.manifest)

    def written(self) -> Mapping[str, str]:
        """The digests that the manifest has of its files, whatever the key; none where it cannot be read."""
        try:
            return dict(unsealed(note_of(self.manifest))["files"])
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    def _is_as_written(self, name: str, digest: str) -> bool:
        if ".." in (path := Path(name)).parts or path.is_absolute():  # a manifest of others
            return False
        try:
            return digest_of_large(self.folder / path) == digest
        except (OSError, ValueError):  # a name with a NUL byte
            return False


def write_manifest(manifest: Path, key: str, files: Iterable[Path]) -> None:
    """Write the key and the digests of the files as they are now; the last step of making them."""
    digests = {path.relative_to(manifest.parent).as_posix(): digest_of_large(path) for path in sorted(files)}
    write_sealed(manifest, {"key": key, "made_at": datetime.now(UTC).isoformat(), "files": digests})


Artifact = TableArtifact | FilesArtifact
"""Something stored that a step makes."""
