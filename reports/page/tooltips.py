"""Tooltips of figures: the numbers and the item of the mark under the pointer."""

from typing import Any

import pandas as pd
from markupsafe import Markup

from swaymeter.reports.figures.figure import DrawnFigure
from swaymeter.reports.figures.marks import numbers_of
from swaymeter.reports.figures.rendering import Pictures
from swaymeter.reports.frames import Frames, units
from swaymeter.reports.page.shell import cell, heading, script_json

ITEM_COLUMNS = ("question_id", "query_id", "entity", "relation")
"""Columns with the id of an item; the first column that the rows have is used."""
ID_COLUMNS = ("question_id", "query_id", "context_id")
"""Columns of ids, which a tooltip leaves out."""
MAX_LINES = 10
"""Upper bound on the lines of a tooltip."""
MAX_LETTERS = 60
"""Upper bound on the letters of a cell or a question."""
NO_ITEM = -1
"""Index of the item of a row without an item."""


def tooltips(drawn: DrawnFigure, pictures: Pictures) -> Markup | None:
    """Return the tooltips of a figure as JSON for the script of the page; None without marks.

    The JSON has these keys:
        size: Width and height of the picture, in points.
        heads: Headings of the columns.
        items: Ids of the items, such as questions.
        rows: For each row, the index of its item in `items`, and the texts of its cells.
        marks: For each mark, its x and y in points, and the index of its row in `rows`.
    """
    if not pictures.marks:
        return None
    mark_rows = sorted({mark.row for mark in pictures.marks})
    rows = numbers_of(drawn.drawing).iloc[mark_rows]
    units_of_columns = {**units(drawn.drawing.shown), **units(drawn.drawing.numbers)}
    columns = {str(name): units_of_columns.get(str(name), "") for name in _tooltip_columns(rows)}
    cells = [[_cell_text(value, unit) for value in rows[name]] for name, unit in columns.items()]
    ids = _item_ids(rows)
    items = [item for item in dict.fromkeys(ids) if item is not None]
    index_of_item = {item: index for index, item in enumerate(items)}
    item_indices = [NO_ITEM if item is None else index_of_item[item] for item in ids]
    content = {
        "size": pictures.size,
        "heads": [heading(name, unit) for name, unit in columns.items()],
        "items": items,
        "rows": [[index, *texts] for index, texts in zip(item_indices, zip(*cells, strict=True), strict=True)],
        "marks": [(mark.x, mark.y, mark_rows.index(mark.row)) for mark in pictures.marks],
    }
    return script_json(content)


def question_texts(frames: Frames) -> Markup:
    """Return the beginnings of the questions by their ids, as JSON for the script of the page."""
    rows = frames["questions_to_read"]
    questions = zip(rows["question_id"], rows["question"], strict=True) if len(rows) else ()
    return script_json({str(question_id): str(text)[:MAX_LETTERS] for question_id, text in questions})


def _item_ids(rows: pd.DataFrame) -> list[str | None]:
    column = next((name for name in ITEM_COLUMNS if name in rows), None)
    if column is None:
        return [None] * len(rows)
    return [None if pd.isna(item) else str(item) for item in rows[column]]


def _tooltip_columns(rows: pd.DataFrame) -> list[str]:
    """Return the columns whose values differ, texts before numbers; values that all rows share are in the caption."""
    values = rows.drop(columns=[name for name in ID_COLUMNS if name in rows])
    differing = [
        str(name) for name in values if values[name].notna().any() and (len(values) == 1 or values[name].nunique() > 1)
    ]
    texts = [name for name in differing if not pd.api.types.is_numeric_dtype(values[name])]
    return [*texts, *(name for name in differing if name not in texts)][:MAX_LINES]


def _cell_text(value: Any, unit: str) -> str:
    return "" if pd.isna(value) else cell(value, unit)[:MAX_LETTERS]
