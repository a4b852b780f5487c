"""The limits of one run for one service: its budget, its concurrency, and the pauses that the service requires.

Every try of every thread passes here, retries included, so that the service's settings hold over all of them.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf

from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_exponential_jitter

from swaymeter.data.errors import ServiceBudget, ServiceError
from swaymeter.data.sources.http.answer import TransientError
from swaymeter.data.sources.http.services import Service

_BACKOFF = wait_exponential_jitter(multiplier=0.5, max=60, jitter=0.5)


class Limits:
    """Requests in flight, the budget of requests and minutes, and the pause that a service requires of all threads.

    sent: requests so far, every try counted; repeated: those that a cached response answered again. now and sleep: the
    clock, in seconds; `end` ends the default sleep.
    """

    def __init__(
        self, service: Service, named: str, *, now: Callable[[], float], sleep: Callable[[float], object] | None
    ) -> None:
        self.sent = self.repeated = 0
        self._service, self._named = service, named
        self._places = threading.BoundedSemaphore(service.max_concurrency)
        self._lock = threading.Lock()
        self._woken = threading.Event()
        self._now, self._sleep = now, sleep or self._woken.wait
        self._until, self._pause_until = inf, 0.0
        self._ended: ServiceError | None = None

    @contextmanager
    def place(self) -> Iterator[None]:
        """Holds a place in flight for a request, which counts as sent; ServiceBudget when the budget is spent."""
        while True:
            with self._places:
                seconds = self._seconds_to_wait()
                if seconds <= 0:
                    yield
                    return
            self.sleep(seconds)

    def tries(self) -> Retrying:
        """Retries a call while it raises TransientError: as often as the service's settings allow."""
        return Retrying(
            retry=retry_if_exception_type(TransientError),
            stop=self._tried_enough,
            wait=lambda state: max(_BACKOFF(state), _failure(state).wait_s or 0.0),
            sleep=self.sleep,
            reraise=True,
        )

    def repeat(self) -> None:
        """Counts a request that this run has made before and a cached response answers; ServiceBudget as in `place`.

        What a run asks for the first time is free where it is cached, so that it can go on where another one ended. A
        walk through pages that does not advance ends here.
        """
        with self._lock:
            self._refuse_if_spent()
            self.repeated += 1

    def pause(self, seconds: float) -> None:
        """No thread sends a request for so long."""
        with self._lock:
            self._pause_until = max(self._pause_until, self._now() + seconds)

    def sleep(self, seconds: float) -> None:
        """Waits; ServiceBudget at once if the run has less time left, ServiceError if it is ended meanwhile."""
        with self._lock:
            left = max(0.0, self._until - self._now())
            if seconds > left:
                raise ServiceBudget(
                    f"{self._named} requires a pause of {seconds:.0f} s, and this run has {left:.0f} s left of its "
                    f"{self._service.max_minutes:g} minutes; run again later: responses are cached"
                )
        self._sleep(seconds)
        self.refuse_if_ended()

    def end(self, why: ServiceError) -> None:
        """From now on no request is sent; threads that wait are woken and raise this error."""
        with self._lock:
            self._ended = self._ended or why
        self._woken.set()

    def refuse_if_ended(self) -> None:
        """Raises the error that the session was ended with."""
        if self._ended is not None:
            raise type(self._ended)(str(self._ended))  # each thread raises its own: an error holds its traceback

    def _tried_enough(self, state: RetryCallState) -> bool:
        failed, tries = _failure(state), self._service.tries
        return state.attempt_number >= max(failed.patience, min(failed.tries or tries, tries))

    def _seconds_to_wait(self) -> float:
        with self._lock:
            self.refuse_if_ended()
            now = self._now()
            self._until = min(self._until, now + 60 * self._service.max_minutes)
            if now >= self._until:
                raise self._spent(f"{self._service.max_minutes:g} minutes", "max_minutes")
            self._refuse_if_spent()
            if self._pause_until > now:
                return self._pause_until - now
            self.sent += 1
            return 0.0

    def _refuse_if_spent(self) -> None:
        if self.sent + self.repeated >= self._service.max_requests:
            raise self._spent(f"{self._service.max_requests} requests", "max_requests")

    def _spent(self, what: str, setting: str) -> ServiceBudget:
        return ServiceBudget(
            f"{self._named}: this run has spent its {what}; responses are cached, so run again to continue, or raise "
            f"`{setting}` of the service in the study file"
        )


def _failure(state: RetryCallState) -> TransientError:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, TransientError)
    return error
