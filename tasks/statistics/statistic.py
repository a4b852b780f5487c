"""What a statistic declares, and what its `compute` receives and returns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from data.records.row import table_of
from data.records.table import Table

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]
Compute = Callable[[Mapping[str, "pd.DataFrame"], int], list[Row]]
"""(frames by the query that they answer, the study's seed) -> rows, the same whatever the order of the frames' rows.

A frame may be empty, and then has its columns; a score in it that is not finite raises ScoreError.
"""


@dataclass(frozen=True)
class Statistic:
    """A statistic: one step of the aggregate stage, which writes rows of one table.

    Attributes:
        name: of the statistic.
        version: raised when the same frames give other rows.
        row: its row type, a dataclass that is decorated with @table; several statistics may share one.
        queries: the named queries of the warehouse that it reads.
        compute: makes the rows.
    """

    name: str
    version: int
    row: type
    queries: tuple[str, ...]
    compute: Compute

    @property
    def table(self) -> Table:
        """The table of its rows."""
        return table_of(self.row)
