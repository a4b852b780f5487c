"""Published values beside those of a study: as columns of a table, as sentences of a caption, or as a further table.

The group of a published value says what the value is about besides the model, such as a partition or a query form. In
a column, a published value stands in the row with the same model and group.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from swaymeter.data.catalog import PublishedValue, models, paper_items, published
from swaymeter.data.records import PARTITIONS
from swaymeter.reports.frames import Frames, records
from swaymeter.reports.models import base_model
from swaymeter.reports.words import CONDITION_NAMES

MAX_LISTED = 6
"""Upper bound on parts of a caption's sentence. A part has the published values of one source, model and group.

With more parts, only the further table has the values.
"""
MAX_NAMED = 3
"""Upper bound on models that a sentence names; of more models, the sentence has only the number, such as "4 models"."""
ITEMS_WITH_TESTS = ("du-fig-2", "du-fig-7", "du-section-4.4.1", "du-app-f.1")
"""Figures and sections of the papers that say in how many relations a comparison is significant."""


@dataclass(frozen=True)
class PublishedValues:
    """Published values of items: figures, tables and sections of the papers."""

    note: str = ""
    """Sentences for a caption, on the models of this caption."""
    rows: pd.DataFrame = field(default_factory=pd.DataFrame, repr=False)
    """Published values of all models."""
    shared_notes: str = ""
    """Texts and notes that apply to every row."""


def aliases(names: Iterable[str], runs: pd.DataFrame) -> dict[str, str]:
    """Return the catalog's alias by name (alias, hub id or label); a name that the catalog lacks stays as it is."""
    name_of_label = {str(row["label"]): str(row["model"]) for row in records(runs) if isinstance(row.get("label"), str)}
    alias_of_name = {name: alias for alias, entry in models().items() for name in (alias, entry.hub)}
    return {name: alias_of_name.get(base_model(name_of_label.get(name, name)), name) for name in names}


def with_published(rows: pd.DataFrame, runs: pd.DataFrame, items: Sequence[str], **columns: str | None) -> pd.DataFrame:
    """Return the rows with columns of published values; a cell is empty if the items print no value for the row.

    A published entropy is beside both the summed and the length-normalised entropy, because papers do not say which
    they print.

    Args:
        rows: Rows with the column `model`.
        runs: Rows of the named query `runs_summary`, with the models' labels.
        items: Items of the papers.
        columns: Published quantity by new column; None for the quantity that the row has in its column `quantity`.
    """
    alias_of_model = aliases(rows["model"].unique() if len(rows) else (), runs)
    values = [entry for item in items for entry in published(item)]
    for column, quantity in columns.items():
        cells = []
        for row in map(_with_single_entropy, records(rows)):
            candidates = [entry for entry in values if entry.quantity == (quantity or row["quantity"])]
            candidates = [entry for entry in candidates if entry.model == alias_of_model[row["model"]]]
            texts = [entry.text for entry in candidates if _is_about(entry, row)]
            cells.append("; ".join(dict.fromkeys(texts)))
        rows = rows.assign(**{column: pd.Series(cells, index=rows.index, dtype=object)})
    return rows


def _with_single_entropy(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row with the papers' name semantic_entropy for both entropies."""
    return {
        name: value.replace("_length_normalised", "") if isinstance(value, str) else value
        for name, value in row.items()
    }


def significant(model: str, comparison: str, query_type: str) -> tuple[str, float] | None:
    """Return the published number of relations in which a comparison is significant, in words and as a share.

    Returns:
        Words such as "5 of 8", and the share, such as 0.625. The share is NaN if the paper does not print the number
        of tested relations. None if the paper does not print the number of significant relations.
    """
    row = {"comparison": comparison, "query_type": query_type}
    values = {
        entry.quantity: entry
        for item in ITEMS_WITH_TESTS
        for entry in published(item)
        if entry.model == model and _is_about(entry, row)
    }
    if share := values.get("share_significant"):
        return share.text, share.comparable_value
    if (count := values.get("relations_significant")) is None:
        return None
    if tested := values.get("relations_tested"):
        return f"{count.text} of {tested.text}", count.comparable_value / tested.comparable_value
    # 0 relations are the share 0, whatever the number of tested relations is.
    return ("none", 0.0) if not count.value else (count.text, float("nan"))


def in_papers(model: str, runs: pd.DataFrame, items: Sequence[str], *quantities: str, **row: str) -> str:
    """Return the published values of these quantities for a sentence, such as "; in the paper: pearson 0.51"."""
    alias = aliases([model], runs)[model]
    entries = [entry for item in items for entry in published(item) if entry.model == alias]
    words = [
        f"{_label(entry.quantity)} {entry.text}"
        for entry in entries
        if entry.quantity in quantities and _is_about(entry, row)
    ]
    return f"; in the paper: {', '.join(words)}" if words else ""


def is_comparable_with_papers(frames: Frames) -> bool:
    """Return True if a study has the papers' partitions or only queries; False for a user's own questions."""
    groups = {str(name) for frame in frames.values() if "partition" in frame for name in frame["partition"].unique()}
    return not groups or bool(groups & set(PARTITIONS))


def published_of(items: Sequence[str], names: Iterable[str], frames: Frames, *, listed: bool) -> PublishedValues:
    """Return the published values of the items for these models.

    Args:
        items: Items of the papers, such as du-fig-2.
        names: Names of the models.
        frames: Frames of the study; own questions have no published values.
        listed: True if the caption lists the values.
    """
    if not items or not is_comparable_with_papers(frames):
        return PublishedValues()
    values = [entry for item in items for entry in published(item)]
    if not values:
        return PublishedValues(" The papers print no values to compare with.")
    alias_of_model = aliases(names, frames["runs_summary"])
    printed_models = dict.fromkeys(entry.model for entry in values if entry.model)
    shown = [entry for entry in values if entry.model is None or entry.model in alias_of_model.values()]
    missing = [name for name, alias in alias_of_model.items() if alias not in printed_models] if printed_models else []
    others = [model for model in printed_models if model not in alias_of_model.values()]
    note = _value_sentence(shown, single=len(alias_of_model) == 1) if listed else ""
    # Notes on values without a model are in the caption only if the caption lists the values.
    if notes := dict.fromkeys(part for entry in shown if note or entry.model for part in entry.notes):
        note += f" Published values: {'; '.join(notes)}."
    if missing:
        exception = f"; they print values of {_names(others)}" if others else ""
        note += f" The papers print no value of {_names(missing)}{exception}."
    return PublishedValues(note, *_rows(values))


def _value_sentence(values: Sequence[PublishedValue], *, single: bool) -> str:
    """Return a sentence with the values and their sources; empty without values or with more than MAX_LISTED parts.

    If `single` is True, the sentence names no model.
    """
    parts: dict[tuple[str, str], dict[str, None]] = {}
    for entry in values:
        about = ", ".join(filter(None, ("" if single else entry.model, _about(entry))))
        parts.setdefault((entry.source, about), {})[f"{_label(entry.quantity)} {entry.text}"] = None
    if not 0 < len(parts) <= MAX_LISTED:
        return ""
    sources: dict[str, list[str]] = {}
    for (source, about), words in parts.items():
        sources.setdefault(source, []).append(f"{about}: {', '.join(words)}" if about else ", ".join(words))
    sentence = "; ".join(f"{'; '.join(words)} ({source})" for source, words in sources.items())
    return f" Published: {sentence}."


def _label(quantity: str) -> str:
    return quantity.replace("_", " ")


def _is_about(entry: PublishedValue, row: Mapping[str, object]) -> bool:
    return all(str(row.get(name)) == value for name, value in entry.by.items())


def _names(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= MAX_NAMED else f"{len(names)} models"


def _values_by_column(entry: PublishedValue) -> dict[str, str]:
    """Return the group of a published value by column, such as {"context": "original context"}."""
    words = {key: value.replace("_", " ") for key, value in entry.by.items() if key != "condition"}
    return words | ({"context": CONDITION_NAMES[entry.by["condition"]]} if "condition" in entry.by else {})


def _about(entry: PublishedValue) -> str:
    """Return the group of a published value in words, such as "temporal, original context" or "form 1"."""
    names = _values_by_column(entry).items()
    return ", ".join(f"{key} {value}" if value.isdigit() else value for key, value in names)


def _rows(values: Sequence[PublishedValue]) -> tuple[pd.DataFrame, str]:
    """Return the published values as rows, and the notes that all rows share.

    A row is an item, a model and a group, with a column for each quantity. If quantities have fewer than two values on
    average, a row is a single value, with the quantity in a column.
    """
    quantities = dict.fromkeys(_label(entry.quantity) for entry in values)
    is_wide = len(values) >= 2 * len(quantities)
    rows: dict[tuple[object, ...], dict[str, object]] = {}
    notes: dict[tuple[object, ...], dict[str, None]] = {}
    for entry in values:
        quantity = _label(entry.quantity)
        key = entry.item, entry.model, *entry.by.items(), *(() if is_wide else (quantity,))
        group = _values_by_column(entry) if is_wide else {"of": _about(entry), "quantity": quantity}
        row = rows.setdefault(key, {"printed_in": paper_items()[entry.item].name, "model": entry.model or "", **group})
        column = quantity if is_wide else "value"
        row[column] = f"{row[column]}, {entry.text}" if column in row else entry.text
        notes.setdefault(key, {}).update(dict.fromkeys(entry.notes))
    shared_notes = [part for part in next(iter(notes.values())) if all(part in others for others in notes.values())]
    texts = ["; ".join(part for part in notes[key] if part not in shared_notes) for key in rows]
    frame = pd.DataFrame(rows.values()).assign(note=texts).astype(object).fillna("")
    value_columns = [*(quantities if is_wide else ("quantity", "value")), "note"]
    group_columns = [name for name in frame if name not in value_columns]
    shared_columns = [name for name in group_columns if len(frame) > 1 and frame[name].nunique() == 1]
    shown = frame[[name for name in group_columns if name not in shared_columns] + value_columns]
    shared = "; ".join(filter(None, [*frame[shared_columns].iloc[0], *shared_notes]))
    return shown.loc[:, (shown != "").any()], shared
