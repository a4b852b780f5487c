"""The reference of study files: every key with its values, default and meaning, as Markdown made from the models."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from inspect import cleandoc
from typing import Any

from pydantic import BaseModel

from data.named import Registry
from data.options import Options
from data.sources.http.services import SERVICES
from data.sources.registry import FACT_SOURCES, QUESTION_SOURCES
from data.sources.source import FactsOptions, QuestionsOptions
from flows.study.services import ServiceOptions, ServicesPart
from flows.study.study import ContextsPart, ModelPart, Study
from tasks.measures import MEASURES


def describe() -> str:
    """Every section of a study file with its keys, in the order in which a study is written."""
    return "\n".join(
        [
            *_section(2, "The file", Study),
            *_sources("facts", FactsOptions, FACT_SOURCES),
            *_section(2, "services", ServicesPart),
            f"Every other key is a service: {', '.join(f'`{name}`' for name in SERVICES)}. Its keys:",
            "",
            *_keys(ServiceOptions),
            *_section(2, "contexts", ContextsPart),
            *_sources("questions", QuestionsOptions, QUESTION_SOURCES),
            *_section(2, "models", ModelPart),
            *_measures(),
        ]
    )


def _sources(title: str, common: type[Options], sources: Registry[Any]) -> Iterator[str]:
    first = next(iter(sources))
    source = {"enum": list(sources), "default": first, "description": "Where they come from."}
    yield from _section(2, title, common, source=source)
    for name, one in sources.items():
        own = [key for key in one.options.model_fields if key not in common.model_fields]
        yield from _section(3, f"{title}: source {name}", one.options, own)
        for key in own:
            model = one.options.model_fields[key].annotation
            if isinstance(model, type) and issubclass(model, Options):
                yield from _section(4, f"{title}.{key}", model)


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
    """The values that a field takes, in words."""
    if "anyOf" in field:
        return " or ".join(map(_values, field["anyOf"]))
    if "$ref" in field:
        return "keys"
    if "enum" in field or "const" in field:
        return ", ".join(f"`{value}`" for value in field.get("enum", [field.get("const")]))
    kind = field.get("type", "any")
    if kind == "array":
        return f"list of {_values(field['items'])}"
    words = {"object": "keys", "string": "text", "boolean": "`true`, `false`"}
    signs = {"exclusiveMinimum": ">", "minimum": "≥", "exclusiveMaximum": "<", "maximum": "≤"}
    limits = ", ".join(f"{sign} {field[name]:,}" for name, sign in signs.items() if name in field)
    return f"{words.get(kind, kind)} {limits}".rstrip()
