"""The schema as SQL text, made from the tables and the registry of measures, and the named questions.

No connection is opened here: `data.warehouse` runs what this module says.
"""

import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources

from data.errors import UnknownName
from data.measures import MEASURES
from data.records import tables
from data.records.tables import PROVENANCE, Column, Table

ABOUT = Table("about", "this database", (
    Column("schema_version", "VARCHAR", "digest of the tables and views that it was made with"),
    Column("swaymeter_version", "VARCHAR", "version of the package that made it"),
    Column("content", "VARCHAR", "what it was made from, in the words of whoever made it"),
))  # fmt: skip

MEASURES_TABLE = Table("measures", "a measure", (
    Column("name", "VARCHAR", "the measure's name and that of its table"),
    Column("version", "BIGINT", "the measure's own version"),
    Column("family", "VARCHAR", "the measures that one pass yields together share a family"),
    Column("unit", "VARCHAR", "the unit of its scores"),
    Column("meaning", "VARCHAR", "what it measures"),
))  # fmt: skip

TABLES: tuple[Table, ...] = (
    ABOUT,
    MEASURES_TABLE,
    *(table for table in vars(tables).values() if isinstance(table, Table)),
    *(measure.table for measure in MEASURES.values()),
)

# The tables with a row a prompt (persuasion, greedy_answers, answer_set_persuasion, answers) have none: an index would
# cost more than the table. Each comes from the same pass as one that has a key, so that a study loaded twice over is
# noticed all the same.
PRIMARY_KEYS: Mapping[str, tuple[str, ...]] = {
    "queries": ("query_id",),
    "contexts": ("context_id",),
    "questions": ("question_id",),
    "runs": ("file",),
    "susceptibility": ("model", "dtype", "relation", "query_id"),
    "entity_independent_persuasion": ("model", "dtype", "relation", "query_type", "form", "context_id"),
    "entity_independent_susceptibility": ("model", "dtype", "relation", "query_type", "form"),
    "memorization_ratio": ("model", "dtype", "relation", "query_id"),
    "answer_set_susceptibility": ("model", "dtype", "relation", "query_id"),
    "fisher_susceptibility": ("model", "dtype", "relation", "query_id"),
    "precision": ("model", "dtype", "relation", "query_id"),
    "semantic_entropy": ("model", "dtype", "relation", "question_id", "condition"),
    "coherent_persuasion": ("model", "dtype", "relation", "question_id", "condition"),
    "accuracy": ("model", "dtype", "relation", "question_id", "condition"),
    "persuaded": ("model", "dtype", "relation", "question_id", "condition"),
}

VIEWS = (
    "susceptibility_of_queries",
    "persuasion_by_kind",
    "entity_independent_of_contexts",
    "memorization_of_queries",
    "answer_set_of_queries",
    "fisher_of_queries",
    "degree_of_queries",
    "answers_of_questions",
    "instances",
)


def statements() -> Iterator[str]:
    """What makes an empty database: tables, keys, comments and views, in order."""
    for table in TABLES:
        columns = [f"{quoted(c.name)} {c.type}{'' if c.nullable else ' NOT NULL'}" for c in table.columns]
        if key := table.key or PRIMARY_KEYS.get(table.name):
            columns.append(f"PRIMARY KEY ({', '.join(map(quoted, key))})")
        name = quoted(table.name)
        yield f"CREATE TABLE {name} ({', '.join(columns)})"
        yield f"COMMENT ON TABLE {name} IS {_literal(f'A row is {table.row}.')}"
        for c in table.columns:
            meaning = f"{c.meaning} ({c.unit})" if c.unit else c.meaning
            yield f"COMMENT ON COLUMN {name}.{quoted(c.name)} IS {_literal(meaning)}"
    provenance = ", ".join(["relation", *(c.name for c in PROVENANCE)])
    counts = (
        f"SELECT {_literal(name)} AS measure, {provenance}, count(*) AS stored FROM {quoted(name)} GROUP BY ALL"
        for name in MEASURES
    )
    yield f"CREATE VIEW scored AS {' UNION ALL '.join(counts)}"
    for name in VIEWS:
        yield f"CREATE VIEW {name} AS {question(name)}"
        yield f"COMMENT ON VIEW {name} IS {_literal(_sentence(name))}"


@cache
def questions() -> tuple[str, ...]:
    """The names of all questions that `Warehouse.frame` answers."""
    found = (file.name for file in resources.files("data.warehouse.sql").iterdir())
    return tuple(sorted(name.removesuffix(".sql") for name in found if name.endswith(".sql")))


@cache
def question(name: str) -> str:
    """The SQL of a named question; UnknownName with the nearest one where there is none."""
    if name not in questions():
        raise UnknownName("question", name, questions())
    return resources.files("data.warehouse.sql").joinpath(f"{name}.sql").read_text(encoding="utf-8")


@cache
def schema_version() -> str:
    """A digest of every table, key and view, so that no change to them can be forgotten; 12 hex digits."""
    return hashlib.sha256("\n".join(statements()).encode()).hexdigest()[:12]


def describe() -> str:
    """Every table with its columns, their meaning and unit, and every named question, as Markdown."""
    lines: list[str] = []
    for table in TABLES:
        lines += [f"## {table.name}", "", f"A row is {table.row}.", ""]
        lines += ["| column | type | meaning | unit | may be NULL |", "| --- | --- | --- | --- | --- |"]
        for c in table.columns:
            cells = (f"`{c.name}`", c.type, c.meaning, c.unit, "yes" if c.nullable else "")
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        lines.append("")
    lines += ["## Views and named questions", "", "| name | what it returns | view |", "| --- | --- | --- |"]
    lines += [f"| `{name}` | {_sentence(name)} | {'yes' if name in VIEWS else ''} |" for name in questions()]
    return "\n".join([*lines, ""])


def quoted(name: str) -> str:
    """The name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def _sentence(name: str) -> str:
    return question(name).splitlines()[0].removeprefix("--").strip()


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
