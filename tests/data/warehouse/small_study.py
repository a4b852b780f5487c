"""A study small enough to work out every answer by hand."""

import functools
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from data.records.table import Table
from data.records.tables import (
    CONTEXTS,
    CORRELATIONS,
    ENVELOPES,
    QUERIES,
    QUESTIONS,
    RECORD_TABLES,
    RUNS,
    STATISTICS,
    SUMMARIES,
)
from data.storage.files import write_parquet
from data.warehouse import Warehouse, opened, update
from tasks.measures import MEASURES

STATISTICS_TABLES = (STATISTICS, SUMMARIES, CORRELATIONS, ENVELOPES)
TABLES = (*RECORD_TABLES, *STATISTICS_TABLES, *(measure.table for measure in MEASURES.values()))
PERSUASION = MEASURES["persuasion"].table
SUSCEPTIBILITY = MEASURES["susceptibility"].table
ENTITY_INDEPENDENT = MEASURES["entity_independent_persuasion"].table
GREEDY = MEASURES["greedy_answers"].table
MEMORIZATION = MEASURES["memorization_ratio"].table
ANSWER_SET = MEASURES["answer_set_susceptibility"].table
FISHER = MEASURES["fisher_susceptibility"].table
PRECISION = MEASURES["precision"].table
ANSWERS = MEASURES["answers"].table
CLUSTERS = MEASURES["clusters"].table
ENTROPY = MEASURES["semantic_entropy"].table
COHERENT = MEASURES["coherent_persuasion"].table
ACCURACY = MEASURES["accuracy"].table
PERSUADED = MEASURES["persuaded"].table


def row(table: Table, **values: Any) -> dict[str, Any]:
    """A row of a table: NULL where it may be, something of the right type elsewhere, and the values given."""
    plain = {"VARCHAR": "x", "DOUBLE": 0.5, "BIGINT": 1, "BOOLEAN": True}
    made = {
        c.name: None if c.nullable else plain.get(c.type, [plain[c.type.removesuffix("[]")]]) for c in table.columns
    }
    assert values.keys() <= made.keys()
    return {**made, **values}


def small_study() -> dict[str, list[dict[str, Any]]]:
    """Two queries under three contexts, and a question under two conditions; scores that are easily averaged."""
    scored = {"relation": "capital", "model": "m", "dtype": "float32"}
    asked = {"relation": "P36", "model": "m", "dtype": "float32", "question_id": "w1"}
    contexts = (("c1", "base", 1.0, 4.0), ("c2", "base", 2.0, 5.0), ("c3", "assertive", 3.0, 6.0))
    return {
        "queries": [
            row(QUERIES, relation="capital", query_id=name, entity=entity, query_type="open", invented=name == "q2")
            for name, entity in (("q1", "Norway"), ("q2", "Orvania"))
        ],
        "contexts": [
            row(CONTEXTS, relation="capital", context_id=name, kind=kind, text=f"{name}\n")
            for name, kind, *_ in contexts
        ],
        "persuasion": [
            row(PERSUASION, **scored, query_id=query, context_id=name, relevant=name == "c1", persuasion=value)
            for name, _, *values in contexts
            for query, value in zip(("q1", "q2"), values, strict=True)
        ],
        "susceptibility": [
            row(SUSCEPTIBILITY, **scored, query_id=query, contexts=3, susceptibility=value)
            for query, value in (("q1", 2.0), ("q2", 5.0))
        ],
        "entity_independent_persuasion": [
            row(ENTITY_INDEPENDENT, **scored, query_type="open", form=1, context_id=name, entities=2,
                entity_independent_persuasion=sum(values) / 2)
            for name, _, *values in contexts
        ],
        "greedy_answers": [
            row(GREEDY, **scored, query_id=query, context_id=name, conflict=conflict, follows=follows)
            for query, name, conflict, follows in (
                ("q1", "c1", "substitution", "context"), ("q1", "c2", None, "original"), ("q1", "c3", None, "other"),
                ("q2", "c1", None, "original"), ("q2", "c2", None, "original"), ("q2", "c3", None, "original"),
            )
        ],
        "memorization_ratio": [
            row(MEMORIZATION, **scored, query_id="q1", original=0, substitute=1, memorization_ratio=0.0,
                negation_original=2, negation_substitute=3, all_original=4, all_substitute=1,
                memorization_ratio_all=0.8),
            row(MEMORIZATION, **scored, query_id="q2", original=0, substitute=0),
        ],
        "answer_set_susceptibility": [
            row(ANSWER_SET, **scored, query_id="q1", contexts=3, answers=7, answer_set_susceptibility=0.5, mass=0.25)
        ],
        "fisher_susceptibility": [
            row(FISHER, **scored, query_id="q1", top_k=10, fisher_top_k=3.0, draws=64, fisher=4.0,
                fisher_standard_error=0.5),
            row(FISHER, **scored, query_id="q2", top_k=10, fisher_top_k=2.0, draws=0),
        ],
        "precision": [
            row(PRECISION, **scored, query_id="q2", reference="float32", susceptibility=5.0,
                susceptibility_reference=5.1, largest_difference=0.3, mean_difference=0.2)
        ],
        "correlations": [
            row(CORRELATIONS, model="m", dtype="float32", measure_a="fisher_top_k", level=level, n=2,
                untestable="too few pairs")
            for level in ("relation", "query")
        ],
        "questions": [row(QUESTIONS, relation="P36", question_id="w1", partition="static", edits=1)],
        "answers": [
            row(ANSWERS, **asked, condition="none", text="Bergen", context_cut=0, stand_in="embedder for entailment"),
            *(
                row(ANSWERS, **asked, condition="none", sample=sample, text=text, context_cut=0, finished=finished)
                for sample, text, finished in (
                    (0, "Oslo", True), (1, "", True), (2, "Oslo and", False), (3, "", True),
                )
            ),
            row(ANSWERS, **asked, condition="original", text="", context_cut=5, finished=False),
            row(ANSWERS, **asked, condition="original", sample=0, text="Oslo", context_cut=5),
        ],
        "semantic_entropy": [
            row(ENTROPY, **asked, condition="none", groups=2, group_sizes=[3, 2], semantic_entropy=1.5,
                semantic_entropy_standard_error=0.25),
        ],
        "coherent_persuasion": [
            row(COHERENT, **asked, condition="original", coherent_persuasion=2.5,
                coherent_persuasion_standard_error=0.75),
        ],
        "accuracy": [
            row(ACCURACY, **asked, condition="none", accurate=False),
            row(ACCURACY, **asked, condition="original", accurate=True),
        ],
        "persuaded": [row(PERSUADED, **asked, condition="original", persuaded=True, stubborn=False)],
        "runs": [
            row(RUNS, relation="capital", model="m", measure=name, file=name, seconds=seconds, forward_passes=passes)
            for name, seconds, passes in (("persuasion", 3.0, 7), ("susceptibility", 0.0, 0))
        ],
    }  # fmt: skip


def table(name: str) -> Table:
    return next(table for table in TABLES if table.name == name)


def stored(folder: Path, study: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[Table, list[Path]]:
    """The rows as Parquet files, one a table."""
    files = {table(name): table(name).of(rows) for name, rows in study.items() if name != "runs"}
    return {of: [write_parquet(folder, of.name, rows, {"table": of.name})] for of, rows in files.items()}


@functools.cache
def _empty_content() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        update(Path(folder) / "empty.duckdb", "empty", TABLES, {})
        return (Path(folder) / "empty.duckdb").read_bytes()


def write_empty(path: Path) -> Path:
    """Writes a database without rows, whose key is "empty": a copy, since its hundreds of comments take a while."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_empty_content())
    return path


@contextmanager
def warehouse_of(folder: Path, study: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[Warehouse]:
    """A study's rows in a database, `study.duckdb` of the folder."""
    path = write_empty(folder / "study.duckdb")
    update(path, "key", TABLES, stored(folder / "files", study), runs=study.get("runs", ()))
    with opened(path, TABLES) as warehouse:
        yield warehouse
