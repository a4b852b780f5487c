"""The graphs of a study: endpoints, and dump files loaded into the workspace; opened at the first query."""

from dataclasses import dataclass
from pathlib import Path

from data.sources.graph.dump import dump_digest, shared_dump
from data.sources.graph.sparql import Endpoint, SparqlStore
from data.sources.source import Access


@dataclass(frozen=True)
class EndpointGraph:
    """A SPARQL service; its name is the key of `services` in a study file."""

    name: str
    access: Access

    def identity(self) -> str:
        """The service's address."""
        return self.access.address(self.name)

    def open(self) -> SparqlStore:
        """The endpoint."""
        return Endpoint(self.access.session(self.name))


@dataclass(frozen=True)
class DumpGraph:
    """RDF files, loaded once into a folder of the workspace."""

    name: str
    files: tuple[Path, ...]
    folder: Path

    def identity(self) -> str:
        """What the files hold; InputError where one cannot be read."""
        return dump_digest(self.files, self.folder)

    def open(self) -> SparqlStore:
        """The loaded graph; errors as in `Dump.of`."""
        return shared_dump(self.files, self.folder)


def graph(name: str, files: tuple[str, ...], access: Access) -> EndpointGraph | DumpGraph:
    """The graph of that name: its dump if the study has a dump, otherwise the service."""
    if files:
        return DumpGraph(name, tuple(Path(file).expanduser() for file in files), access.downloads / "graphs")
    return EndpointGraph(name, access)
