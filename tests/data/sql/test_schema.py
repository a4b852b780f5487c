from pathlib import Path

import duckdb
import pytest

from data.records import tables
from data.records.tables import Table
from data.warehouse import rebuilt
from data.warehouse.schema import PRIMARY_KEYS, TABLES, describe, questions, schema_version
from tasks.measures import MEASURES
from tests.data.sql.small_study import table


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "study.duckdb"
    with rebuilt(path):
        pass
    return path


def test_every_table_is_there_when_nothing_is_loaded(database: Path) -> None:
    declared = {made.name for made in vars(tables).values() if isinstance(made, Table)}
    with duckdb.connect(database, read_only=True) as connection:
        found = {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    assert found == declared | {measure.table.name for measure in MEASURES.values()} | {"about", "measures"}


def test_every_column_has_its_type_and_its_meaning_as_a_comment(database: Path) -> None:
    with duckdb.connect(database, read_only=True) as connection:
        found = connection.execute(
            "SELECT table_name, column_name, data_type, is_nullable, comment FROM duckdb_columns() WHERE NOT internal"
        ).fetchall()
    columns = {(name, column): rest for name, column, *rest in found}
    for made in TABLES:
        for column in made.columns:
            kind, nullable, comment = columns[made.name, column.name]
            assert (kind, nullable) == (column.type, column.nullable)
            assert column.meaning in comment
            assert column.unit in comment


def test_keys_name_tables_and_columns_that_exist() -> None:
    for name, key in PRIMARY_KEYS.items():
        assert set(key) <= {column.name for column in table(name).columns if not column.nullable}


def test_the_schema_version_follows_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    before = schema_version()
    schema_version.cache_clear()
    monkeypatch.setattr("data.warehouse.schema.TABLES", TABLES[:-1])
    try:
        assert schema_version() != before
    finally:
        schema_version.cache_clear()


def test_the_description_names_every_table_column_unit_and_question() -> None:
    sections = {part.split("\n", 1)[0]: part for part in describe().split("## ")[1:]}
    for made in TABLES:
        lines = [line for line in sections[made.name].splitlines() if line.startswith("| `")]
        assert len(lines) == len(made.columns)
        for column, line in zip(made.columns, lines, strict=True):
            cells = [cell.strip() for cell in line.replace("\\|", "\0").strip("|").split("|")]
            meaning = column.meaning.replace("|", "\0")
            nullable = "yes" if column.nullable else ""
            assert cells == [f"`{column.name}`", column.type, meaning, column.unit, nullable]
    for name in questions():
        assert f"`{name}`" in sections["Views and named questions"]
