"""One polite session for every service: contact, rate, number of requests, retries and cached responses.

A cached response within its TTL is used; otherwise the request is sent. A response is cached before it is returned if
it is valid: it has an expected status, complete JSON or text, and no error inside. Limits hold over all threads and
sessions of a process.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import ceil
from pathlib import Path
from typing import Any, Literal
from weakref import WeakValueDictionary

import requests
from pyrate_limiter import Limiter, Rate

from swaymeter.data.errors import ServiceClosed, ServiceError, SwaymeterError, printable
from swaymeter.data.sources.http.answer import (
    Answer,
    ErrorOf,
    Expected,
    Form,
    Immutable,
    TransientError,
    read_content,
    refusal,
)
from swaymeter.data.sources.http.cache import HttpCache, key_of
from swaymeter.data.sources.http.exchange import Exchange, check_address, join_path, user_agent
from swaymeter.data.sources.http.limits import Limits
from swaymeter.data.sources.http.secret import Secret
from swaymeter.data.sources.http.services import Service
from swaymeter.data.storage.workspace import slug

log = logging.getLogger(__name__)

_LONG_WAIT_S = 5.0
_ACCEPTED: Mapping[Form, str] = {"json": "application/json", "text": "text/plain, */*;q=0.5"}


class Session:
    """Requests to one service, for all threads of a run.

    Args:
        contact: An e-mail address or URL of the person who runs the study.
        cache: The folder of cached responses, one file for each service.
        offline: Only cached responses are used.
        rerun: The number of a forced rerun; a response that was cached for a lower one is requested again.
        key: The secret that requests carry; it is neither cached nor repeated in a message.
        now: The clock, in seconds.
        sleep: Waits for seconds.

    Raises:
        ServiceError: The contact or the address is not valid.
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
        check_address(service.address, service.name)
        self.service, self.offline, self.rerun = service, offline, rerun
        self._named = f"{service.name} ({service.address})"
        self._headers = {"Accept-Encoding": "gzip, deflate"}
        self._secret = Secret(key)
        if key:
            self._headers[service.key_header or "Authorization"] = key if service.key_header else f"Bearer {key}"
        if not offline:
            self._headers["User-Agent"] = user_agent(contact, self._named, needed=service.contact_needed)
        self._cache = HttpCache(cache / f"{slug(service.name)}.sqlite")
        self._exchange = Exchange(service, self._named, _limiter_of(service), self._secret)
        self._limits = Limits(service, self._named, now=now, sleep=sleep)
        self._lock = threading.Lock()
        self._in_progress: WeakValueDictionary[str, Any] = WeakValueDictionary()

    @property
    def is_closed(self) -> bool:
        """True after `close`."""
        return self._cache.is_closed

    def ask(
        self,
        form: Mapping[str, Any],
        *,
        method: Literal["GET", "POST"] = "GET",
        path: str = "",
        accept: str | None = None,
        error_of: ErrorOf = lambda content: None,
        allow: Collection[int] = (200,),
        content: Form = "json",
        as_json: bool = False,
        immutable: Immutable = False,
        bypass_cache: bool = False,
        keep: bool = True,
    ) -> Answer:
        """Return the response to a form, from the cache or the service.

        Args:
            form: The fields.
            method: GET sends them in the address, POST in the body.
            path: Added to the service's address; the caller quotes its parts.
            accept: The accepted format; None for that of `content`.
            error_of: Returns an error inside a response.
            allow: Statuses of valid responses.
            content: The form of the response, JSON or text.
            as_json: The body is JSON.
            immutable: The response never expires; a function decides by the content.
            bypass_cache: Send the request, unless offline; a valid response replaces the cached one.
            keep: Cache the response.

        Raises:
            ServiceError: The service fails, its response is invalid, or, offline, no response is cached.
            ServiceTimeout: The service takes too long; ask for less.
            ServiceBudget: The run has sent all its requests, or the service refuses more of them.
        """
        try:
            request = self._prepared(form, method, path, accept or _ACCEPTED[content], as_json=as_json)
            expected = Expected(content, error_of, allow, immutable)
            return self._answer(request, expected, bypass_cache=bypass_cache, keep=keep)
        except Exception as error:
            if (message := self._secret.out_of(str(error))) == str(error):
                raise
            raise (type(error) if isinstance(error, SwaymeterError) else ServiceError)(message) from None

    def close(self) -> None:
        """End the waiting of other threads, and close connections and cache."""
        self._limits.end(ServiceClosed(f"{self._named} cannot be requested any more: the session is closed"))
        self._exchange.close()
        self._cache.close()

    def _prepared(
        self, form: Mapping[str, Any], method: str, path: str, accept: str, *, as_json: bool
    ) -> requests.PreparedRequest:
        address = join_path(self.service.address, path, self._named)
        address += f"?{self.service.query}" if self.service.query else ""
        content: Any = dict(sorted(form.items()))
        sent = {"params" if method == "GET" else "json" if as_json else "data": content}
        return requests.Request(method, address, headers=self._headers | {"Accept": accept}, **sent).prepare()

    def _answer(
        self, request: requests.PreparedRequest, expected: Expected, *, bypass_cache: bool, keep: bool
    ) -> Answer:
        key = key_of(request, self.service.address if self.service.may_move else "")
        with self._lock:
            in_progress = self._in_progress.setdefault(key, threading.Lock())
        with in_progress:
            cached = self._cache.get(key)
            if cached and (self.offline or not bypass_cache) and (answer := self._cached(cached, expected)):
                return answer
            if self.offline:
                again = " and fetched since it was forced" if self.rerun else ""
                raise ServiceError(
                    f"{self._named} cannot be requested: this run is offline, and no cached response is younger than "
                    f"{self.service.cache_ttl_days:g} days{again}; run again with a network"
                )
            answer = self._fetched(request, expected)
            if keep:
                rerun = max(self.rerun, cached.rerun if cached else 0)
                self._cache.put(key, replace(answer, rerun=rerun), request.url or "")
            return replace(answer, body=b"")

    def _cached(self, answer: Answer, expected: Expected) -> Answer | None:
        if answer.status not in expected.allow:
            return None
        try:
            content = read_content(answer, expected.form, self._named)
        except ServiceError:
            return None
        is_young = datetime.now(UTC) - answer.retrieved_at < timedelta(days=self.service.cache_ttl_days)
        is_usable = (is_young and self.rerun <= answer.rerun) or expected.is_immutable(content)
        if expected.error_of(content) or not is_usable:
            return None
        return replace(answer, body=b"", content=content, from_cache=True)

    def _fetched(self, request: requests.PreparedRequest, expected: Expected) -> Answer:
        retrying = self._limits.retrying()
        try:
            return retrying(self._try, request, expected)
        except TransientError as error:
            self._limits.refuse_if_ended()
            tries = retrying.statistics["attempt_number"]
            final = error.kind(f"{error}, after {tries} tries; run again later: responses are cached")
            if error.ends_session:
                self._limits.end(final)
            raise final from None

    def _try(self, request: requests.PreparedRequest, expected: Expected) -> Answer:
        try:
            with self._limits.slot():
                answer = self._exchange.fetch(request)
            return replace(answer, content=self._valid_content(answer, expected))
        except TransientError as error:
            if error.wait_s:
                self._limits.pause(error.wait_s)
                if error.wait_s >= _LONG_WAIT_S:
                    log.warning("%s requires a pause of %.0f s", self.service.name, error.wait_s)
            raise

    def _valid_content(self, answer: Answer, expected: Expected) -> Any:
        if answer.status not in expected.allow:
            raise refusal(answer, self._named)
        content = read_content(answer, expected.form, self._named)
        error = expected.error_of(content)
        if error is None:
            return content
        if expected.form == "json" and isinstance(content, str):
            raise refusal(answer, self._named, str(error))
        message = f"{self._named} answered with an error: {printable(str(error), 300)}"
        if isinstance(error, ServiceError):
            raise type(error)(message)
        raise replace(error, message=message, wait_s=error.wait_s if answer.wait_s is None else answer.wait_s)


_lock = threading.RLock()
_sessions: dict[tuple[Service, str | None, Path, bool, int, str], Session] = {}
_limiters: dict[tuple[str, float], Limiter] = {}


def _limiter_of(service: Service) -> Limiter:
    """Return the limiter of a service's address, which keeps to its requests per minute at even intervals."""
    rate = service.address, service.requests_per_minute
    with _lock:
        if rate not in _limiters:
            _limiters[rate] = Limiter(Rate(1, ceil(60_000 / service.requests_per_minute)), buffer_ms=1)
        return _limiters[rate]


def shared_session(
    service: Service,
    *,
    contact: str | None,
    cache: Path,
    offline: bool = False,
    rerun: int = 0,
    key: str = "",
) -> Session:
    """Return the process's one open session for these arguments of `Session`, for all its threads."""
    arguments = (service, contact, cache.absolute(), offline, rerun, key)
    with _lock:
        session = _sessions.get(arguments)
        if session is None or session.is_closed:
            session = Session(service, contact=contact, cache=cache, offline=offline, rerun=rerun, key=key)
            _sessions[arguments] = session
        return session


def close_sessions() -> None:
    """Close all shared sessions of this process: waiting threads wake, and the next run counts from 0."""
    with _lock:
        for session in _sessions.values():
            session.close()
        for limiter in _limiters.values():
            limiter.close()
        _forget()


def _forget() -> None:
    _sessions.clear()
    _limiters.clear()


# A forked process has its parent's sessions, whose connections and database it must not use.
os.register_at_fork(after_in_child=_forget)
