"""The models of a study: name and precision, size, label, and the addresses of their replies on other pages."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlencode

import pandas as pd

from swaymeter.data import catalog
from swaymeter.data.records import identity
from swaymeter.data.storage.workspace import slug
from swaymeter.reports.frames import Frames, LazyFrames, records

FULL_PRECISION = frozenset({"float32", "float64", "served", "application", "recorded"})
"""Dtypes that count as full precision; the last three are of served models, applications and recorded replies."""
RUNS = "runs_summary"
"""The named query with the labels of models."""
ANSWERS_PAGE, QUERIES_PAGE, HISTORY_PAGE = "answers.html", "queries.html", "history.html"
"""File names of the other pages of a report."""


@dataclass(frozen=True, order=True)
class Model:
    """A variant of a model in one precision."""

    name: str
    """Name of the model, or label of the variant, such as "gpt2 · short prompt"."""
    dtype: str
    """Precision, such as "float32"; empty for EVERY_MODEL."""

    def __str__(self) -> str:
        return f"{self.name} ({self.dtype})" if self.dtype else self.name

    @property
    def reduced(self) -> bool:
        """True if the model computed on this machine with a precision below float32."""
        return self.dtype not in FULL_PRECISION

    @property
    def slug(self) -> str:
        """Name of the model in names of files."""
        return file_slug(f"{self.name}-{self.dtype}" if self.dtype else self.name)


EVERY_MODEL = Model("all models", "")
"""The model of a figure that shows all models of a study together."""


class ShortNames(NamedTuple):
    """Names without the parts that all of them share; "gpt2 · short prompt (float32)" has three parts."""

    shared: str
    """The shared parts, joined; "" for a single name."""
    names: Mapping[str, str]
    """Short name by full name; a single name stays whole."""

    def titled(self, title: str) -> str:
        """Return the title of a table, followed by the shared parts of the names."""
        return f"{title} · {self.shared}" if self.shared else title


def short_names(names: Iterable[str]) -> ShortNames:
    """Return names without their shared parts; all names stay whole if two short names would be equal."""
    parts = {name: re.sub(r" \((\w+)\)$", r" · \1", name).split(" · ") for name in names}
    shared = set.intersection(*map(set, parts.values())) if len(parts) > 1 else set[str]()
    short = {
        name: " · ".join(part for part in parts_of_name if part not in shared) for name, parts_of_name in parts.items()
    }
    if not shared or len({*short.values()}) < len(short):
        return ShortNames("", {name: name for name in short})
    first = next(iter(parts.values()))
    shared_words = " · ".join(part for part in first if part in shared)
    return ShortNames(shared_words, {name: text or name for name, text in short.items()})


def base_model(name: str) -> str:
    """Return the model in the name of a variant, such as "gpt2" of "gpt2 · short prompt"."""
    return name.partition(" · ")[0]


def parameters(name: str) -> int | None:
    """Return the number of parameters of a model in the catalog, by alias or hub id; None for other models."""
    entries = (entry for entry in catalog.models().values() if base_model(name) in (entry.alias, entry.hub))
    return next((entry.parameters for entry in entries), None)


def sizes(runs: pd.DataFrame) -> dict[Model, int]:
    """Return the number of parameters of each model: the number that a run counted, otherwise the catalog's."""
    counts = dict[Model, int]()
    for row in records(runs):
        label, counted = row.get("label"), row.get("parameters")
        size = parameters(str(row["model"])) if counted is None or pd.isna(counted) else int(counted)
        if size:
            counts[Model(label if isinstance(label, str) else str(row["model"]), str(row["dtype"]))] = size
    return counts


def by_size(unsorted_models: Iterable[Model]) -> list[Model]:
    """Return the models by size, then by name and dtype; only by name and dtype if the catalog lacks a size."""
    ordered = sorted(unsorted_models)
    size_of_model = {model: parameters(model.name) or math.inf for model in ordered}
    return ordered if math.inf in size_of_model.values() else sorted(ordered, key=size_of_model.__getitem__)


def models(frame: pd.DataFrame) -> list[Model]:
    """Return the models of a frame by size."""
    if frame.empty or not {"model", "dtype"} <= set(frame.columns):
        return []
    pairs = frame[["model", "dtype"]].drop_duplicates()
    return by_size(Model(str(name), str(dtype)) for name, dtype in pairs.itertuples(index=False))


def rows_of(frame: pd.DataFrame, model: Model) -> pd.DataFrame:
    """Return the rows of a model; all rows if the frame lacks the column `model`."""
    if "model" not in frame:
        return frame
    selected = frame["model"] == model.name
    if "dtype" in frame:
        selected &= frame["dtype"] == model.dtype
    return (frame if selected.all() else frame[selected]).reset_index(drop=True)


def labelled(frames: Frames) -> Frames:
    """Replace names of models by labels in all frames except RUNS, whose rows have both a name and a label."""
    runs = frames[RUNS]
    labels = runs[["model", "dtype", "label"]].dropna().drop_duplicates() if "label" in runs else runs.iloc[:0]
    if labels.empty:
        runs = runs.drop(columns="label", errors="ignore")
    return LazyFrames(frames, lambda name: runs if name == RUNS else _with_labels(frames[name], labels))


def _with_labels(frame: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    for model, dtype in (("model", "dtype"), ("against_model", "against_dtype")):
        if {model, dtype} <= set(frame.columns):
            names = frame[model]
            for model_name, model_dtype, label in labels.itertuples(index=False):
                names = names.mask((frame[model] == model_name) & (frame[dtype] == model_dtype), label)
            frame = frame.assign(**{model: names})
    return frame


def file_slug(name: str) -> str:
    """Return a short file name of letters, digits and dashes; a changed name ends with a digest of `name`."""
    short = slug(name)[:48].strip("-")
    return short if short == name else f"{short}-{identity(name)[:6]}"


def question_address(question_id: str, model: Model) -> str:
    """Return the address of a question with a model's replies, on the page of answers."""
    return f"{ANSWERS_PAGE}#{urlencode({'model': str(model), 'open': question_id})}"


def query_address(query_id: str) -> str:
    """Return the address of a query with its contexts, on the page of queries."""
    return f"{QUERIES_PAGE}#q-{file_slug(query_id)}"


def relation_address(relation: str) -> str:
    """Return the address of a relation's queries, on the page of queries."""
    return f"{QUERIES_PAGE}#relation-{file_slug(relation)}"


def question_addresses(rows: pd.DataFrame) -> list[str]:
    """Return the address of each row's question and model, from the columns question_id, model and dtype."""
    keys = rows[["question_id", "model", "dtype"]].itertuples(index=False)
    return [question_address(question_id, Model(model, dtype)) for question_id, model, dtype in keys]
