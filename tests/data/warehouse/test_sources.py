from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from swaymeter.data.warehouse.schema import SHARED
from swaymeter.data.warehouse.sources import shared_values


@pytest.mark.parametrize(
    ("texts", "is_shared"),
    [(["a", "a"], True), ([None, None], True), (["a", "b"], False), (["a", None], False), ([None, "a"], False)],
)
def test_values_are_shared_if_every_row_agrees(texts: list[str | None], is_shared: bool, tmp_path: Path) -> None:
    columns = {column.name: ["same", "same"] for column in SHARED} | {SHARED[0].name: texts}
    rows = pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})
    pq.write_table(rows, tmp_path / "rows.parquet", row_group_size=1)
    expected = {column.name: "same" for column in SHARED} | {SHARED[0].name: texts[0]}
    assert shared_values(pq.read_metadata(tmp_path / "rows.parquet")) == (expected if is_shared else None)
