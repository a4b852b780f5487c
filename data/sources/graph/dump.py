"""A graph that a study names: a SPARQL service, or RDF dumps that are loaded once into an embedded store.

The store of a loaded dump has a folder, which is filled whole or not at all. The store is verified before it is opened,
because its database, RocksDB, may crash if a byte of its records changes: loaded.json has the SHA-256 of each file.
Digests of the RDF files are stored beside the folders (`swaymeter.data.storage.remembered`), so that an RDF file may be
deleted once its graph is loaded.
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

from swaymeter.data.digests import blake2_of_lines, sha256_of_file
from swaymeter.data.errors import DamagedFile, InputError, ServiceError, WorkspaceError
from swaymeter.data.sources.access import Access, GraphName
from swaymeter.data.sources.graph.sparql import Endpoint, Literal, Row, Rows, SparqlStore, Term, Uri
from swaymeter.data.storage.notes import read_note, unseal, write_sealed
from swaymeter.data.storage.remembered import remembered_digests
from swaymeter.data.storage.writing import move_to_target, remove_leftovers, temporary_beside

log = logging.getLogger(__name__)

VERSION = 3
FORMATS = {".ttl": ox.RdfFormat.TURTLE, ".nt": ox.RdfFormat.N_TRIPLES, ".nq": ox.RdfFormat.N_QUADS}
MAX_TRIPLES_IN_MEMORY = 250_000
"""Number of triples in memory during a load, about 350 MiB; with more, the load is no faster."""
_LOADED = "loaded.json"
_NOT_READ = ("LOG", "LOCK", _LOADED)
"""Beginnings of the names of files without a digest: a store that is opened does not read them."""
_STRING = "http://www.w3.org/2001/XMLSchema#string"
_dumps: dict[Path, "Dump"] = {}
"""The opened dumps of this process, by the folder of their store."""
_load_errors: dict[Path, str] = {}
"""Messages of failed loads by the folder of their store, so that this process tries no load twice."""
_dumps_lock = threading.Lock()


@dataclass(frozen=True)
class Graph:
    """A SPARQL service, by its key under `services`; or, with `files`, a store of these RDF files instead."""

    name: GraphName
    access: Access
    files: tuple[Path, ...] = ()

    def identity(self) -> str:
        """Return the address of the service, or the digest of the files; InputError for an unreadable file."""
        return dump_digest(self.files, self._folder) if self.files else self.access.address(self.name)

    def open(self) -> SparqlStore:
        """Return the graph, ready for queries; errors as in `shared_dump`."""
        return shared_dump(self.files, self._folder) if self.files else Endpoint(self.access.session(self.name))

    @property
    def _folder(self) -> Path:
        return self.access.downloads / "graphs"


class Dump:
    """A loaded dump as a SparqlStore; its `address` is `file:` with the names of the RDF files."""

    def __init__(self, folder: Path) -> None:
        """Open a folder that `shared_dump` loaded; DamagedFile if a byte of its files changed."""
        self._folder = folder
        try:
            note = unseal(read_note(folder / _LOADED))
            for name, digest in note["digests"].items():
                if sha256_of_file(folder / name) != digest:
                    raise ValueError(f"{name} changed since it was written")
            self.address = f"file:{','.join(note['files'])}"
            self._loaded_at = datetime.fromisoformat(note["loaded_at"])
            self._store = ox.Store.read_only(str(folder))
        except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
            raise DamagedFile(
                f"the loaded dump {folder} cannot be read: {error}; remove the folder and run again"
            ) from None

    def select(self, query: str) -> Rows:
        """Return a query's rows; ServiceError for an invalid query or a damaged store."""
        try:
            solutions = self._store.query(query)
            if not isinstance(solutions, ox.QuerySolutions):
                raise ServiceError(
                    f"{self.address} got a query that is not a SELECT; report this error of Swaymeter, with the query: "
                    f"{query[:200]}"
                )
            names = [variable.value for variable in solutions.variables]
            rows = [_row(names, solution) for solution in solutions]
        except SyntaxError as error:
            raise ServiceError(
                f"{self.address} cannot read a query ({error}); report this error of Swaymeter, with the query: "
                f"{query[:200]}"
            ) from None
        except (OSError, RuntimeError) as error:
            raise ServiceError(
                f"{self.address} cannot answer a query ({error}); remove the loaded dump {self._folder}, make sure "
                f"that the RDF files under `facts.dump` exist, and run again; the query was: {query[:200]}"
            ) from None
        usable = tuple(row for row in rows if row is not None)
        return Rows(usable, self.address, query, self._loaded_at, len(rows) - len(usable))


def _row(names: Sequence[str], solution: ox.QuerySolution) -> Row | None:
    """Return the terms of a solution by variable; None if a term is a blank node."""
    row: dict[str, Term] = {}
    for name in names:
        term = solution[name]
        if isinstance(term, ox.NamedNode):
            row[name] = Uri(term.value)
        elif isinstance(term, ox.Literal):
            is_text = term.language is not None or term.datatype.value == _STRING
            row[name] = Literal(term.value, None if is_text else term.datatype.value, term.language)
        elif term is not None:
            return None
    return row


def shared_dump(files: Sequence[Path], folder: Path) -> Dump:
    """Return the graph of RDF files; the first call loads it, and the first call in a process opens it.

    Args:
        files: The .ttl, .nt and .nq files, also packed as .gz.
        folder: The folder of loaded graphs.

    Raises:
        InputError: A file is not RDF; the message has the line.
        WorkspaceError: The folder cannot be written.
        DamagedFile: A byte of the loaded graph changed.
    """
    with _dumps_lock:
        store_folder = (folder / _folder_name(files, folder)).absolute()
        if store_folder in _load_errors:
            raise InputError(_load_errors[store_folder])
        if not store_folder.exists():
            try:
                folder.mkdir(parents=True, exist_ok=True)
                with FileLock(store_folder.with_name(f".{store_folder.name}.lock")):
                    if not store_folder.exists():
                        _load(files, store_folder)
            except InputError as error:
                _load_errors[store_folder] = str(error)
                raise
            except (OSError, RuntimeError) as error:  # the store raises RuntimeError
                message = getattr(error, "strerror", None) or error
                raise WorkspaceError(f"{folder} cannot be written: {message}; choose another --workspace") from error
        if store_folder not in _dumps:
            _dumps[store_folder] = Dump(store_folder)
        return _dumps[store_folder]


def dump_digest(files: Sequence[Path], folder: Path) -> str:
    """Return the digest of the files' contents, independent of order and names.

    Args:
        files: The files.
        folder: The folder of loaded graphs, with stored digests.

    Raises:
        InputError: There is no file, or a file without a stored digest cannot be read.
    """
    if not files:
        raise InputError("a dump needs at least one file; name it under `facts.dump`")
    formats = [_format(file) for file in files]
    try:
        digests = remembered_digests(files, folder)
    except OSError as error:
        reason = error.strerror or error
        raise InputError(
            f"facts.dump: {error.filename} cannot be read: {reason}; correct the path or get the file"
        ) from None
    return blake2_of_lines(f"{kind.file_extension}:{digest}" for kind, digest in zip(formats, digests, strict=True))


def _folder_name(files: Sequence[Path], folder: Path) -> str:
    return f"graph-{VERSION}-{dump_digest(files, folder)}"


def _load(files: Sequence[Path], store_folder: Path) -> None:
    remove_leftovers(store_folder)  # safe, because this process holds the lock
    with temporary_beside(store_folder) as temporary:
        _fill(temporary, files)
        digests = {
            file.name: sha256_of_file(file)
            for file in sorted(temporary.iterdir())
            if not file.name.startswith(_NOT_READ)
        }
        names = [file.name for file in files]
        note = {"files": names, "loaded_at": datetime.now(UTC).isoformat(), "digests": digests}
        write_sealed(temporary / _LOADED, note)
        if _folder_name(files, store_folder.parent) != store_folder.name:
            raise InputError(
                f"the dump {names} changed while it was loaded; run again when all files of the dump are complete"
            )
        move_to_target(temporary, store_folder)


def _fill(folder: Path, files: Sequence[Path]) -> None:
    store = ox.Store(str(folder))  # closed at the end of this function
    for file in files:
        log.info("the dump is being loaded: %s", file)
        for quads in _quads_in_parts(file):
            store.bulk_extend(quads)
    store.optimize()
    store.flush()
    log.info("the dump is loaded; files: %d, triples: %d", len(files), len(store))


def _quads_in_parts(file: Path) -> Iterator[list[ox.Quad]]:
    """Yield the triples of a file in parts, without the graph names of .nq; InputError names a line that is not RDF."""
    kind = _format(file)
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as handle:
            # Blank nodes are renamed, because two files may use the same name for different nodes.
            quads = iter(ox.parse(cast(IO[bytes], handle), format=kind, rename_blank_nodes=True))
            if kind == ox.RdfFormat.N_QUADS:
                quads = (ox.Quad(quad.subject, quad.predicate, quad.object) for quad in quads)
            while part := list(islice(quads, MAX_TRIPLES_IN_MEMORY)):
                yield part
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        raise InputError(
            f"{file}{line} is not valid RDF: {error.msg}; correct the file, or get the file again"
        ) from None
    except MemoryError as error:  # the parser raises it for a term of more than 16 MiB
        problem = f"has a literal, or another term, of more than 16 MiB ({error})"
        raise InputError(f"{file} {problem}; shorten the term, or remove its triple") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{file} cannot be unpacked: {error}; download it again") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not RDF in UTF-8: {error}; save it as UTF-8") from None
    except OSError as error:
        advice = "make sure that it is there and readable, and run again"
        raise InputError(f"{file} cannot be read: {error}; {advice}") from None


def _format(file: Path) -> ox.RdfFormat:
    suffix = (file.with_suffix("") if file.suffix == ".gz" else file).suffix
    if suffix not in FORMATS:
        raise InputError(
            f"{file}: the format is not supported; name a {' or '.join(FORMATS)} file, which may be compressed as .gz"
        )
    return FORMATS[suffix]
