"""Limits of one run for one service: concurrency, number of requests, retries, and required pauses.

Every try of every thread passes here, so that the service's settings hold over all of them.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_exponential_jitter

from swaymeter.data.errors import ServiceBudget, ServiceError
from swaymeter.data.sources.http.answer import TransientError
from swaymeter.data.sources.http.services import Service

LONGEST_PAUSE_S = 3600.0
"""Upper bound on a pause that a run waits for."""
_BACKOFF = wait_exponential_jitter(multiplier=0.5, max=60, jitter=0.5)


class Limits:
    """Limits of the requests to a service.

    Attributes:
        sent: Requests so far, retries included.

    Args:
        named: The service in messages.
        now: The clock, in seconds.
        sleep: Waits for seconds; `end` ends the default one.
    """

    def __init__(
        self, service: Service, named: str, *, now: Callable[[], float], sleep: Callable[[float], object] | None
    ) -> None:
        self.sent = 0
        self._service, self._named = service, named
        self._slots = threading.BoundedSemaphore(service.max_concurrency)
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._now, self._sleep = now, sleep or self._ended.wait
        self._pause_until = 0.0
        self._error: ServiceError | None = None

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Take a slot for one request, which counts as sent.

        Raises:
            ServiceBudget: The run has sent all its requests.
            ServiceError: The session has ended.
        """
        while True:
            with self._slots:
                seconds = self._count_or_pause()
                if seconds <= 0:
                    yield
                    return
            self._wait(seconds)

    def retrying(self) -> Retrying:
        """Return an object that calls a function again while it raises TransientError."""
        return Retrying(
            retry=retry_if_exception_type(TransientError),
            stop=lambda state: state.attempt_number >= (_error(state).tries or self._service.tries),
            wait=lambda state: max(_BACKOFF(state), _error(state).wait_s or 0.0),
            sleep=self._wait,
            reraise=True,
        )

    def pause(self, seconds: float) -> None:
        """Send no request of any thread for some seconds."""
        with self._lock:
            self._pause_until = max(self._pause_until, self._now() + seconds)

    def end(self, error: ServiceError) -> None:
        """Send no more requests; waiting threads wake and raise the error."""
        with self._lock:
            self._error = self._error or error
        self._ended.set()

    def refuse_if_ended(self) -> None:
        """Raise the error that the session has ended with."""
        if self._error is not None:
            raise type(self._error)(str(self._error))  # a new one for each thread: an error holds its traceback

    def _wait(self, seconds: float) -> None:
        if seconds > LONGEST_PAUSE_S:
            raise ServiceBudget(
                f"{self._named} requires a pause of {seconds:.0f} s, longer than the {LONGEST_PAUSE_S:.0f} s that a "
                "run waits; run again later: responses are cached"
            )
        self._sleep(seconds)
        self.refuse_if_ended()

    def _count_or_pause(self) -> float:
        with self._lock:
            self.refuse_if_ended()
            if self.sent >= self._service.max_requests:
                raise ServiceBudget(
                    f"{self._named}: this run has sent its {self._service.max_requests} requests; responses are "
                    "cached, so run again to continue, or raise `max_requests` of the service in the study file"
                )
            seconds = self._pause_until - self._now()
            self.sent += seconds <= 0
            return seconds


def _error(state: RetryCallState) -> TransientError:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, TransientError)
    return error
