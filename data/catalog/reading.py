"""The files of the catalog, read: bytes, YAML mappings, CSV rows and their cells.

Whatever breaks the form of its file is refused with an InputError that names the file and the key or line.
"""

import csv
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import yaml

from data.errors import InputError

try:
    from yaml import CSafeLoader as SafeLoader
except ImportError:  # PyYAML built without libyaml: the same, more slowly
    from yaml import SafeLoader  # type: ignore[assignment]

PACKAGE = "data.catalog"
ENTITY_ID = re.compile(r"Q[1-9][0-9]*")
PROPERTY_ID = re.compile(r"P[1-9][0-9]*")


def content(filename: str) -> bytes:
    """The bytes of a catalog file; raises InputError when there is no such file."""
    file = resources.files(PACKAGE) / filename
    if not file.is_file():
        raise InputError(f"the catalog has no file {filename!r}")
    return file.read_bytes()


def digest(filename: str) -> str:
    """The SHA-256 of a catalog file, in hex; raises InputError when there is no such file."""
    return hashlib.sha256(content(filename)).hexdigest()


@cache
def document(filename: str) -> Mapping[str, Any]:
    """The mapping that a YAML file holds; it states its source and licence, and no key twice."""
    try:
        read = yaml.load(_decoded(filename), Loader=_Loader)
    except yaml.YAMLError as error:
        raise InputError(f"{filename}: not YAML ({error})") from error
    if not isinstance(read, dict):
        raise InputError(f"{filename}: the top must be a mapping")
    for key in ("source", "licence"):
        text(filename, key, read.get(key))
    return read


def mapping(filename: str, key: str) -> Mapping[str, Any]:
    """The entries below a key at the top of a YAML file; there is at least one."""
    entries = document(filename).get(key)
    if not isinstance(entries, dict) or not entries:
        raise InputError(f"{filename}: {key} must be a mapping that is not empty")
    return entries


def fields(filename: str, key: str, entry: object, known: Sequence[str]) -> dict[str, Any]:
    """The entry, which is a mapping without keys that nobody knows."""
    if not isinstance(entry, dict):
        raise InputError(f"{filename}: {key} must be a mapping")
    for field in entry:
        if field not in known:
            raise InputError(f"{filename}: {key}.{field} is not a known key; known: {', '.join(known)}")
    return entry


def text(filename: str, key: str, value: object) -> str:
    """The value, which is a text that is not empty."""
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{filename}: {key} must be a text that is not empty, not {value!r}")
    return value


def texts(filename: str, key: str, values: object) -> tuple[str, ...]:
    """The values, which are a list of texts that is not empty."""
    if not isinstance(values, list) or not values:
        raise InputError(f"{filename}: {key} must be a list that is not empty")
    return tuple(text(filename, f"{key}[{place}]", value) for place, value in enumerate(values))


def rows(filename: str, columns: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """The rows of a CSV file below its comments, each with the number of its line."""
    lines = _decoded(filename).splitlines()
    opening = next((place for place, line in enumerate(lines) if not line.startswith("#")), len(lines))
    reader = csv.reader(lines[opening:], strict=True)
    try:
        records = [(opening + reader.line_num, record) for record in reader]
    except csv.Error as error:
        raise InputError(f"{filename}: line {opening + reader.line_num}: {error}") from error
    if not records or records[0][1] != list(columns):
        raise InputError(f"{filename}: line {opening + 1}: the columns must be {','.join(columns)}")
    for line, record in records[1:]:
        if len(record) != len(columns):
            raise InputError(f"{filename}: line {line}: {len(record)} fields, not {len(columns)}")
    return [(line, dict(zip(columns, record, strict=True))) for line, record in records[1:]]


def cell(where: str, row: Mapping[str, str], column: str) -> str:
    """A cell that must not be empty."""
    if not row[column].strip():
        raise InputError(f"{where}: {column} is empty")
    return row[column]


def identifier(where: str, row: Mapping[str, str], column: str, form: re.Pattern[str]) -> str | None:
    """A Wikidata id of that form; None where the cell is empty."""
    if not row[column]:
        return None
    if not form.fullmatch(row[column]):
        raise InputError(f"{where}: {column} is {row[column]!r}, which is not a Wikidata id")
    return row[column]


def number(where: str, row: Mapping[str, str], column: str) -> float | None:
    """A number; None where the cell is empty."""
    if not row[column]:
        return None
    try:
        return float(row[column])
    except ValueError as error:
        raise InputError(f"{where}: {column} is {row[column]!r}, which is not a number") from error


def count(where: str, row: Mapping[str, str], column: str) -> int:
    """A number of things, from 0."""
    if not row[column].isdecimal():
        raise InputError(f"{where}: {column} is {row[column]!r}, which is not a count")
    return int(row[column])


def listed(where: str, row: Mapping[str, str], column: str) -> tuple[str, ...]:
    """The texts of a cell that holds a JSON list; there is at least one."""
    try:
        values = json.loads(row[column])
    except json.JSONDecodeError as error:
        raise InputError(f"{where}: {column} is not JSON ({error})") from error
    if not isinstance(values, list) or not values or not all(isinstance(value, str) for value in values):
        raise InputError(f"{where}: {column} must be a list of texts that is not empty")
    return tuple(values)


def _decoded(filename: str) -> str:
    try:
        return content(filename).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{filename}: not UTF-8 ({error})") from error


class _Loader(SafeLoader):
    """A safe loader that refuses a key which a mapping holds twice, where YAML libraries keep the last one."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in keys:
                raise yaml.MarkedYAMLError(problem=f"the key {key.value!r} is there twice", problem_mark=key.start_mark)
            keys.add(key.value)
        return super().construct_mapping(node, deep)
