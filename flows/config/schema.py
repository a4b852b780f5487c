"""JSON schema of study files for editors: pydantic's schema, with the keys of registered sources and measures."""

from functools import reduce
from operator import or_
from typing import Any, Literal

from pydantic import BaseModel, Field, create_model

from swaymeter.data.named import Registry
from swaymeter.data.options import Options
from swaymeter.data.sources.http.services import SERVICES
from swaymeter.data.sources.registry import FACT_SOURCES, QUESTION_SOURCES
from swaymeter.data.sources.source import FactsOptions
from swaymeter.flows.config.sections import ServiceOptions, ServicesPart
from swaymeter.flows.config.study import StudyFile
from swaymeter.tasks.frequency import FREQUENCY_SOURCES
from swaymeter.tasks.measures import MEASURES


def study_schema() -> dict[str, Any]:
    """Return the JSON schema of study files."""
    parameters = {name: (measure.parameters | None, _field(measure.meaning)) for name, measure in MEASURES.items()}
    measures = create_model("Measures", __base__=Options, **parameters)  # type: ignore[call-overload]
    services = {name: (ServiceOptions, _field(service.name)) for name, service in SERVICES.items()}
    study = _with_annotations(
        StudyFile,
        facts=_sources(FACT_SOURCES) | None,
        questions=_sources(QUESTION_SOURCES) | None,
        frequency=_sources(FREQUENCY_SOURCES) | None,
        services=create_model("Services", __base__=ServicesPart, **services),  # type: ignore[call-overload]
        measures=list[Literal[tuple(MEASURES)]] | measures,  # type: ignore[misc]
    )
    schema = study.model_json_schema()
    schema["$defs"]["Services"]["additionalProperties"] = False
    return {"$schema": "http://json-schema.org/draft-07/schema#", **schema}


def _sources(sources: Registry[Any]) -> Any:
    """Return the union of the sources' option models. Only options of the first source may omit the key `source`."""
    first = next(iter(sources))
    return reduce(or_, (_section(source.options, is_default=name == first) for name, source in sources.items()))


def _section(options: type[Options], *, is_default: bool) -> type[BaseModel]:
    section = options
    if issubclass(options, FactsOptions):
        name_type: Any = str if options.names_own_relations else Literal[options.available_relations()]
        section = _with_annotations(options, relations=Literal["all"] | list[name_type])
    if is_default:
        return section
    return _with_annotations(section, source=section.model_fields["source"].annotation, is_required=True)


def _with_annotations(model: type[Any], *, is_required: bool = False, **annotations: Any) -> type[Any]:
    """Return the pydantic model with new annotations of some keys; with `is_required`, the keys have no default."""
    changes = {}
    for name, annotation in annotations.items():
        field = model.model_fields[name]
        default = ... if is_required or field.is_required() else field.default
        changes[name] = (annotation, Field(default, description=field.description))
    return create_model(model.__name__, __base__=model, __doc__=model.__doc__, **changes)  # type: ignore[call-overload,no-any-return]


def _field(description: str) -> Any:
    return Field(None, description=description)
