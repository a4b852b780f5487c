"""The section `measures`: their names, each with its own parameters."""

from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationError

from swaymeter.data.errors import UnknownName
from swaymeter.data.options import Problem, problems, refused
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.measure import Measure


def _validated(measures: Any) -> dict[str, dict[str, Any]]:
    if isinstance(measures, list) and all(isinstance(name, str) for name in measures):
        measures = dict.fromkeys(measures)
    if not isinstance(measures, dict):
        raise ValueError("expected measures with their parameters, such as `persuasion: {}`")
    if not measures:
        raise ValueError("may not be empty; name at least 1")
    validated, wrong = {}, list[Problem]()
    for name, content in measures.items():
        try:
            validated[str(name)] = _parameters(str(name), content)
        except ValidationError as error:
            wrong += [one._replace(place=(str(name), *one.place)) for one in problems(error, {})]
    if wrong:
        raise refused(wrong)
    return validated


def _parameters(name: str, content: Any) -> dict[str, Any]:
    try:
        measure = MEASURES[name]
    except UnknownName as error:
        raise refused([Problem((), str(error))]) from None
    known = measure.parameters.model_fields
    try:
        return dict(measure.parameters.model_validate({} if content is None else content).model_dump())
    except ValidationError as error:
        raise refused(
            one._replace(message=f"is a parameter of {owners}; write it there")
            if one.is_unknown and (owners := _owners(str(one.place[0]), measure))
            else one
            for one in problems(error, known)
        ) from None


def _owners(key: str, measure: Measure) -> str:
    """The needed measures that have that parameter."""
    return ", ".join(need for need in measure.needs if key in MEASURES[need].parameters.model_fields)


Measures = Annotated[dict[str, dict[str, Any]], BeforeValidator(_validated)]
"""The parameters of the named measures, all of them, by name."""
