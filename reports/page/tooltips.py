"""Tooltips of figures: the numbers and the item of the mark under the pointer."""

from typing import Any

import pandas as pd
from markupsafe import Markup

from swaymeter.reports.figures.figure import DrawnFigure
from swaymeter.reports.figures.marks import numbers_of
from swaymeter.reports.figures.rendering import Pictures
from swaymeter.reports.frames import Frames, units
from swaymeter.reports.page.shell import cell, heading, sealed

ITEMS = ("question_id", "query_id", "entity", "relation")
"""The columns that name an item: that of a row is by the first which it has."""
MAX_LINES, MAX_LETTERS = 10, 60


def tooltips(drawn: DrawnFigure, pictures: Pictures) -> Markup | None:
    """Size, headings, items, rows and marks of a figure as JSON for the page's script; None where no mark is known.

    A row has the number of its item, and its cells; a mark its place and the number of its row.
    """
    if not pictures.marks:
        return None
    rows = numbers_of(drawn.drawing).iloc[(mark_rows := sorted({mark.row for mark in pictures.marks}))]
    item = next((name for name in ITEMS if name in rows), "")
    shown = _worth(rows.drop(columns=[name for name in ("question_id", "query_id", "context_id") if name in rows]))
    of = {**units(drawn.drawing.shown), **units(drawn.drawing.numbers)}
    keys = [None if pd.isna(name) else str(name) for name in rows[item]] if item else [None] * len(rows)
    items = [name for name in dict.fromkeys(keys) if name is not None]
    at = {name: number for number, name in enumerate(items)}
    cells = zip(*([_short(value, of.get(str(name), "")) for value in shown[name]] for name in shown), strict=True)
    value: dict[str, Any] = {
        "size": pictures.size,
        "heads": [heading(str(name), of.get(str(name), "")) for name in shown],
        "items": items,
        "rows": [[-1 if key is None else at[key], *cell] for key, cell in zip(keys, cells, strict=True)],
        "marks": [(mark.x, mark.y, mark_rows.index(mark.row)) for mark in pictures.marks],
    }
    return sealed(value)


def names(frames: Frames) -> Markup:
    """The texts of questions by their ids."""
    rows = frames["questions_to_read"]
    questions = zip(rows["question_id"], rows["question"], strict=True) if len(rows) else ()
    return sealed({str(question): str(text)[:MAX_LETTERS] for question, text in questions})


def _worth(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns that tell the rows apart, texts first: what is the same in all stands in the caption."""
    columns = [name for name in rows if rows[name].notna().any() and (len(rows) == 1 or rows[name].nunique() > 1)]
    texts = [name for name in columns if not pd.api.types.is_numeric_dtype(rows[name])]
    return rows[[*texts, *(name for name in columns if name not in texts)][:MAX_LINES]]


def _short(value: Any, unit: str) -> str:
    return "" if pd.isna(value) else cell(value, unit)[:MAX_LETTERS]
