"""One polite session for every public service: who asks, how often, how long, and what is not asked again.

    ask   kept and young enough? -> the cache
          else tries (tenacity), every one of them through
              the run's budget -> a pause the service asked for -> a place in flight -> the rate -> one exchange
          a good answer is kept before it is handed on; anything else never is

"Good" is the right status, whole JSON, and no error inside. All limits hold over all threads that use the session.
"""

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from math import ceil
from pathlib import Path
from typing import Literal, Self

import requests
from pyrate_limiter import Limiter, Rate
from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_exponential_jitter

from data.errors import ServiceError
from data.sources.exchange import (
    CONNECT_S,
    Answer,
    ErrorOf,
    OneExchange,
    Passing,
    Reply,
    ServiceProblem,
    Unreachable,
    content_of,
    exchange,
    no_error,
    refusal,
    seconds_to_connect,
)
from data.sources.http_cache import HttpCache, Kept, key_of
from data.sources.limits import Limits, Service
from data.sources.manners import check_address, printable, redirected, user_agent
from data.workspace import slug

__all__ = ["Answer", "Service", "ServiceProblem", "Session"]
log = logging.getLogger(__name__)

_BACKOFF = wait_exponential_jitter(multiplier=0.5, max=60, jitter=0.5)
_LONG_WAIT_S = 5.0
_CONNECT_TRIES = 2
_SLOW_TO_CONNECT_S = 6.5
_REDIRECTS = 3


class Session:
    """Asks one service, for all threads of a run.

    contact: an e-mail address or URL of whoever runs this; ServiceError without one, unless offline. cache: the folder
    of kept answers, one file per service. offline: only kept answers. refresh: those kept before this session are asked
    anew. now, sleep: another clock, for tests.
    """

    def __init__(
        self,
        service: Service,
        *,
        contact: str | None,
        cache: Path,
        offline: bool = False,
        refresh: bool = False,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        check_address(service.address, service.name)
        self.service, self.offline, self.refresh, self.from_cache = service, offline, refresh, 0
        self._named = f"{service.name} ({service.address})"
        self._headers = {"Accept-Encoding": "gzip, deflate"} | ({} if offline else {"User-Agent": user_agent(contact)})
        self._cache = HttpCache(cache / f"{slug(service.name)}.sqlite")
        self._opened = datetime.now(UTC)
        self._limiter = Limiter(Rate(1, max(1, ceil(60_000 / service.requests_a_minute))), buffer_ms=1)
        self._http = OneExchange(limiter=self._limiter, per_host=False, limit_statuses=())
        self._limits = Limits(service, self._named, now=now, sleep=sleep)
        self._now = now
        self._lock = threading.Lock()
        self._being_asked: dict[str, threading.Lock] = {}
        self._connect_s: float | None = None
        self._not_connected = 0

    @property
    def sent(self) -> int:
        """Requests sent so far, every try counted; `from_cache` counts those that need not be sent."""
        return self._limits.sent

    @property
    def waited_s(self) -> float:
        """Seconds waited so far before trying again."""
        return self._limits.waited_s

    def ask(
        self,
        form: Mapping[str, str],
        *,
        method: Literal["GET", "POST"] = "GET",
        path: str = "",
        accept: str = "application/json",
        error_of: ErrorOf = no_error,
        allow: Collection[int] = (200,),
    ) -> Answer:
        """The answer to a form, kept or asked for: its fields go into the address (GET) or the body (POST).

        path: added to the service's address, its parts quoted by the caller. error_of: finds an error inside an answer.
        allow: the statuses of good answers. Raises ServiceError (cannot be asked, answered nonsense or an error, or
        offline and not kept), ServiceTimeout (ask for less), ServiceBudget (this run has asked enough).
        """
        request = self._request(form, method, path, accept)
        key = key_of(request)
        with self._alone(key):
            answer = self._kept(key, error_of, allow)
            if answer is not None:
                with self._lock:
                    self.from_cache += 1
                return answer
            if self.offline:
                raise ServiceError(
                    f"{self._named} is not asked, for this run is offline, and nothing kept is younger than "
                    f"{self.service.age_days:g} days; run again with a network"
                )
            answer, body = self._asked(request, error_of, allow)
            self._cache.put(key, Kept(answer.status, body, answer.retrieved_at), request.url or "")
            return answer

    def close(self) -> None:
        """Wakes and ends whoever waits, and closes connections and cache."""
        self._limits.end(f"{self._named} is not asked any more: the session is closed")
        self._http.close()
        self._limiter.close()
        self._cache.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _request(self, form: Mapping[str, str], method: str, path: str, accept: str) -> requests.PreparedRequest:
        if {".", ".."} & set(path.split("/")) or set("?#\\") & set(path):
            raise ServiceError(f"{self._named} has no place named {printable(path)!r}")
        address = f"{self.service.address.rstrip('/')}/{path.lstrip('/')}" if path else self.service.address
        fields = sorted(form.items())
        in_address, in_body = (fields, None) if method == "GET" else (None, fields)
        headers = self._headers | {"Accept": accept}
        return requests.Request(method, address, headers=headers, params=in_address, data=in_body).prepare()

    @contextmanager
    def _alone(self, key: str) -> Iterator[None]:
        with self._lock:
            lock = self._being_asked.setdefault(key, threading.Lock())
        with lock:
            yield

    def _kept(self, key: str, error_of: ErrorOf, allow: Collection[int]) -> Answer | None:
        kept = self._cache.get(key)
        oldest = self._opened if self.refresh else datetime.now(UTC) - timedelta(days=self.service.age_days)
        if kept is None or kept.status not in allow or kept.retrieved_at < oldest:
            return None
        try:
            content = content_of(Reply(kept.status, {}, kept.body), self._named)
        except ServiceError:
            return None
        if error_of(content) is not None:
            return None
        return Answer(content, self.service.address, kept.retrieved_at, True, kept.status)

    def _asked(
        self, request: requests.PreparedRequest, error_of: ErrorOf, allow: Collection[int]
    ) -> tuple[Answer, bytes]:
        tries = Retrying(
            retry=retry_if_exception_type(Passing),
            stop=self._tried_enough,
            wait=_seconds_to_wait,
            sleep=self._limits.sleep,
            reraise=True,
        )
        try:
            return tries(self._try, request, error_of, allow)
        except Passing as passing:
            times = tries.statistics["attempt_number"]
            advice = f"after {times} tries; run again later: answers are kept"
            raise passing.kind(f"{passing}, {advice}") from None

    def _try(
        self, request: requests.PreparedRequest, error_of: ErrorOf, allow: Collection[int]
    ) -> tuple[Answer, bytes]:
        try:
            reply = self._reply(request)
            if reply.status not in allow:
                raise refusal(reply, self._named)
            content, retrieved_at = content_of(reply, self._named), datetime.now(UTC)
            problem = error_of(content)
            if problem is not None:
                said = f"{self._named} answered with an error: {printable(problem.message, 300)}"
                raise Passing(said, wait_s=reply.wait_s) if problem.passing else ServiceError(said)
        except Passing as passing:
            if passing.wait_s:
                self._limits.pause(passing.wait_s)
                if passing.wait_s >= _LONG_WAIT_S:
                    log.info("%s asks us to wait %.0f s", self.service.name, passing.wait_s)
            raise
        return Answer(content, self.service.address, retrieved_at, False, reply.status), reply.body

    def _reply(self, request: requests.PreparedRequest) -> Reply:
        for _ in range(1 + _REDIRECTS):
            with self._limits.place():
                reply = self._exchange(request)
            elsewhere = redirected(request, reply.status, reply.headers, self._named)
            if elsewhere is None:
                return reply
            request = request.copy()
            request.url = elsewhere
        raise ServiceError(f"{self._named} sends us from place to place; give its present address in the study file")

    def _exchange(self, request: requests.PreparedRequest) -> Reply:
        began = self._now()
        try:
            if self._connect_s is None:
                self._connect_s = seconds_to_connect(self._http, self.service.address)
            reply = exchange(
                self._http, request, named=self._named, connect_s=self._connect_s, timeout_s=self.service.timeout_s
            )
        except Unreachable as why:
            self._not_connected += 1
            said = f"{self._named} cannot be reached: {why}"
            if self._not_connected < _CONNECT_TRIES and self._now() - began < _SLOW_TO_CONNECT_S:
                raise Passing(said) from None
            self._limits.end(said)
            raise ServiceError(said) from None
        except Passing:
            self._connect_s, self._not_connected = CONNECT_S, 0
            raise
        self._connect_s, self._not_connected = CONNECT_S, 0
        return reply

    def _tried_enough(self, state: RetryCallState) -> bool:
        failed = state.outcome.exception() if state.outcome else None
        most = failed.tries if isinstance(failed, Passing) and failed.tries else self.service.tries
        return state.attempt_number >= min(most, self.service.tries)


def _seconds_to_wait(state: RetryCallState) -> float:
    failed = state.outcome.exception() if state.outcome else None
    asked = failed.wait_s if isinstance(failed, Passing) else None
    return max(_BACKOFF(state), asked or 0.0)
