"""A JSON file from outside: what is wrong in it is refused, with the file and the key."""

import json
import re
import reprlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from data.errors import InputError

LARGEST_COUNT = 2**63 - 1
"""The largest value of an integer column."""

_HALF_A_SIGN = re.compile("[\ud800-\udfff]")

Value = TypeVar("Value")


class JsonObject(dict[str, Any]):
    """A JSON object; `twice` is a key that it had more than once, of which JSON libraries keep the last one."""

    twice: str | None = None


def read_object(path: Path) -> JsonObject:
    """The object that a JSON file holds; InputError where it does not hold an object."""
    try:
        read = json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=_object)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except RecursionError:
        raise InputError(f"{path} is nested too deeply to be read") from None
    except ValueError as error:
        raise InputError(f"{path} is not JSON in UTF-8: {error}") from None
    return as_object(str(path), read)


def as_object(where: str, value: object) -> JsonObject:
    """The value; InputError where it is not an object or has a key twice."""
    if not isinstance(value, JsonObject):
        raise InputError(f"{where} must be a JSON object, not {reprlib.repr(value)}")
    if value.twice is not None:
        raise InputError(f"{where}: the key {reprlib.repr(value.twice)} occurs twice")
    return value


def texts(where: str, entry: JsonObject, key: str) -> list[str]:
    """The texts of a list."""
    return _list(where, entry, key, _text)


def texts_or_none(where: str, entry: JsonObject, key: str) -> list[str | None] | None:
    """The texts of a list with nulls in it; None where the key does not exist."""
    return _list(where, entry, key, _or_none(_text)) if key in entry else None


def counts_or_none(where: str, entry: JsonObject, key: str) -> list[int | None] | None:
    """The whole numbers from 0 of a list with nulls in it; None where the key does not exist."""
    return _list(where, entry, key, _or_none(_count)) if key in entry else None


def _object(pairs: list[tuple[str, Any]]) -> JsonObject:
    result = JsonObject(pairs)
    if len(result) < len(pairs):
        result.twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
    return result


def _list(where: str, entry: JsonObject, key: str, read: Callable[[str, object], Value]) -> list[Value]:
    if key not in entry:
        raise InputError(f"{where} has no {key}")
    values = entry[key]
    if not isinstance(values, list):
        raise InputError(f"{where}: {key} must be a list, not {reprlib.repr(values)}")
    return [read(f"{where}: {key}[{place}]", value) for place, value in enumerate(values)]


def _or_none(read: Callable[[str, object], Value]) -> Callable[[str, object], Value | None]:
    return lambda where, value: None if value is None else read(where, value)


def _text(where: str, value: object) -> str:
    if not isinstance(value, str):
        raise InputError(f"{where} must be a text, not {reprlib.repr(value)}")
    if _HALF_A_SIGN.search(value):
        raise InputError(f"{where} has a lone surrogate, which is not text: {reprlib.repr(value)}")
    return value


def _count(where: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST_COUNT:
        raise InputError(f"{where} must be a whole number from 0, not {reprlib.repr(value)}")
    return value
