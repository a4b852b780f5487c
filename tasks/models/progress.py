"""Progress within a call of a model: engines report prompts, and the caller may receive the reports.

The listener belongs to the calling thread, so models that are used side by side do not mix their reports.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[float], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call the listener with the number of prompts of every report within the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def report_prompts(count: float = 1) -> None:
    """Report prompts that were read or answered; a part of a prompt counts as a fraction."""
    if (listener := _listener.get()) is not None:
        listener(count)
