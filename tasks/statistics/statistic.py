"""What a statistic declares, and what its `compute` receives and returns."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from swaymeter.data.records.row import table_of
from swaymeter.data.records.table import Table

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]
Frame: TypeAlias = "pd.DataFrame"
Frames = Mapping[str, Frame]
"""Frames by the named query that they answer. One may be empty, and then has its columns."""


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
    """

    name: str
    version: int
    row: type
    queries: tuple[str, ...]
    compute: Callable[[Frames, int], list[Row]] | None = None
    of_relations: Callable[[Frames, int], list[Row]] | None = None
    finish: Callable[[list[Row]], list[Row]] = list
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """TypeError for one that would have no rows."""
        if self.compute is None and self.of_relations is None:
            raise TypeError(f"statistic {self.name}: declare compute, of_relations or both")

    @property
    def table(self) -> Table:
        """The table of its rows."""
        return table_of(self.row)

    def rows(
        self, frames: Frames, seed: int, kept: Sequence[Row] = (), known: Collection[str] = frozenset()
    ) -> list[Row]:
        """All of its rows, in the same order whatever was kept; kept: those of the relations that are known."""
        rows = list(kept)
        if self.of_relations:
            new = {name: frame[~frame["relation"].isin(known)] if known else frame for name, frame in frames.items()}
            rows += [] if _is_empty(new) else self.of_relations(new, seed)
            texts = [column.name for column in self.table.columns if column.type == "VARCHAR"]
            rows.sort(key=lambda row: [str(row[name]) for name in texts])
        if self.compute and not _is_empty(frames):
            rows += self.compute(frames, seed)
        return self.finish(rows) if rows else []


def _is_empty(frames: Frames) -> bool:
    return bool(frames) and all(frame.empty for frame in frames.values())
