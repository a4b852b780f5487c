"""A graph from files: RDF dumps loaded once into an embedded store, so that a large study needs no endpoint.

The store lies in a folder named by what the files hold. It is loaded under another name and gets its own when all is
there, so that a load that was interrupted counts for nothing.
"""

import gzip
import hashlib
import json
import logging
import os
import shutil
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import IO

import pyoxigraph as ox
from filelock import FileLock

from data.errors import DamagedFile, InputError, ServiceError, WorkspaceError
from data.sources.sparql import Literal, Row, Rows, Term, Uri
from data.workspace import TEMPORARY

log = logging.getLogger(__name__)

FORMATS = {".ttl": ox.RdfFormat.TURTLE, ".nt": ox.RdfFormat.N_TRIPLES, ".nq": ox.RdfFormat.N_QUADS}
VERSION = 1
AT_ONCE = 250_000
"""Triples that are in memory while a dump is loaded, with some 350 MiB; more load no faster."""
_STRING = "http://www.w3.org/2001/XMLSchema#string"
_LOADED = "loaded.json"


def digest(files: Sequence[Path]) -> str:
    """What the files hold, in whatever order they are named; InputError where one cannot be read."""
    if not files:
        raise InputError("a dump needs at least one file")
    parts = []
    for file in files:
        kind = _format(file)
        try:
            about = file.stat()
            parts.append(f"{kind.file_extension}:{_content(file.resolve(), about.st_size, about.st_mtime_ns)}")
        except OSError as error:
            raise InputError(f"{file} cannot be read: {error.strerror or error}") from None
    return hashlib.blake2b("\n".join(sorted(parts)).encode(), digest_size=16).hexdigest()


class Dump:
    """The graph of some files, as a SparqlStore; several threads and processes may ask it at once."""

    def __init__(self, folder: Path) -> None:
        """The store in a folder that `of` made; DamagedFile where it cannot be read."""
        try:
            about = json.loads((folder / _LOADED).read_text(encoding="utf-8"))
            self._address = "file:" + ",".join(about["files"])
            self._loaded_at = datetime.fromisoformat(about["loaded_at"])
            self._store = ox.Store.read_only(str(folder))
        except (OSError, RuntimeError, ValueError, KeyError, TypeError) as error:
            raise DamagedFile(f"the loaded dump {folder} cannot be read ({error}); remove it and run again") from None

    @classmethod
    def of(cls, files: Sequence[Path], folder: Path) -> "Dump":
        """The graph of .ttl, .nt and .nq files, each maybe .gz, loaded below the folder unless it was before.

        Graphs that quads name are read as one. InputError names the file, and the line where it is no RDF;
        WorkspaceError where the folder cannot be written.
        """
        place = folder / _name(files)
        with _folder_of(place), FileLock(place.with_name(f".{place.name}.lock")):
            if not place.exists():
                _load(files, place)
        return cls(place)

    @property
    def address(self) -> str:
        """The names of the files."""
        return self._address

    def select(self, query: str) -> Rows:
        """The query's rows, as of the time of loading; ServiceError where the store cannot read the query."""
        try:
            solutions = self._store.query(query)
            if not isinstance(solutions, ox.QuerySolutions):
                raise ServiceError(f"{self._address} was asked something else than SELECT: {query[:200]}")
            names = [variable.value for variable in solutions.variables]
            rows = [_row(names, solution) for solution in solutions]
        except (SyntaxError, OSError, RuntimeError) as error:
            raise ServiceError(f"{self._address} cannot answer ({error}): {query[:200]}") from None
        kept = tuple(row for row in rows if row is not None)
        return Rows(kept, self._address, query, self._loaded_at, len(rows) - len(kept))


def _name(files: Sequence[Path]) -> str:
    return f"graph-{VERSION}-{digest(files)}"


@contextmanager
def _folder_of(place: Path) -> Iterator[None]:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        yield
    except (OSError, RuntimeError) as error:  # the second is what the store raises
        said = getattr(error, "strerror", None) or error
        raise WorkspaceError(f"{place.parent} cannot be written: {said}; choose another --workspace") from error


def _load(files: Sequence[Path], place: Path) -> None:
    for leftover in place.parent.glob(f".{place.name}.*{TEMPORARY}"):  # of a load that was killed; we hold the lock
        shutil.rmtree(leftover)
    temporary = place.with_name(f".{place.name}.{os.getpid()}{TEMPORARY}")
    try:
        store = ox.Store(str(temporary))
        for file in files:
            log.info("loading %s", file)
            _load_file(store, file)
        store.optimize()
        store.flush()
        log.info("loaded %d triples of %d files", len(store), len(files))
        del store
        about = {"files": [file.name for file in files], "loaded_at": datetime.now(UTC).isoformat()}
        with (temporary / _LOADED).open("w", encoding="utf-8") as handle:
            json.dump(about, handle)
            handle.flush()
            os.fsync(handle.fileno())
        if _name(files) != place.name:
            raise InputError(f"the dump {about['files']} changed while it was loaded; run again when it is whole")
        temporary.rename(place)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _load_file(store: ox.Store, file: Path) -> None:
    kind = _format(file)
    try:
        with _opened(file) as handle:
            quads = iter(ox.parse(handle, format=kind, rename_blank_nodes=True))
            while some := list(islice(quads, AT_ONCE)):
                store.bulk_extend(map(_without_graph, some) if kind == ox.RdfFormat.N_QUADS else some)
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        raise InputError(f"{file}{line} is no RDF: {error.msg}") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{file} cannot be unpacked: {error}; fetch it again") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is no RDF in UTF-8: {error}") from None


def _without_graph(quad: ox.Quad) -> ox.Quad:
    return ox.Quad(quad.subject, quad.predicate, quad.object)


def _opened(file: Path) -> IO[bytes]:
    return gzip.open(file, "rb") if file.suffix == ".gz" else file.open("rb")  # type: ignore[return-value]


def _format(file: Path) -> ox.RdfFormat:
    named = file.with_suffix("") if file.suffix == ".gz" else file
    if named.suffix not in FORMATS:
        raise InputError(f"{file}: a dump is {', '.join(FORMATS)} or one of them packed as .gz; unpack it first")
    return FORMATS[named.suffix]


@lru_cache(maxsize=256)
def _content(file: Path, size: int, changed: int) -> str:
    """Read once in a process as long as size and time of change stay: every relation asks."""
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "blake2b").hexdigest()


def _row(names: Sequence[str], solution: ox.QuerySolution) -> Row | None:
    row: dict[str, Term] = {}
    for name in names:
        term = solution[name]
        if isinstance(term, ox.NamedNode):
            row[name] = Uri(term.value)
        elif isinstance(term, ox.Literal):
            plain = term.language is not None or term.datatype.value == _STRING
            row[name] = Literal(term.value, None if plain else term.datatype.value, term.language)
        elif term is not None:
            return None
    return row
