"""Tables: their declaration, and their rows."""

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
from swaymeter.reports.published import PublishedValues, is_comparable_with_papers, published_of


@dataclass(frozen=True)
class Table:
    """A table of the page, with rows of every model and dtype."""

    name: str
    """Name of its files, without the suffix."""
    title: str
    caption: str
    """Explanation of its rows and columns."""
    queries: tuple[str, ...]
    """Named queries of the warehouse. The table is empty if the first query has no rows."""
    rows: Callable[[Frames], pd.DataFrame] | None = None
    """Function from frames, which may be empty, to the rows; None for the rows of the first query."""
    finding: Callable[[Frames], str] = lambda frames: ""
    """Function from frames to the sentences before the caption."""
    note: Callable[[Frames], str] = lambda frames: ""
    """Function from frames to the sentences after the caption."""
    is_summary: bool = False
    """True if the page shows the table directly after its findings."""
    items: tuple[str, ...] = ()
    """Items of papers.yaml that the table shows, such as liu-table-1."""


@dataclass(frozen=True)
class FilledTable:
    """A table with its rows."""

    table: Table
    caption: str
    """Whole caption, with finding and notes."""
    rows: pd.DataFrame = field(repr=False)
    """Rows of the CSV file."""
    published: PublishedValues = field(default_factory=PublishedValues, repr=False)

    @property
    def in_common(self) -> str:
        """Sentence on the values that all rows share, beginning with a space; empty without such values.

        With one or two rows, only a shared model is named.
        """
        values = {name: str(self._formatted[name].iloc[0]) for name in self._shared_columns}
        words = [text if name == "model" else f"{name.replace('_', ' ')}: {text}" for name, text in values.items()]
        return f" All rows: {'; '.join(words)}." if words else ""

    @property
    def shown(self) -> pd.DataFrame:
        """The rows for a page, without empty columns and without the values in `in_common`.

        A number with its interval is a single text, and a model with its dtype is a single text.
        """
        return self._formatted.drop(columns=self._shared_columns)

    @cached_property
    def _formatted(self) -> pd.DataFrame:
        rows = _with_intervals(self.rows)
        if {"model", "dtype"} <= {*rows}:
            model_names = [str(Model(row["model"], row["dtype"])) for row in records(rows[["model", "dtype"]])]
            rows = rows.drop(columns="dtype").assign(model=model_names)
        is_empty = rows.isna() | (rows == "")
        return rows.loc[:, ~is_empty.all()] if len(rows) else rows

    @cached_property
    def _shared_columns(self) -> list[str]:
        """Columns of `_TEXT_COLUMNS` with one value in all rows; empty if no other column would be left."""
        if self._formatted.empty:
            return []
        text_columns = _TEXT_COLUMNS if len(self.rows) > 2 else ("model",)
        names = [str(name) for name in self._formatted if name in text_columns]
        shared = [name for name in names if self._formatted[name].nunique(dropna=False) == 1]
        return shared if len(shared) < len(self._formatted.columns) else []


_TEXT_COLUMNS = ("model", "set", "effect", "what", "partition", "context", "judge", "correlated_with")
"""Columns of texts that identify a row."""
_NUMBER_COLUMNS = ("mean", "against", "against_mean", "margin")
"""Columns of numbers whose unit is in the column `unit`; other columns have one unit in all rows."""
_ENDS = ("low", "high")


def _with_intervals(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with texts such as 22.5% [9.1, 43.2] in place of numbers and of `low` and `high`.

    The interval is of the column before `low`. If the rows have a column `unit`, `_NUMBER_COLUMNS` become texts, too.
    """
    columns, units = [str(name) for name in rows], dict(rows.attrs.get("units", {}))
    if not {*_ENDS} <= {*columns}:
        return rows
    estimated, has_units = columns[columns.index("low") - 1], "unit" in columns
    others = [name for name in _NUMBER_COLUMNS if has_units and name in columns and is_numeric_dtype(rows[name])]
    texts = rows.drop(columns=[*_ENDS, "unit"], errors="ignore").astype(dict.fromkeys((estimated, *others), object))
    for name in {estimated, *others}:
        unit, ends = units.pop(name, ""), _ENDS if name == estimated else ()
        texts[name] = [_cell_text(row, name, ends, str(row["unit"]) if has_units else unit) for row in records(rows)]
    texts.attrs["units"] = units
    return texts


def _cell_text(row: Mapping[str, Any], name: str, ends: Sequence[str], unit: str) -> str | None:
    if pd.isna(row[name]):
        return None
    text = estimate({column: row[column] for column in (name, *ends)}, name, unit=unit, signed=name == "difference")
    return text if unit in (SHARE, "") else f"{text} {unit}"


def filled(table: Table, frames: Frames) -> FilledTable:
    """Return a table with its rows, caption and published values; empty columns of published values are left out."""
    frames_with_empty = with_empty(frames, (*table.queries, RUNS))
    rows = frames_with_empty[table.queries[0]]
    if rows.empty:
        return FilledTable(table, table.caption, pd.DataFrame())
    if table.rows:
        rows = table.rows(frames_with_empty)
    model_names = dict.fromkeys(model.name for model in models(rows))
    published_columns = [name for name in rows if str(name).startswith("published")]
    compared_items = () if is_audit(frames) else table.items  # no paper has values of own questions
    # Without a column of published values, the caption lists them.
    published = published_of(compared_items, model_names, frames_with_empty, listed=not published_columns)
    unused = [name for name in published_columns if is_audit(frames) or (rows[name].fillna("") == "").all()]
    rows = rows.drop(columns=unused)
    finding = table.finding(frames_with_empty)
    items = compared_items if is_comparable_with_papers(frames_with_empty) else ()
    caption = f"{finding} {table.caption}" if finding else table.caption
    caption += table.note(frames_with_empty) + as_in(items) + published.note
    return FilledTable(table, caption, rows, published)
