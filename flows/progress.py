"""Who is told how far the work is: nobody, unless the command line asks."""

from typing import Protocol

from tasks.measurement.chunks import Spent


class Watcher(Protocol):
    """Something that shows how far the work is."""

    def begin(self, stage: str, total: int) -> None:
        """A stage of `total` pieces of work begins."""

    def within(self, name: str, done: int, total: int) -> None:
        """So many chunks of a piece of work are done."""

    def spent(self, name: str, spent: Spent) -> None:
        """So much was spent on a piece of work."""

    def finished(self, name: str, failed: str | None) -> None:
        """A piece of work is done, or failed for a reason."""


class _Nobody:
    def begin(self, stage: str, total: int) -> None:
        pass

    def within(self, name: str, done: int, total: int) -> None:
        pass

    def spent(self, name: str, spent: Spent) -> None:
        pass

    def finished(self, name: str, failed: str | None) -> None:
        pass


_watcher: Watcher = _Nobody()


def watch(watcher: Watcher) -> None:
    """From now on this one is told."""
    global _watcher
    _watcher = watcher


def watcher() -> Watcher:
    """Who is told."""
    return _watcher
