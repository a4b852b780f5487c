"""Where scores come from: the columns that `data.records.score.Score` has beside the relation."""

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from data.records.score import Score
from tasks.measures.measure import Inputs, Row

if TYPE_CHECKING:
    import pyarrow as pa

PROVENANCE = tuple(field.name for field in fields(Score) if field.name != "relation")


def provenance(inputs: Inputs, model: Any) -> Row:
    """What a model's scores share: all but the engine, which each row says, and the stand-in, where there is one."""
    return {
        "model": model.name,
        "model_revision": model.revision,
        "dtype": model.dtype,
        "device": model.placement,
        "dataset_version": inputs.dataset_version,
        "stand_in": None,
    }


def inherited(scores: "pa.Table", *by: str) -> dict[tuple[Any, ...], dict[str, str | None]]:
    """The provenance of stored rows, by the values of some columns.

    Where the rows of the same values differ in a column of provenance, all that they say stands there.
    """
    columns = [*by, *PROVENANCE]
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in scores.select(columns).group_by(columns).aggregate([]).to_pylist():
        groups.setdefault(tuple(row[name] for name in by), []).append(row)
    return {
        values: {name: ", ".join(sorted({row[name] for row in rows} - {None})) or None for name in PROVENANCE}
        for values, rows in groups.items()
    }
