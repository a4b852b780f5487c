"""Prompts are tokenized in a thread of their own while the model reads earlier ones."""

import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Prefetch(Generic[Item, Result]):
    """Results for items that are taken in order: the next one is computed while the current one is used.

    One thread computes all of them, since a tokenizer must not be shared. An error is raised when its item is taken.
    """

    def __init__(self, make: Callable[[Item], Result], items: Sequence[Item]) -> None:
        self._make = make
        self._next = {id(first): following for first, following in itertools.pairwise(items)}
        self._futures: dict[int, Future[Result]] = {}
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ahead")

    def take(self, item: Item) -> Result:
        """The item's result; starts the computation of the next one."""
        future = self._started(item)
        del self._futures[id(item)]
        if id(item) in self._next:
            self._started(self._next[id(item)])
        return future.result()

    def close(self) -> None:
        """Ends the thread; results that were not taken are discarded."""
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _started(self, item: Item) -> Future[Result]:
        if id(item) not in self._futures:
            self._futures[id(item)] = self._thread.submit(self._make, item)
        return self._futures[id(item)]
