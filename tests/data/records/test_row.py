import math
from dataclasses import dataclass, make_dataclass
from typing import Annotated, Any, Literal

import numpy as np
import pyarrow as pa
import pytest

from swaymeter.data.records import RelationName
from swaymeter.data.records.row import Meaning, table, table_of
from swaymeter.data.records.table import Column, Table, table_digest


@table("fleet", "a ship", key=("name",))
@dataclass(frozen=True, slots=True)
class Ship:
    name: Annotated[RelationName, Meaning("its name")]
    age: Annotated[int | None, Meaning("its age", "years", in_digest=False)]


FLEET = table_of(Ship)
GJOA = {"name": "Gjøa", "age": 130}


@pytest.mark.parametrize(
    ("annotation", "sql", "nullable"),
    [
        (str, "VARCHAR", False),
        (RelationName, "VARCHAR", False),
        (Literal["a", "b"], "VARCHAR", False),
        (int | None, "BIGINT", True),
        (Literal["a"] | None, "VARCHAR", True),
        (bool, "BOOLEAN", False),
        (tuple[float, ...], "DOUBLE[]", False),
        (tuple[str, ...] | None, "VARCHAR[]", True),
    ],
)
def test_a_column_follows_from_its_annotation(annotation: Any, sql: str, nullable: bool) -> None:
    row = make_dataclass("Row", [("one", Annotated[annotation, Meaning("what it is", "nats")])])
    (column,) = table_of(table("rows", "a row")(row)).columns
    assert (column.name, column.type, column.nullable) == ("one", sql, nullable)
    assert (column.meaning, column.unit, column.in_digest) == ("what it is", "nats", True)


@pytest.mark.parametrize(
    ("annotation", "key", "message"),
    [
        (str, (), "Row.one has no `Meaning`"),
        (Annotated[dict, Meaning("")], (), "Row.one: a column cannot have type"),
        (Annotated[str | None, Meaning("")], ("one",), r"Row: \['one'\] cannot be in the key"),
        (Annotated[str, Meaning("")], ("two",), r"Row: \['two'\] cannot be in the key"),
    ],
)
def test_an_impossible_row_type_is_refused(annotation: Any, key: tuple[str, ...], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        table("rows", "a row", key=key)(make_dataclass("Row", [("one", annotation)]))


def test_a_table_needs_lowercase_name_and_own_class() -> None:
    with pytest.raises(TypeError, match="table Rows: write the name of the table in lower case"):
        table("Rows", "a row")
    with pytest.raises(TypeError, match="declares no table"):
        table_of(type("Ferry", (Ship,), {}))


def test_rows_become_a_table_with_the_declared_types() -> None:
    rows = FLEET.of([GJOA, {"age": None, "name": "Maud"}])
    assert rows.schema == FLEET.schema
    assert rows.to_pylist() == [GJOA, {"name": "Maud", "age": None}]
    assert FLEET.of([]).schema == FLEET.schema


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"name": None, "age": 1}, "fleet: name may not be NULL"),
        ({"name": "Gjøa"}, r"fleet: a row lacks the columns \['age'\]"),
        ({**GJOA, "masts": 3}, r"fleet: .* unknown columns \['masts'\]"),
    ],
)
def test_rows_of_another_form_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FLEET.of([GJOA, wrong])


@pytest.mark.parametrize(
    ("column_type", "value"),
    [
        ("DOUBLE", math.nan),
        ("DOUBLE[]", [1.0, None, -math.inf]),
        ("STRUCT(metres DOUBLE)[]", [{"metres": 1.0}, {"metres": math.nan}]),
    ],
)
def test_a_number_that_is_not_finite_is_refused(column_type: str, value: Any) -> None:
    parts = (Column("metres", "DOUBLE", "how deep"),) if column_type.startswith("STRUCT") else ()
    depths = Table("depths", "a depth", (Column("depth", column_type, "how deep", nullable=True, parts=parts),))
    assert depths.of([{"depth": None}]).num_rows == 1
    with pytest.raises(ValueError, match="table depths: depth is NaN or infinite in a row"):
        depths.of([{"depth": None}, {"depth": value}])


@pytest.mark.parametrize(
    ("column_type", "value"),
    [
        ("BIGINT", "old"),
        ("BIGINT", True),
        ("BIGINT", 2**70),
        ("BIGINT", 0.5),
        ("BIGINT", np.float32(2.5)),
        ("BIGINT[]", [1, 0.5]),
        ("DOUBLE", "1"),
        ("VARCHAR", 1),
        ("VARCHAR", "\ud800"),
        ("BOOLEAN", 1),
    ],
)
def test_a_value_of_another_type_is_refused(column_type: str, value: Any) -> None:
    depths = Table("depths", "a depth", (Column("depth", column_type, "how deep", nullable=True),))
    with pytest.raises(ValueError, match="table depths: depth: "):
        depths.of([{"depth": None}, {"depth": value}])


def test_whole_numbers_of_any_type_become_integers() -> None:
    depths = Table("depths", "a depth", (Column("depth", "BIGINT", "how deep", nullable=True),))
    values = [2.0, np.float32(3), np.int64(4), 5, None]
    assert depths.of([{"depth": value} for value in values])["depth"].to_pylist() == [2, 3, 4, 5, None]


def test_a_digest_ignores_columns_outside_of_it() -> None:
    digest = FLEET.digest(FLEET.of([GJOA]))
    assert FLEET.digest(FLEET.of([{**GJOA, "age": None}])) == digest
    assert FLEET.digest(FLEET.of([{**GJOA, "name": "Maud"}])) != digest


def test_a_table_digest_does_not_depend_on_chunks() -> None:
    parts = pa.struct([("text", pa.string()), ("there", pa.bool_())])
    lists = [[{"text": "ü", "there": True}, None], None, [], [{"text": None, "there": False}]]
    rows = pa.table({"parts": pa.array(lists, pa.list_(parts)), "text": ["one", None, "", "four"]})
    chunks = pa.concat_tables([rows.slice(0, 1), rows.slice(1, 2), rows.slice(0, 0), rows.slice(3)])
    assert chunks["parts"].num_chunks == 4
    assert table_digest(chunks) == table_digest(rows) != table_digest(rows.slice(1))


def test_a_table_digest_covers_values_order_and_names() -> None:
    rows = pa.table({"a": [1, 2], "b": ["x", None]})
    digest = table_digest(rows)
    assert table_digest(rows.replace_schema_metadata({"by": "hand"})) == digest
    other_tables = rows.take([1, 0]), rows.rename_columns(["a", "c"]), rows.set_column(1, "b", pa.array(["x", "None"]))
    assert digest not in [table_digest(other) for other in other_tables]
