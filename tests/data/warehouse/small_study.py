"""Rows of a study that is small enough to compute every result by hand."""

import functools
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from swaymeter.data.records.row import table_of
from swaymeter.data.records.statistics import CorrelationRow, GroupTest
from swaymeter.data.records.table import Table
from swaymeter.data.records.tables import RECORD_TABLES
from swaymeter.data.storage.files import write_parquet
from swaymeter.data.warehouse.loading import build
from swaymeter.data.warehouse.warehouse import Warehouse, opened
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.statistics import STATISTICS as REGISTERED_STATISTICS

STATISTICS, CORRELATIONS = table_of(GroupTest), table_of(CorrelationRow)
Row = dict[str, Any]
TABLES = (
    *RECORD_TABLES,
    *dict.fromkeys(statistic.table for statistic in REGISTERED_STATISTICS.values()),
    *(measure.table for measure in MEASURES.values()),
)
PERSUASION = MEASURES["persuasion"].table
SUSCEPTIBILITY = MEASURES["susceptibility"].table
ANSWERS = MEASURES["answers"].table
CLUSTERS = MEASURES["clusters"].table

COMPUTED_TABLES = ("variants", "runs", "judgements")
"""Tables whose rows are not read from files."""


def row(table: Table, **values: Any) -> dict[str, Any]:
    """Return a row with the given values, NULL in other nullable columns, and a default elsewhere."""
    defaults = {"VARCHAR": "x", "DOUBLE": 0.5, "BIGINT": 1, "BOOLEAN": True, "VARCHAR[][]": []}
    cells = {
        c.name: None if c.nullable else [] if c.parts else defaults.get(c.type, [defaults[c.type.rstrip("[]")]])
        for c in table.columns
    }
    assert values.keys() <= cells.keys()
    if "condition" in values and "context_id" in cells:  # in DynamicQA, both are equal
        cells["context_id"] = values["condition"]
    return {**cells, **values}


def small_study() -> dict[str, list[dict[str, Any]]]:
    """Return rows of two queries with three contexts each, and of a question under two conditions."""
    capital, scored = {"relation": "capital"}, {"relation": "capital", "model": "m", "dtype": "float32"}
    open_form = {**scored, "query_type": "open", "form": 1, "entities": 2}
    reply = {"relation": "P36", "model": "m", "dtype": "float32", "question_id": "w1"}
    question = {"relation": "P36", "question_id": "w1", "partition": "static", "edits": 1}
    correlated = {"model": "m", "dtype": "float32", "measure_a": "fisher_top_k", "n": 2, "untestable": "too few pairs"}
    study: dict[str, list[dict[str, Any]]] = {}

    def add(name: str, common: Mapping[str, Any], columns: str, *values: Sequence[Any]) -> None:
        names = columns.split()
        study[name] = [row(table(name), **common, **dict(zip(names, cells, strict=True))) for cells in values]

    # fmt: off
    add("queries", {**capital, "query_type": "open"}, "query_id entity invented text",
        ("q1", "Norway", False, "Q: What?\nA:"), ("q2", "Who?", True, "It of Who? is"))
    add("contexts", capital, "context_id kind text",
        ("c1", "base", "c1\n"), ("c2", "base", "c2\n"), ("c3", "assertive", "c3\n"))
    add("persuasion", scored, "query_id context_id relevant persuasion",
        ("q1", "c1", True, 1.0), ("q1", "c2", False, 2.0), ("q1", "c3", False, 3.0),
        ("q2", "c1", True, 4.0), ("q2", "c2", False, 5.0), ("q2", "c3", False, 6.0))
    add("susceptibility", {**scored, "contexts": 3}, "query_id susceptibility", ("q1", 2.0), ("q2", 5.0))
    add("entity_independent_persuasion", open_form, "context_id entity_independent_persuasion",
        ("c1", 2.5), ("c2", 3.5), ("c3", 4.5))
    add("greedy_answers", scored, "query_id context_id conflict follows",
        ("q1", "c1", "substitution", "context"), ("q1", "c2", None, "original"), ("q1", "c3", None, "other"),
        ("q2", "c1", None, "original"), ("q2", "c2", None, "original"), ("q2", "c3", None, "original"))
    add("memorization_ratio", scored,
        "query_id original substitute memorization_ratio negation_original negation_substitute all_original "
        "all_substitute memorization_ratio_all",
        ("q1", 0, 1, 0.0, 2, 3, 4, 1, 0.8), ("q2", 0, 0, None, 1, 1, 1, 1, None))
    add("answer_set_susceptibility", scored, "query_id contexts answers answer_set_susceptibility mass",
        ("q1", 3, 7, 0.5, 0.25))
    add("fisher_susceptibility", scored, "query_id top_k fisher_top_k draws fisher fisher_standard_error",
        ("q1", 10, 3.0, 64, 4.0, 0.5), ("q2", 10, 2.0, 0, None, None))
    add("precision", {**scored, "reference": "float32"},
        "query_id susceptibility susceptibility_reference largest_difference mean_difference",
        ("q2", 5.0, 5.1, 0.3, 0.2))
    add("correlations", correlated, "level", ("relation",), ("query",))
    add("questions", question, "", ())
    add("answers", {**reply, "thinking": "on"},
        "condition sample text context_cut state stand_in",
        ("none", None, "Bergen", 0, "complete", "embedder for entailment"),
        ("none", 0, "Oslo", 0, "complete", None), ("none", 1, "", 0, "empty", None),
        ("none", 2, "Oslo and", 0, "truncated", None), ("none", 3, "", 0, "tool_call", None),
        ("none", 4, "", 0, "unfinished_thoughts", None), ("none", 5, "", 0, "withheld", None),
        ("original", None, "", 5, "truncated", None), ("original", 0, "Oslo", 5, "complete", None))
    add("semantic_entropy", reply, "condition groups group_sizes semantic_entropy semantic_entropy_standard_error",
        ("none", 2, [3, 2], 1.5, 0.25))
    add("coherent_persuasion", reply, "condition coherent_persuasion coherent_persuasion_standard_error",
        ("original", 2.5, 0.75))
    add("accuracy", reply, "condition accurate", ("none", False), ("original", True))
    add("persuaded", reply, "condition persuaded stubborn", ("original", True, False))
    add("whose_answer", reply, "condition sample verdict decided_by reason outcome",
        ("none", None, "neither", None, "denied", None), ("none", 0, "context", "rule", None, None),
        ("none", 1, "refusal", "rule", None, None), ("original", None, "refusal", "rule", None, "other"),
        ("original", 0, "both", "rule", None, None))
    add("runs", {**capital, "model": "m"}, "measure file seconds forward_passes prompts reading",
        ("persuasion", "persuasion", 3.0, 7, 6, "not by slots: a; not by prefix tree: b"),
        ("susceptibility", "susceptibility", 0.0, 0, 0, None))
    # fmt: on
    return study


def table(name: str) -> Table:
    return next(table for table in TABLES if table.name == name)


def write_tables(folder: Path, study: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[Table, list[Path]]:
    """Write a Parquet file for each table whose rows come from files, and return the files by table."""
    tables = {table(name): table(name).of(rows) for name, rows in study.items() if name not in COMPUTED_TABLES}
    return {
        stored: [write_parquet(folder, stored.name, rows, {"table": stored.name})] for stored, rows in tables.items()
    }


@functools.cache
def _empty_content() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder) / "empty.duckdb", "empty", TABLES, {})
        return (Path(folder) / "empty.duckdb").read_bytes()


def write_empty(path: Path) -> Path:
    """Write a database without rows and with the key "empty".

    The database is a copy, because writing its hundreds of comments takes a while.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_empty_content())
    return path


def build_study(path: Path, study: Mapping[str, Sequence[Mapping[str, Any]]], tables: Sequence[Table]) -> Path:
    """Write a database with the rows of a study and the key "key"."""
    computed = {table(name): study.get(name, ()) for name in COMPUTED_TABLES}
    build(path, "key", tables, write_tables(path.parent / "files", study), computed=computed)
    return path


@contextmanager
def warehouse_of(
    folder: Path, study: Mapping[str, Sequence[Mapping[str, Any]]], exports: Path | None = None
) -> Iterator[Warehouse]:
    """Write and open `study.duckdb` with only the tables that a study fills; `opened` gets `exports`."""
    tables = [table for table in TABLES if table.name in {*study, *COMPUTED_TABLES}]
    with opened(build_study(folder / "study.duckdb", study, tables), TABLES, exports=exports) as warehouse:
        yield warehouse


def plain_values(frame: pd.DataFrame, names: Iterable[str]) -> dict[str, list[Any]]:
    """Return the values of the named columns, with None for NULL."""
    return {name: frame[name].astype(object).where(frame[name].notna(), None).tolist() for name in names}
