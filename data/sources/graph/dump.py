"""A graph from files: RDF dumps loaded once into an embedded store, so that a large study needs no endpoint."""

import threading
from collections.abc import Sequence
from pathlib import Path

import pyoxigraph as ox

from data.errors import ServiceError
from data.sources.graph.dump_folder import damaged, loaded_folder, verify
from data.sources.graph.sparql import Literal, Row, Rows, Term, Uri

_STRING = "http://www.w3.org/2001/XMLSchema#string"
_shared: dict[Path, "Dump"] = {}
_sharing = threading.Lock()


class Dump:
    """The graph of some files, as a SparqlStore; several threads and processes may query it. address: their names."""

    def __init__(self, folder: Path) -> None:
        """Opens a folder that `shared_dump` loaded; DamagedFile where a byte of it changed."""
        files, self._loaded_at = verify(folder)
        self.address, self._folder = f"file:{files}", folder
        try:
            self._store = ox.Store.read_only(str(folder))
        except (OSError, RuntimeError) as error:
            raise damaged(folder, error) from None

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
        place = loaded_folder(files, folder).absolute()
        if place not in _shared:
            _shared[place] = Dump(place)
        return _shared[place]


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
