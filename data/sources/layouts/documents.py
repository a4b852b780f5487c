"""Objects that stand for passages in a list of contexts, such as documents of LangChain and nodes of LlamaIndex."""

from collections.abc import Mapping
from typing import Any

from swaymeter.data.sources.layouts.description import nested_layouts
from swaymeter.data.sources.layouts.paths import column_of, exists_at, value_at

_METADATA_KEYS = ("title", "source", "date", "score")
"""Keys of an object's metadata that become keys of the passage."""


def as_passage(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an object that stands for a passage under Swaymeter's keys, such as `text`; further keys stay.

    An object with `text`, and an object that no layout describes, are returned unchanged.
    """
    forms = (form for layout in nested_layouts() for form in layout.passages if exists_at(content, form.text))
    if "text" in content or (form := next(forms, None)) is None:
        return content
    metadata = value_at(content, form.metadata)
    values = {key: metadata[key] for key in _METADATA_KEYS if key in metadata} if isinstance(metadata, Mapping) else {}
    rest = {name: value for name, value in content.items() if name not in (column_of(form.text), "id")}
    return {**values, **rest, "text": value_at(content, form.text), "id": value_at(content, form.id)}
