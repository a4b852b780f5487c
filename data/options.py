"""What every section of a study file has in common: a key that it does not know is refused, with the nearest one."""

from collections.abc import Iterable
from typing import Any, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, ModelWrapValidatorHandler, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from data.errors import nearest


class Problem(NamedTuple):
    """What is wrong with one key, and what to do; of a key that the section does not have, only what to do.

    place: the key, and those of the sections around it as far as they are known.
    """

    place: tuple[int | str, ...]
    message: str
    is_unknown: bool = False


class Options(BaseModel):
    """The keys of one section of a study file; the text below a field is its line in docs/study-file.md."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    @model_validator(mode="wrap")
    @classmethod
    def _problems_in_plain_words(cls, content: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(content)
        except ValidationError as error:
            raise refused(problems(error, cls.model_fields)) from None


def problems(error: ValidationError, keys: Iterable[str]) -> list[Problem]:
    """What is wrong with a section that has these keys."""
    return [_problem(line, sorted(keys)) for line in error.errors()]


def refused(problems: Iterable[Problem]) -> ValidationError:
    """The error that a validator raises; the section around it adds its own key to each place."""
    return ValidationError.from_exception_data(
        "study file",
        [
            {"type": PydanticCustomError(_UNKNOWN if is_unknown else "refused", "{message}", {"message": message}),
             "loc": place, "input": None}
            for place, message, is_unknown in problems
        ],
    )  # fmt: skip


def unknown_key(key: str, known: Iterable[str]) -> Problem:
    """The problem of an unknown key, with the nearest of those that exist."""
    return Problem((key,), nearest(key, known), is_unknown=True)


_UNKNOWN = "unknown_key"


def _problem(line: Any, keys: list[str]) -> Problem:
    place, kind = line["loc"], line["type"]
    if kind == "extra_forbidden" and len(place) == 1:
        return unknown_key(str(place[0]), keys)
    if kind == "model_type" and not place:
        return Problem(place, f"expected keys with values; known: {', '.join(keys) or 'none'}")
    return Problem(place, line["msg"].removeprefix("Value error, "), kind == _UNKNOWN)
