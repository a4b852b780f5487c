"""An ordered registry of what can be chosen by name: measures, sources, figures, comparisons."""

from collections.abc import Iterable
from typing import Protocol, TypeVar

from swaymeter.data.errors import UnknownName


class Named(Protocol):
    """Anything that says its own name."""

    @property
    def name(self) -> str:
        """The name that it is chosen by."""


T = TypeVar("T", bound=Named)


class Registry(dict[str, T]):
    """Items by name, as they are listed; UnknownName calls an item by its `kind` and suggests the nearest one."""

    def __init__(self, kind: str, items: Iterable[T] = ()) -> None:
        super().__init__()
        self.kind = kind
        self.added = set[str]()
        """The names that came later, from outside of the package."""
        for item in items:
            self.add(item)
        self.added.clear()

    def add(self, item: T) -> None:
        """Adds an item at the end; ValueError where its name is taken."""
        if item.name in self:
            raise ValueError(f"{self.kind} {item.name!r} is registered twice; give one of them another name")
        self[item.name] = item
        self.added.add(item.name)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        self.added.discard(name)

    def __missing__(self, name: str) -> T:
        raise UnknownName(self.kind, name, self)
