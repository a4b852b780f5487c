"""The frames that a report is drawn from: which columns they must have, and how they are cut by model."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from data.errors import InputError
from data.records import identity
from data.records.tables import AGREEMENT, RUNS, STATISTICS
from data.storage.workspace import slug

_ENTROPIES = ("semantic_entropy", "semantic_entropy_length_normalised", "semantic_entropy_rao")
_QUERY = ("model", "dtype", "relation", "query_type", "form", "entity", "invented", "query_id")
COLUMNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "susceptibility_of_queries": (*_QUERY, "contexts", "susceptibility"),
        "persuasion_by_kind": (*_QUERY, "kind", "relevant", "contexts", "persuasion"),
        "answers_of_questions": (
            "model",
            "dtype",
            "partition",
            "relation",
            "question_id",
            "condition",
            *_ENTROPIES,
            "semantic_entropy_standard_error",
            "coherent_persuasion",
            "coherent_persuasion_standard_error",
            "accurate",
            "persuaded",
            "stubborn",
            "context_cut",
            "stand_in",
        ),
        "partition_summary": (
            "model",
            "dtype",
            "partition",
            "condition",
            "questions",
            "answers",
            "empty_answers",
            "unfinished_answers",
            "contexts_cut",
            "accuracy",
            "groups",
            *_ENTROPIES,
            "coherent_persuasion",
            "persuaded",
            "stubborn",
        ),
        "answers_to_read": (
            "model",
            "dtype",
            "relation",
            "question_id",
            "condition",
            "sample",
            "text",
            "answer_group",
            "log_probability",
            "finished",
        ),
        "questions_to_read": (
            "question_id",
            "relation",
            "partition",
            "subject",
            "subject_id",
            "property_id",
            "object",
            "object_id",
            "accepted",
            "replacement",
            "question",
            "original_context",
            "counter_memory_context",
            "edits",
            "subject_popularity",
            "object_popularity",
        ),
        "rejected_questions": ("partition", "relation", "reason", "candidates", "example"),
        "fisher_of_queries": (
            *_QUERY,
            "top_k",
            "fisher_top_k",
            "draws",
            "fisher",
            "fisher_standard_error",
            "susceptibility",
            "contexts",
        ),
        "memorization_of_queries": (
            *_QUERY,
            "original",
            "substitute",
            "memorization_ratio",
            "negation_original",
            "negation_substitute",
            "all_original",
            "all_substitute",
            "memorization_ratio_all",
            "susceptibility",
        ),
        "followed": (
            "model",
            "dtype",
            "relation",
            "query_type",
            "kind",
            "conflict",
            "follows",
            "answers",
            "persuasion",
        ),
        "entity_independent_of_contexts": (
            "model",
            "dtype",
            "relation",
            "query_type",
            "form",
            "context_id",
            "kind",
            "context",
            "entities",
            "entity_independent_persuasion",
        ),
        "answer_set_of_queries": (
            *_QUERY,
            "contexts",
            "answers",
            "answer_set_susceptibility",
            "mass",
            "susceptibility",
        ),
        "degree_of_queries": (*_QUERY, "degree", "relation_degree", "susceptibility"),
        "precision_of_queries": (
            "model",
            "dtype",
            "relation",
            "query_type",
            "query_id",
            "reference",
            "susceptibility",
            "susceptibility_reference",
            "largest_difference",
            "mean_difference",
        ),
        "agreement": tuple(column.name for column in AGREEMENT.columns),
        "statistics": tuple(column.name for column in STATISTICS.columns),
        "overview": (
            "models",
            "relations",
            "queries",
            "contexts",
            "prompts",
            "questions",
            "answers",
            "seconds",
            "forward_passes",
        ),
        "stand_ins": ("model", "measure", "stand_in"),
        "runs": tuple(column.name for column in RUNS.columns),
    }
)
_SORTED = (
    "model",
    "dtype",
    "comparison",
    "measure",
    "partition",
    "relation",
    "query_type",
    "query_id",
    "question_id",
    "kind",
    "relevant",
    "condition",
    "sample",
    "form",
    "context_id",
    "conflict",
    "follows",
    "level",
    "measure_a",
    "measure_b",
)
ALPHA = 0.05
FULL_FORMATS = frozenset({"float32", "float64"})


@dataclass(frozen=True, order=True)
class Model:
    """A model in one number format: what figures and tables are never mixed over."""

    name: str
    dtype: str

    def __str__(self) -> str:
        return f"{self.name} ({self.dtype})"

    @property
    def reduced(self) -> bool:
        """Whether the model computed in fewer digits than float32 has."""
        return self.dtype not in FULL_FORMATS

    @property
    def slug(self) -> str:
        """The model as part of a file name."""
        return file_slug(f"{self.name}-{self.dtype}")


def checked(frames: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Every frame a report knows, in an order of its own, so that sums end in the same digits; empty where not given.

    InputError where a filled one lacks a column.
    """
    found = {}
    for name, columns in COLUMNS.items():
        frame = frames.get(name)
        if frame is None or frame.empty:
            found[name] = pd.DataFrame(columns=list(columns))
            continue
        missing = [column for column in columns if column not in frame.columns]
        if missing:
            raise InputError(f"frame {name} lacks {', '.join(missing)}; make the database again from the files")
        keys = [column for column in _SORTED if column in columns]
        found[name] = frame.sort_values(keys, kind="stable").reset_index(drop=True) if keys else frame
    return found


def by_model(frame: pd.DataFrame) -> Iterator[tuple[Model, pd.DataFrame]]:
    """The frame's rows model by model and dtype by dtype, in order of their names."""
    for name, dtype in sorted(set(zip(frame["model"].astype(str), frame["dtype"].astype(str), strict=True))):
        yield Model(name, dtype), frame[(frame["model"] == name) & (frame["dtype"] == dtype)].reset_index(drop=True)


@dataclass(frozen=True)
class Finite:
    """The rows whose scores are numbers, and how many rows were not."""

    rows: pd.DataFrame
    left_out: int

    def note(self, what: str) -> str:
        """A sentence for the caption; empty where nothing is left out."""
        if not self.left_out:
            return ""
        total = self.left_out + len(self.rows)
        return f" {self.left_out} of {total} {what} have a score that is missing or not finite and are not drawn."


def finite(frame: pd.DataFrame, *columns: str) -> Finite:
    """Splits off, and counts, the rows in which one of the columns is missing, infinite or not a number."""
    good = np.ones(len(frame), dtype=bool)
    for column in columns:
        good &= np.isfinite(numbers(frame[column]))
    return Finite(frame[good].reset_index(drop=True), int((~good).sum()))


def numbers(series: "pd.Series[float]") -> NDArray[np.float64]:
    """The column as floats (rows,), NaN where it is NULL."""
    return np.asarray(series.astype("Float64").to_numpy(dtype=float, na_value=np.nan), dtype=np.float64)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as plain dicts."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def is_true(series: "pd.Series[bool]") -> "pd.Series[bool]":
    """The column as true and false; NULL is false."""
    return series.astype("boolean").fillna(False).astype(bool)


def is_null(series: "pd.Series[str]") -> "pd.Series[bool]":
    """Where a text column is NULL or empty."""
    return series.isna() | (series.astype(str) == "")


def file_slug(name: str) -> str:
    """A short file name for any text: letters, digits and dashes, with a digest where something was lost."""
    short = slug(name)[:48].strip("-")
    return short if short == name else f"{short}-{identity(name)[:6]}"


def stand_in_note(stand_ins: pd.DataFrame, model: Model, measures: tuple[str, ...]) -> str:
    """A sentence on what stood in for what in these measures of a model; empty where nothing did."""
    rows = stand_ins[(stand_ins["model"] == model.name) & stand_ins["measure"].isin(measures)]
    said = sorted({str(text) for text in rows["stand_in"].dropna() if str(text)})
    return f" Stand-in: {'; '.join(said)}." if said else ""
