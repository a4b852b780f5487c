"""Declaration of a table, and its rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from swaymeter.data.records.statistics import SHARE
from swaymeter.reports.estimates import estimate
from swaymeter.reports.figures.figure import as_in
from swaymeter.reports.frames import Frames, is_audit, records, with_empty
from swaymeter.reports.models import RUNS, Model, models
from swaymeter.reports.published import Printed, are_published, printed_of


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
    def in_common(self) -> str:
        """Sentence on the values that all rows share, after a space; empty without such values.

        It names the model, and of three rows or more further shared values.
        """
        words = ", ".join(str(self._shown[name].iloc[0]) for name in self._alike)
        return f" All rows: {words}." if words else ""

    @property
    def shown(self) -> pd.DataFrame:
        """The rows for a page: a number with its interval is one text, a model with its dtype, too.

        Without what `in_common` says for all, and without columns in which nothing stands.
        """
        return self._shown.drop(columns=self._alike)

    @cached_property
    def _shown(self) -> pd.DataFrame:
        rows = _with_intervals(self.rows)
        if {"model", "dtype"} <= {*rows}:
            named = [str(Model(str(row["model"]), str(row["dtype"]))) for row in records(rows[["model", "dtype"]])]
            rows = rows.drop(columns="dtype").assign(model=named)
        nothing = rows.isna() | (rows == "")
        return rows.loc[:, ~nothing.all()] if len(rows) else rows

    @cached_property
    def _alike(self) -> list[str]:
        names = [str(name) for name in self._shown if name in (_LABELS if len(self.rows) > 2 else _LABELS[:1])]
        alike = [name for name in names if len(self._shown) and self._shown[name].nunique(dropna=False) == 1]
        return alike if len(alike) < len(self._shown.columns) else []


_LABELS = ("model", "set", "effect", "what", "partition", "context", "judge", "correlated_with")
"""Columns that say what a row is about."""
_ROW_COLUMNS = ("mean", "against", "against_mean", "margin")
"""Numbers in the unit that their row names, beside one that has an interval."""
_ENDS = ("low", "high")


def _with_intervals(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with a text in place of the number before `low` and `high`, and of others in the unit of their row."""
    columns, units = [str(name) for name in rows], dict(rows.attrs.get("units", {}))
    if not {*_ENDS} <= {*columns}:
        return rows
    estimated, has_units = columns[columns.index("low") - 1], "unit" in columns
    others = [name for name in _ROW_COLUMNS if has_units and name in columns and is_numeric_dtype(rows[name])]
    texts = rows.drop(columns=[*_ENDS, "unit"], errors="ignore").astype(dict.fromkeys((estimated, *others), object))
    for name in {estimated, *others}:
        unit, ends = units.pop(name, ""), _ENDS if name == estimated else ()
        texts[name] = [_cell_text(row, name, ends, str(row["unit"]) if has_units else unit) for row in records(rows)]
    texts.attrs["units"] = units
    return texts


def _cell_text(row: Mapping[str, Any], name: str, ends: Sequence[str], unit: str) -> str | None:
    if pd.isna(row[name]):
        return None
    text = estimate({end: row[end] for end in (name, *ends)}, name, unit=unit, signed=name == "difference")
    return text if unit in (SHARE, "") else f"{text} {unit}"


def filled(table: Table, frames: Frames) -> Filled:
    frames_with_empty = with_empty(frames, (*table.queries, RUNS))
    first = frames_with_empty[table.queries[0]]
    rows = pd.DataFrame() if first.empty else table.rows(frames_with_empty) if table.rows else first
    names = dict.fromkeys(model.name for model in models(rows))
    columns = [name for name in rows if str(name).startswith("published")]
    in_papers = () if is_audit(frames) else table.items
    printed = printed_of(in_papers, names, frames_with_empty, listed=not columns)
    foreign = [name for name in columns if is_audit(frames) or (rows[name].fillna("") == "").all()]
    rows = rows.drop(columns=foreign)
    lead = f"{lead} " if (lead := table.lead(frames_with_empty)) else ""
    items = in_papers if are_published(frames_with_empty) else ()
    return Filled(
        table, lead + table.caption + table.note(frames_with_empty) + as_in(items) + printed.note, rows, printed
    )
