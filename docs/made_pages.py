"""The pages of the documentation site that are made from the code while it is built (site_hooks.py)."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from inspect import cleandoc
from typing import Any

import duckdb
from pydantic import BaseModel

from docs.made_commands import commands
from docs.made_gallery import gallery
from swaymeter.data import catalog
from swaymeter.data.catalog import LITERAL_CLASSES, Relation
from swaymeter.data.named import Registry
from swaymeter.data.options import Options
from swaymeter.data.sources.http.services import SERVICES
from swaymeter.data.sources.layouts.source import PublishedFile
from swaymeter.data.sources.registry import DATA_SETS, FACT_SOURCES, QUESTION_SOURCES
from swaymeter.data.sources.source import FactsOptions, QuestionsOptions, QuestionSource
from swaymeter.data.warehouse.queries import NAMED_QUERIES
from swaymeter.data.warehouse.schema import Schema
from swaymeter.data.warehouse.warehouse import Warehouse
from swaymeter.flows.steps.aggregate import schema
from swaymeter.flows.study.prompt import PromptPart
from swaymeter.flows.study.sections import ContextsPart, ExecutionPart, ModelPart, ServiceOptions, ServicesPart
from swaymeter.flows.study.study import Study
from swaymeter.reports.figures import FIGURES
from swaymeter.reports.tables import TABLES
from swaymeter.tasks.frequency import FREQUENCY_SOURCES
from swaymeter.tasks.frequency.source import FrequencyOptions
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.statistics.entropy_classes import EntropyClasses

WAREHOUSE_HEAD = """\
# The database

`study.duckdb` in a study's workspace: every table, column and named query. It is a view of the workspace's files
and can be made again from them at any time. Tables with a row a prompt have a column `origin_id` in `<table>_rows`,
which leads to the row's file.

"""
QUERIES_HEAD = """\
A column that a query takes from a table above has the name and the meaning that it has there; what a query counts or
computes, its sentence says. Units stand in brackets. Python asks a query by its name,
`swaymeter.open("workspaces/quickstart").frame("outcomes")`; a view can be asked in [SQL](sql.md), too.
"""

RELATIONS_HEAD = """\
# The relations

What Swaymeter can ask about, and the texts it asks and asserts it with: the catalog's relations in the order of
[data/catalog/relations.yaml](../data/catalog/relations.yaml). A relation is a predicate of YAGO, or a property of
Wikidata, in one direction: a reversed one asks for the subject given the object. `{entity}` is always who is
asked about, `{answer}` what is answered, and the classes are named in that order; ↵ is a line break. `schema:` stands
for `http://schema.org/` and `yago:` for `http://yago-knowledge.org/resource/`; where versions of YAGO name a predicate
differently, the name of the published list of 130 comes first. Why they are as they are:
[decision 0006](decisions/0006-facts-and-relations.md).

"""
DATA_SETS_HEAD = """\
# Published data sets

Data sets of knowledge conflicts are sources of questions. Download a file, name it as it is published (JSON, JSONL,
CSV, TSV or Parquet), and every question is asked alone and with each of its passages, by all measures of questions:

```yaml
questions:
  source: faitheval
  file: faitheval/inconsistent.parquet # or a folder: every file below it that has the form of the data set
  per_partition: 200 # drawn by the study's seed; left out: all
```

Each row becomes a row of own questions ([their form](own-data.md)): passages with their kinds and the answers that
they state, and groups, which are tables and figures by themselves. `passages` makes contexts of several passages of a
question, such as one right and three irrelevant ones; it, `neutral`, `title`, `licence` and `citation` are as in
[study files](study-file.md#questions-a-published-data-set). RGB has up to a hundred passages for a question:
`passages: {sets: [supporting, conflicting, irrelevant]}` asks with the first of each kind.

Nothing is downloaded, and nothing of these data sets comes with Swaymeter: their licences are yours to keep.

A file of another form is refused with the column that is missing and what the file has. A row that cannot be used is
named with its reason at the start of a run, and is in the table `rejected` of the database. A passage that a data set
has several times for a question is asked once. Each data set is described in a YAML file of
`data/sources/layouts/data_sets`.

Where a file does not say what is right, another answer stands in its place:

- FaithEval, counterfactual: what the context states, against what is known. FaithEval's accuracy is
  `follow.supporting`.
- FaithEval, unanswerable: none. `refuse.irrelevant` is what counts there.
- WikiContradict: the first of two answers, of which Wikipedia does not say which is right. Compare `follow.supporting`
  with `follow.conflicting`, and leave `correct.none` aside.

"""

STUDY_FILE_HEAD = """\
# Study files

A study is a YAML file: every key with the values that it takes, its default, and what it means. A key that is not
listed here is refused with the nearest one that is. [flows/studies/](../flows/studies/) holds whole ones, and
`swaymeter init` writes a small one to begin with.

In VS Code, the extension YAML (redhat.vscode-yaml) completes keys, shows their meaning and underlines mistakes by the
schema that `swaymeter schema > swaymeter.schema.json` writes. Name it in the first line of a study file,
`# yaml-language-server: $schema=swaymeter.schema.json`, as `swaymeter init` does where that file is in the same folder.

"""

_PREFIXES = {"http://schema.org/": "schema:", "http://yago-knowledge.org/resource/": "yago:"}


def relations() -> str:
    """How many relations there are, and a table of them with their texts."""
    known = list(catalog.relations().values())
    reversed_ = sum(relation.reverse for relation in known)
    counts = (
        f"{len(known)} relations: {len(known) - reversed_} forward, {reversed_} reversed; "
        f"{sum(relation.object_class in LITERAL_CLASSES for relation in known)} are answered with a literal, the "
        f"others with an entity. {sum(bool(relation.yago) for relation in known)} have a predicate of YAGO, "
        f"{sum(relation.wikidata is not None for relation in known)} a property of Wikidata."
    )
    columns = ("relation", "YAGO, Wikidata", "classes", "open queries", "closed queries", "a context of each kind")
    return RELATIONS_HEAD + "\n".join([counts, "", *_table(columns, map(_relation, known))])


def _relation(relation: Relation) -> list[str]:
    names = [f"`{_shortened(predicate)}`" for predicate in relation.predicates]
    unit = f" in {relation.unit}" if relation.unit else ""
    return [
        f"`{relation.name}`, {'reversed' if relation.reverse else 'forward'}",
        "<br>".join(names + ([relation.wikidata] if relation.wikidata else [])),
        f"{relation.subject_class} → {relation.object_class}{unit}",
        _shown(relation.open),
        _shown(relation.closed),
        _shown(sentences[0] for sentences in relation.contexts.values()),
    ]


def _shortened(predicate: str) -> str:
    """A predicate with prefixes, such as yago:capital or reverse-schema:author."""
    for home, prefix in _PREFIXES.items():
        predicate = predicate.replace(home, prefix)
    return predicate


def _shown(templates: Iterable[str]) -> str:
    return "<br>".join(template.replace("\n", "↵") for template in templates)


def warehouse() -> str:
    """Every table with its columns, their meaning and unit, and every named query."""
    lines: list[str] = []
    for declared in Schema(schema()).by_name.values():
        key = f" Its key is {', '.join(f'`{name}`' for name in declared.key)}." if declared.key else ""
        lines += [f"## {declared.name}", "", f"A row is {declared.row}.{key}", ""]
        rows = [(f"`{c.name}`", c.type, c.meaning, c.unit, "yes" if c.nullable else "") for c in declared.columns]
        lines += _table(("column", "type", "meaning", "unit", "may be NULL"), rows)
    lines += ["## Views and named queries", "", QUERIES_HEAD]
    columns = ("name", "what it returns", "its columns", "view")
    return WAREHOUSE_HEAD + "\n".join([*lines, *_table(columns, _queries())])


def _queries() -> Iterator[tuple[str, ...]]:
    tables = Schema(schema())
    with duckdb.connect() as connection:
        for statement in tables.statements():
            connection.execute(statement)
        empty = Warehouse(connection, tables, views=tables.views)
        for name, query in NAMED_QUERIES.items():
            frame = empty.frame(name)
            units = frame.attrs["units"]
            columns = (f"`{column}` ({units[column]})" if column in units else f"`{column}`" for column in frame)
            yield f"`{name}`", query.sentence, ", ".join(columns), "yes" if query.view else ""


def study_file() -> str:
    """Every section of a study file with its keys, in the order in which a study is written."""
    return STUDY_FILE_HEAD + "\n".join(
        [
            *_section(2, "The file", Study),
            *_sources("facts", FactsOptions, FACT_SOURCES),
            *_section(2, "services", ServicesPart),
            f"Every other key is a service: {', '.join(f'`{name}`' for name in SERVICES)}. Its keys:",
            "",
            *_keys(ServiceOptions),
            *_section(2, "contexts", ContextsPart),
            *_sources("frequency", FrequencyOptions, FREQUENCY_SOURCES),
            *_sources("questions", QuestionsOptions, QUESTION_SOURCES),
            *_section(2, "prompt", PromptPart),
            *_section(2, "models", ModelPart),
            *_section(2, "execution", ExecutionPart),
            *_measures(),
            *_section(2, "entropy_classes", EntropyClasses),
        ]
    )


def _sources(title: str, common: type[Options], sources: Registry[Any]) -> Iterator[str]:
    first = next(iter(sources))
    source = {"enum": list(sources), "default": first, "description": "Where they come from."}
    yield from _section(2, title, common, source=source)
    own_sections = {
        f"source {name}": one.options for name, one in sources.items() if not issubclass(one.options, PublishedFile)
    }
    if len(own_sections) < len(sources):
        own_sections["a published data set"] = PublishedFile
    for name, options in own_sections.items():
        own = [key for key in options.model_fields if key not in common.model_fields]
        yield from _section(3, f"{title}: {name}", options, own)
        for key in own:
            model = options.model_fields[key].annotation
            if isinstance(model, type) and issubclass(model, Options):
                yield from _section(4, f"{title}.{key}", model)


def data_sets() -> str:
    """A table of the published data sets: what each measures, where it is, and what becomes of its rows."""
    columns = ("source", "what it measures", "file", "licence", "what becomes of a row")
    return DATA_SETS_HEAD + "\n".join(_table(columns, map(_data_set, DATA_SETS)))


def _data_set(source: QuestionSource) -> tuple[str, ...]:
    assert issubclass(source.options, PublishedFile)
    data_set = source.options.data_set
    return (
        f"`{source.name}`: {data_set.title} ({data_set.citation})", data_set.measures,
        f"{data_set.file} of {data_set.address}", data_set.licence, data_set.becomes,
    )  # fmt: skip


def _section(
    level: int, title: str, model: type[BaseModel], only: Collection[str] | None = None, **instead: Mapping[str, Any]
) -> Iterator[str]:
    yield from (f"{'#' * level} {title}", "", cleandoc(model.__doc__ or ""), "")
    yield from _keys(model, only, **instead)


def _keys(model: type[BaseModel], only: Collection[str] | None = None, **instead: Mapping[str, Any]) -> Iterator[str]:
    """A table of a model's keys; instead: schemas that take the place of its own."""
    properties = model.model_json_schema().get("properties", {}) | instead
    rows = [
        (f"`{name}`", _values(field), _default(field), str(field.get("description", "")))
        for name, field in properties.items()
        if only is None or name in only
    ]
    if rows:
        yield from _table(("key", "values", "default", "meaning"), rows)


def _measures() -> Iterator[str]:
    yield from ("## measures", "", "A measure that another one needs is computed, too, without being named.", "")
    rows = ((f"`{one.name}`", ", ".join(f"`{need}`" for need in one.needs), one.meaning) for one in MEASURES.values())
    yield from _table(("measure", "needs", "meaning"), rows)
    for name, measure in MEASURES.items():
        if measure.parameters.model_fields:
            yield from _section(3, f"measures: {name}", measure.parameters)


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    columns = tuple(columns)
    yield f"| {' | '.join(columns)} |"
    yield f"|{' --- |' * len(columns)}"
    for row in rows:
        yield "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in row) + " |"
    yield ""


def _default(field: Mapping[str, Any]) -> str:
    """The default in YAML; nothing for a section, whose keys have their own."""
    if "default" not in field:
        return "required"
    is_section = any("$ref" in kind for kind in field.get("anyOf", [field]))
    return "" if is_section or field["default"] in ([], "") else f"`{json.dumps(field['default'])}`"


def _values(field: Mapping[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(map(_values, field["anyOf"]))
    if "$ref" in field:
        return "keys"
    if "enum" in field or "const" in field:
        return ", ".join(f"`{value}`" for value in field.get("enum", [field.get("const")]))
    kind = field.get("type", "any")
    if kind == "array":
        return f"list of {' and '.join(map(_values, field.get('prefixItems') or [field['items']]))}"
    words = {"object": "keys", "string": "text", "boolean": "`true`, `false`"}
    signs = {"exclusiveMinimum": ">", "minimum": "≥", "exclusiveMaximum": "<", "maximum": "≤"}
    limits = ", ".join(f"{sign} {field[name]:,}" for name, sign in signs.items() if name in field)
    return f"{words.get(kind, kind)} {limits}".rstrip()


ITEMS_HEAD = """\
# Tables and figures of the papers

Every table and figure of the papers whose measures these are: where it is drawn, and what differs.
[Replications](replication.md) says which study makes it. On the page each stands under its question. The name behind
that is the name of its files and its anchor, such as `index.html#shares-persuaded-and-stubborn`; a figure's goes on
with the model's name. Made from `data/catalog/papers.yaml` and the lists of figures and tables.
"""


def replication_items() -> str:
    """Every table and figure of the papers: where it is drawn, and what differs."""
    lines = [ITEMS_HEAD]
    for key, paper in catalog.papers().items():
        cited = f"{', '.join(paper.authors)}: [{paper.title}]({paper.url}). {paper.venue}."
        lines += [f"## {paper.short}", "", cited, ""]
        items = [item for item in catalog.paper_items().values() if item.paper.key == key]
        lines += _table(("item", "what it shows", "on the page", "what differs"), map(_item_row, items))
    return "\n".join(lines)


def _item_row(item: catalog.Item) -> tuple[str, ...]:
    named = [(one.question, one.name, one.items) for one in FIGURES.values()]
    named += [(one.title, one.name, one.items) for one in TABLES.values()]
    drawn = [f"{title.rstrip('?')} (`{name}`)" for title, name, items in named if item.key in items]
    return item.label, item.shows, "; ".join(drawn) or f"not here: {item.lacks}", item.differs or ""


MADE: dict[str, Callable[[], str]] = {
    "gallery.md": gallery,
    "study-file.md": study_file,
    "commands.md": commands,
    "warehouse.md": warehouse,
    "relations.md": relations,
    "data-sets.md": data_sets,
    "replication-items.md": replication_items,
}
"""The pages and the functions that write them."""
