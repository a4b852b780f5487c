"""Registries that list other items for the time of a test."""

from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest.mock import patch

from swaymeter.data.named import Registry, T


@contextmanager
def added(registry: Registry[T], item: T) -> Iterator[T]:
    """Add an item for the time of the context."""
    registry.add(item)
    try:
        yield item
    finally:
        del registry[item.name]


def only(registry: Registry[T], names: Collection[str]) -> AbstractContextManager[Any]:
    """List only the items of these names for the time of the context."""
    return patch.dict(registry, {name: item for name, item in registry.items() if name in names}, clear=True)
