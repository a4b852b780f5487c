"""Prompts are tokenised in a thread of their own while the model is busy with those before them."""

import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

Thing = TypeVar("Thing")
Made = TypeVar("Made")


class MadeAhead(Generic[Thing, Made]):
    """What is made of things that are asked for one after the other: the next one is made while one is used.

    One thread makes all of them, since a tokenizer is not to be shared. An error is raised to whoever asks for the
    thing that it belongs to.
    """

    def __init__(self, make: Callable[[Thing], Made], things: Sequence[Thing]) -> None:
        self._make = make
        self._next = {id(one): following for one, following in itertools.pairwise(things)}
        self._made: dict[int, Future[Made]] = {}
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ahead")

    def take(self, thing: Thing) -> Made:
        """What is made of the thing; the making of the next one has begun."""
        made = self._begun(thing)
        del self._made[id(thing)]
        if id(thing) in self._next:
            self._begun(self._next[id(thing)])
        return made.result()

    def close(self) -> None:
        """Ends the thread; what nobody asked for is dropped."""
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _begun(self, thing: Thing) -> Future[Made]:
        if id(thing) not in self._made:
            self._made[id(thing)] = self._thread.submit(self._make, thing)
        return self._made[id(thing)]
