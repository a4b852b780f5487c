"""The sections `facts`, `questions` and `frequency`, each with the keys of the source that it names."""

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BeforeValidator, SerializeAsAny, ValidationInfo

from swaymeter.data.named import Registry
from swaymeter.data.options import Options, Problem, refused
from swaymeter.data.sources.registry import FACT_SOURCES, QUESTION_SOURCES
from swaymeter.data.sources.source import FactsOptions, QuestionsOptions
from swaymeter.tasks.frequency import FREQUENCY_SOURCES
from swaymeter.tasks.frequency.source import FrequencyOptions


def _branch(sources: Registry[Any]) -> Callable[[Any, ValidationInfo], Any]:
    """Validates a section with the options model of the source that it names."""

    def validate(content: Any, info: ValidationInfo) -> Any:
        if content is None or isinstance(content, Options):
            return content
        if not isinstance(content, dict):
            raise ValueError("expected keys with values, such as source")
        name = str(content.get("source", next(iter(sources))))
        if name not in sources:
            known = ", ".join(sources)
            raise refused([Problem(("source",), f"no {sources.kind} is named {name!r}; choose one of {known}")])
        options = sources[name].options
        owners = {key: owner for owner, source in reversed(sources.items()) for key in source.options.model_fields}
        if foreign := [key for key in content if key in owners and key not in options.model_fields]:
            raise refused(
                Problem((key,), f"is a key of source {owners[key]}, not of {name}; leave it out") for key in foreign
            )
        return options.model_validate(content, context=info.context)

    return validate


Facts = Annotated[SerializeAsAny[FactsOptions], BeforeValidator(_branch(FACT_SOURCES))]
Questions = Annotated[SerializeAsAny[QuestionsOptions], BeforeValidator(_branch(QUESTION_SOURCES))]
Frequency = Annotated[SerializeAsAny[FrequencyOptions], BeforeValidator(_branch(FREQUENCY_SOURCES))]
