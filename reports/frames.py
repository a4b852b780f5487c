"""How the answers of named queries are read: by model, with their units, what scores are missing in them, and where a
query, a question or a relation is read in full."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pandas as pd

from swaymeter.data import catalog
from swaymeter.data.records import CONDITIONS, OWN_KINDS, PARTITIONS, identity
from swaymeter.data.records.statistics import QUANTILES
from swaymeter.data.records.statistics import SHARE as SHARE
from swaymeter.data.storage.workspace import slug

Frames = Mapping[str, pd.DataFrame]
"""Frames by the named query of the warehouse that they answer."""

FULL_PRECISION = frozenset({"float32", "float64"})
CONTEXTS = tuple(condition for condition in CONDITIONS if condition != "none")
RUNS = "runs_in_short"
"""The query that says what a study calls its models."""
EQUIVALENCE = ("clusters", "semantic_entropy", "coherent_persuasion")
"""The measures that rest on which sampled answers mean the same."""
_IN_UNIT = ("mean", "mean_a", "mean_b", "low", "high", *QUANTILES)


@dataclass(frozen=True, order=True)
class Model:
    """A model in one precision: what figures and tables are never mixed over."""

    name: str
    dtype: str

    def __str__(self) -> str:
        return f"{self.name} ({self.dtype})" if self.dtype else self.name

    @property
    def reduced(self) -> bool:
        """Whether the model computed in fewer digits than float32 has."""
        return self.dtype not in FULL_PRECISION

    @property
    def slug(self) -> str:
        return file_slug(f"{self.name}-{self.dtype}" if self.dtype else self.name)


EVERY_MODEL = Model("all models", "")
"""What a figure is about that has all models of a study in one picture."""


def parameters(name: str) -> int | None:
    """How many parameters a model has by the catalog of models, by its alias or its id at the hub; None for others."""
    known = (entry for entry in catalog.models().values() if name in (entry.alias, entry.hub))
    return next((entry.parameters for entry in known), None)


def sizes(runs: pd.DataFrame) -> dict[Model, int]:
    """How many parameters each model of the runs has: as they counted, else by the catalog, where that knows it."""
    known = dict[Model, int]()
    for row in records(runs):
        label, counted = row.get("label"), row.get("parameters")
        size = parameters(str(row["model"])) if counted is None or pd.isna(counted) else int(counted)
        if size:
            known[Model(label if isinstance(label, str) else str(row["model"]), str(row["dtype"]))] = size
    return known


def by_size(of_models: Iterable[Model]) -> list[Model]:
    """The models by size, where the catalog has it of all of them, otherwise by name; of one size by name and dtype."""
    ordered = sorted(of_models)
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


def with_empty(frames: Frames, queries: Iterable[str]) -> dict[str, pd.DataFrame]:
    """The frames of these queries, an empty one where there is none."""
    return {name: frames[name] if name in frames else pd.DataFrame() for name in queries}


def units(frame: pd.DataFrame) -> dict[str, str]:
    """The unit of each column that has one: as the warehouse says, or as the frame's own column `unit` says.

    A frame whose rows are summaries says the unit of its mean and quantiles row by row; it has one where all agree.
    """
    known: dict[str, str] = dict(frame.attrs.get("units", {}))
    own = list(frame["unit"].unique()) if "unit" in frame else []
    return known | (dict.fromkeys(_IN_UNIT, str(own[0])) if len(own) == 1 else {})


def unit_of(rows: pd.DataFrame, column: str = "unit") -> str:
    """The unit that rows share; empty where there are none, as when their statistic could not be computed."""
    return str(rows[column].iloc[0]) if len(rows) else ""


def without_unit(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame of one model without its columns model, dtype and `unit`; its other columns then carry the unit."""
    shown = frame.drop(columns=["model", "dtype", "unit"])
    shown.attrs["units"] = units(frame)
    return shown


@dataclass(frozen=True)
class Finite:
    """The rows whose scores are numbers, and how many rows were not."""

    rows: pd.DataFrame
    missing: int

    def note(self, what: str) -> str:
        """A sentence for the caption; empty where nothing is missing."""
        if not self.missing:
            return ""
        total = self.missing + len(self.rows)
        return f" {self.missing} of {total} {what} have a score that is missing or not finite and are not drawn."


def finite(frame: pd.DataFrame, *columns: str) -> Finite:
    """Splits off, and counts, the rows in which one of the columns is missing, infinite or not a number."""
    good = np.ones(len(frame), dtype=bool)
    for column in columns if len(frame) else ():
        good &= np.isfinite(frame[column].to_numpy(dtype=float, na_value=np.nan))
    return Finite(frame if good.all() else frame[good].reset_index(drop=True), int((~good).sum()))


def where(frame: pd.DataFrame, **values: object) -> pd.DataFrame:
    """The rows in which each of these columns has this value; an empty frame, perhaps without columns, as it is."""
    for column, value in values.items():
        frame = frame[frame[column] == value] if len(frame) else frame
    return frame


def as_published(tests: pd.DataFrame) -> pd.DataFrame:
    """The tests that are made as the papers make them: permutations of rows that count as independent."""
    return tests[(tests["test"] == "permutation") & (tests["unit_of_analysis"] != "entity")] if len(tests) else tests


def by_entity(tests: pd.DataFrame) -> pd.DataFrame:
    """The tests whose rows are entities, each with the mean over its queries or answers."""
    return where(tests, unit_of_analysis="entity")


def stood_in(stand_ins: pd.DataFrame, measures: Iterable[str]) -> str:
    """What stood in for what in these measures, in words; empty where nothing did."""
    if stand_ins.empty:
        return ""
    of_measures = stand_ins[stand_ins["measure"].isin(list(measures))]
    return "; ".join(sorted({str(text) for text in of_measures["stand_in"].dropna() if str(text)}))


def cut_off(unfinished: pd.DataFrame) -> str:
    """How many greedy answers of each model reached the limit of tokens, as a sentence; empty where none did."""
    words = [
        f"{row['unfinished']} of {row['greedy_answers']} greedy answers of {Model(row['model'], row['dtype'])} ended "
        f"at the limit of {row['tokens']} tokens"
        for row in records(unfinished)
        if row["unfinished"]
    ]
    return f" Judged as they are: {'; '.join(words)}." if words else ""


def lost_in_thoughts(unfinished: pd.DataFrame) -> str:
    """How many greedy answers of each model did not get past their thoughts, as a sentence; empty where all did."""
    words = [
        f"{row['unfinished_thoughts']} of {row['greedy_answers']} greedy answers of "
        f"{Model(row['model'], row['dtype'])}, whose thoughts did not end"
        for row in records(unfinished)
        if row["unfinished_thoughts"]
    ]
    return f" Not judged: {'; '.join(words)}." if words else ""


def thinking(unfinished: pd.DataFrame) -> str:
    """How each model was asked to think, as a sentence; empty where no chat template knows of thoughts."""
    rows = [row for row in records(unfinished) if not pd.isna(row["thinking"])]
    words = [f"{Model(row['model'], row['dtype'])}, {row['thinking']}" for row in rows]
    return f" Thinking before answers: {'; '.join(words)}." if words else ""


def limits(unfinished: pd.DataFrame) -> str:
    """What kept greedy answers from being judged whole, or at all, as sentences."""
    return cut_off(unfinished) + lost_in_thoughts(unfinished)


def stating_neither(answers: pd.DataFrame) -> str:
    """How many greedy answers state neither answer, and why, as a sentence a model."""
    sentences = []
    for model in models(answers):
        rows = rows_of(answers, model)
        reasons = ", ".join(f"{row['reason']} {row['answers']}" for row in records(rows))
        count, total = rows["answers"].sum(), rows["greedy_answers"].iloc[0]
        sentences.append(f" Neither answer is stated by {count} of {total} greedy answers of {model} ({reasons}).")
    return "".join(sentences)


def in_order(frame: pd.DataFrame, **orders: Iterable[object]) -> pd.DataFrame:
    """The rows sorted by these columns in turn, the values of each in a fixed order; values that are not in it last."""
    ranks = {column: {value: at for at, value in enumerate(order)} for column, order in orders.items()}
    by_rank = frame.sort_values(list(ranks), key=lambda column: column.map(ranks[str(column.name)]), kind="stable")
    return by_rank.reset_index(drop=True)


def present(rows: pd.DataFrame, column: str, order: Sequence[str]) -> list[str]:
    """The values of `order` that occur in a column, in that order; then any others, sorted."""
    values = set(rows[column].astype(str)) if len(rows) else set()
    return [value for value in order if value in values] + sorted(values - set(order))


def partitions(rows: pd.DataFrame) -> list[str]:
    """The partitions that occur: DynamicQA's in their fixed order, then the groups of own questions."""
    return present(rows, "partition", PARTITIONS)


def conditions(rows: pd.DataFrame) -> list[str]:
    """The kinds of context that occur, in their fixed order."""
    return present(rows, "condition", CONTEXTS)


def grouping(rows: pd.DataFrame) -> str:
    """What the partitions of a frame with conditions are called: those of own questions are a user's groups."""
    return "group" if are_own(rows) else "partition"


def are_own(rows: pd.DataFrame) -> bool:
    """Whether a frame with conditions is about a user's own questions."""
    return len(rows) > 0 and bool(rows["condition"].isin(OWN_KINDS).any())


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def file_slug(name: str) -> str:
    """A short file name for any text: letters, digits and dashes, with a digest where something was lost."""
    short = slug(name)[:48].strip("-")
    return short if short == name else f"{short}-{identity(name)[:6]}"


ANSWERS_PAGE, QUERIES_PAGE = "answers.html", "queries.html"


def of_question(question: str, model: Model) -> str:
    """A question with all that a model answered to it, on the page of answers."""
    return f"{ANSWERS_PAGE}#{urlencode({'model': str(model), 'open': question})}"


def of_query(query: str) -> str:
    """A query with its contexts, on the page of queries."""
    return f"{QUERIES_PAGE}#q-{file_slug(query)}"


def of_relation(relation: str) -> str:
    """The queries of a relation, on their page."""
    return f"{QUERIES_PAGE}#relation-{file_slug(relation)}"


def of_each(rows: pd.DataFrame) -> list[str]:
    """Where each row's question is read; the rows have question_id, model and dtype."""
    names = rows[["question_id", "model", "dtype"]].itertuples(index=False)
    return [of_question(question, Model(model, dtype)) for question, model, dtype in names]
