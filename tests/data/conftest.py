"""Fixtures that replace or change the content of a catalog file."""

import sys
from collections.abc import Callable, Iterator

import pytest

from swaymeter.data.catalog import reading

SetFile = Callable[[str, str | bytes], None]
Change = Callable[[str, str, str], None]


def _clear_caches() -> None:
    for name, module in list(sys.modules.items()):
        for value in vars(module).values() if name.startswith("swaymeter.data.catalog") else ():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


@pytest.fixture
def set_file(monkeypatch: pytest.MonkeyPatch) -> Iterator[SetFile]:
    """Yield a function that sets the content of one catalog file at a time."""
    bundled = reading.content

    def replace(filename: str, content: str | bytes) -> None:
        replacement = content.encode() if isinstance(content, str) else content
        monkeypatch.setattr(reading, "content", lambda name: replacement if name == filename else bundled(name))
        _clear_caches()

    yield replace
    monkeypatch.undo()
    _clear_caches()


@pytest.fixture
def change(set_file: SetFile) -> Change:
    """Return a function that replaces the first occurrence of a text in a catalog file."""
    bundled = reading.content

    def replace_first(filename: str, old: str, new: str) -> None:
        text = bundled(filename).decode()
        assert old in text
        set_file(filename, text.replace(old, new, 1))

    return replace_first
