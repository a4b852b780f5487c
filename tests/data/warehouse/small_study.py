"""Rows of a study that is small enough to compute every result by hand, and databases with rows of studies."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from swaymeter.data.records.table import Column, Table
from swaymeter.data.storage.files import write_parquet
from swaymeter.data.warehouse.loading import Building, build
from swaymeter.data.warehouse.warehouse import Warehouse, opened
from swaymeter.flows.stages.aggregate import schema
from swaymeter.tasks.measures import MEASURES

Row = dict[str, Any]
Study = Mapping[str, Sequence[Mapping[str, Any]]]
"""Rows by the name of their table."""
TABLES = schema()
PERSUASION = MEASURES["persuasion"].table
SUSCEPTIBILITY = MEASURES["susceptibility"].table
ANSWERS = MEASURES["answers"].table


def row(table: Table, **values: Any) -> Row:
    """Return a row with the given values, NULL in other nullable columns, and a default elsewhere."""
    defaults = {"VARCHAR": "x", "DOUBLE": 0.5, "BIGINT": 1, "BOOLEAN": True, "VARCHAR[][]": []}

    def default(column: Column) -> Any:
        if column.nullable:
            return None
        if column.parts:
            return []  # a list of STRUCT
        if column.type in defaults:
            return defaults[column.type]
        return [defaults[column.type.rstrip("[]")]]  # a list with the default of its type

    cells = {column.name: default(column) for column in table.columns}
    assert values.keys() <= cells.keys()
    if "condition" in values and "context_id" in cells:  # in DynamicQA, a condition is also the context's id
        cells["context_id"] = values["condition"]
    return {**cells, **values}


def small_study() -> dict[str, list[Row]]:
    """Return rows of two queries with three contexts each, and of a question under two conditions."""
    content = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    return {
        name: [
            row(table(name), **listed["common"], **dict(zip(listed["columns"], cells, strict=True)))
            for cells in listed["rows"]
        ]
        for name, listed in content.items()
    }


def table(name: str) -> Table:
    return next(table for table in TABLES if table.name == name)


def write_tables(folder: Path, study: Study) -> dict[Table, list[Path]]:
    """Write a Parquet file for each table, and return the files by table."""
    return {
        table(name): [write_parquet(folder, name, table(name).of(rows), {"table": name})]
        for name, rows in study.items()
    }


def build_study(
    path: Path,
    study: Study,
    tables: Sequence[Table] = TABLES,
    derive: Callable[[Building], None] = lambda building: None,
) -> Path:
    """Write a database with the rows of a study and the key "key"."""
    build(path, "key", tables, write_tables(path.parent / "files", study), derive=derive)
    return path


@contextmanager
def warehouse_of(folder: Path, study: Study) -> Iterator[Warehouse]:
    """Write and open `study.duckdb` with only the tables that a study fills."""
    tables = [table for table in TABLES if table.name in study]
    with opened(build_study(folder / "study.duckdb", study, tables), TABLES) as warehouse:
        yield warehouse


def plain_values(frame: pd.DataFrame, names: Iterable[str]) -> dict[str, list[Any]]:
    """Return the values of the named columns, with None for NULL."""
    return {name: frame[name].astype(object).where(frame[name].notna(), None).tolist() for name in names}
