"""What the papers report, beside what a study found: a column of a table, words of a caption.

`reports.figures.panels.reference` draws one into a figure.
"""

import pandas as pd

from data.catalog import PublishedValue, published
from reports.frames import records


def with_published(rows: pd.DataFrame, item: str, *quantities: str) -> pd.DataFrame:
    """The rows with the column `published`: the paper's values of the quantities that are about the same as the row.

    A row's query_type and partition must be those of the value, where it has them. A value of another model says whose
    it is; one of several quantities, which. Rows without a value have a dash.
    """
    known = [(one, f"{name} " if quantities[1:] else "") for name in quantities for one in published(item, name)]
    cells = [
        "; ".join(f"{name}{_words(one, row.get('model'))}" for one, name in known if _is_about(one, row))
        for row in records(rows)
    ]
    result = rows.assign(published=pd.Series([cell or None for cell in cells], index=rows.index, dtype=object))
    result.attrs.update(rows.attrs)
    return result


def published_note(item: str, quantity: str | None = None) -> str:
    """A caption's sentence: the values of an item with their sources."""
    groups: dict[str, list[str]] = {}
    for one in published(item, quantity):
        groups.setdefault(one.source, []).append(f"{_what(one)}{one.words}{f' ({one.note})' if one.note else ''}")
    return "".join(f" Published: {', '.join(words)} ({source})." for source, words in groups.items())


def _is_about(one: PublishedValue, row: dict[str, object]) -> bool:
    same = {"query_type": one.query_type, "partition": one.partition}
    return all(value is None or name not in row or row[name] == value for name, value in same.items())


def _words(one: PublishedValue, model: object) -> str:
    other = None if one.is_of(str(model)) else one.model
    notes = ", ".join(note for note in (other, one.note) if note)
    return f"{one.words} ({notes})" if notes else one.words


def _what(one: PublishedValue) -> str:
    parts = [one.model, one.query_type, one.partition, one.quantity.replace("_", " ")]
    return f"{' '.join(part for part in parts if part)} "
