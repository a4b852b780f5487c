"""What a registry lists while a test runs."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from swaymeter.data.named import Registry, T


@contextmanager
def added(registry: Registry[T], item: T) -> Iterator[T]:
    """Adds an item for as long as the context lasts."""
    registry.add(item)
    try:
        yield item
    finally:
        del registry[item.name]


@contextmanager
def only(registry: Registry[T], names: Collection[str]) -> Iterator[None]:
    """Lists only the items of these names for as long as the context lasts."""
    every = dict(registry)
    for name in every.keys() - {*names}:
        del registry[name]
    try:
        yield
    finally:
        registry.clear()
        registry.update(every)
