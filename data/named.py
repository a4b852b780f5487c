"""An ordered registry of named items, such as measures, sources, statistics and figures."""

from collections.abc import Iterable
from typing import Protocol, TypeVar

from swaymeter.data.errors import UnknownName


class NamedItem(Protocol):
    """An item with a name."""

    @property
    def name(self) -> str:
        """The name by which a study chooses the item."""


T = TypeVar("T", bound=NamedItem)


class Registry(dict[str, T]):
    """Items by name, in order of addition; an unknown name raises UnknownName with the `kind` and a similar name."""

    def __init__(self, kind: str, items: Iterable[T] = ()) -> None:
        super().__init__()
        self.kind = kind
        self.added = set[str]()
        """The names of items that extensions add later."""
        for item in items:
            self.add(item)
        self.added.clear()

    def add(self, item: T) -> None:
        """Add an item at the end; ValueError if its name is taken."""
        if item.name in self:
            raise ValueError(f"{self.kind} {item.name!r} is registered twice; give the second {self.kind} another name")
        self[item.name] = item
        self.added.add(item.name)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        self.added.discard(name)

    def __missing__(self, name: str) -> T:
        raise UnknownName(self.kind, name, self)
