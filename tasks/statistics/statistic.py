"""What a statistic declares, and what its `compute` receives and returns."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from swaymeter.data.records.row import table_of
from swaymeter.data.records.table import Table

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]
Frame: TypeAlias = "pd.DataFrame"
Frames = Mapping[str, Frame]
"""Frames by the named query that they answer. One may be empty, and then has its columns."""


class Kept(NamedTuple):
    """Rows that stay as they are, and what they are about: relations, or models."""

    rows: Sequence[Row] = ()
    names: Collection[str] = frozenset()


NOTHING = Kept()


@dataclass(frozen=True)
class Statistic:
    """A statistic: rows of one table, made from the answers to named queries.

    `compute` and `of_relations` get frames and the study's seed, and give the same rows whatever the order of the
    frames' rows; they raise ScoreError for a score that is not finite. Neither is called where all its frames are
    empty, nor `finish` without rows.

    Attributes:
        name: of the statistic.
        version: raised when the same frames give other rows.
        row: its row type, a dataclass that is decorated with @table; several statistics may share one.
        queries: the named queries of the warehouse that it reads.
        compute: gives its rows, or those over all relations where `of_relations` gives the others.
        of_relations: gives the rows of single relations, where each follows from the relation's own rows in the frames:
            they are kept as long as nothing of the relation changes, and its frames have no row of it. Then rows and
            frames have a column relation, and `compute` gives no row of a single relation.
        finish: sees all rows, those kept included, and completes them: adjusted p-values, or rows over all relations
            that follow from those of single ones. What reads every prompt is best made so, and without `compute`, for
            which every prompt is read again. Rows that are kept were finished before: it leaves none out, adds none of
            a single relation, and completes a row that is complete in the same way.
        parameters: what a study set of it, as JSON: its rows are made again when they change.
        by_model: whether each row of `compute` follows from its own model's rows in the frames, and these from prompts
            and from that model's scores: it is kept as long as nothing of them changes. Rows and frames have a column
            model then. A model has all of its dtypes.
    """

    name: str
    version: int
    row: type
    queries: tuple[str, ...]
    compute: Callable[[Frames, int], list[Row]] | None = None
    of_relations: Callable[[Frames, int], list[Row]] | None = None
    finish: Callable[[list[Row]], list[Row]] = list
    parameters: Mapping[str, Any] = field(default_factory=dict)
    by_model: bool = False

    def __post_init__(self) -> None:
        """TypeError for one that would have no rows."""
        if self.compute is None and self.of_relations is None:
            raise TypeError(f"statistic {self.name}: declare compute, of_relations or both")

    @property
    def table(self) -> Table:
        """The table of its rows."""
        return table_of(self.row)

    def rows(self, frames: Frames, seed: int, relations: Kept = NOTHING, models: Kept = NOTHING) -> list[Row]:
        """All of its rows, in the same order whatever was kept: of relations, and, of `compute`, of models."""
        rows: list[Row] = []
        for compute, column, kept in ((self.of_relations, "relation", relations), (self.compute, "model", models)):
            if compute is None:
                continue
            new = {name: _without(frame, column, kept.names) for name, frame in frames.items()}
            computed = [*kept.rows, *([] if _is_empty(new) else compute(new, seed))]
            rows += self._in_order(computed) if compute is self.of_relations or self.by_model else computed
        return self.finish(rows) if rows else []

    def _in_order(self, rows: list[Row]) -> list[Row]:
        texts = [column.name for column in self.table.columns if column.type == "VARCHAR"]
        return sorted(rows, key=lambda row: [str(row[name]) for name in texts])


def _without(frame: Frame, column: str, names: Collection[str]) -> Frame:
    return frame[~frame[column].isin(names)] if names else frame


def _is_empty(frames: Frames) -> bool:
    return bool(frames) and all(frame.empty for frame in frames.values())
