"""The database: every table of a study in one DuckDB file, and the named queries that are asked of it.

The database is a view of the workspace, not a place where anything is kept: `update` brings it up to the workspace's
files, `opened` reads it, and `over` asks the same queries of the files before there is one. The tables come from the
caller, who knows what is measured. Only this package speaks SQL; the queries lie in data/warehouse/sql, a file each.

NaN and infinities are refused at the door, so that a missing number is NULL and nothing else. Readers need a file that
no other program is writing.

The names below are looked up when they are used: who resolves a graph needs the schema, and neither DuckDB nor pandas.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from data.warehouse.loading import update
    from data.warehouse.queries import QUERIES, NamedQuery
    from data.warehouse.schema import describe, schema_version
    from data.warehouse.warehouse import Warehouse, key_of, opened, over

__all__ = ["QUERIES", "NamedQuery", "Warehouse", "describe", "key_of", "opened", "over", "schema_version", "update"]

_MODULES = {
    "loading": ("update",),
    "queries": ("QUERIES", "NamedQuery"),
    "schema": ("describe", "schema_version"),
    "warehouse": ("Warehouse", "key_of", "opened", "over"),
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"data.warehouse.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
