"""Where a study's files lie. The workspace is the truth: a thing is done when its file is there and can be read.

    facts/<relation>-<key>.parquet                     what a source says of a relation
    prompts/<relation>/<table>-<key>.parquet           queries and contexts, or questions, written from the facts
    scores/<relation>/<model>/<measure>-<key>.parquet  scores; unfinished in parts, <measure>-<key>.part-<n>.parquet
    annotations/<annotator>-<key>.parquet              what an annotator says of questions, a file an import
    statistics/<table>-<key>.parquet                   tests on the scores
    failures/<work>-<key>.json                         why something is not there: to be read, nothing depends on it
    study.duckdb, report/                              views, made again from the files at any time

Every file is written whole or not at all: a temporary name in the same folder, fsync, rename. It carries in its Parquet
metadata what it was made from, and the key that is the digest of that; the key's first characters are in its name, so
that two dtypes or two seeds live side by side.
"""

import json
import os
import re
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock, Timeout

from data.errors import DamagedFile, MissingFile, WorkspaceBusy, WorkspaceError
from data.records.tables import ANNOTATIONS, Table
from data.storage.keys import content_key

KEY_IN_NAME = 12
TEMPORARY = ".unfinished"
NOT_MADE = "is not there; run the step that makes it"


def slug(name: str) -> str:
    """The name as part of a file name: lower-case letters, digits and dashes, never empty, never a path."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80] or "unnamed"


@dataclass(frozen=True)
class Stored:
    """A file of the workspace: where it is, which table it holds, and the key it must carry."""

    path: Path
    table: Table
    made_from: Mapping[str, Any]

    @property
    def key(self) -> str:
        """The digest of everything the file is made from."""
        return content_key(self.made_from)

    def exists(self) -> bool:
        """Whether there is a file of that name, readable or not."""
        return self.path.exists()

    def is_done(self) -> bool:
        """Whether the file is there with the wanted key and can be read; a damaged one is not done."""
        if not self.exists():
            return False
        try:
            self.read()
        except DamagedFile:
            return False
        return True

    def read_as_written(self) -> pa.Table:
        """The file's rows, held against the digest that was written with them; DamagedFile where they differ."""
        rows = self.read()
        if self.table.digest(rows) != self.digest():
            raise DamagedFile(f"{self.path} holds other rows than were written; remove it and run again")
        return rows

    def read(self) -> pa.Table:
        """The file's rows; DamagedFile where it is cut short, a byte of it changed, or not what its name says."""
        found, metadata = read_parquet(self.path)
        if metadata.get("key") != self.key:
            raise DamagedFile(f"{self.path} was made from something else than its name says; remove it and run again")
        try:
            return found.select(self.table.schema.names).cast(self.table.schema)
        except (KeyError, pa.ArrowException) as error:
            raise DamagedFile(f"{self.path} cannot be read ({_first_line(error)}); remove it and run again") from None

    def digest(self) -> str:
        """The digest of the rows, as written with them."""
        try:
            return str(read_metadata(self.path)["digest"])
        except KeyError:
            raise DamagedFile(f"{self.path} lacks the digest of its rows; remove it and run again") from None

    def write(self, rows: pa.Table, about: Mapping[str, Any] | None = None) -> None:
        """Writes the rows whole or not at all; `about` is kept beside them and is not part of the key."""
        if rows.schema.names != self.table.schema.names:
            raise ValueError(f"{self.path.name}: columns {rows.schema.names} are not those of table {self.table.name}")
        metadata = {
            "table": self.table.name,
            "key": self.key,
            "digest": self.table.digest(rows),
            "made_from": dict(self.made_from),
            "about": dict(about or {}),
            "rows": rows.num_rows,
        }
        write_parquet(self.path, rows, metadata)

    def remove(self) -> None:
        """Removes the file where there is one."""
        self.path.unlink(missing_ok=True)


def write_parquet(path: Path, rows: pa.Table, metadata: Mapping[str, Any]) -> None:
    """Writes rows and metadata to a Parquet file with checksums, whole or not at all."""
    text = json.dumps(metadata, ensure_ascii=False)
    with written_whole(path) as temporary:
        pq.write_table(
            rows.replace_schema_metadata({"swaymeter": text}), temporary, compression="zstd", write_page_checksum=True
        )


def read_metadata(path: Path) -> dict[str, Any]:
    """What a file says of itself, without reading its rows; DamagedFile where it cannot be read."""
    try:
        metadata = pq.read_schema(path).metadata or {}
        return dict(json.loads(metadata[b"swaymeter"]))
    except FileNotFoundError:
        raise MissingFile(f"{path} {NOT_MADE}") from None
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError) as error:
        raise DamagedFile(f"{path} cannot be read ({_first_line(error)}); remove it and run again") from None


def read_parquet(path: Path) -> tuple[pa.Table, dict[str, Any]]:
    """A file's rows and what it says of itself; DamagedFile where it is cut short or a byte of it changed."""
    metadata = read_metadata(path)
    try:
        # Opened once: a file that takes this one's place meanwhile is not read into it.
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            rows = file.read()
    except (OSError, pa.ArrowException) as error:
        raise DamagedFile(f"{path} cannot be read ({_first_line(error)}); remove it and run again") from None
    return rows.replace_schema_metadata(None), metadata


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` that takes its place once all is written and on the disk."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}{TEMPORARY}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        with temporary.open("rb+") as handle:
            os.fsync(handle.fileno())
        temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise WorkspaceError(
            f"{path} cannot be written: {error.strerror or error}; choose another --workspace"
        ) from error
    finally:
        with suppress(OSError):  # what could not be made cannot be removed either
            temporary.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


@dataclass(frozen=True)
class Workspace:
    """The folder of one study."""

    root: Path

    @property
    def database(self) -> Path:
        """The DuckDB file."""
        return self.root / "study.duckdb"

    @property
    def report(self) -> Path:
        """The report's folder."""
        return self.root / "report"

    def facts(self, relation: str, table: Table, made_from: Mapping[str, Any]) -> Stored:
        """The file of what a source says of a relation."""
        return self._stored(("facts",), f"{slug(table.name)}-{slug(relation)}", table, made_from)

    def prompts(self, relation: str, table: Table, made_from: Mapping[str, Any]) -> Stored:
        """The file of a relation's queries, contexts or questions."""
        return self._stored(("prompts", slug(relation)), slug(table.name), table, made_from)

    def scores_folder(self, relation: str, model: str) -> Path:
        """Where the scores of a relation under a model lie."""
        return self.root / "scores" / slug(relation) / slug(model)

    def scores(self, relation: str, model: str, table: Table, made_from: Mapping[str, Any]) -> Stored:
        """The file of a measure's scores of a relation under a model."""
        return self._stored(("scores", slug(relation), slug(model)), slug(table.name), table, made_from)

    def statistics(self, table: Table, made_from: Mapping[str, Any]) -> Stored:
        """The file of the tests on the scores."""
        return self._stored(("statistics",), slug(table.name), table, made_from)

    def annotations(self, annotator: str, made_from: Mapping[str, Any]) -> Stored:
        """The file of one import of an annotator's sheet."""
        return self._stored(("annotations",), slug(annotator), ANNOTATIONS, made_from)

    def annotation_files(self) -> list[Path]:
        """The file of every import of annotations: people's work, which no step can make again."""
        return sorted((self.root / "annotations").glob("*.parquet"))

    def part(self, whole: Stored, number: int) -> Stored:
        """One chunk of a file that is not finished yet."""
        name = f"{whole.path.stem}.part-{number:05d}.parquet"
        return Stored(whole.path.with_name(name), whole.table, {**whole.made_from, "part": number})

    def _stored(self, folders: tuple[str, ...], name: str, table: Table, made_from: Mapping[str, Any]) -> Stored:
        key = content_key(made_from)[:KEY_IN_NAME]
        return Stored(self.root.joinpath(*folders, f"{name}-{key}.parquet"), table, made_from)

    def prepare(self) -> None:
        """Makes the folder and removes what killed runs left half-written; WorkspaceError where that cannot be."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            for leftover in sorted(self.root.rglob(f".*{TEMPORARY}*")):  # also those of a database
                if leftover.is_dir():
                    shutil.rmtree(leftover)
                else:
                    leftover.unlink(missing_ok=True)
            probe = self.root / f".writable.{os.getpid()}{TEMPORARY}"
            probe.touch()
            probe.unlink()
        except OSError as error:
            raise WorkspaceError(
                f"the workspace {self.root} cannot be written: {error.strerror or error}; choose another --workspace"
            ) from error

    @contextmanager
    def conducted(self) -> Iterator[None]:
        """Holds the workspace for one run; WorkspaceBusy where another process does.

        The lock dies with its process, and a flow may hold it again inside another of the same run.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.root / ".lock", timeout=0, thread_local=False, is_singleton=True)
            lock.acquire()
        except Timeout:
            raise WorkspaceBusy(
                f"another run conducts the workspace {self.root}; wait for it to end, or choose another --workspace"
            ) from None
        except OSError as error:
            raise WorkspaceError(
                f"the workspace {self.root} cannot be written: {error.strerror or error}; choose another --workspace"
            ) from error
        try:
            self.prepare()
            yield
        finally:
            lock.release()

    def failure(self, work: str) -> Path:
        """The file that says why a piece of work is not done."""
        return self.root / "failures" / f"{slug(work)}-{content_key({'work': work})[:KEY_IN_NAME]}.json"

    def note_failure(self, work: str, reason: str, detail: str = "") -> None:
        """Notes why a piece of work failed, for `status`."""
        with written_whole(self.failure(work)) as temporary:
            temporary.write_text(json.dumps({"work": work, "reason": reason, "detail": detail}), encoding="utf-8")

    def forget_failure(self, work: str) -> None:
        """Forgets a failure that has been mended."""
        self.failure(work).unlink(missing_ok=True)

    def failure_reason(self, work: str) -> str | None:
        """Why a piece of work failed the last time; None where nothing is noted."""
        try:
            return str(json.loads(self.failure(work).read_text(encoding="utf-8"))["reason"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
