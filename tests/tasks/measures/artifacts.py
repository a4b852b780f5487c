"""Stored tables of a workspace as the artifacts that a pass writes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from data.records.table import Table
from data.storage.workspace import Stored, Workspace, read_metadata


@dataclass(frozen=True)
class StoredArtifact:
    """A stored table with the verbs of `tasks.measures.run.Artifact`."""

    workspace: Workspace
    stored: Stored

    @property
    def table(self) -> Table:
        return self.stored.table

    def is_done(self) -> bool:
        return self.stored.is_done()

    def read(self) -> pa.Table:
        return self.stored.read()

    def about(self) -> dict[str, Any]:
        return dict(read_metadata(self.stored.path)["about"])

    def write(self, rows: pa.Table, about: Mapping[str, Any]) -> None:
        self.stored.write(rows, about)

    def part(self, number: int) -> "StoredArtifact":
        return StoredArtifact(self.workspace, self.workspace.part(self.stored, number))

    def discard(self) -> None:
        self.stored.remove()
