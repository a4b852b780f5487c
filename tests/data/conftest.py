"""Catalog files that a test writes or changes itself, in place of the bundled ones."""

import sys
from collections.abc import Callable, Iterator

import pytest

from swaymeter.data.catalog import reading

Serve = Callable[[str, str | bytes], None]
Change = Callable[[str, str, str], None]


def _forget() -> None:
    for name, module in list(sys.modules.items()):
        for value in vars(module).values() if name.startswith("swaymeter.data.catalog") else ():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Serves one catalog file with another content, and forgets what was read before and after."""
    bundled = reading.content

    def instead(filename: str, content: str | bytes) -> None:
        served = content.encode() if isinstance(content, str) else content
        monkeypatch.setattr(reading, "content", lambda name: served if name == filename else bundled(name))
        _forget()

    yield instead
    monkeypatch.undo()
    _forget()


@pytest.fixture
def change(serve: Serve) -> Change:
    """Changes the first occurrence of a text in a catalog file."""
    bundled = reading.content

    def changed(filename: str, old: str, new: str) -> None:
        text = bundled(filename).decode()
        assert old in text
        serve(filename, text.replace(old, new, 1))

    return changed
