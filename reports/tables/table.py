"""What a table declares, and what it shows."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pandas as pd

from swaymeter.reports.figures.figure import as_in
from swaymeter.reports.frames import Frames, with_empty
from swaymeter.reports.models import RUNS, models
from swaymeter.reports.published import Printed, of_papers, printed_of


@dataclass(frozen=True)
class Table:
    """A table that a page has, over every model and dtype, never mixed.

    name: of its file. title: of the page. caption: how to read it. queries: the named queries of the warehouse that it
    reads, first that without which it is empty. rows: (frames) -> its rows, else those of the first query; a frame may
    be empty. lead, note: (frames) -> what stands before the caption, and behind it. leads: whether it
    stands with what was found. items: what of the papers it shows, by the keys of papers.yaml, as in
    liu-table-1; the caption ends with them.
    """

    name: str
    title: str
    caption: str
    queries: tuple[str, ...]
    rows: Callable[[Frames], pd.DataFrame] | None = None
    lead: Callable[[Frames], str] = lambda frames: ""
    note: Callable[[Frames], str] = lambda frames: ""
    leads: bool = False
    items: tuple[str, ...] = ()


@dataclass(frozen=True)
class Filled:
    table: Table
    caption: str
    rows: pd.DataFrame = field(repr=False)
    printed: Printed = field(default_factory=Printed, repr=False)

    @property
    def only_model(self) -> str:
        """The model where all rows are of one model and dtype; empty where there are several."""
        known = models(self.rows)
        return str(known[0]) if len(known) == 1 else ""

    @property
    def shown(self) -> pd.DataFrame:
        """The rows for the page, without the model's columns where `only_model` says it for all."""
        return self.rows.drop(columns=["model", "dtype"]) if self.only_model else self.rows


def filled(table: Table, frames: Frames) -> Filled:
    known = with_empty(frames, (*table.queries, RUNS))
    first = known[table.queries[0]]
    rows = pd.DataFrame() if first.empty else table.rows(known) if table.rows else first
    names = dict.fromkeys(model.name for model in models(rows))
    columns = [name for name in rows if str(name).startswith("published")]
    printed = printed_of(table.items, names, known, listed=not columns)
    rows = rows.drop(columns=[name for name in columns if (rows[name].fillna("") == "").all()])
    lead = f"{lead} " if (lead := table.lead(known)) else ""
    items = table.items if of_papers(known) else ()
    return Filled(table, lead + table.caption + table.note(known) + as_in(items) + printed.note, rows, printed)
