"""What a statistic declares, and what its `compute` receives and returns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from data.records.row import table_of
from data.records.table import Table

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]
Frames = Mapping[str, "pd.DataFrame"]
"""Frames by the named query that they answer. One may be empty, and then has its columns."""


@dataclass(frozen=True)
class Statistic:
    """A statistic: one step of the aggregate stage, which writes rows of one table.

    version: raised when the same frames give other rows; row: its row type, a dataclass that is decorated with @table,
    which several statistics may share; queries: the named queries of the warehouse that it reads; compute: (frames, the
    study's seed) -> rows, the same whatever the order of the frames' rows; ScoreError for a score that is not finite.
    """

    name: str
    version: int
    row: type
    queries: tuple[str, ...]
    compute: Callable[[Frames, int], list[Row]]

    @property
    def table(self) -> Table:
        """The table of its rows."""
        return table_of(self.row)
