"""Rows of `swaymeter list`: names for study files, from the registries and the catalog."""

from collections.abc import Iterator, Mapping, Sequence
from inspect import cleandoc
from typing import Any

from swaymeter.data import catalog
from swaymeter.data.catalog import CatalogModel
from swaymeter.data.errors import ModelError
from swaymeter.data.named import Registry
from swaymeter.data.options import Options
from swaymeter.data.sources.registry import FACT_SOURCES, QUESTION_SOURCES
from swaymeter.data.sources.source import FactsOptions, QuestionsOptions
from swaymeter.tasks.frequency import FREQUENCY_SOURCES
from swaymeter.tasks.frequency.source import FrequencyOptions
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.measure import INPUTS
from swaymeter.tasks.models.files.identity import identify_model, is_downloaded

Row = Mapping[str, str | Sequence[str]]
"""The cells of a row by column. A cell with several values is a list in JSON, and a text with commas in a table."""


def measures() -> Iterator[Row]:
    """Yield every measure with its meaning and its requirements."""
    for measure in MEASURES.values():
        yield {
            "measure": measure.name,
            "meaning": measure.meaning,
            "unit": measure.unit,
            "prompts": INPUTS[measure.about],
            "capability": measure.capability or "",
            "derived_from": measure.needs,
        }


def relations(source: str | None = None) -> Iterator[Row]:
    """Yield the relations of the catalog, or of a source of facts; UnknownName for an unknown source."""
    available = {name: entry.options.available_relations() for name, entry in FACT_SOURCES.items()}
    names = FACT_SOURCES[source].options.available_relations() if source else catalog.relations()
    for relation in map(catalog.relation, names):
        yield {
            "relation": relation.name,
            "from": relation.subject_class,
            "to": relation.object_class,
            "query": relation.open[0].partition("\n")[0].removeprefix("Q: "),
            "sources": [name for name, relations in available.items() if relation.name in relations],
        }


def models() -> Iterator[Row]:
    """Yield every model with a short name in the catalog."""
    for entry in catalog.models().values():
        yield {
            "model": entry.alias,
            "kind": entry.kind.replace("_", " "),
            "place": _location(entry),
            "licence": entry.licence,
        }


def _location(entry: CatalogModel) -> str:
    if entry.hub is not None:
        return f"{'downloaded' if is_downloaded(entry.hub) else 'to be downloaded'} from the hub, {entry.hub}"
    try:
        identify_model(entry.alias, entry.kind)
    except ModelError as error:
        return str(error)
    return "installed"


def sources() -> Iterator[Row]:
    """Yield every source of facts, questions and counts, with its keys in a study file, specific keys first."""
    kinds: list[tuple[str, Registry[Any], type[Options]]] = [
        ("facts", FACT_SOURCES, FactsOptions),
        ("questions", QUESTION_SOURCES, QuestionsOptions),
        ("frequency", FREQUENCY_SOURCES, FrequencyOptions),
    ]
    for section, registry, common_options in kinds:
        for name, source in registry.items():
            specific_keys = [key for key in source.options.model_fields if key not in common_options.model_fields]
            yield {
                "source": name,
                "of": section,
                "description": cleandoc(source.options.__doc__ or ""),
                "keys": [*specific_keys, *(key for key in common_options.model_fields if key != "source")],
            }
