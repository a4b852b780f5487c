"""Catalog files that a test writes itself, in place of the bundled ones."""

from collections.abc import Callable, Iterator

import pytest

from data import catalog
from data.catalog import reading
from data.catalog.prompt_file import dispute_prompt

Serve = Callable[[str, str | bytes], None]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Serves one catalog file with another content, and forgets what was read before and after."""
    bundled = reading.content

    def forget() -> None:
        for cached in (
            catalog.relations, catalog.facts, catalog.invented_entities, catalog.questions,
            catalog.prompts, catalog.models, dispute_prompt, reading.document,
        ):  # fmt: skip
            cached.cache_clear()

    def instead(filename: str, content: str | bytes) -> None:
        served = content.encode("utf-8") if isinstance(content, str) else content
        monkeypatch.setattr(reading, "content", lambda name: served if name == filename else bundled(name))
        forget()

    yield instead
    monkeypatch.undo()
    forget()
