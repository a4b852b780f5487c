"""A study small enough to work out every answer by hand."""

from collections.abc import Mapping, Sequence
from typing import Any

from data.measures import MEASURES
from data.sql.schema import TABLES
from data.tables import CONTEXTS, QUERIES, QUESTIONS, RUNS, Table
from data.warehouse import Warehouse

PERSUASION = MEASURES["persuasion"].table
SUSCEPTIBILITY = MEASURES["susceptibility"].table
ANSWERS = MEASURES["answers"].table
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
        "questions": [row(QUESTIONS, relation="P36", question_id="w1", partition="static", edits=1)],
        "answers": [
            row(ANSWERS, **asked, condition="none", text="Bergen", stand_in="embedder for entailment"),
            row(ANSWERS, **asked, condition="none", sample=0, answer_group=0, text="Oslo"),
            row(ANSWERS, **asked, condition="original", text="Oslo"),
        ],
        "semantic_entropy": [row(ENTROPY, **asked, condition="none", groups=2, semantic_entropy=1.5)],
        "coherent_persuasion": [row(COHERENT, **asked, condition="original", coherent_persuasion=2.5)],
        "accuracy": [
            row(ACCURACY, **asked, condition="none", accurate=False),
            row(ACCURACY, **asked, condition="original", accurate=True),
        ],
        "persuaded": [row(PERSUADED, **asked, condition="original", persuaded=True, stubborn=False)],
        "runs": [
            row(RUNS, relation="capital", model="m", measure=name, file=name, seconds=3.0, forward_passes=7)
            for name in ("persuasion", "susceptibility")
        ],
    }  # fmt: skip


def table(name: str) -> Table:
    return next(table for table in TABLES if table.name == name)


def load(warehouse: Warehouse, study: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    for name, rows in study.items():
        warehouse.load_rows(table(name), rows)
