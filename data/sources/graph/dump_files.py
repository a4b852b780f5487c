"""The files of a dump: their formats, what they parse to, and the digest of what they hold.

Digests are remembered beside the loaded graphs (`swaymeter.data.storage.digests`): a file is not needed any more once
its graph is loaded.
"""

import gzip
import hashlib
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, cast

import pyoxigraph as ox

from swaymeter.data.errors import InputError
from swaymeter.data.storage.digests import remembered_digests

FORMATS = {".ttl": ox.RdfFormat.TURTLE, ".nt": ox.RdfFormat.N_TRIPLES, ".nq": ox.RdfFormat.N_QUADS}
MAX_TRIPLES_IN_MEMORY = 250_000
"""Triples that are in memory while a dump is loaded, with some 350 MiB; more load no faster."""
MAX_CHARACTERS_IN_MEMORY = 1 << 26
"""Characters of these triples: a literal may have 16 MiB."""


def dump_digest(files: Sequence[Path], folder: Path) -> str:
    """The digest of what the files hold, whatever their order and names; `folder` is that of the loaded graphs.

    InputError where no file is named, or one cannot be read that was not read before.
    """
    if not files:
        raise InputError("a dump needs at least one file; name it under `facts.dump`")
    kinds = [rdf_format(file) for file in files]
    try:
        digests = remembered_digests(files, folder)
    except OSError as error:
        why = error.strerror or error
        raise InputError(
            f"facts.dump: {error.filename} cannot be read: {why}; correct the path or get the file"
        ) from None
    parts = [f"{kind.file_extension}:{digest}" for kind, digest in zip(kinds, digests, strict=True)]
    return hashlib.blake2b("\n".join(sorted(parts)).encode(), digest_size=16).hexdigest()


def parsed(file: Path) -> Iterator[Iterable[ox.Quad]]:
    """The triples of a file, some at a time, without their graphs; InputError names the line that is not RDF."""
    kind = rdf_format(file)
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as handle:
            for batch in _batches(ox.parse(cast(IO[bytes], handle), format=kind, rename_blank_nodes=True)):
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


def _batches(quads: Iterable[ox.Quad]) -> Iterator[list[ox.Quad]]:
    batch: list[ox.Quad] = []
    characters = 0
    for quad in quads:
        batch.append(quad)
        characters += len(str(quad))  # a short prefix may stand for a long address
        if len(batch) == MAX_TRIPLES_IN_MEMORY or characters > MAX_CHARACTERS_IN_MEMORY:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def rdf_format(file: Path) -> ox.RdfFormat:
    """The format that a file's name ends with; InputError for another one."""
    named = file.with_suffix("") if file.suffix == ".gz" else file
    if named.suffix not in FORMATS:
        raise InputError(f"{file}: a dump is {', '.join(FORMATS)} or one of them packed as .gz; unpack it first")
    return FORMATS[named.suffix]


def _without_graph(quad: ox.Quad) -> ox.Quad:
    return ox.Quad(quad.subject, quad.predicate, quad.object)
