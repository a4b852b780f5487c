"""A polite session for each service: contact, rate, number of requests, retries and cached responses.

A cached response is used until it expires (`Service.cache_ttl_days`). A valid response is cached before it is returned.
A response is valid if it has an expected status, complete JSON or text, and no error inside.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any, Literal
from weakref import WeakValueDictionary

import requests
from pyrate_limiter import Limiter, Rate
from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_exponential_jitter

from swaymeter.data.errors import ServiceBudget, ServiceClosed, ServiceError, printable
from swaymeter.data.sources.http.cache import HttpCache, key_of
from swaymeter.data.sources.http.exchange import Exchange, user_agent
from swaymeter.data.sources.http.response import JSON, ErrorOf, Response, TransientError, read_content
from swaymeter.data.sources.http.services import Service
from swaymeter.data.storage.workspace import slug

log = logging.getLogger(__name__)

Immutable = bool | Callable[[Any], bool]
"""True if a response never expires, or a function that decides this by the content."""
LONGEST_PAUSE_S = 3600.0
"""Seconds of the longest pause that a run waits for; a longer pause raises ServiceBudget."""
_SHORTEST_LOGGED_PAUSE_S = 5.0
"""Seconds of the shortest pause that is logged."""
_BACKOFF = wait_exponential_jitter(multiplier=0.5, max=60, jitter=0.5)


class Session:
    """Requests to one service, for all threads of a run.

    Attributes:
        sent: Number of requests so far, with retries.

    Args:
        service: The service.
        contact: An e-mail address or URL of the person who runs the study.
        cache: The folder of cached responses, one file for each service.
        offline: True to use only cached responses.
        rerun: Time in ms of the last --force or --refresh, or 0; responses of earlier reruns are requested again.
        key: The API key that requests carry; it is neither cached nor repeated in a message.
        now: The clock, in seconds.
        sleep: Waits for a number of seconds; by default, a wait that `close` ends.

    Raises:
        ServiceError: The contact is not valid, or a needed contact is missing.
        WorkspaceError: The cache cannot be used.
    """

    def __init__(
        self,
        service: Service,
        *,
        contact: str | None,
        cache: Path,
        offline: bool = False,
        rerun: int = 0,
        key: str = "",
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        self.service, self.offline, self.rerun, self.sent = service, offline, rerun, 0
        self._label = f"{service.name} ({service.address})"
        self._headers = {"Accept-Encoding": "gzip, deflate"}
        if key:
            self._headers[service.key_header or "Authorization"] = key if service.key_header else f"Bearer {key}"
        if not offline:
            self._headers["User-Agent"] = user_agent(contact, self._label, needed=service.contact_needed)
        self._cache = HttpCache(cache / f"{slug(service.name)}.sqlite")
        self._exchange = Exchange(service, self._label, _limiter_of(service), key)
        self._lock, self._closed = threading.Lock(), threading.Event()
        self._slots = threading.BoundedSemaphore(service.max_concurrency)
        self._now, self._sleep, self._pause_until = now, sleep or self._closed.wait, 0.0
        self._request_locks: WeakValueDictionary[str, Any] = WeakValueDictionary()
        self._retrying = Retrying(
            retry=retry_if_exception_type(TransientError),
            wait=self._wait_s,
            stop=lambda state: state.attempt_number >= (_error(state).tries or service.tries),
            sleep=self._wait,
            retry_error_callback=_give_up,
        )

    @property
    def is_closed(self) -> bool:
        """True after `close`."""
        return self._closed.is_set()

    def ask(
        self,
        form: Mapping[str, Any],
        *,
        method: Literal["GET", "POST"] = "GET",
        path: str = "",
        accept: str = JSON,
        error_of: ErrorOf = lambda content: None,
        allow: Collection[int] = (200,),
        as_json: bool = False,
        immutable: Immutable = False,
        bypass_cache: bool = False,
        keep: bool = True,
    ) -> Response:
        """Return the response to a form, from the cache or the service.

        Args:
            form: The fields.
            method: GET sends them in the address, POST in the body.
            path: The end of the address, after the service's address; its parts are already quoted.
            accept: The accepted format, a type of JSON or text.
            error_of: Returns the error that a response's content reports, or None.
            allow: Statuses of valid responses.
            as_json: True to send the fields of a POST as JSON.
            immutable: True if the response never expires, or a function that decides this by the content.
            bypass_cache: True to send the request even if its response is cached, unless offline.
            keep: True to cache the response.

        Raises:
            ServiceError: The service fails, its response is invalid, or a run is offline and has no cached response.
            ServiceTimeout: The service takes too long; a request for less may succeed.
            ServiceBudget: The run has sent `max_requests` requests, or the service refuses more requests.
        """
        request = self._prepared(form, method, path, accept, as_json=as_json)
        read = partial(read_content, is_json="json" in accept, allow=allow, error_of=error_of, label=self._label)
        key = key_of(request, self.service.address if self.service.cached_for_any_address else "")
        with self._lock:
            request_lock = self._request_locks.setdefault(key, threading.Lock())
        with request_lock:  # equal requests of several threads are sent once, and then cached
            cached = self._cache.get(key)
            if cached and (self.offline or not bypass_cache) and (usable := self._usable(cached, read, immutable)):
                return usable
            if self.offline:
                forced = " and newer than the last forced fetch" if self.rerun else ""
                raise ServiceError(
                    f"{self._label} cannot be requested: this run is offline, and no cached response is younger than "
                    f"{self.service.cache_ttl_days:g} days{forced}; run again with a network"
                )
            response = self._retrying(self._send, request, read)
            if keep:
                self._cache.put(key, replace(response, rerun=max(self.rerun, cached.rerun if cached else 0)))
            return replace(response, body=b"")

    def close(self) -> None:
        """Close connections and cache; waiting threads wake with ServiceClosed."""
        self._closed.set()
        self._exchange.close()
        self._cache.close()

    def _prepared(
        self, form: Mapping[str, Any], method: str, path: str, accept: str, *, as_json: bool
    ) -> requests.PreparedRequest:
        address = f"{self.service.address.rstrip('/')}/{path}" if path else self.service.address
        address += f"?{self.service.query}" if self.service.query else ""
        content: Any = dict(sorted(form.items()))
        body_argument = "json" if as_json else "data"
        fields = {"params" if method == "GET" else body_argument: content}
        try:
            return requests.Request(method, address, headers=self._headers | {"Accept": accept}, **fields).prepare()
        except requests.RequestException as error:
            raise ServiceError(
                f"{self._label} has an invalid address: {printable(str(error), 200)}; correct the address"
            ) from None

    def _usable(self, cached: Response, read: Callable[[Response], Any], immutable: Immutable) -> Response | None:
        try:
            content = read(cached)
        except (ServiceError, TransientError):
            return None
        is_unexpired = datetime.now(UTC) - cached.retrieved_at < timedelta(days=self.service.cache_ttl_days)
        is_immutable = immutable(content) if callable(immutable) else immutable
        if not is_immutable and (not is_unexpired or cached.rerun < self.rerun):
            return None
        return replace(cached, body=b"", content=content, from_cache=True)

    def _send(self, request: requests.PreparedRequest, read: Callable[[Response], Any]) -> Response:
        with self._slot():
            response = self._exchange.fetch(request)
            return replace(response, content=read(response))

    @contextmanager
    def _slot(self) -> Iterator[None]:
        """Wait until the service's pause is over, take a slot for concurrent requests, and count the request."""
        while True:
            with self._slots:
                self._refuse_if_closed()
                pause_s = self._pause_until - self._now()
                if pause_s <= 0:
                    self._count()
                    yield
                    return
            self._wait(pause_s)

    def _count(self) -> None:
        with self._lock:
            if self.sent >= self.service.max_requests:
                raise ServiceBudget(
                    f"{self._label}: this run has sent {self.service.max_requests} requests, the limit of a run; "
                    "responses are cached, so run again to continue, or raise `max_requests` of the service in the "
                    "study file"
                )
            self.sent += 1

    def _wait_s(self, state: RetryCallState) -> float:
        """Return the seconds before the next try; a pause that the service requires applies to all threads."""
        self._refuse_if_closed()
        required_s = _error(state).wait_s or 0.0
        with self._lock:
            self._pause_until = max(self._pause_until, self._now() + required_s)
        if required_s >= _SHORTEST_LOGGED_PAUSE_S:
            log.warning("%s requires a pause of %.0f s", self.service.name, required_s)
        return max(_BACKOFF(state), required_s)

    def _wait(self, seconds: float) -> None:
        if seconds > LONGEST_PAUSE_S:
            raise ServiceBudget(
                f"{self._label} requires a pause of {seconds:.0f} s, longer than the {LONGEST_PAUSE_S:.0f} s that a "
                "run waits; run again later: responses are cached"
            )
        self._sleep(seconds)
        self._refuse_if_closed()

    def _refuse_if_closed(self) -> None:
        if self.is_closed:
            raise ServiceClosed(f"{self._label} cannot be requested any more: the session is closed")


def _error(state: RetryCallState) -> TransientError:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, TransientError)
    return error


def _give_up(state: RetryCallState) -> Response:
    error = _error(state)
    message = f"{error}, after {state.attempt_number} tries; run again later: responses are cached"
    raise error.kind(message) from None


_lock = threading.RLock()
_sessions: dict[tuple[Any, ...], Session] = {}
_limiters: dict[tuple[str, float], Limiter] = {}


def _limiter_of(service: Service) -> Limiter:
    """Return the limiter of an address, which all sessions with this address share."""
    key = service.address, service.requests_per_minute
    with _lock:
        if key not in _limiters:
            _limiters[key] = Limiter(Rate(1, ceil(60_000 / service.requests_per_minute)), buffer_ms=1)
        return _limiters[key]


def shared_session(service: Service, **arguments: Any) -> Session:
    """Return the session with these arguments of `Session`, which all threads share; open it at the first call."""
    key = service, *sorted(arguments.items())
    with _lock:
        if key not in _sessions or _sessions[key].is_closed:
            _sessions[key] = Session(service, **arguments)
        return _sessions[key]


def close_sessions() -> None:
    """Close all shared sessions of this process. Waiting threads wake; the next run counts its requests from 0."""
    with _lock:
        for session in _sessions.values():
            session.close()
        for limiter in _limiters.values():
            limiter.close()
        _forget()


def _forget() -> None:
    _sessions.clear()
    _limiters.clear()


os.register_at_fork(after_in_child=_forget)  # a forked process must not use its parent's connections and database
