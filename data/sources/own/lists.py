"""Lists in one cell: in JSON, printed by Python, or as texts with | between them."""

import ast
import json
import math
import re
import warnings
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

_ESCAPE = r"\\(?:[\\'\"abfnrtv0]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U000[0-9a-fA-F]{5})"
_ITEM = re.compile(rf"""\s*('(?:[^'\\\n]|{_ESCAPE})*'|"(?:[^"\\\n]|{_ESCAPE})*")\s*(?:,|$)""")
"""A quoted text in a list printed by Python, with the comma or end after it. Arrays printed by numpy lack commas."""


def none_where_empty(value: Any) -> Any:
    """Return None for a blank text, a mark such as "NULL", or NaN; any other value unchanged."""
    if isinstance(value, str):
        return None if value.strip() in MISSING else value
    return None if isinstance(value, float) and math.isnan(value) else value


def as_text(value: Any) -> str:
    """Return a text unchanged, and any other value as JSON; values that JSON lacks, such as dates, by `str`."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


MISSING = frozenset({"", "NaN", "nan", "NULL", "<NA>", "\\N"})
"""The marks of a missing value in pandas and databases."""


def texts_in_cell(value: Any) -> list[Any]:
    """Return the texts of a cell: a list, a text that spells a list, or texts with | between them.

    The cell may also be an object with a list under `text`, such as in SQuAD.

    Raises:
        ValueError: A text looks like a list and cannot be read.
    """
    if value is None:
        return []
    if isinstance(value, str):
        text = value.strip()
        value = list_in(text)
        if value is None:
            # "[sic]" and "[1] A text" are no lists.
            has_end = "]" in text
            has_several_items = "," in text and text.endswith("]")
            is_broken_list = text.startswith("[") and (has_several_items or not has_end)
            if is_broken_list or text.startswith((*_LIST_BEGINNINGS, "{'", '{"', "array(")):
                raise ValueError(f'{_UNREADABLE}; write texts with | between them, or a JSON list: ["a", "b"]')
            value = [part.strip() for part in text.split("|")]
    elif isinstance(value, Mapping) and isinstance(value.get("text"), list):
        value = value["text"]
    items = value if isinstance(value, list | tuple) else [value]
    return [item for item in items if none_where_empty(item) is not None]


def contexts_in_cell(value: Any) -> list[Any]:
    """Return the contexts of a cell: one text, or a list of texts or objects; ValueError for an unreadable list."""
    if isinstance(value, str):
        items = list_in(value)
        if items is not None and all(isinstance(item, str | dict) for item in items):
            return items
        if value.strip().startswith(_LIST_BEGINNINGS) or _PRINTED_OBJECTS.match(value):
            raise ValueError(f'{_UNREADABLE}; write a JSON list: ["a passage", "another"]')
    return list(value) if isinstance(value, list | tuple) else [value]


_UNREADABLE = "is not a list that can be read"
_LIST_BEGINNINGS = ("['", '["', "[{")
_PRINTED_OBJECTS = re.compile(r"\s*(?:\[\s*\w+\((?:\w+=|['\"])|page_content=['\"])")
"""The beginning of objects printed by Python: `[Document(id='a', ...` or `page_content='...`."""


def printed_objects(text: str) -> list[dict[str, Any]] | None:
    """Return the keyword arguments of objects in a list printed by Python; None for any other text.

    pandas writes a list of LangChain documents to CSV as `[Document(page_content='...'), ...]`. The text is parsed and
    never evaluated: arguments other than literals and calls are left out.
    """
    if not _PRINTED_OBJECTS.match(text):
        return None
    try:
        with warnings.catch_warnings(action="error"):  # a warning means an escape that Python never prints
            calls = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    if not isinstance(calls, ast.List):
        return None
    objects = [_keywords(call) for call in calls.elts]
    return objects if all(objects) else None


def _keywords(call: ast.expr) -> dict[str, Any]:
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
        return {}
    values: dict[str, Any] = {}
    for keyword in call.keywords:
        if nested := _keywords(keyword.value):
            values[str(keyword.arg)] = nested
        else:
            with suppress(ValueError, TypeError, RecursionError):
                values[str(keyword.arg)] = ast.literal_eval(keyword.value)
    return values


def list_in(text: str) -> list[Any] | None:
    """Return the list that a text spells in JSON or Python; None for any other text."""
    text = text.strip()
    if text[:1] + text[-1:] not in ("[]", "()"):
        return None
    try:
        return list(json.loads(text, object_pairs_hook=each_key_once))
    except (ValueError, RecursionError):
        items, position, end = [], 1, len(text) - 1  # between the brackets
        while position < end and (item := _ITEM.match(text, position, end)):
            items.append(ast.literal_eval(item[1]))
            position = item.end()
        return items if items and not text[position:end].strip() else printed_objects(text)


def each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object of these pairs; ValueError for a repeated key."""
    content = dict(pairs)
    if len(content) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise ValueError(f"an object has the key {twice!r} twice; remove one of the two entries")
    return content
