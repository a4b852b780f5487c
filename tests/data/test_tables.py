import pyarrow as pa
import pytest

from data.records.tables import FACTS, PROVENANCE, Column, Table
from tests.data.sql.small_study import row

FLEET = Table("fleet", "a ship", (Column("name", "VARCHAR", "its name"), Column("age", "BIGINT", "", nullable=True)))


def test_rows_become_a_table_with_the_types_that_are_said() -> None:
    made = FLEET.of([{"name": "Gjøa", "age": 130}, {"age": None, "name": "Maud"}])
    assert made.schema == FLEET.schema
    assert made.to_pylist() == [{"name": "Gjøa", "age": 130}, {"name": "Maud", "age": None}]


def test_no_rows_make_an_empty_table_with_its_columns() -> None:
    assert FLEET.of([]).schema == FLEET.schema


def test_null_is_refused_where_none_may_be() -> None:
    with pytest.raises(ValueError, match="fleet: name may not be NULL"):
        FLEET.of([{"name": "Gjøa", "age": 1}, {"name": None, "age": 1}])


def test_a_missing_column_is_named() -> None:
    with pytest.raises(ValueError, match=r"fleet: columns differ: \['age'\]"):
        FLEET.of([{"name": "Gjøa"}])


def test_a_superfluous_column_is_named() -> None:
    with pytest.raises(ValueError, match=r"fleet: columns differ: \['masts'\]"):
        FLEET.of([{"name": "Gjøa", "age": 1}, {"name": "Gjøa", "age": 1, "masts": 3}])


def test_a_value_of_another_type_is_refused() -> None:
    with pytest.raises((pa.ArrowInvalid, pa.ArrowTypeError)):
        FLEET.of([{"name": "Gjøa", "age": "old"}])


@pytest.mark.parametrize("column", [c.name for c in FACTS.columns if not c.nullable])
def test_a_fact_needs_everything_but_its_ids(column: str) -> None:
    with pytest.raises(ValueError, match=f"{column} may not be NULL"):
        FACTS.of([row(FACTS, **{column: None})])


def test_only_the_stand_in_of_a_score_may_be_absent() -> None:
    assert [column.name for column in PROVENANCE if column.nullable] == ["stand_in"]
