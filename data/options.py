"""Base class of the sections of a study file, and the messages for unknown keys and impossible values."""

import ast
import inspect
import json
import os
import reprlib
from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import Annotated, Any, NamedTuple, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError

from swaymeter.data.errors import nearest
from swaymeter.data.escaping import terminal


class Problem(NamedTuple):
    """A problem of one key.

    Attributes:
        path_of_key: The keys of the sections around the key, the outermost first, and at the end the key.
        message: The problem and its remedy; for an unknown key, the remedy alone.
        is_unknown: True if the section has no such key.
    """

    path_of_key: tuple[int | str, ...]
    message: str
    is_unknown: bool = False


class Options(BaseModel):
    """The keys of one section of a study file; the docstring of a key is its line in the reference of study files."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @model_validator(mode="wrap")
    @classmethod
    def _problems_in_plain_words(cls, content: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(content)
        except ValidationError as error:
            raise validation_error(problems(error, cls)) from None

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = handler(core_schema)
        meanings = _meanings(cls)
        keys = handler.resolve_ref_schema(schema).get("properties", {})
        keys |= {key: {"description": meanings[key]} | keys[key] for key in keys.keys() & meanings.keys()}
        return schema


def _meanings(section: type[BaseModel]) -> dict[str, str]:
    """Return the docstring below each key of a section; a key without a docstring has the base class's docstring."""
    sections = [base for base in reversed(section.__mro__) if issubclass(base, Options)]
    return {key: text for base in sections for key, text in _docstrings(base).items()}


@cache
def _docstrings(section: type) -> dict[str, str]:
    """Return the docstring below each annotated name of a class."""
    try:
        declaration = ast.parse(dedent(inspect.getsource(section))).body[0]
    except (OSError, TypeError):  # a class of `create_model`, whose fields have descriptions
        return {}
    docstrings = {}
    for pair in pairwise(ast.iter_child_nodes(declaration)):
        match pair:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                docstrings[name] = inspect.cleandoc(text)
    return docstrings


def beside_the_study(path: str, info: ValidationInfo, *, is_present: Callable[[Path], bool] = Path.exists) -> str:
    """Put the folder of the study file before a path in the file, because such paths are relative to the folder.

    Paths of a bundled study may also be relative to the current folder. For other studies, a path that exists only in
    the current folder raises ValueError, because a deployment of the study has another current folder.
    """
    context = info.context or {}
    folder = Path(context.get("folder", "."))
    try:
        relative = Path(path).expanduser()
        is_beside, is_in_current_folder = is_present(folder / relative), is_present(relative)
    except (OSError, RuntimeError, ValueError) as error:  # no such home directory, or a name that no file can have
        raise ValueError(f"{path!r} cannot be a path: {error}") from None
    if context.get("is_bundled"):
        return str(folder / relative if is_beside else relative)
    if is_in_current_folder and not is_beside:
        correct = os.path.relpath(relative, folder)
        raise ValueError(
            f"{path!r} is not in the folder of the study file, where relative paths begin; move {path!r} into this "
            f"folder, or write {correct!r} instead"
        )
    return str(folder / relative)


def folder_beside_the_study(name: str, info: ValidationInfo) -> str:
    """Return the absolute path of a model's folder beside the study's file; without such a folder, the name itself."""
    folder = (info.context or {}).get("folder")
    try:
        relative = Path(name).expanduser()
        if folder is None or relative.is_absolute() or not name or not (Path(folder) / relative).is_dir():
            return name
        return str((Path(folder) / relative).absolute())
    except (OSError, RuntimeError, ValueError):  # no home directory; loading the model will refuse the name
        return name


def _printable(text: str) -> str:
    """Return the text; ValueError for a character that cannot be printed, because terminals get the text unchanged."""
    if terminal(text) != text:
        raise ValueError(f"has a character that cannot be printed, in {terminal(text)!r}; leave the character out")
    return text


PrintableText = Annotated[str, AfterValidator(_printable)]
"""A text that terminals and pages show; a character that cannot be printed is refused."""

NamedPath = Annotated[str, AfterValidator(beside_the_study)]
"""The path of a file or folder, from the folder of the study's file."""

ModelName = Annotated[str, AfterValidator(folder_beside_the_study)]
"""The name of a model, or the path of its folder beside the study's file."""


def problems(error: ValidationError, section: type[BaseModel] = Options) -> list[Problem]:
    """Return the problems in pydantic's error about a section."""
    return [_problem(entry, section) for entry in error.errors()]


def validation_error(problems: Iterable[Problem]) -> ValidationError:
    """Return the error that a validator of a section raises; outer sections add their keys to each path."""
    return ValidationError.from_exception_data(
        "study file",
        [
            {
                "type": PydanticCustomError(_UNKNOWN if is_unknown else "refused", "{message}", {"message": message}),
                "loc": path_of_key,
                "input": None,
            }
            for path_of_key, message, is_unknown in problems
        ],
    )


def unknown_key(key: str, keys: Iterable[str]) -> Problem:
    """Return the problem of an unknown key, with the most similar key that exists."""
    return Problem((key,), nearest(key, keys), is_unknown=True)


_UNKNOWN = "unknown_key"
_MESSAGES = {
    "missing": "is missing; add it",
    "invalid_key": "is not a text; write it in quotes",
    "string_unicode": "is not text in UTF-8; write it anew",
    "string_type": "expected a text in quotes, not {input}",
    "string_too_short": "may not be empty",
    "string_too_long": "may have at most {max_length} characters",
    "string_pattern_mismatch": "{input} is not possible. {description}",
    "literal_error": "expected {expected}, not {input}",
    "int_type": "expected a whole number, not {input}",
    "float_type": "expected a number, not {input}",
    "finite_number": "expected a finite number, not {input}",
    "bool_type": "expected true or false, not {input}",
    "tuple_type": "expected a list, such as [a, b], not {input}",
    "dict_type": "expected keys with values, not {input}",
    "too_short": "may not be empty; name at least {min_length}",
    "too_long": "may have at most {max_length} entries, not {actual_length}",
    "greater_than": "must be greater than {gt:,}, not {input}",
    "greater_than_equal": "must be at least {ge:,}, not {input}",
    "less_than": "must be less than {lt:,}, not {input}",
    "less_than_equal": "must be at most {le:,}, not {input}",
}
"""Message for each type of error of pydantic."""
_SAME_MESSAGE = {
    "int_parsing": "int_type",
    "int_parsing_size": "int_type",
    "int_from_float": "int_type",
    "float_parsing": "float_type",
    "bool_parsing": "bool_type",
}
"""Types of errors that have the message of another type."""


def _problem(entry: Any, section: type[BaseModel]) -> Problem:
    path_of_key = tuple(part for part in entry["loc"] if part != "[key]")  # "[key]" marks an error in the key itself
    kind = entry["type"]
    if kind == "extra_forbidden" and len(path_of_key) == 1:
        return unknown_key(str(path_of_key[0]), section.model_fields)
    if kind == "model_type" and not path_of_key:
        keys = ", ".join(sorted(section.model_fields)) or "none"
        return Problem(path_of_key, f"expected keys with values; known keys: {keys}")
    if message := _MESSAGES.get(_SAME_MESSAGE.get(kind, kind)):
        meaning = _meanings(section).get(str(path_of_key[0]), "") if path_of_key else ""
        description = " ".join(meaning.split()) or "Write another text"
        slots = {**entry.get("ctx", {}), "input": _shown(entry["input"]), "description": description.removesuffix(".")}
        return Problem(path_of_key, message.format(**slots))
    return Problem(path_of_key, entry["msg"].removeprefix("Value error, "), kind == _UNKNOWN)


def _shown(value: Any) -> str:
    is_plain = isinstance(value, str | int | float | None)
    text = json.dumps(value, ensure_ascii=False) if is_plain else reprlib.repr(value).replace("'", '"')
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"


_MAX_SHOWN = 60
"""Limit of the characters of a refused value in a message."""
