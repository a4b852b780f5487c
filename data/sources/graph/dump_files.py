"""The files of a dump: their formats, what they parse to, and the digest of what they hold.

Digests are remembered beside the loaded graphs, in digests.json: a file is read again when its size or modification
time changes, and is not needed any more once its graph is loaded.
"""

import gzip
import hashlib
import logging
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple, cast

import pyoxigraph as ox

from data.errors import InputError, WorkspaceError
from data.storage.files import written_whole
from data.storage.sealed import sealed, unsealed

log = logging.getLogger(__name__)

FORMATS = {".ttl": ox.RdfFormat.TURTLE, ".nt": ox.RdfFormat.N_TRIPLES, ".nq": ox.RdfFormat.N_QUADS}
MAX_TRIPLES_IN_MEMORY = 250_000
"""Triples that are in memory while a dump is loaded, with some 350 MiB; more load no faster."""
_DIGESTS = "digests.json"


def dump_digest(files: Sequence[Path], folder: Path) -> str:
    """The digest of what the files hold, whatever their order and names; `folder` is that of the loaded graphs.

    InputError where no file is named, or one cannot be read that was not read before.
    """
    if not files:
        raise InputError("a dump needs at least one file; name it under `facts.dump`")
    remembered, current, parts = _remembered(folder), {}, []
    for file in files:
        kind, name = rdf_format(file), str(file.absolute())
        try:
            current[name] = _state(file, remembered.get(name))
        except OSError as error:
            why = error.strerror or error
            raise InputError(f"facts.dump: {file} cannot be read: {why}; correct the path or get the file") from None
        parts.append(f"{kind.file_extension}:{current[name].digest}")
    if current.items() - remembered.items():
        with suppress(WorkspaceError), written_whole(folder / _DIGESTS) as temporary:
            states = {name: state._asdict() for name, state in (_remembered(folder) | current).items()}
            temporary.write_text(sealed({"files": states}), encoding="utf-8")
    return hashlib.blake2b("\n".join(sorted(parts)).encode(), digest_size=16).hexdigest()


def parsed(file: Path) -> Iterator[Iterable[ox.Quad]]:
    """The triples of a file, some at a time, without their graphs; InputError names the line that is not RDF."""
    kind = rdf_format(file)
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as handle:
            quads = iter(ox.parse(cast(IO[bytes], handle), format=kind, rename_blank_nodes=True))
            while batch := list(islice(quads, MAX_TRIPLES_IN_MEMORY)):
                yield map(_without_graph, batch) if kind == ox.RdfFormat.N_QUADS else batch
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        raise InputError(f"{file}{line} is not valid RDF: {error.msg}") from None
    except MemoryError as error:  # what the parser raises: it holds a term of at most 16 MiB
        problem = f"has a literal, or another term, of more than 16 MiB ({error})"
        raise InputError(f"{file} {problem}; remove that triple or shorten it") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{file} cannot be unpacked: {error}; download it again") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not RDF in UTF-8: {error}") from None
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error}; it is needed until its graph is loaded") from None


def rdf_format(file: Path) -> ox.RdfFormat:
    """The format that a file's name ends with; InputError for another one."""
    named = file.with_suffix("") if file.suffix == ".gz" else file
    if named.suffix not in FORMATS:
        raise InputError(f"{file}: a dump is {', '.join(FORMATS)} or one of them packed as .gz; unpack it first")
    return FORMATS[named.suffix]


class _FileState(NamedTuple):
    """The digest of a file's bytes when it had this size and modification time."""

    size: int
    mtime_ns: int
    digest: str


def _remembered(folder: Path) -> dict[str, _FileState]:
    try:
        states = unsealed((folder / _DIGESTS).read_text(encoding="utf-8"))["files"]
        return {name: _FileState(**state) for name, state in states.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        log.warning("%s is damaged (%s); the files of the dump are read again", folder / _DIGESTS, error)
        return {}


def _state(file: Path, remembered: _FileState | None) -> _FileState:
    try:
        status = file.stat()
    except (FileNotFoundError, NotADirectoryError):
        if remembered is None:
            raise
        return remembered
    if remembered is not None and (status.st_size, status.st_mtime_ns) == (remembered.size, remembered.mtime_ns):
        return remembered
    digest = _content_digest(file.resolve(), status.st_size, status.st_mtime_ns)
    return _FileState(status.st_size, status.st_mtime_ns, digest)


@lru_cache(maxsize=256)
def _content_digest(file: Path, size: int, mtime_ns: int) -> str:
    """Read once in a process as long as size and modification time stay, also where nothing can be remembered."""
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "blake2b").hexdigest()


def _without_graph(quad: ox.Quad) -> ox.Quad:
    return ox.Quad(quad.subject, quad.predicate, quad.object)
