"""The limits of one run for one service: its budget, its concurrency, and the pauses that the service requires.

Every try of every thread passes here, retries included, so that the service's settings hold over all of them.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_exponential_jitter

from data.errors import ServiceBudget, ServiceError
from data.sources.http.exchange import TransientError

_BACKOFF = wait_exponential_jitter(multiplier=0.5, max=60, jitter=0.5)


@dataclass(frozen=True)
class Service:
    """A public service and its limits.

    Attributes:
        name: Its name in messages.
        address: Its http or https address.
        max_concurrency: Requests in flight.
        requests_per_minute: Its rate, at even intervals.
        cache_ttl_days: How old a cached response may be.
        timeout_s: Most seconds without data.
        max_requests: Requests that one run may send, every try counted.
        max_minutes: Minutes in which one run may send requests, from the first request on.
        tries: How often one request is sent while its error is transient.
        contact_needed: Whether it requires a contact.
    """

    name: str
    address: str
    max_concurrency: int = 1
    requests_per_minute: float = 60.0
    cache_ttl_days: float = 30.0
    timeout_s: float = 90.0
    max_requests: int = 10_000
    max_minutes: float = 360.0
    tries: int = 4
    contact_needed: bool = True


class Limits:
    """Requests in flight, the budget of requests and minutes, and the pause that a service requires of all threads.

    The minutes run from the first request on. now and sleep: the clock, in seconds; `end` ends the default sleep.
    """

    def __init__(
        self, service: Service, named: str, *, now: Callable[[], float], sleep: Callable[[float], object] | None
    ) -> None:
        self.sent, self.waited_s = 0, 0.0
        self._service, self._named = service, named
        self._places = threading.BoundedSemaphore(service.max_concurrency)
        self._lock = threading.Lock()
        self._woken = threading.Event()
        self._now, self._sleep = now, sleep or self._woken.wait
        self._until: float | None = None
        self._pause_until: float | None = None
        self._ended: ServiceError | None = None

    @contextmanager
    def place(self) -> Iterator[None]:
        """Holds a place in flight for a request, which counts as sent; ServiceBudget when the budget is spent."""
        self._enter()
        try:
            yield
        finally:
            self._places.release()

    def tries(self) -> Retrying:
        """Retries a call while it raises TransientError: as often as the service's settings allow."""
        return Retrying(
            retry=retry_if_exception_type(TransientError),
            stop=self._tried_enough,
            wait=_seconds_to_try_again,
            sleep=self.sleep,
            reraise=True,
        )

    def pause(self, seconds: float) -> None:
        """No thread sends a request for so long."""
        with self._lock:
            self._pause_until = max(self._pause_until or 0.0, self._now() + seconds)

    def sleep(self, seconds: float) -> None:
        """Waits; ServiceBudget at once if the run has less time left, ServiceError if it is ended meanwhile."""
        with self._lock:
            left = None if self._until is None else max(0.0, self._until - self._now())
            if left is not None and seconds > left:
                raise ServiceBudget(
                    f"{self._named} requires a pause of {seconds:.0f} s, and this run has {left:.0f} s left of its "
                    f"{self._service.max_minutes:g} minutes; run again later: responses are cached"
                )
            self.waited_s += seconds
        self._sleep(seconds)
        self._refuse_if_ended()

    def end(self, why: ServiceError) -> None:
        """From now on no request is sent; threads that wait are woken and raise this error."""
        with self._lock:
            self._ended = self._ended or why
        self._woken.set()

    def _refuse_if_ended(self) -> None:
        if self._ended is not None:
            raise type(self._ended)(str(self._ended))  # each thread raises its own: an error holds its traceback

    def _tried_enough(self, state: RetryCallState) -> bool:
        failed = state.outcome.exception() if state.outcome else None
        most, least = (failed.tries, failed.patience) if isinstance(failed, TransientError) else (None, 0)
        tries = self._service.tries
        return state.attempt_number >= max(least, min(most or tries, tries))

    def _enter(self) -> None:
        while True:
            self._places.acquire()
            try:
                seconds = self._seconds_to_wait()
            except BaseException:
                self._places.release()
                raise
            if seconds <= 0:
                return
            self._places.release()
            self.sleep(seconds)

    def _seconds_to_wait(self) -> float:
        with self._lock:
            self._refuse_if_ended()
            now = self._now()
            if self._until is None:
                self._until = now + 60 * self._service.max_minutes
            if now >= self._until:
                raise self._spent(f"{self._service.max_minutes:g} minutes", "max_minutes")
            if self.sent >= self._service.max_requests:
                raise self._spent(f"{self._service.max_requests} requests", "max_requests")
            if self._pause_until is not None and self._pause_until > now:
                return self._pause_until - now
            self.sent += 1
            return 0.0

    def _spent(self, what: str, setting: str) -> ServiceBudget:
        return ServiceBudget(
            f"{self._named}: this run has spent its {what}; responses are cached, so run again to continue, or raise "
            f"`{setting}` of the service in the study file"
        )


def _seconds_to_try_again(state: RetryCallState) -> float:
    failed = state.outcome.exception() if state.outcome else None
    requested = failed.wait_s if isinstance(failed, TransientError) else None
    return max(_BACKOFF(state), requested or 0.0)
