from pathlib import Path

import duckdb
import pytest

from swaymeter.data.warehouse.loading import build
from swaymeter.data.warehouse.queries import NAMED_QUERIES, NamedQuery
from swaymeter.data.warehouse.schema import Schema
from tests.data.warehouse.small_study import TABLES
from tests.registries import added


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study") / "study.duckdb"
    build(path, "empty", TABLES, {})
    return path


def test_every_column_has_its_type_and_meaning(database: Path) -> None:
    with duckdb.connect(database, read_only=True) as connection:
        rows = connection.execute("SELECT table_name, column_name, data_type, comment FROM duckdb_columns()").fetchall()
    columns = {(table, column): (data_type, comment) for table, column, data_type, comment in rows}
    for table in Schema(TABLES).by_name.values():
        for column in table.columns:
            data_type, comment = columns[table.name, column.name]
            assert data_type.replace('"', "") == column.type
            assert column.meaning in comment
            assert column.unit in comment


def test_every_view_exists_with_its_sentence(database: Path) -> None:
    with duckdb.connect(database, read_only=True) as connection:
        views = connection.execute("SELECT view_name, comment FROM duckdb_views() WHERE NOT internal").fetchall()
    assert {(query.name, query.sentence) for query in NAMED_QUERIES.values() if query.is_view} <= set(views)


def test_view_of_a_missing_table_is_left_out(tmp_path: Path) -> None:
    with added(NAMED_QUERIES, NamedQuery.from_text("of_none", "-- Nothing.\n-- view\nSELECT * FROM no_such_table")):
        build(tmp_path / "study.duckdb", "key", TABLES, {})
    with duckdb.connect(tmp_path / "study.duckdb", read_only=True) as connection:
        assert connection.execute("SELECT * FROM susceptibility_of_queries").fetchall() == []


def test_the_version_follows_tables_and_views() -> None:
    version = Schema(TABLES).version
    assert Schema(TABLES).version == version
    assert Schema(TABLES[:-1]).version != version
    with added(NAMED_QUERIES, NamedQuery("one", "SELECT 1", is_view=True)):
        assert Schema(TABLES).version != version
