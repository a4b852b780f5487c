"""Reference tables from the code and its YAML files, which site_hooks.py appends to pages of docs/."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from inspect import cleandoc
from pathlib import Path
from typing import Any

import duckdb
import typer.main
import yaml
from pydantic import BaseModel
from typer.cli import get_docs_for_click

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
from swaymeter.flows.cli.main import app
from swaymeter.flows.config.places import STUDIES
from swaymeter.flows.config.prompt import PromptPart
from swaymeter.flows.config.sections import ContextsPart, ExecutionPart, ModelPart, ServiceOptions, ServicesPart
from swaymeter.flows.config.study import StudyFile
from swaymeter.flows.stages.aggregate import schema
from swaymeter.reports.figures import FIGURES
from swaymeter.reports.tables import TABLES
from swaymeter.tasks.frequency import FREQUENCY_SOURCES
from swaymeter.tasks.frequency.source import FrequencyOptions
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.statistics.entropy_classes import EntropyClasses

_PREFIXES = {"http://schema.org/": "schema:", "http://yago-knowledge.org/resource/": "yago:"}
_IMAGES = Path(__file__).with_name("images")


def commands() -> str:
    """Return a section for each command, as Typer documents it."""
    command: Any = typer.main.get_command(app)
    text = get_docs_for_click(obj=command, ctx=command.context_class(command), name="swaymeter")
    return re.sub(r"\[/?bold\]", "`", text[text.index("## ") :])


def gallery() -> str:
    """Return a section for each bundled study: its question, its file and its pictures."""
    return "\n".join(line for file in sorted(STUDIES.glob("*.yaml")) for line in _study(file))


def _study(file: Path) -> Iterator[str]:
    text = file.read_text(encoding="utf-8")
    study = yaml.safe_load(text)
    about = [line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#")]
    yield from (f"\n## {file.stem}", "", f"**{study['asks']}**" if study.get("asks") else "", "")
    yield from (" ".join(about), "", f"[{file.name}](../flows/studies/{file.name})", "")
    for picture in sorted(_IMAGES.glob(f"{file.stem}--*.png")):
        figure = picture.stem.partition("--")[2].replace("-", " ")
        yield from (f"![{file.stem}: {figure}](images/{picture.name})", "")


def relations() -> str:
    """Return the number of relations and a table of them with their texts."""
    entries = list(catalog.relations().values())
    reversed_ = sum(relation.reverse for relation in entries)
    counts = (
        f"{len(entries)} relations: {len(entries) - reversed_} forward, {reversed_} reversed; "
        f"{sum(relation.object_class in LITERAL_CLASSES for relation in entries)} are answered with a literal, "
        f"the others with an entity. {sum(bool(relation.yago) for relation in entries)} have a predicate of YAGO, "
        f"{sum(relation.wikidata is not None for relation in entries)} a property of Wikidata."
    )
    columns = ("relation", "YAGO, Wikidata", "classes", "open queries", "closed queries", "a context of each kind")
    return "\n".join([counts, "", *_table(columns, map(_relation, entries))])


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
    """Return a predicate with prefixes, such as yago:capital or reverse-schema:author."""
    for home, prefix in _PREFIXES.items():
        predicate = predicate.replace(home, prefix)
    return predicate


def _shown(templates: Iterable[str]) -> str:
    return "<br>".join(template.replace("\n", "↵") for template in templates)


def warehouse() -> str:
    """Return every table with its columns, their meaning and unit, and every named query."""
    lines: list[str] = []
    for declared in Schema(schema()).by_name.values():
        key = f" Its key is {', '.join(f'`{name}`' for name in declared.key)}." if declared.key else ""
        lines += [f"## {declared.name}", "", f"A row is {declared.row}.{key}", ""]
        rows = [(f"`{c.name}`", c.type, c.meaning, c.unit, "yes" if c.nullable else "") for c in declared.columns]
        lines += _table(("column", "type", "meaning", "unit", "may be NULL"), rows)
    lines += ["## Views and named queries", ""]
    columns = ("name", "what it returns", "its columns", "view")
    return "\n".join([*lines, *_table(columns, _queries())])


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
            yield f"`{name}`", query.sentence, ", ".join(columns), "yes" if query.is_view else ""


def study_file() -> str:
    """Return every section of a study file with its keys, in the order in which a study is written."""
    return "\n".join(
        [
            *_section(2, "The file", StudyFile),
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
        f"source {name}": entry.options
        for name, entry in sources.items()
        if not issubclass(entry.options, PublishedFile)
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
    """Return a table of the published data sets with their measures, addresses and licences."""
    columns = ("source", "what it measures", "file", "licence", "what becomes of a row")
    return "\n".join(_table(columns, map(_data_set, DATA_SETS)))


def _data_set(source: QuestionSource) -> tuple[str, ...]:
    assert issubclass(source.options, PublishedFile)
    data_set = source.options.data_set
    return (
        f"`{source.name}`: {data_set.title} ({data_set.citation})",
        data_set.measures,
        f"{data_set.file} of {data_set.address}",
        data_set.licence,
        data_set.becomes,
    )


def _section(
    level: int, title: str, model: type[BaseModel], only: Collection[str] | None = None, **instead: Mapping[str, Any]
) -> Iterator[str]:
    yield from (f"{'#' * level} {title}", "", cleandoc(model.__doc__ or ""), "")
    yield from _keys(model, only, **instead)


def _keys(model: type[BaseModel], only: Collection[str] | None = None, **instead: Mapping[str, Any]) -> Iterator[str]:
    """Return the lines of a table of a model's keys; `instead` replaces schemas of its own."""
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
    rows = (
        (f"`{measure.name}`", ", ".join(f"`{need}`" for need in measure.needs), measure.meaning)
        for measure in MEASURES.values()
    )
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
    """Return the default in YAML; "" for a section, whose keys have their own."""
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


def replication_items() -> str:
    """Return every table and figure of the papers with its place on the page and its differences."""
    lines: list[str] = []
    for key, paper in catalog.papers().items():
        cited = f"{', '.join(paper.authors)}: [{paper.title}]({paper.url}). {paper.venue}."
        lines += [f"## {paper.short}", "", cited, ""]
        items = [item for item in catalog.paper_items().values() if item.paper.key == key]
        lines += _table(("item", "what it shows", "on the page", "what differs"), map(_item_row, items))
    return "\n".join(lines)


def _item_row(item: catalog.Item) -> tuple[str, ...]:
    named = [(figure.question, figure.name, figure.items) for figure in FIGURES.values()]
    named += [(table.title, table.name, table.items) for table in TABLES.values()]
    drawn = [f"{title.rstrip('?')} (`{name}`)" for title, name, items in named if item.key in items]
    return item.label, item.shows, "; ".join(drawn) or f"not here: {item.lacks}", item.differs or ""


TABLES_OF_PAGES: dict[str, Callable[[], str]] = {
    "gallery.md": gallery,
    "study-file.md": study_file,
    "commands.md": commands,
    "warehouse.md": warehouse,
    "relations.md": relations,
    "data-sets.md": data_sets,
    "replication-items.md": replication_items,
}
"""Functions that return the tables, by the page that shows them."""
