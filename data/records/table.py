"""What a table is: its columns with their types, meanings and units, and the rows that fit it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from data.storage.keys import table_digest

ARROW: Mapping[str, pa.DataType] = {
    "VARCHAR": pa.string(),
    "DOUBLE": pa.float64(),
    "BIGINT": pa.int64(),
    "BOOLEAN": pa.bool_(),
    "VARCHAR[]": pa.list_(pa.string()),
    "BIGINT[]": pa.list_(pa.int64()),
    "DOUBLE[]": pa.list_(pa.float64()),
}


@dataclass(frozen=True)
class Column:
    """One column: its SQL type, what it means, its unit, and whether it may be NULL.

    counts: whether it makes a row another one. What only says when and how a row came here does not: the same rows
    fetched again leave everything that was made from them as it is.
    """

    name: str
    type: str
    meaning: str
    unit: str = ""
    nullable: bool = False
    counts: bool = True


@dataclass(frozen=True)
class Table:
    """One table: its name, what a row is, its columns, and the columns of its primary key."""

    name: str
    row: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()

    @property
    def schema(self) -> pa.Schema:
        """The table's columns as Arrow has them."""
        return pa.schema([pa.field(c.name, ARROW[c.type], nullable=c.nullable) for c in self.columns])

    def digest(self, rows: pa.Table) -> str:
        """The digest of the rows' columns that count."""
        return table_digest(rows.select([c.name for c in self.columns if c.counts]))

    def of(self, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
        """The rows as an Arrow table; a missing, superfluous or NULL value where none may be raises."""
        names = {c.name for c in self.columns}
        for row in rows:
            if row.keys() != names:
                raise ValueError(f"table {self.name}: columns differ: {sorted(names ^ row.keys())}")
        made = pa.Table.from_pylist([dict(row) for row in rows], schema=self.schema)
        made.validate(full=True)
        for column in self.columns:
            if not column.nullable and made[column.name].null_count:
                raise ValueError(f"table {self.name}: {column.name} may not be NULL")
        return made


PROVENANCE = (
    Column("model", "VARCHAR", "the model's name: a catalog alias, a hub id or a folder's name"),
    Column("model_revision", "VARCHAR", "what tells this copy of the weights from another: a digest or a commit"),
    Column("dtype", "VARCHAR", "the number format that the model computed in"),
    Column("device", "VARCHAR", "where the model ran: cpu, cuda:0, or cuda:0+cuda:1 where it is spread"),
    Column("engine", "VARCHAR", "which way the score was computed"),
    Column(
        "dataset_version", "VARCHAR", "the digest of the queries and contexts, or of the questions, that were asked"
    ),
    Column("stand_in", "VARCHAR", "what stood in for what; NULL where nothing did", nullable=True),
)
