"""Objects that stand for passages in a list of contexts, such as documents of LangChain and nodes of LlamaIndex."""

from collections.abc import Mapping
from typing import Any

from swaymeter.data.sources.layouts.description import nested_layouts
from swaymeter.data.sources.layouts.paths import column_of, exists_at, value_at

_ABOUT = ("title", "source", "date", "score")
"""Keys of an object's metadata that become keys of the passage."""


def as_passage(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an object that stands for a passage, with Swaymeter's keys, such as `text`.

    Further keys stay. An object that has `text` already, or that no layout describes, is returned unchanged.
    """
    forms = (form for layout in nested_layouts() for form in layout.passages if exists_at(content, form.text))
    if "text" in content or (form := next(forms, None)) is None:
        return content
    metadata = value_at(content, form.metadata)
    about = {name: metadata[name] for name in _ABOUT if name in metadata} if isinstance(metadata, Mapping) else {}
    rest = {name: value for name, value in content.items() if name not in (column_of(form.text), "id")}
    return {**about, **rest, "text": value_at(content, form.text), "id": value_at(content, form.id)}
