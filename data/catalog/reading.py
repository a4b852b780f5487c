"""Readers of the catalog's YAML and CSV files; dataclasses check the entries and rows.

A malformed file is refused with an InputError that names the file and the key or line.
"""

import csv
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from swaymeter.data.digests import sha256, sha256_of_json
from swaymeter.data.errors import InputError
from swaymeter.data.untrusted import UniqueKeyLoader, untrusted_yaml

ENTRY = ConfigDict(extra="forbid", allow_inf_nan=False, defer_build=True)
"""Configuration of the dataclass of every entry: unknown keys, NaN and infinite numbers are refused."""

Text = Annotated[str, Field(pattern=r"\S")]
Texts = Annotated[tuple[Text, ...], Field(min_length=1)]
EntityId = Annotated[str, Field(pattern=r"^Q[1-9][0-9]*$")]
PropertyId = Annotated[str, Field(pattern=r"^P[1-9][0-9]*$")]
Name = Annotated[str, Field(pattern="^[A-Za-z][A-Za-z0-9]{0,63}$")]
# An IRI has no character that SPARQL forbids between < and >, so that a query can contain the IRI unchanged.
Iri = Annotated[str, Field(pattern=r"^https?://[^\x00-\x20\x7f<>\"{}|^`\\]+$")]
_MESSAGES = {
    r"\S": "may not be empty",
    "^Q": "must be an item of Wikidata, such as Q20",
    "^P": "must be a property of Wikidata, such as P36",
    "^[A-Za-z]": "must have 1 to 64 letters and digits, and begin with a letter",
    "^https?": "must be an IRI, such as http://schema.org/capital",
}
"""Messages for values that do not match a pattern, by the beginning of the pattern."""

Entry = TypeVar("Entry")


def content(filename: str) -> bytes:
    """Return the bytes of a catalog file; InputError for a missing file."""
    file = resources.files("swaymeter.data.catalog") / filename
    if not file.is_file():
        raise InputError(f"the catalog has no file {filename!r}")
    return file.read_bytes()


def digest(filename: str) -> str:
    """Return the SHA-256 (hex) of a catalog file; InputError for a missing file."""
    return sha256(content(filename))


def digest_of(values: Any) -> str:
    """Return the SHA-256 (hex) of a part of a file's content, such as an entry."""
    return sha256_of_json(values, ensure_ascii=False, sort_keys=True)


@cache
def document(filename: str, user_bytes: bytes | None = None) -> Mapping[str, Any]:
    """Return the mapping in a YAML file; InputError if it lacks the key `source` or `licence`, or has a key twice.

    Args:
        filename: the name of the file.
        user_bytes: the bytes of a user's file; None for a file of the catalog.
    """
    try:
        text = _text(filename, user_bytes)
        loaded = yaml.load(text, Loader=UniqueKeyLoader) if user_bytes is None else untrusted_yaml(text)
    except yaml.YAMLError as error:
        raise InputError(f"{filename} is not valid YAML ({' '.join(str(error).split())}); correct the file") from error
    if not isinstance(loaded, dict):
        raise InputError(f"{filename}: the file must be a YAML mapping, such as `licence: CC0`")
    for key in ("source", "licence"):
        validated(f"{filename}: {key}", Text, loaded.get(key))
    return loaded


def mapping(filename: str, key: str, user_bytes: bytes | None = None) -> Mapping[str, Any]:
    """Return the mapping below a top-level key of a YAML file; InputError for a missing or empty mapping."""
    content_of_key = document(filename, user_bytes).get(key)
    if not isinstance(content_of_key, dict) or not content_of_key:
        raise InputError(f"{filename}: the key `{key}` must contain entries, each a key with a value")
    return content_of_key


def entries(
    filename: str, key: str, entry_class: type[Entry], name_field: str, user_bytes: bytes | None = None
) -> Mapping[str, Entry]:
    """Return the entries below a key of a YAML file, by name.

    Args:
        filename: the name of the file, such as models.yaml.
        key: the key whose mapping has the entries, such as aliases.
        entry_class: the dataclass of an entry.
        name_field: the field of this dataclass that gets the name of the entry.
        user_bytes: the bytes of a user's file; None for a file of the catalog.
    """
    by_name = {}
    for name, entry in mapping(filename, key, user_bytes).items():
        with_name = {**entry, name_field: name} if isinstance(entry, dict) else entry
        by_name[name] = validated(f"{filename}: {key}.{name}.", entry_class, with_name)
    return MappingProxyType(by_name)


def rows(filename: str, row_class: type[Entry]) -> tuple[Entry, ...]:
    """Return the rows of a CSV file below its comments; an empty cell gets the default of its field.

    Args:
        filename: the name of the file.
        row_class: the dataclass of a row, with a field for each column.
    """
    columns = [field.name for field in fields(row_class)]  # type: ignore[arg-type]  # a dataclass
    lines = _text(filename).splitlines()
    n_comments = next((index for index, line in enumerate(lines) if not line.startswith("#")), len(lines))
    reader = csv.reader(lines[n_comments:], strict=True)
    try:
        records = [(n_comments + reader.line_num, record) for record in reader]
    except csv.Error as error:
        raise InputError(f"{filename}: line {n_comments + reader.line_num}: is not CSV: {error}") from error
    if not records or records[0][1] != columns:
        raise InputError(f"{filename}: line {n_comments + 1}: the columns must be {','.join(columns)}")
    entries_of_rows = []
    for line, record in records[1:]:
        if len(record) != len(columns):
            raise InputError(
                f"{filename}: line {line}: has {len(record)} cells, but the header has {len(columns)} cells"
            )
        cells = {column: cell for column, cell in zip(columns, record, strict=True) if cell}
        entries_of_rows.append(validated(f"{filename}: line {line}: ", row_class, cells))
    return tuple(entries_of_rows)


def validated(location: str, expected_type: Any, value: object) -> Any:
    """Return the value as the expected type; InputError with `location` ("models.yaml: ") and the wrong key."""
    try:
        return _adapter(expected_type).validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
        path = f"{location}{key.removeprefix('.')}".rstrip(".: ")
        wrong_value = f" (the value is {first['input']!r})" if isinstance(first["input"], str | int | float) else ""
        pattern = str(first.get("ctx", {}).get("pattern", ""))
        messages = (message for beginning, message in _MESSAGES.items() if pattern.startswith(beginning))
        problem = next(messages, first["msg"])
        raise InputError(f"{path}: {problem.removeprefix('Value error, ')}{wrong_value}") from None


@cache
def _adapter(expected_type: Any) -> TypeAdapter[Any]:
    return TypeAdapter(expected_type)


def _text(filename: str, user_bytes: bytes | None = None) -> str:
    try:
        return (content(filename) if user_bytes is None else user_bytes).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{filename} is not UTF-8 ({error}); save it as UTF-8") from error
