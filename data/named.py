"""An ordered registry of what can be chosen by name: measures, sources, figures, comparisons."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol, TypeVar, overload

from data.errors import UnknownName


class Named(Protocol):
    """Anything that says its own name."""

    @property
    def name(self) -> str:
        """The name that it is chosen by."""


T = TypeVar("T", bound=Named)
D = TypeVar("D")


class Registry(Mapping[str, T]):
    """Items by name, in the order in which they are listed.

    Attributes:
        kind: what an item is, in error messages, such as "measure".
    """

    def __init__(self, kind: str, items: Iterable[T] = ()) -> None:
        """The registry of some items; ValueError where two have the same name."""
        self.kind = kind
        self._items: dict[str, T] = {}
        for item in items:
            self.add(item)

    def add(self, item: T) -> None:
        """Adds an item at the end; ValueError where its name is taken."""
        if item.name in self._items:
            raise ValueError(f"{self.kind} {item.name!r} is registered twice; give one of them another name")
        self._items[item.name] = item

    @contextmanager
    def added(self, item: T) -> Iterator[T]:
        """Adds an item for as long as the context lasts."""
        self.add(item)
        try:
            yield item
        finally:
            del self._items[item.name]

    def __getitem__(self, name: str) -> T:
        """The item of that name; UnknownName suggests the nearest one."""
        if name not in self._items:
            raise UnknownName(self.kind, name, self._items)
        return self._items[name]

    def __contains__(self, name: object) -> bool:
        return name in self._items

    @overload
    def get(self, name: str, default: None = None, /) -> T | None: ...

    @overload
    def get(self, name: str, default: D, /) -> T | D: ...

    def get(self, name: str, default: object = None, /) -> object:
        """The item of that name, or the default."""
        return self._items.get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)
