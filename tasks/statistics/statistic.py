"""Statistics, and the types of their frames and rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from swaymeter.data.records.row import table_of
from swaymeter.data.records.table import Table

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]
Frame: TypeAlias = "pd.DataFrame"
Frames = Mapping[str, Frame]
"""Frames by named query. A frame without rows still has its columns."""


@dataclass(frozen=True)
class Statistic:
    """A statistic: rows of one table, computed from the results of named queries.

    `compute` receives the study's seed. The order of a frame's rows does not change the result. `compute` raises
    ScoreError for a score that is not finite, and is not called if all frames are empty.

    Attributes:
        name: Name of the statistic.
        version: Number to raise if the code gives other rows for the same frames.
        row: Dataclass of the rows, decorated with @table; several statistics may share a dataclass.
        queries: Named queries of the database, whose results are the frames.
        compute: (frames, seed) -> the rows.
        parameters: Settings of the study that change the rows, as JSON.
    """

    name: str
    version: int
    row: type
    queries: tuple[str, ...]
    compute: Callable[[Frames, int], list[Row]]
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def table(self) -> Table:
        """The table that the rows belong to."""
        return table_of(self.row)

    def rows(self, frames: Frames, seed: int) -> list[Row]:
        """Return the rows; no rows if the statistic reads frames and all frames are empty."""
        return [] if frames and all(frame.empty for frame in frames.values()) else self.compute(frames, seed)
