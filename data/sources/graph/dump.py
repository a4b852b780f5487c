"""A graph from files: RDF dumps loaded once into an embedded store, so that a large study needs no endpoint.

The folder of a loaded dump is filled whole or not at all, and verified before it is opened. Its loaded.json holds the
SHA-256 of each file of the store: RocksDB notices a changed block of data, but a changed byte of its own records can
end the process.
"""

import logging
import os
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pyoxigraph as ox
from filelock import FileLock

from swaymeter.data.errors import DamagedFile, InputError, ServiceError, SwaymeterError, WorkspaceError
from swaymeter.data.sources.graph.dump_files import dump_digest, parsed
from swaymeter.data.sources.graph.sparql import Literal, Row, Rows, Term, Uri
from swaymeter.data.storage.files import TEMPORARY, sha256_of, written_whole
from swaymeter.data.storage.sealed import sealed, unsealed

log = logging.getLogger(__name__)

VERSION = 3
_LOADED = "loaded.json"
_NOT_READ = ("LOG", "LOCK", _LOADED)
"""Files of a store that opening it does not read, by the beginning of their names."""
_failures: dict[tuple[Path, tuple[Path, ...]], SwaymeterError] = {}
"""Why a load into a folder failed in this process: the next relation's load would take as long and fail as well."""
_STRING = "http://www.w3.org/2001/XMLSchema#string"
_shared: dict[Path, "Dump"] = {}
_sharing = threading.Lock()


class Dump:
    """The graph of some files, as a SparqlStore; several threads and processes may query it. address: their names."""

    def __init__(self, folder: Path) -> None:
        """Opens a folder that `shared_dump` loaded; DamagedFile where a byte of it changed."""
        files, self._loaded_at = _verify(folder)
        self.address, self._folder = f"file:{files}", folder
        try:
            self._store = ox.Store.read_only(str(folder))
        except (OSError, RuntimeError) as error:
            raise _damaged(folder, error) from None

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


def shared_dump(files: Sequence[Path], folder: Path) -> Dump:
    """The graph of .ttl, .nt and .nq files, each maybe .gz, loaded below `folder`; opened once in a process.

    InputError names the line where a file is not RDF. WorkspaceError where the folder cannot be written, DamagedFile
    where a byte of the loaded graph changed.
    """
    with _sharing:
        place = _loaded_folder(files, folder).absolute()
        if place not in _shared:
            _shared[place] = Dump(place)
        return _shared[place]


def _loaded_folder(files: Sequence[Path], folder: Path) -> Path:
    """The folder of the files' graph, loaded unless it exists; a load that failed once in a process fails again."""
    place = _place(files, folder)
    if not place.exists():
        with _writing(place), FileLock(place.with_name(f".{place.name}.lock")):
            if not place.exists():
                _load_or_fail_again(files, place)
    return place


def _verify(place: Path) -> tuple[str, datetime]:
    """The files that a dump was loaded from, and when (UTC); DamagedFile where any file of the store has changed."""
    try:
        about = unsealed((place / _LOADED).read_text(encoding="utf-8"))
        for name, digest in about["digests"].items():
            if sha256_of(place / name) != digest:
                raise ValueError(f"{name} changed since it was written")
        return ",".join(about["files"]), datetime.fromisoformat(about["loaded_at"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(place, error) from None


def _damaged(place: Path, error: Exception) -> DamagedFile:
    return DamagedFile(f"the loaded dump {place} cannot be read: {error}; remove the folder and run again")


def _place(files: Sequence[Path], folder: Path) -> Path:
    return folder / f"graph-{VERSION}-{dump_digest(files, folder)}"


@contextmanager
def _writing(place: Path) -> Iterator[None]:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        yield
    except (OSError, RuntimeError) as error:  # the second is what the store raises
        message = getattr(error, "strerror", None) or error
        raise WorkspaceError(f"{place.parent} cannot be written: {message}; choose another --workspace") from error


def _load_or_fail_again(files: Sequence[Path], place: Path) -> None:
    load = (place.absolute(), tuple(files))
    if failed := _failures.get(load):
        raise type(failed)(*failed.args)
    try:
        with _writing(place):
            _load(files, place)
    except SwaymeterError as error:
        _failures[load] = type(error)(*error.args)  # without the traceback, which holds what was in memory
        raise


def _load(files: Sequence[Path], place: Path) -> None:
    for leftover in place.parent.glob(f".{place.name}.*{TEMPORARY}"):  # of a load that was killed; we hold the lock
        shutil.rmtree(leftover)
    temporary = place.with_name(f".{place.name}.{os.getpid()}{TEMPORARY}")
    try:
        _fill(files, temporary)
        digests = {
            file.name: sha256_of(file) for file in sorted(temporary.iterdir()) if not file.name.startswith(_NOT_READ)
        }
        names = [file.name for file in files]
        about = {"files": names, "loaded_at": datetime.now(UTC).isoformat(), "digests": digests}
        with written_whole(temporary / _LOADED) as file:
            file.write_text(sealed(about), encoding="utf-8")
        if _place(files, place.parent) != place:
            raise InputError(f"the dump {names} changed while it was loaded; run again when it is whole")
        temporary.rename(place)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _fill(files: Sequence[Path], folder: Path) -> None:
    store = ox.Store(str(folder))
    for file in files:
        log.info("loading %s", file)
        for quads in parsed(file):
            store.bulk_extend(quads)
    store.optimize()
    store.flush()
    log.info("loaded %d triples of %d files", len(store), len(files))


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
