"""Published values beside those of a study: columns of a table, sentences of a caption, rows below both.

A published value needs the same model and the same rows, by the database's names.
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
"""Groups of rows whose values a caption lists; more stand in the rows below alone."""
MAX_NAMED = 3
TESTS = ("du-fig-2", "du-fig-7", "du-section-4.4.1", "du-app-f.1")
"""Items of the papers that count relations with a significant comparison."""


@dataclass(frozen=True)
class Printed:
    """Published values of some items: sentences for the caption of some models, and the values of all models.

    Attributes:
        note: Sentences for the caption.
        rows: Published values of all models.
        shared_notes: Notes on every row.
    """

    note: str = ""
    rows: pd.DataFrame = field(default_factory=pd.DataFrame, repr=False)
    shared_notes: str = ""


def aliases(names: Iterable[str], runs: pd.DataFrame) -> dict[str, str]:
    """The catalog's alias of each model, by its alias, its id at the hub, or what the study calls one of them."""
    names_by_label = {
        str(row["label"]): str(row["model"]) for row in records(runs) if isinstance(row.get("label"), str)
    }
    short_names = {name: alias for alias, entry in models().items() for name in (alias, entry.hub)}
    return {name: short_names.get(base_model(names_by_label.get(name, name)), name) for name in names}


def with_published(rows: pd.DataFrame, runs: pd.DataFrame, items: Sequence[str], **columns: str | None) -> pd.DataFrame:
    """The rows with further columns, each of a quantity that the items print: empty where they print none of the row.

    columns: the quantity of each; None for the one that the row's column `quantity` names. A published entropy stands
    beside the summed one and beside the length-normalised one, because the papers leave open which of them it is.
    """
    short_names = aliases(rows["model"].unique() if len(rows) else (), runs)
    values = [entry for item in items for entry in published(item)]
    for column, quantity in columns.items():
        cells = []
        for row in map(_as_printed, records(rows)):
            candidates = (entry for entry in values if entry.quantity == (quantity or row["quantity"]))
            matching = [
                entry.words
                for entry in candidates
                if entry.model == short_names[row["model"]] and _is_about(entry, row)
            ]
            cells.append("; ".join(dict.fromkeys(matching)))
        rows = rows.assign(**{column: pd.Series(cells, index=rows.index, dtype=object)})
    return rows


def _as_printed(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with the papers' one name for both semantic entropies."""
    return {
        name: value.replace("_length_normalised", "") if isinstance(value, str) else value
        for name, value in row.items()
    }


def significant(model: str, comparison: str, query_type: str) -> tuple[str, float] | None:
    """In how many relations a comparison is significant as printed, in words and as a share; None where it is not."""
    row = {"comparison": comparison, "query_type": query_type}
    printed = {
        entry.quantity: entry
        for item in TESTS
        for entry in published(item)
        if entry.model == model and _is_about(entry, row)
    }
    if share := printed.get("share_significant"):
        return share.words, share.comparable
    if (count := printed.get("relations_significant")) is None:
        return None
    if tested := printed.get("relations_tested"):
        return f"{count.words} of {tested.words}", count.comparable / tested.comparable
    return ("none", 0.0) if not count.value else (count.words, float("nan"))


def in_papers(model: str, runs: pd.DataFrame, items: Sequence[str], *quantities: str, **row: str) -> str:
    """Return the published values of these quantities for a sentence, such as "; in the paper: pearson 0.51"."""
    short_names = aliases([model], runs)[model]
    words = [
        f"{_named(entry.quantity)} {entry.words}"
        for item in items
        for entry in published(item)
        if entry.model == short_names and entry.quantity in quantities and _is_about(entry, row)
    ]
    return f"; in the paper: {', '.join(words)}" if words else ""


def are_published(frames: Frames) -> bool:
    """Return True if frames are about the papers' partitions or queries, and not about a user's questions."""
    groups = {str(name) for frame in frames.values() if "partition" in frame for name in frame["partition"].unique()}
    return not groups or bool(groups & set(PARTITIONS))


def printed_of(items: Sequence[str], names: Iterable[str], frames: Frames, *, listed: bool) -> Printed:
    """Return the published values of the items for models by these names.

    Args:
        items: Items of the papers, such as du-fig-2.
        names: Names of the models.
        frames: Frames of the study. Own questions have no published values.
        listed: If the caption lists the values because no column shows them.
    """
    if not items or not are_published(frames):
        return Printed()
    values = [entry for item in items for entry in published(item)]
    if not values:
        return Printed(f" The papers print no number of {'it' if len(items) == 1 else 'them'}.")
    short_names = aliases(names, frames["runs_summary"])
    printed_models = dict.fromkeys(entry.model for entry in values if entry.model)
    ours = [entry for entry in values if entry.model is None or entry.model in short_names.values()]
    missing = [name for name, alias in short_names.items() if alias not in printed_models] if printed_models else []
    others = [model for model in printed_models if model not in short_names.values()]
    note = _listed(ours, single=len(short_names) == 1) if listed else ""
    if notes := dict.fromkeys(part for entry in ours if note or entry.model for part in entry.notes):
        note += f" Published values: {'; '.join(notes)}."
    if missing:
        exception = f", but of {_several(others)}" if others else ""
        note += f" No value is published of {_several(missing)}{exception}."
    return Printed(note, *_rows(values))


def _listed(values: Sequence[PublishedValue], *, single: bool) -> str:
    """A caption's sentence: the values with their sources, without the model where there is one; empty of many."""
    groups: dict[tuple[str, str], dict[str, None]] = {}
    for entry in values:
        of = ", ".join(filter(None, ("" if single else entry.model, _about(entry))))
        groups.setdefault((entry.source, of), {})[f"{_named(entry.quantity)} {entry.words}"] = None
    if not 0 < len(groups) <= MAX_LISTED:
        return ""
    sources: dict[str, list[str]] = {}
    for (source, of), words in groups.items():
        sources.setdefault(source, []).append(f"{of}: {', '.join(words)}" if of else ", ".join(words))
    printed = "; ".join(f"{'; '.join(words)} ({source})" for source, words in sources.items())
    return f" Published: {printed}."


def _named(quantity: str) -> str:
    return quantity.replace("_", " ")


def _is_about(entry: PublishedValue, row: Mapping[str, object]) -> bool:
    """Return True if a value belongs to a row; a row without a name of the value, such as a level, does not match."""
    return all(str(row.get(name)) == value for name, value in entry.by.items())


def _several(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= MAX_NAMED else f"{len(names)} others"


def _words(entry: PublishedValue) -> dict[str, str]:
    words = {key: value.replace("_", " ") for key, value in entry.by.items() if key != "condition"}
    return words | ({"context": CONDITION_NAMES[entry.by["condition"]]} if "condition" in entry.by else {})


def _about(entry: PublishedValue) -> str:
    return ", ".join(f"{key} {value}" if value.isdigit() else value for key, value in _words(entry).items())


def _rows(values: Sequence[PublishedValue]) -> tuple[pd.DataFrame, str]:
    """A row for each model and group with a column for each quantity, and what to know of every row.

    Where there are few values of a quantity, each value has a row.
    """
    quantities = dict.fromkeys(_named(entry.quantity) for entry in values)
    wide = len(values) >= 2 * len(quantities)
    rows: dict[tuple[object, ...], dict[str, object]] = {}
    notes: dict[tuple[object, ...], dict[str, None]] = {}
    for entry in values:
        quantity = _named(entry.quantity)
        key = entry.item, entry.model, *entry.by.items(), *(() if wide else (quantity,))
        of = _words(entry) if wide else {"of": _about(entry), "quantity": quantity}
        row = rows.setdefault(key, {"printed_in": paper_items()[entry.item].name, "model": entry.model or "", **of})
        column = quantity if wide else "value"
        row[column] = f"{row[column]}, {entry.words}" if column in row else entry.words
        notes.setdefault(key, {}).update(dict.fromkeys(entry.notes))
    common = [part for part in next(iter(notes.values())) if all(part in others for others in notes.values())]
    texts = ["; ".join(part for part in notes[key] if part not in common) for key in rows]
    frame = pd.DataFrame(rows.values()).assign(note=texts).astype(object).fillna("")
    last = [*(quantities if wide else ("quantity", "value")), "note"]
    groups = [name for name in frame if name not in last]
    same = [name for name in groups if len(frame) > 1 and frame[name].nunique() == 1]
    shown = frame[[name for name in groups if name not in same] + last]
    return shown.loc[:, (shown != "").any()], "; ".join(filter(None, [*frame[same].iloc[0], *common]))
