"""Markdown in which content stays text."""

import re
from collections.abc import Iterable, Sequence

from swaymeter.reports.page import MOST_ROWS, cell, heading
from swaymeter.reports.tables import Filled

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~$&#!])")


def escaped(text: object) -> str:
    """Any text as Markdown that shows it, in one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))


def table(filled: Filled) -> str:
    """A table with its title and caption, its numbers as the page shows them."""
    shown = filled.shown
    rows, units = shown.head(MOST_ROWS), shown.attrs.get("units", {})
    lines = [
        [cell(value, units.get(name, "")) for name, value in zip(rows, row, strict=True)]
        for row in rows.itertuples(index=False, name=None)
    ]
    more = f" The first {len(rows)} of {len(shown)} rows; the CSV has all." if len(shown) > len(rows) else ""
    only = f" All rows: {filled.only_model}." if filled.only_model else ""
    title = f"**{escaped(filled.table.title)}.** {escaped(filled.caption + only + more)}"
    return f"{title}\n\n{grid([heading(str(name), units.get(name, '')) for name in rows], lines)}"


def grid(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns and rows of any texts as a table."""
    made = [f"| {' | '.join(map(escaped, columns))} |", "| --- " * len(columns) + "|"]
    made += [f"| {' | '.join(map(escaped, row))} |" for row in rows]
    return "\n".join(made) + "\n"
