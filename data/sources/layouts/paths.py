"""Paths into nested cells: keys with dots between them, `[0]` for the first item, `[*]` for every item.

`passages[*].url` is the address of every passage. `passages` may also be an object of equally long lists, the form in
which Hugging Face stores lists of objects. `@` stands for an item that is no object.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from swaymeter.data.errors import InputError
from swaymeter.data.sources.own.lists import none_where_empty, texts_in_cell

Cells = Mapping[str, Any]
"""A row of a file, by its columns."""
ITEM = "@"
"""The key of an item that is no object, such as a text in a list of texts."""
_SLOT = re.compile(r"\{([^{}]+)\}")
_PART = re.compile(r"\.?([^.\[\]]+)|\[(\d{1,9}|\*)\]")


@lru_cache(maxsize=1000)
def parts_of_path(path: str) -> tuple[str | int, ...]:
    """Return the keys, indices and `*` of a path; ValueError for a text that is no path."""
    parts: list[str | int] = []
    position = 0
    while part := _PART.match(path, position):
        key, index = part.groups()
        parts.append(key or ("*" if index == "*" else int(index)))
        position = part.end()
    if not parts or position < len(path):
        raise ValueError(
            f"{path!r} is not a path into a row; write keys with dots between them, such as answers[*].text"
        )
    return tuple(parts)


def column_of(path: str) -> str:
    """Return the column that a path begins with."""
    return str(parts_of_path(path)[0])


def value_at(cells: Cells, path: str) -> Any:
    """Return the cell of a column whose name is the path, or else the value at the path; None without a value.

    The value at a path with `[*]` is a list.
    """
    return cells[path] if path in cells else _value(cells, parts_of_path(path))


def _value(value: Any, parts: tuple[str | int, ...]) -> Any:
    for position, part in enumerate(parts):
        if part == "*":
            values = (_value(item, parts[position + 1 :]) for item in items_of(value) or ())
            return [item for item in values if item is not None]
        if isinstance(part, int):
            value = value[part] if isinstance(value, list) and part < len(value) else None
        else:
            value = value.get(part) if isinstance(value, Mapping) else None
    return value


def exists_at(cells: Cells, path: str) -> bool:
    """Return True if the cells have the keys of a path.

    For `[*]`, only the first item of a list is examined; an empty list counts as having the keys.
    """

    def exists(value: Any, parts: tuple[str | int, ...]) -> bool:
        if not parts:
            return True
        if parts[0] == "*":
            items = items_of(value)
            return items is not None and (not items or exists(items[0], parts[1:]))
        if isinstance(parts[0], int):
            return isinstance(value, list) and parts[0] < len(value) and exists(value[parts[0]], parts[1:])
        return isinstance(value, Mapping) and parts[0] in value and exists(value[parts[0]], parts[1:])

    return exists(cells, parts_of_path(path))


def items_of(value: Any) -> list[Any] | None:
    """Return the items of a list, or the rows of an object of equally long lists; None for another value."""
    if isinstance(value, list):
        return value
    if not isinstance(value, Mapping) or not all(isinstance(column, list) for column in value.values()):
        return None
    if len({*map(len, value.values())}) != 1:
        return None
    return [dict(zip(value, row, strict=True)) for row in zip(*value.values(), strict=True)]


def unnest(cells: Cells, path: str) -> Iterator[tuple[str, Cells]]:
    """Yield the location of each item at a path, such as "qas 2", and the cells of its row and item.

    Raises:
        InputError: The path has no list.
    """
    head, _, rest = path.partition("[*]")
    items = items_of(value_at(cells, head))
    if items is None:
        raise InputError(f"{head} is neither a list nor an object of equally long lists")
    for number, item in enumerate(items, 1):
        location = f"{head} {number}"
        item_cells = {**cells, **(item if isinstance(item, Mapping) else {ITEM: item})}
        if not rest:
            yield location, item_cells
            continue
        for inner_location, inner_cells in unnest(item_cells, rest.lstrip(".")):
            yield f"{location}, {inner_location}", inner_cells


def text(cells: Cells, path_or_template: str) -> str:
    """Return the text at a path, or the filled template after `=`. The items of a final `[*]` are joined.

    Raises:
        InputError: The text is missing.
    """
    if path_or_template.startswith("="):
        return _SLOT.sub(lambda slot: text(cells, slot[1]), path_or_template[1:])
    content = none_where_empty(value_at(cells, path_or_template))
    if path_or_template.endswith("[*]") and isinstance(content, list):
        content = "".join(map(str, content))
    if content is None or not str(content).strip():
        raise InputError(f"{path_or_template}: is missing")
    return str(content).strip()


def texts(cells: Cells, path_or_template: str, *, needed: bool = True) -> list[str]:
    """Return the distinct texts of the list at a path.

    The list may be written as one text, such as "a | b". The filled template after `=` is read as such a text.

    Raises:
        InputError: The list cannot be read, or the list has no text and is `needed`.
    """
    try:
        is_template = path_or_template.startswith("=")
        items = texts_in_cell(text(cells, path_or_template) if is_template else value_at(cells, path_or_template))
    except ValueError as error:
        raise InputError(f"{path_or_template}: {error}") from None
    distinct_texts = dict.fromkeys(str(item).strip() for item in items)
    values = [item for item in distinct_texts if item]
    if needed and not values:
        raise InputError(f"{path_or_template}: is missing")
    return values
