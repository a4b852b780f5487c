"""A graph that a study names: a SPARQL service or RDF files."""

from dataclasses import dataclass
from pathlib import Path

from swaymeter.data.sources.access import Access, GraphName
from swaymeter.data.sources.graph.dump import shared_dump
from swaymeter.data.sources.graph.dump_files import dump_digest
from swaymeter.data.sources.graph.sparql import Endpoint, SparqlStore


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
