"""A graph that a study names: a SPARQL service, or RDF dumps that are loaded once into an embedded store.

The folder of a loaded dump is filled whole or not at all, and verified before it is opened. Its loaded.json holds the
SHA-256 of each file of the store: RocksDB notices a changed block of data, but a changed byte of its own records can
end the process. Digests of the files are remembered beside the folders (`swaymeter.data.storage.remembered`): a file is
not needed any more once its graph is loaded.
"""

import gzip
import logging
import threading
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import IO, cast

import pyoxigraph as ox
from filelock import FileLock

from swaymeter.data.digests import blake2_of_lines, sha256_of
from swaymeter.data.errors import DamagedFile, InputError, ServiceError, WorkspaceError
from swaymeter.data.sources.access import Access, GraphName
from swaymeter.data.sources.graph.sparql import Endpoint, Literal, Row, Rows, SparqlStore, Term, Uri
from swaymeter.data.storage.notes import note_of, unsealed, write_sealed
from swaymeter.data.storage.remembered import remembered_digests
from swaymeter.data.storage.writing import beside, put, remove_leftovers

log = logging.getLogger(__name__)

VERSION = 3
FORMATS = {".ttl": ox.RdfFormat.TURTLE, ".nt": ox.RdfFormat.N_TRIPLES, ".nq": ox.RdfFormat.N_QUADS}
MAX_TRIPLES_IN_MEMORY = 250_000
"""Triples that are in memory while a dump is loaded, with some 350 MiB; more load no faster."""
_LOADED = "loaded.json"
_NOT_READ = ("LOG", "LOCK", _LOADED)
"""Files of a store that opening it does not read, by the beginning of their names."""
_STRING = "http://www.w3.org/2001/XMLSchema#string"
_shared: dict[Path, "Dump"] = {}
_failed: dict[Path, str] = {}
"""Errors of the files that this process could not load: a second load would take as long and fail as well."""
_sharing = threading.Lock()


@dataclass(frozen=True)
class Graph:
    """A SPARQL service, by its key under `services` in a study file, or RDF files in its place."""

    name: GraphName
    access: Access
    files: tuple[Path, ...] = ()

    def identity(self) -> str:
        """Its part of a cache key: its address, or the digest of its files; InputError where one cannot be read."""
        return dump_digest(self.files, self._folder) if self.files else self.access.address(self.name)

    def open(self) -> SparqlStore:
        """The graph, ready to be queried; errors as in `shared_dump`."""
        return shared_dump(self.files, self._folder) if self.files else Endpoint(self.access.session(self.name))

    @property
    def _folder(self) -> Path:
        return self.access.downloads / "graphs"


class Dump:
    """The graph of some files, as a SparqlStore; several threads and processes may query it. address: their names."""

    def __init__(self, folder: Path) -> None:
        """Opens a folder that `shared_dump` loaded; DamagedFile where a byte of it changed."""
        self._folder = folder
        try:
            about = unsealed(note_of(folder / _LOADED))
            for name, digest in about["digests"].items():
                if sha256_of(folder / name) != digest:
                    raise ValueError(f"{name} changed since it was written")
            self.address = f"file:{','.join(about['files'])}"
            self._loaded_at = datetime.fromisoformat(about["loaded_at"])
            self._store = ox.Store.read_only(str(folder))
        except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
            raise DamagedFile(
                f"the loaded dump {folder} cannot be read: {error}; remove the folder and run again"
            ) from None

    def select(self, query: str) -> Rows:
        """The query's rows, as of the time of loading; ServiceError where the query or the store cannot be read."""
        try:
            solutions = self._store.query(query)
            if not isinstance(solutions, ox.QuerySolutions):
                raise ServiceError(f"{self.address} got a query that is not a SELECT; report it: {query[:200]}")
            names = [variable.value for variable in solutions.variables]
            rows = [_row(names, solution) for solution in solutions]
        except SyntaxError as error:
            raise ServiceError(f"{self.address} cannot read a query ({error}); report it: {query[:200]}") from None
        except (OSError, RuntimeError) as error:
            raise ServiceError(
                f"{self.address} cannot answer ({error}); remove {self._folder} and run again with the files in their "
                f"place: {query[:200]}"
            ) from None
        named = tuple(row for row in rows if row is not None)
        return Rows(named, self.address, query, self._loaded_at, len(rows) - len(named))


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


def shared_dump(files: Sequence[Path], folder: Path) -> Dump:
    """The graph of .ttl, .nt and .nq files, each maybe .gz, loaded below `folder`; opened once in a process.

    InputError names the line where a file is not RDF. WorkspaceError where the folder cannot be written, DamagedFile
    where a byte of the loaded graph changed.
    """
    with _sharing:
        store_folder = (folder / _name(files, folder)).absolute()
        if store_folder in _failed:
            raise InputError(_failed[store_folder])
        if not store_folder.exists():
            try:
                folder.mkdir(parents=True, exist_ok=True)
                with FileLock(store_folder.with_name(f".{store_folder.name}.lock")):
                    if not store_folder.exists():
                        _load(files, store_folder)
            except InputError as error:
                _failed[store_folder] = str(error)
                raise
            except (OSError, RuntimeError) as error:  # the second is what the store raises
                message = getattr(error, "strerror", None) or error
                raise WorkspaceError(f"{folder} cannot be written: {message}; choose another --workspace") from error
        if store_folder not in _shared:
            _shared[store_folder] = Dump(store_folder)
        return _shared[store_folder]


def dump_digest(files: Sequence[Path], folder: Path) -> str:
    """The digest of what the files hold, whatever their order and names; `folder` is that of the loaded graphs.

    InputError where no file is named, or one cannot be read that was not read before.
    """
    if not files:
        raise InputError("a dump needs at least one file; name it under `facts.dump`")
    kinds = [_format(file) for file in files]
    try:
        digests = remembered_digests(files, folder)
    except OSError as error:
        why = error.strerror or error
        raise InputError(
            f"facts.dump: {error.filename} cannot be read: {why}; correct the path or get the file"
        ) from None
    parts = [f"{kind.file_extension}:{digest}" for kind, digest in zip(kinds, digests, strict=True)]
    return blake2_of_lines(parts)


def _name(files: Sequence[Path], folder: Path) -> str:
    return f"graph-{VERSION}-{dump_digest(files, folder)}"


def _load(files: Sequence[Path], store_folder: Path) -> None:
    remove_leftovers(store_folder)  # we hold the lock
    with beside(store_folder) as temporary:
        _fill(temporary, files)
        digests = {
            file.name: sha256_of(file) for file in sorted(temporary.iterdir()) if not file.name.startswith(_NOT_READ)
        }
        names = [file.name for file in files]
        about = {"files": names, "loaded_at": datetime.now(UTC).isoformat(), "digests": digests}
        write_sealed(temporary / _LOADED, about)
        if _name(files, store_folder.parent) != store_folder.name:
            raise InputError(f"the dump {names} changed while it was loaded; run again when it is whole")
        put(temporary, store_folder)


def _fill(folder: Path, files: Sequence[Path]) -> None:
    store = ox.Store(str(folder))  # is closed when this function ends
    for file in files:
        log.info("loading %s", file)
        for quads in _parsed(file):
            store.bulk_extend(quads)
    store.optimize()
    store.flush()
    log.info("loaded %d triples of %d files", len(store), len(files))


def _parsed(file: Path) -> Iterator[list[ox.Quad]]:
    """The triples of a file, some at a time, without their graphs; InputError names the line that is not RDF."""
    kind = _format(file)
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as handle:
            quads = iter(ox.parse(cast(IO[bytes], handle), format=kind, rename_blank_nodes=True))
            if kind == ox.RdfFormat.N_QUADS:
                quads = (ox.Quad(quad.subject, quad.predicate, quad.object) for quad in quads)
            while batch := list(islice(quads, MAX_TRIPLES_IN_MEMORY)):
                yield batch
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        raise InputError(f"{file}{line} is not valid RDF: {error.msg}; correct it, or get the file again") from None
    except MemoryError as error:  # what the parser raises: it holds a term of at most 16 MiB
        problem = f"has a literal, or another term, of more than 16 MiB ({error})"
        raise InputError(f"{file} {problem}; remove that triple or shorten it") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{file} cannot be unpacked: {error}; download it again") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not RDF in UTF-8: {error}; save it as UTF-8") from None
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error}; it is needed until its graph is loaded") from None


def _format(file: Path) -> ox.RdfFormat:
    """The format that a file's name ends with; InputError for another one."""
    named = file.with_suffix("") if file.suffix == ".gz" else file
    if named.suffix not in FORMATS:
        raise InputError(f"{file}: a dump is {', '.join(FORMATS)} or one of them packed as .gz; unpack it first")
    return FORMATS[named.suffix]
