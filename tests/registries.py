"""Registries that list other items for the time of a test."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from swaymeter.data.named import Registry, T


@contextmanager
def added(registry: Registry[T], item: T) -> Iterator[T]:
    """Add an item for the time of the context."""
    registry.add(item)
    try:
        yield item
    finally:
        del registry[item.name]


@contextmanager
def only(registry: Registry[T], names: Collection[str]) -> Iterator[None]:
    """List only the items of these names for the time of the context."""
    items = dict(registry)
    for name in items.keys() - {*names}:
        del registry[name]
    try:
        yield
    finally:
        registry.clear()
        registry.update(items)
