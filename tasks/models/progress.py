"""Progress within a call of a model: engines report prompts to the listener of their thread, if there is one."""

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


@contextmanager
def reporting(prompts: float, reports: float) -> Iterator[None]:
    """Scale the reports within the block, so that the listener receives `prompts` prompts in all.

    For example, a block that reports 30 pairs of texts counts as 10 prompts, if `prompts` is 10 and `reports` 30.

    Args:
        prompts: The sum that the listener receives.
        reports: The expected sum of the reports. If their sum is smaller, the end of the block reports the rest.
    """
    listener, sent = _listener.get(), 0.0
    if listener is None:
        yield
        return

    def send(count: float) -> None:
        nonlocal sent
        part = min(count * prompts / reports, prompts - sent) if reports else 0.0
        sent += part
        listener(part)

    with listening(send):
        yield
    listener(prompts - sent)


def report_prompts(count: float = 1) -> None:
    """Report prompts that were read or answered; a part of a prompt counts as a fraction."""
    if (listener := _listener.get()) is not None:
        listener(count)
