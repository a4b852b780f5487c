"""A graph from files: RDF dumps loaded once into an embedded store, so that a large study needs no endpoint.

The store lies in a folder named by what the files hold. It is loaded under another name and gets its own when all is
there, so that a load that was interrupted counts for nothing. Beside it is remembered what the files hold: they are
read again when they change, and needed no more once the graph is loaded.
"""

import gzip
import hashlib
import json
import logging
import os
import shutil
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple

import pyoxigraph as ox
from filelock import FileLock

from data.errors import DamagedFile, InputError, ServiceError, SwaymeterError, WorkspaceError
from data.sources.graph.sparql import Literal, Row, Rows, Term, Uri
from data.storage.workspace import TEMPORARY, written_whole

log = logging.getLogger(__name__)

FORMATS = {".ttl": ox.RdfFormat.TURTLE, ".nt": ox.RdfFormat.N_TRIPLES, ".nq": ox.RdfFormat.N_QUADS}
VERSION = 1
AT_ONCE = 250_000
"""Triples that are in memory while a dump is loaded, with some 350 MiB; more load no faster."""
_STRING = "http://www.w3.org/2001/XMLSchema#string"
_LOADED = "loaded.json"
_DIGESTS = "digests.json"
_failures: dict[tuple[Path, tuple[Path, ...]], SwaymeterError] = {}
"""Why a load into a folder failed in this process: the next relation's would need as long and fail as well."""


def digest(files: Sequence[Path], folder: Path) -> str:
    """What the files hold, in whatever order they are named; InputError where one cannot be read.

    folder: remembers what files held, in digests.json. One is read again where its size or time of change is another
    one, and need not be there any more where it was read once; a folder that cannot be written remembers nothing.
    """
    if not files:
        raise InputError("a dump needs at least one file")
    remembered, found, parts = _remembered(folder), {}, []
    for file in files:
        kind, name = _format(file), str(file.absolute())
        try:
            found[name] = _held(file, remembered.get(name))
        except OSError as error:
            raise InputError(f"{file} cannot be read: {error.strerror or error}") from None
        parts.append(f"{kind.file_extension}:{found[name].digest}")
    if found.items() - remembered.items():
        with suppress(WorkspaceError), written_whole(folder / _DIGESTS) as temporary:
            everything = {name: one._asdict() for name, one in (_remembered(folder) | found).items()}
            temporary.write_text(json.dumps(everything, indent=1), encoding="utf-8")
    return hashlib.blake2b("\n".join(sorted(parts)).encode(), digest_size=16).hexdigest()


class Dump:
    """The graph of some files, as a SparqlStore; several threads and processes may ask it at once."""

    def __init__(self, folder: Path) -> None:
        """The store in a folder that `of` made; DamagedFile where it cannot be read."""
        try:
            about = json.loads((folder / _LOADED).read_text(encoding="utf-8"))
            self._address = "file:" + ",".join(about["files"])
            self._loaded_at = datetime.fromisoformat(about["loaded_at"])
            self._folder, self._store = folder, ox.Store.read_only(str(folder))
        except (OSError, RuntimeError, ValueError, KeyError, TypeError) as error:
            raise DamagedFile(f"the loaded dump {folder} cannot be read ({error}); remove it and run again") from None

    @classmethod
    def of(cls, files: Sequence[Path], folder: Path) -> "Dump":
        """The graph of .ttl, .nt and .nq files, each maybe .gz, loaded below the folder unless it was before.

        Graphs that quads name are read as one. A graph that was loaded needs its files no more (`digest`). InputError
        names the file, and the line where it is no RDF; WorkspaceError where the folder cannot be written. What failed
        once fails at once the next time in the same process.
        """
        place = _place(files, folder)
        if not place.exists():
            with _folder_of(place), FileLock(place.with_name(f".{place.name}.lock")):
                if not place.exists():
                    _load_or_fail_again(files, place)
        return cls(place)

    @property
    def address(self) -> str:
        """The names of the files."""
        return self._address

    def select(self, query: str) -> Rows:
        """The query's rows, as of the time of loading; ServiceError where the store cannot read the query or itself."""
        try:
            solutions = self._store.query(query)
            if not isinstance(solutions, ox.QuerySolutions):
                raise ServiceError(f"{self._address} was asked something else than SELECT; report it: {query[:200]}")
            names = [variable.value for variable in solutions.variables]
            rows = [_row(names, solution) for solution in solutions]
        except SyntaxError as error:
            raise ServiceError(f"{self._address} cannot read a query ({error}); report it: {query[:200]}") from None
        except (OSError, RuntimeError) as error:
            raise ServiceError(
                f"{self._address} cannot answer ({error}); remove {self._folder} and run again with the files in their "
                f"place: {query[:200]}"
            ) from None
        kept = tuple(row for row in rows if row is not None)
        return Rows(kept, self._address, query, self._loaded_at, len(rows) - len(kept))


class _Held(NamedTuple):
    """What a file held when it had this size and time of change."""

    size: int
    mtime_ns: int
    digest: str


def _remembered(folder: Path) -> dict[str, _Held]:
    try:
        said = json.loads((folder / _DIGESTS).read_text(encoding="utf-8"))
        return {name: _Held(int(one["size"]), int(one["mtime_ns"]), str(one["digest"])) for name, one in said.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _held(file: Path, remembered: _Held | None) -> _Held:
    try:
        about = file.stat()
    except (FileNotFoundError, NotADirectoryError):
        if remembered is None:
            raise
        return remembered
    if remembered is not None and (about.st_size, about.st_mtime_ns) == (remembered.size, remembered.mtime_ns):
        return remembered
    return _Held(about.st_size, about.st_mtime_ns, _content(file.resolve(), about.st_size, about.st_mtime_ns))


def _place(files: Sequence[Path], folder: Path) -> Path:
    return folder / f"graph-{VERSION}-{digest(files, folder)}"


@contextmanager
def _folder_of(place: Path) -> Iterator[None]:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        yield
    except (OSError, RuntimeError) as error:  # the second is what the store raises
        said = getattr(error, "strerror", None) or error
        raise WorkspaceError(f"{place.parent} cannot be written: {said}; choose another --workspace") from error


def _load_or_fail_again(files: Sequence[Path], place: Path) -> None:
    work = (place.absolute(), tuple(files))
    if failed := _failures.get(work):
        raise type(failed)(*failed.args)
    try:
        with _folder_of(place):
            _load(files, place)
    except SwaymeterError as error:
        _failures[work] = type(error)(*error.args)  # without the traceback, which holds what was in memory
        raise


def _load(files: Sequence[Path], place: Path) -> None:
    for leftover in place.parent.glob(f".{place.name}.*{TEMPORARY}"):  # of a load that was killed; we hold the lock
        shutil.rmtree(leftover)
    temporary = place.with_name(f".{place.name}.{os.getpid()}{TEMPORARY}")
    try:
        store = ox.Store(str(temporary))
        for file in files:
            log.info("loading %s", file)
            for quads in _parsed(file):
                store.bulk_extend(quads)
        store.optimize()
        store.flush()
        log.info("loaded %d triples of %d files", len(store), len(files))
        del store
        about = {"files": [file.name for file in files], "loaded_at": datetime.now(UTC).isoformat()}
        with (temporary / _LOADED).open("w", encoding="utf-8") as handle:
            json.dump(about, handle)
            handle.flush()
            os.fsync(handle.fileno())
        if _place(files, place.parent) != place:
            raise InputError(f"the dump {about['files']} changed while it was loaded; run again when it is whole")
        temporary.rename(place)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _parsed(file: Path) -> Iterator[Iterable[ox.Quad]]:
    kind = _format(file)
    try:
        with _opened(file) as handle:
            quads = iter(ox.parse(handle, format=kind, rename_blank_nodes=True))
            while some := list(islice(quads, AT_ONCE)):
                yield map(_without_graph, some) if kind == ox.RdfFormat.N_QUADS else some
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        raise InputError(f"{file}{line} is no RDF: {error.msg}") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{file} cannot be unpacked: {error}; fetch it again") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is no RDF in UTF-8: {error}") from None
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error}; it is needed until its graph is loaded") from None


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
    """Read once in a process as long as size and time of change stay, also where nothing can be remembered."""
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
