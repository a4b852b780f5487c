"""The models of a study, by name and precision, size and label, and where what they answered is read in full."""

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
from swaymeter.reports.frames import Frames, records

SERVED = "served"
FULL_PRECISION = frozenset({"float32", "float64", SERVED, "application", "recorded"})
"""Dtypes that are not compared with float32; of a served model and of an application none other can be had."""
RUNS = "runs_summary"
"""The query that says what a study calls its models."""
ANSWERS_PAGE, QUERIES_PAGE, HISTORY_PAGE = "answers.html", "queries.html", "history.html"


@dataclass(frozen=True, order=True)
class Model:
    """A model in one precision: what figures and tables are never mixed over."""

    name: str
    dtype: str

    def __str__(self) -> str:
        return f"{self.name} ({self.dtype})" if self.dtype else self.name

    @property
    def reduced(self) -> bool:
        """True if the model computed on this machine with a precision below float32."""
        return self.dtype not in FULL_PRECISION

    @property
    def slug(self) -> str:
        return file_slug(f"{self.name}-{self.dtype}" if self.dtype else self.name)


EVERY_MODEL = Model("all models", "")
"""Subject of a figure that shows all models of a study in one picture."""


class ShortNames(NamedTuple):
    """Names such as "model · prompt (float32)", split at " · " and before the dtype.

    Attributes:
        shared: The parts that all names have, joined; "" for a single name.
        names: Each name without the shared parts; a single name is kept whole.
    """

    shared: str
    names: Mapping[str, str]

    def titled(self, title: str) -> str:
        """Return the title of a table, with the shared parts of its names."""
        return f"{title} · {self.shared}" if self.shared else title


def in_short(names: Iterable[str]) -> ShortNames:
    """Return names without their shared parts; all names stay whole if two would become equal."""
    parts = {name: re.sub(r" \((\w+)\)$", r" · \1", name).split(" · ") for name in names}
    every = set[str]().union(*parts.values()).intersection(*parts.values()) if len(parts) > 1 else set[str]()
    first = next(iter(parts.values()), [])
    rest = {
        name: " · ".join(part for part in parts_of_name if part not in every) for name, parts_of_name in parts.items()
    }
    if not every or len({*rest.values()}) < len(rest):
        return ShortNames("", {name: name for name in rest})
    return ShortNames(" · ".join(part for part in first if part in every), {name: rest[name] or name for name in rest})


def base_model(name: str) -> str:
    """The model that a variant asks, whose name has the way of asking behind a ·, where there are several."""
    return name.partition(" · ")[0]


def parameters(name: str) -> int | None:
    """Return the number of parameters of a model in the catalog, by alias or hub id; None for others."""
    entries = (entry for entry in catalog.models().values() if base_model(name) in (entry.alias, entry.hub))
    return next((entry.parameters for entry in entries), None)


def sizes(runs: pd.DataFrame) -> dict[Model, int]:
    """Return the number of parameters of each model of the runs: as counted, else from the catalog."""
    counts = dict[Model, int]()
    for row in records(runs):
        label, counted = row.get("label"), row.get("parameters")
        size = parameters(str(row["model"])) if counted is None or pd.isna(counted) else int(counted)
        if size:
            counts[Model(label if isinstance(label, str) else str(row["model"]), str(row["dtype"]))] = size
    return counts


def by_size(drawn_models: Iterable[Model]) -> list[Model]:
    """The models by size, where the catalog has it of all of them, otherwise by name; of one size by name and dtype."""
    ordered = sorted(drawn_models)
    sizes = {model: parameters(model.name) or math.inf for model in ordered}
    return ordered if math.inf in sizes.values() else sorted(ordered, key=sizes.__getitem__)


def models(frame: pd.DataFrame) -> list[Model]:
    """The models of a frame by size; none of a frame that is about no model."""
    if frame.empty or not {"model", "dtype"} <= set(frame.columns):
        return []
    pairs = frame[["model", "dtype"]].drop_duplicates()
    return by_size(Model(str(name), str(dtype)) for name, dtype in pairs.itertuples(index=False))


def rows_of(frame: pd.DataFrame, model: Model) -> pd.DataFrame:
    """The frame's rows of a model; all where it is about no model."""
    if "model" not in frame:
        return frame
    selected = frame["model"] == model.name
    if "dtype" in frame:
        selected &= frame["dtype"] == model.dtype
    return (frame if selected.all() else frame[selected]).reset_index(drop=True)


def labelled(frames: Frames) -> dict[str, pd.DataFrame]:
    """The frames with the label of each model that has one in place of its name; the runs keep both."""
    runs = frames[RUNS]
    labels = runs[["model", "dtype", "label"]].dropna().drop_duplicates() if "label" in runs else runs.iloc[:0]
    if labels.empty:
        return {**frames, RUNS: runs.drop(columns="label", errors="ignore")}
    return {name: frame if name == RUNS else _with_labels(frame, labels) for name, frame in frames.items()}


def _with_labels(frame: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    for model, dtype in (("model", "dtype"), ("against_model", "against_dtype")):
        if {model, dtype} <= set(frame.columns):
            names = frame[model]
            for name, in_dtype, label in labels.itertuples(index=False):
                names = names.mask((frame[model] == name) & (frame[dtype] == in_dtype), label)
            frame = frame.assign(**{model: names})
    return frame


def file_slug(name: str) -> str:
    """A short file name for any text: letters, digits and dashes, with a digest where something was lost."""
    short = slug(name)[:48].strip("-")
    return short if short == name else f"{short}-{identity(name)[:6]}"


def question_address(question: str, model: Model) -> str:
    """A question with all that a model answered to it, on the page of answers."""
    return f"{ANSWERS_PAGE}#{urlencode({'model': str(model), 'open': question})}"


def query_address(query: str) -> str:
    """A query with its contexts, on the page of queries."""
    return f"{QUERIES_PAGE}#q-{file_slug(query)}"


def relation_address(relation: str) -> str:
    """The queries of a relation, on their page."""
    return f"{QUERIES_PAGE}#relation-{file_slug(relation)}"


def question_addresses(rows: pd.DataFrame) -> list[str]:
    """Return the address of each row's question on the answers page.

    Args:
        rows: Rows with question_id, model and dtype.
    """
    names = rows[["question_id", "model", "dtype"]].itertuples(index=False)
    return [question_address(question, Model(model, dtype)) for question, model, dtype in names]
