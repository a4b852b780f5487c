"""One polite session for every public service: contact, rate, budget, retries and cached responses.

A cached response within its TTL is used; else tries are made, each through the run's budget, a pause that the service
requires, a place in flight and the rate. A response is cached before it is returned if it is valid: it has an expected
status, complete JSON or text, and no error inside. Limits hold over all threads and sessions of a process.
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

import requests
from pyrate_limiter import Limiter, Rate
from requests.structures import CaseInsensitiveDict

from swaymeter.data.errors import ServiceClosed, ServiceError, SwaymeterError, printable
from swaymeter.data.sources.http.answer import (
    Answer,
    ErrorOf,
    Expected,
    Form,
    Immutable,
    Reply,
    TransientError,
    refusal,
)
from swaymeter.data.sources.http.cache import HttpCache, key_of
from swaymeter.data.sources.http.exchange import (
    OneExchange,
    Unreachable,
    check_address,
    exchange,
    place_in,
    redirected,
    user_agent,
)
from swaymeter.data.sources.http.limits import Limits
from swaymeter.data.sources.http.secret import Secret
from swaymeter.data.sources.http.services import Service
from swaymeter.data.storage.workspace import slug

log = logging.getLogger(__name__)

_LONG_WAIT_S = 5.0
_CONNECT_TRIES = 2
_SLOW_TO_CONNECT_S = 1.0
_OLDEST_DAYS = 36_500.0
_REDIRECTS = 3
_ACCEPTED: Mapping[Form, str] = {"json": "application/json", "text": "text/plain, */*;q=0.5"}


def limiter_of(service: Service) -> Limiter:
    """The limiter that keeps to the service's requests per minute, at even intervals."""
    return Limiter(Rate(1, max(1, ceil(60_000 / service.requests_per_minute))), buffer_ms=1)


class Session:
    """Sends requests to one service, for all threads of a run.

    contact: an e-mail address or URL of whoever runs this. cache: the folder of cached responses, one file per service.
    offline: whether only those are used. reruns: the names of requests to fetch anew; a response that was not cached
    for all of these is requested again. key: the secret that requests carry; it is neither cached nor repeated in
    a message, whatever the service answers. limiter: keeps the requests per minute of several sessions. now, sleep:
    another clock (s), another way to wait.
    ServiceError where contact or address are not valid, WorkspaceError where the cache cannot be used.
    """

    def __init__(
        self,
        service: Service,
        *,
        contact: str | None,
        cache: Path,
        offline: bool = False,
        reruns: frozenset[str] = frozenset(),
        key: str = "",
        limiter: Limiter | None = None,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        check_address(service.address, service.name)
        self.service, self.offline, self.reruns = service, offline, reruns
        self._named = f"{service.name} ({service.address})"
        self._headers = {"Accept-Encoding": "gzip, deflate"}
        self._secret = Secret(key)
        if key:
            self._headers[service.key_header or "Authorization"] = key if service.key_header else f"Bearer {key}"
        if not offline:
            self._headers["User-Agent"] = user_agent(contact, self._named, needed=service.contact_needed)
        self._cache = HttpCache(cache / f"{slug(service.name)}.sqlite")
        self._own_limiter = limiter_of(service) if limiter is None else None
        self._http = OneExchange(
            connections=service.max_concurrency, limiter=limiter or self._own_limiter, per_host=False,
            limit_statuses=(),
        )  # fmt: skip
        self._limits = Limits(service, self._named, now=now, sleep=sleep)
        self._now = now
        self._lock = threading.Lock()
        self._in_progress: dict[str, threading.Lock] = {}
        self._not_connected, self._reached = 0, False

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
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
        """The answer to a form, from the cache or the service: its fields are in the address (GET) or the body (POST).

        path: added to the service's address, its parts quoted by the caller. accept: the accepted format, by default
        that of `content`. as_json: whether the body is JSON. error_of: finds an error inside a response. allow: the
        statuses of valid responses. immutable: whether the response never changes and so never expires, or a function
        that decides so. bypass_cache: whether a cached response is not used, unless offline; a valid response replaces
        it. keep: whether the response is cached; what is large is stored otherwise by whoever asks.

        ServiceError where the service fails or its response is invalid, or, offline, none is cached; ServiceTimeout
        where it takes too long: ask for less; ServiceBudget where the run has spent its budget for the service.
        """
        try:
            return self._ask(form, method, path, accept, Expected(content, error_of, allow, immutable), as_json,
                             bypass_cache=bypass_cache, keep=keep)  # fmt: skip
        except Exception as error:
            if (message := self._secret.out_of(str(error))) == str(error):
                raise
            raise (type(error) if isinstance(error, SwaymeterError) else ServiceError)(message) from None

    def _ask(
        self, form: Mapping[str, Any], method: str, path: str, accept: str | None, expected: Expected, as_json: bool,
        *, bypass_cache: bool, keep: bool,
    ) -> Answer:  # fmt: skip
        address = place_in(self.service.address, path, self._named)
        address += f"?{self.service.query}" if self.service.query else ""
        headers = self._headers | {"Accept": accept or _ACCEPTED[expected.form]}
        fields, place = sorted(form.items()), "params" if method == "GET" else "json" if as_json else "data"
        sent: dict[str, Any] = {place: dict(fields) if as_json else fields}
        request = requests.Request(method, address, headers=headers, **sent).prepare()
        key = key_of(request, self.service.address if self.service.may_move else "")
        with self._lock:
            is_repeated = key in self._in_progress
            in_progress = self._in_progress.setdefault(key, threading.Lock())
        with in_progress:
            before = self._cache.get(key)
            answer = None if bypass_cache and not self.offline else self._cached(before, expected)
            if answer is not None:
                if is_repeated:
                    self._limits.repeat()
                return answer
            if self.offline:
                anew = " and fetched since that was asked for anew" if self.reruns else ""
                raise ServiceError(
                    f"{self._named} cannot be requested: this run is offline, and no cached response is younger than "
                    f"{self.service.cache_ttl_days:g} days{anew}; run again with a network"
                )
            answer, reply = self._fetched(request, expected)
            reruns = self.reruns | (before.reruns if before else frozenset())  # it is newer than what answered those
            if keep:
                self._cache.put(key, replace(reply, reruns=reruns), request.url or "")
            return answer

    def close(self) -> None:
        """Ends the waiting of other threads, and closes connections and cache."""
        self._limits.end(ServiceClosed(f"{self._named} cannot be requested any more: the session is closed"))
        self._http.close()
        if self._own_limiter is not None:
            self._own_limiter.close()
        self._cache.close()

    def _cached(self, cached: Reply | None, expected: Expected) -> Answer | None:
        if cached is None or cached.status not in expected.allow:
            return None
        try:
            content = expected.content(cached, self._named)
        except ServiceError:
            return None
        age = max(datetime.now(UTC) - cached.retrieved_at, timedelta(0))  # less than none: by a clock that was ahead
        is_young = age < timedelta(days=min(self.service.cache_ttl_days, _OLDEST_DAYS))
        is_usable = (is_young and self.reruns <= cached.reruns) or expected.is_immutable(content)
        if expected.error_of(content) or not is_usable:
            return None
        return Answer(content, self.service.address, cached.retrieved_at, True, cached.status)

    def _fetched(self, request: requests.PreparedRequest, expected: Expected) -> tuple[Answer, Reply]:
        failed: list[TransientError] = []
        try:
            return self._limits.tries()(self._try, request, expected, failed)
        except TransientError as error:
            self._limits.refuse_if_ended()
            message = f"{error}, after {len(failed)} tries; run again later: responses are cached"
            if error.ends is None or any(other.ends is not error.ends for other in failed):
                raise error.kind(message) from None
            self._limits.end(error.ends(message))
            raise error.ends(message) from None

    def _try(
        self, request: requests.PreparedRequest, expected: Expected, failed: list[TransientError]
    ) -> tuple[Answer, Reply]:
        try:
            reply = self._reply(request)
            if reply.status not in expected.allow:
                raise refusal(reply, self._named)
            content = expected.content(reply, self._named)
            problem = expected.error_of(content)
            if problem is not None and expected.form == "json" and isinstance(content, str):
                raise refusal(reply, self._named, str(problem))
            if problem is not None:
                message = f"{self._named} answered with an error: {printable(str(problem), 300)}"
                if isinstance(problem, ServiceError):
                    raise type(problem)(message)
                wait_s = problem.wait_s if reply.wait_s is None else reply.wait_s
                raise replace(problem, message=message, wait_s=wait_s)
        except TransientError as error:
            failed.append(error)
            if error.wait_s:
                self._limits.pause(error.wait_s)
                if error.wait_s >= _LONG_WAIT_S:
                    log.warning("%s requires a pause of %.0f s", self.service.name, error.wait_s)
            raise
        return Answer(content, self.service.address, reply.retrieved_at, False, reply.status), reply

    def _reply(self, request: requests.PreparedRequest) -> Reply:
        for _ in range(1 + _REDIRECTS):
            with self._limits.place():
                reply = self._exchange(request)
            elsewhere = redirected(request, reply.status, reply.headers, self._named)
            if elsewhere is None:
                return reply
            request = request.copy()
            request.url = elsewhere
        raise ServiceError(f"{self._named} redirects too often; give its present address in the study file")

    def _exchange(self, request: requests.PreparedRequest) -> Reply:
        began = self._now()
        try:
            reply = exchange(
                self._http, request, named=self._named, timeout_s=self.service.timeout_s,
                transient=self.service.transient,
            )  # fmt: skip
        except Unreachable as why:
            message = f"{self._named} cannot be reached: {why}"
            self._not_connected += 1
            is_quick = self._now() - began < _SLOW_TO_CONNECT_S
            if self._reached or (self._not_connected < _CONNECT_TRIES and is_quick):
                raise TransientError(message, ends=ServiceError) from None
            self._limits.end(ServiceError(message))
            raise ServiceError(message) from None
        except TransientError:
            self._reached = True
            raise
        self._reached = True
        return replace(
            reply, body=self._secret.out_of_answer(reply.body),
            headers=CaseInsensitiveDict({name: self._secret.out_of(of) for name, of in reply.headers.items()}),
        )  # fmt: skip


_lock = threading.Lock()
_sessions: dict[tuple[Service, str | None, Path, bool, frozenset[str], str], Session] = {}
_limiters: dict[tuple[str, float], Limiter] = {}


def shared_session(
    service: Service,
    *,
    contact: str | None,
    cache: Path,
    offline: bool = False,
    reruns: frozenset[str] = frozenset(),
    key: str = "",
) -> Session:
    """The process's one open session for these arguments (those of `Session`), which all of its threads may use.

    Sessions with the same address share its requests per minute. A run's budget lasts until `close_sessions`.
    """
    arguments = (service, contact, cache.absolute(), offline, reruns, key)
    with _lock:
        session = _sessions.get(arguments)
        if session is None or session.is_closed:
            rate = (service.address, service.requests_per_minute)
            limiter = _limiters.setdefault(rate, limiter_of(service))
            session = _sessions[arguments] = Session(
                service, contact=contact, cache=cache, offline=offline, reruns=reruns, key=key, limiter=limiter
            )
        return session


def close_sessions() -> None:
    """Closes all shared sessions of this process: waiting threads are woken, and the next run counts from 0."""
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
