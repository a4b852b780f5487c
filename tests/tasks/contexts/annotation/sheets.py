"""Small sheets: as they are written, and as people or programs save them."""

from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from swaymeter.tasks.contexts.annotation.cells import SheetColumn
from swaymeter.tasks.contexts.annotation.spreadsheet import write_sheet

HEADER = ["context", "choice", "key"]
COLUMNS = (
    SheetColumn("context", 60),
    SheetColumn("choice", 12, written=True, choices=("accept", "discard")),
    SheetColumn("key", hidden=True),
)
GUIDE = {"accept": "=1+1 is no formula here", "discard": "anything else"}
BOTH = pytest.mark.parametrize("name", ["sheet.xlsx", "sheet.CSV"])


def write(path: Path, texts: list[str]) -> Path:
    write_sheet(
        path, COLUMNS, [{"context": text, "choice": "", "key": f"q-{n}"} for n, text in enumerate(texts)], GUIDE
    )
    return path


def as_csv(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def as_xlsx(path: Path, *rows: list[Any], title: str = "questions") -> Path:
    book = Workbook()
    book.active.title = title
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path
