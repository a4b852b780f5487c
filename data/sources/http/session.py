"""One polite session for every public service: who asks, how often, how long, and what is not asked again.

    ask   cached and young enough? -> the cache
          else tries (tenacity), every one of them through
              the run's budget -> a pause the service asked for -> a place in flight -> the rate -> one exchange
          a good answer is cached before it is returned; anything else never is

"Good" is the right status, whole JSON or text, and no error inside. All limits hold over all threads that use the
session.
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

from data.errors import ServiceBudget, ServiceError
from data.sources.http.addresses import check_address, place_in, redirected
from data.sources.http.answer import Answer, ErrorOf, Form, Lasting, Reply, ServiceProblem, Wanted, no_error, refusal
from data.sources.http.cache import CachedResponse, HttpCache, key_of
from data.sources.http.exchange import CONNECT_S, OneExchange, TransientError, Unreachable, exchange, seconds_to_connect
from data.sources.http.headers import user_agent
from data.sources.http.limits import Limits, Service
from data.sources.http.printable import printable
from data.storage.workspace import slug

__all__ = ["Answer", "Service", "ServiceProblem", "Session"]
log = logging.getLogger(__name__)

_LONG_WAIT_S = 5.0
_CONNECT_TRIES = 2
_SLOW_TO_CONNECT_S = 1.0
_OLDEST_DAYS = 36_500.0
_REDIRECTS = 3
_ACCEPTED: Mapping[Form, str] = {"json": "application/json", "text": "text/plain, */*;q=0.5"}


def limiter_of(service: Service) -> Limiter:
    """What keeps to the service's requests per minute, one after another at even distances."""
    return Limiter(Rate(1, max(1, ceil(60_000 / service.requests_per_minute))), buffer_ms=1)


class Session:
    """Asks one service, for all threads of a run.

    Args:
        service: The service and its limits.
        contact: An e-mail address or URL of whoever runs this.
        cache: The folder of cached responses, one file per service.
        offline: Whether only cached responses are used.
        not_before: Responses cached before this moment (UTC) are requested again.
        limiter: Keeps the requests per minute of several sessions; by default the session has its own.
        now: Another clock, in seconds, for tests.
        sleep: Another way to wait, for tests.

    Raises:
        ServiceError: There is no contact, though the service wants one, or the address is not valid.
        WorkspaceError: The cache cannot be used.
    """

    def __init__(
        self,
        service: Service,
        *,
        contact: str | None,
        cache: Path,
        offline: bool = False,
        not_before: datetime | None = None,
        limiter: Limiter | None = None,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        check_address(service.address, service.name)
        self.service, self.offline, self.not_before, self.from_cache = service, offline, not_before, 0
        self._named = f"{service.name} ({service.address})"
        self._headers = {"Accept-Encoding": "gzip, deflate"}
        if not offline:
            self._headers["User-Agent"] = user_agent(contact, self._named, needed=service.contact_needed)
        self._cache = HttpCache(cache / f"{slug(service.name)}.sqlite")
        self._own_limiter = limiter_of(service) if limiter is None else None
        self._http = OneExchange(limiter=limiter or self._own_limiter, per_host=False, limit_statuses=())
        self._limits = Limits(service, self._named, now=now, sleep=sleep)
        self._now = now
        self._lock = threading.Lock()
        self._in_progress: dict[str, threading.Lock] = {}
        self._connect_s: float | None = None
        self._not_connected = 0
        self._reached = False

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._cache.is_closed

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
        accept: str | None = None,
        error_of: ErrorOf = no_error,
        allow: Collection[int] = (200,),
        content: Form = "json",
        lasting: Lasting = False,
        anew: bool = False,
    ) -> Answer:
        """The answer to a form, cached or requested: its fields go into the address (GET) or the body (POST).

        Args:
            form: The fields of the request.
            method: The HTTP method.
            path: Added to the service's address, its parts quoted by the caller.
            accept: The accepted format; by default that of `content`.
            error_of: Finds an error inside an answer.
            allow: The statuses of good answers.
            content: What a good answer is.
            lasting: Whether what is asked for, or what was answered, never changes; a cached one is then never too old.
            anew: Whether a cached response is not used, unless offline; a good answer takes its place.

        Raises:
            ServiceError: It cannot be asked, answered nonsense or an error, or this is offline and nothing is cached.
            ServiceTimeout: It needs too long; ask for less.
            ServiceBudget: This run has asked it enough.
        """
        request = self._request(form, method, path, accept or _ACCEPTED[content])
        wanted = Wanted(content, error_of, allow, lasting)
        key = key_of(request)
        with self._alone(key):
            answer = None if anew and not self.offline else self._cached(key, wanted)
            if answer is not None:
                with self._lock:
                    self.from_cache += 1
                return answer
            if self.offline:
                since = "" if self.not_before is None else f" and not older than {self.not_before:%Y-%m-%d %H:%M} UTC"
                raise ServiceError(
                    f"{self._named} is not asked, for this run is offline, and no cached response is younger than "
                    f"{self.service.cache_ttl_days:g} days{since}; run again with a network"
                )
            answer, body = self._asked(request, wanted)
            self._cache.put(key, CachedResponse(answer.status, body, answer.retrieved_at), request.url or "")
            return answer

    def close(self) -> None:
        """Wakes and ends whoever waits, and closes connections and cache."""
        self._limits.end(ServiceError(f"{self._named} is not asked any more: the session is closed"))
        self._http.close()
        if self._own_limiter is not None:
            self._own_limiter.close()
        self._cache.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _request(self, form: Mapping[str, str], method: str, path: str, accept: str) -> requests.PreparedRequest:
        address = place_in(self.service.address, path, self._named)
        fields = sorted(form.items())
        in_address, in_body = (fields, None) if method == "GET" else (None, fields)
        headers = self._headers | {"Accept": accept}
        return requests.Request(method, address, headers=headers, params=in_address, data=in_body).prepare()

    @contextmanager
    def _alone(self, key: str) -> Iterator[None]:
        with self._lock:
            lock = self._in_progress.setdefault(key, threading.Lock())
        with lock:
            yield

    def _cached(self, key: str, wanted: Wanted) -> Answer | None:
        cached = self._cache.get(key)
        if cached is None or cached.status not in wanted.allow:
            return None
        young = self._is_young(cached.retrieved_at)
        if not young and wanted.lasting is False:
            return None
        try:
            content = wanted.content(Reply(cached.status, {}, cached.body), self._named)
        except ServiceError:
            return None
        if wanted.error_of(content) is not None or not (young or wanted.lasts(content)):
            return None
        return Answer(content, self.service.address, cached.retrieved_at, True, cached.status)

    def _is_young(self, retrieved_at: datetime) -> bool:
        oldest = datetime.now(UTC) - timedelta(days=min(self.service.cache_ttl_days, _OLDEST_DAYS))
        return retrieved_at >= max(oldest, self.not_before or oldest)

    def _asked(self, request: requests.PreparedRequest, wanted: Wanted) -> tuple[Answer, bytes]:
        failed: list[TransientError] = []
        try:
            return self._limits.tries()(self._try, request, wanted, failed)
        except TransientError as error:
            said = f"{error}, after {len(failed)} tries; run again later: responses are cached"
            if error.ends is None or any(other.ends is not error.ends for other in failed):
                raise error.kind(said) from None
            self._limits.end(error.ends(said))
            raise error.ends(said) from None

    def _try(
        self, request: requests.PreparedRequest, wanted: Wanted, failed: list[TransientError]
    ) -> tuple[Answer, bytes]:
        try:
            reply = self._reply(request)
            if reply.status not in wanted.allow:
                raise refusal(reply, self._named)
            content, retrieved_at = wanted.content(reply, self._named), datetime.now(UTC)
            problem = wanted.error_of(content)
            if problem is not None:
                raise self._error_of(problem, reply)
        except TransientError as error:
            failed.append(error)
            if error.wait_s:
                self._limits.pause(error.wait_s)
                if error.wait_s >= _LONG_WAIT_S:
                    log.warning("%s asks us to wait %.0f s", self.service.name, error.wait_s)
            raise
        return Answer(content, self.service.address, retrieved_at, False, reply.status), reply.body

    def _error_of(self, problem: ServiceProblem, reply: Reply) -> TransientError | ServiceError:
        said = f"{self._named} answered with an error: {printable(problem.message, 300)}"
        if not problem.transient:
            return problem.kind(said)
        wait_s = problem.wait_s if reply.wait_s is None else reply.wait_s
        ends = ServiceBudget if problem.kind is ServiceBudget else None
        return TransientError(said, kind=problem.kind, wait_s=wait_s, patience=problem.tries or 0, ends=ends)

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
            raise self._unreached(f"{self._named} cannot be reached: {why}", self._now() - began) from None
        except TransientError:
            self._connect_s, self._reached = CONNECT_S, True
            raise
        self._connect_s, self._reached = CONNECT_S, True
        return reply

    def _unreached(self, said: str, seconds: float) -> TransientError | ServiceError:
        self._not_connected += 1
        if self._reached or (self._not_connected < _CONNECT_TRIES and seconds < _SLOW_TO_CONNECT_S):
            return TransientError(said, ends=ServiceError)
        self._limits.end(ServiceError(said))
        return ServiceError(said)
