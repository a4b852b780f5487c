"""Prompts are tokenized in a thread of their own while the model reads earlier ones."""

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def computed_ahead(make: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Result, None, None]:
    """The result for each item, in order: the next one is computed while the current one is used.

    One thread computes all of them, since a tokenizer must not be shared. An error is raised in place of its result.
    """
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="ahead") as thread:
        current: Future[Result] | None = None
        for item in items:
            following = thread.submit(make, item)
            if current is not None:
                yield current.result()
            current = following
        if current is not None:
            yield current.result()
