"""What a registry lists while a test runs."""

from collections.abc import Iterator
from contextlib import contextmanager

from data.named import Registry, T


@contextmanager
def added(registry: Registry[T], item: T) -> Iterator[T]:
    """Adds an item for as long as the context lasts."""
    registry.add(item)
    try:
        yield item
    finally:
        del registry[item.name]
