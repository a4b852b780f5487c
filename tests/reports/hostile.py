"""Texts that attack every format that shows them."""

import csv
import dataclasses
import re
from pathlib import Path

from swaymeter.data.records.findings import NotRun, StudyCard
from tests.reports.study import CARD

HOSTILE = (
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    r"$\frac{1}{$",
    "{{ 7 * 7 }} {% raw %}",
    "\u202e\u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd\u202c",
    "../../etc/passwd\x00",
    "東京 " + "very long name " * 40,
    "=HYPERLINK(1)&amp;",
    "\x1b]0;title\x07\x1b[2J\x7f\x9b31m",
    "=1+1|a",
)
"""Texts that attack pages, LaTeX, templates, paths, spreadsheets or terminals."""


def hostile_card() -> StudyCard:
    """Return the card of a study with hostile texts, and with hostile names of missing scores."""
    text = "\n".join(HOSTILE)
    return dataclasses.replace(
        CARD,
        name=text,
        question=text,
        sources=HOSTILE,
        created_at=text,
        versions={text: text},
        prompt={"system": f"own {text}"},
        not_run=tuple(NotRun(name, name, name, name) for name in HOSTILE),
    )


def assert_harmless(folder: Path) -> None:
    """Assert that no text file of a folder has control characters, and no CSV a formula."""
    texts = [path for path in folder.rglob("*.*") if path.suffix not in (".png", ".pdf", ".parquet", ".duckdb")]
    assert texts
    for path in texts:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text), path
        if path.suffix == ".csv":
            assert not any(cell.startswith(("=", "+")) for row in csv.reader(text.splitlines()) for cell in row), path
