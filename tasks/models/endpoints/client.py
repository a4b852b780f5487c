"""Requests to one model server: through the session of public services, as many at once as the server bears."""

import os
import re
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from swaymeter.data.digests import identity
from swaymeter.data.errors import ServiceError, UsageError, printable
from swaymeter.data.sources.http.answer import Answer, ErrorOf
from swaymeter.data.sources.http.services import TRANSIENT, Service
from swaymeter.data.sources.http.session import Session, shared_session
from swaymeter.tasks.models.endpoints.endpoint import Endpoint

Item = TypeVar("Item")
Result = TypeVar("Result")

_TRIES = 6
_STATUSES = (*TRANSIENT, 500, 529)
_OLDEST_DAYS = 36_500.0
_MINUTES = 30.0 * 24 * 60


class InFlight:
    """How many requests are sent at the same time: twice as many as long as that answers more of them in a second.

    most: never more than these. Where answers become rarer, as a server refuses or swaps, half as many are sent.
    """

    BETTER, WORSE = 1.1, 0.7

    def __init__(self, most: int) -> None:
        self.most, self.limit = most, min(4, most)
        self._active, self._ended, self._best = 0, 0, 0.0
        self._free = threading.Condition()
        self._began = time.monotonic()

    def begin(self) -> None:
        """Starts a stretch of requests: what a pause before it took does not count."""
        with self._free:
            self._ended, self._began = 0, time.monotonic()

    @contextmanager
    def place(self) -> Iterator[None]:
        """Holds a place for a request."""
        with self._free:
            self._free.wait_for(lambda: self._active < self.limit)
            self._active += 1
        try:
            yield
        finally:
            with self._free:
                self._active -= 1
                self._ended += 1
                if self._ended >= 2 * self.limit:
                    self._adapt()
                self._free.notify_all()

    def _adapt(self) -> None:
        now = time.monotonic()
        rate = self._ended / max(now - self._began, 1e-9)
        if rate > self.BETTER * self._best:
            self._best, self.limit = rate, min(2 * self.limit, self.most)
        elif rate < self.WORSE * self._best:
            self._best, self.limit = rate, max(1, self.limit // 2)
        self._ended, self._began = 0, now


class _Unsent(Exception):
    """A request that is not sent any more, as another one has failed."""


@dataclass(eq=False)
class Client:
    """Asks one server; cache: the folder where answers are kept, so that none is paid twice.

    requests: so far, by anybody in this process that holds this client. reruns, offline: as for `Session`.
    UsageError where the variable that holds the key is not set, though something may be sent.
    """

    endpoint: Endpoint
    cache: Path
    reruns: frozenset[str] = frozenset()
    offline: bool = False
    requests: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        endpoint = self.endpoint
        self.in_flight = InFlight(endpoint.in_flight)
        address = re.sub(r"/(models|chat/completions|completions)$", "", endpoint.address.rstrip("/"))
        is_versioned = address.endswith("/v1")
        self.root = address.removesuffix("/v1")
        self.openai = "v1/" if is_versioned or not urlsplit(address).path.strip("/") else ""
        self._lock = threading.Lock()
        oldest = _OLDEST_DAYS if endpoint.max_age_hours is None else endpoint.max_age_hours / 24
        self._service = Service(
            f"model {endpoint.name}", self.root, max_concurrency=endpoint.in_flight,
            requests_per_minute=endpoint.requests_per_minute or 60_000, cache_ttl_days=oldest,
            timeout_s=endpoint.timeout_s, max_requests=endpoint.max_requests or sys.maxsize,
            max_minutes=_MINUTES, tries=_TRIES, contact_needed=False, transient=_STATUSES, may_move=True,
        )  # fmt: skip
        self.cache = self.cache / identity(endpoint.name)  # two names may have one slug
        if endpoint.revision:  # other weights: what the earlier ones answered is not theirs
            self.cache = self.cache / f"revision-{identity(endpoint.revision)}"
        if endpoint.key_from and not (self.offline or os.environ.get(endpoint.key_from)):
            raise UsageError(
                f"model {endpoint.name}: its key is read from the environment variable {endpoint.key_from}, which is "
                "not set; set it, or leave out key_from where the server needs no key"
            )
        key = os.environ.get(endpoint.key_from, "") if endpoint.key_from else ""
        if not (key.isascii() and key.isprintable()) or key != key.strip():
            raise UsageError(
                f"model {endpoint.name}: the key in the environment variable {endpoint.key_from} has a space or a line "
                "end around it, or a character that no header may have; set it again"
            )

    @property
    def session(self) -> Session:
        """The session of this process; the one of an earlier run is closed."""
        key = os.environ.get(self.endpoint.key_from, "") if self.endpoint.key_from else ""
        return shared_session(
            self._service, contact=None, cache=self.cache, reruns=self.reruns, key=key,
            offline=self.offline,
        )  # fmt: skip

    def post(
        self,
        path: str,
        body: Mapping[str, Any],
        *,
        keep: bool = True,
        anew: bool = False,
        allow: Collection[int] = (200,),
        error_of: ErrorOf = lambda content: None,
    ) -> Answer:
        """The server's answer to a body in JSON; keep: whether it is cached; anew: whether a cached one does not do."""
        answer = self.session.ask(
            body, method="POST", path=path, as_json=True, allow=allow, error_of=error_of, keep=keep, bypass_cache=anew,
        )  # fmt: skip
        self._count(answer)
        return answer

    def get(self, path: str) -> Any:
        """What the server says of itself there; None where it has no such place; ServiceError where it has failed."""
        answer = self.session.ask(
            {}, path=path, allow=(200, 400, 401, 403, 404, 405, 501), bypass_cache=True, keep=False
        )
        self._count(answer)
        error = answer.content.get("error") if answer.status == 200 and isinstance(answer.content, dict) else None
        if error:
            said = printable(str(error), 300)
            raise ServiceError(f"model {self.endpoint.name} ({self.root}) answered with an error: {said}")
        return answer.content if answer.status == 200 else None

    def each(self, ask: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """The result for each item in its order, several asked at once; the first error ends the others."""
        listed = list(items)
        if len(listed) < 2:
            return [ask(item) for item in listed]
        self.in_flight.begin()
        failed = threading.Event()

        def one(item: Item) -> Result:
            with self.in_flight.place():
                if failed.is_set():
                    raise _Unsent
                try:
                    return ask(item)
                except BaseException:
                    failed.set()
                    raise

        workers = min(self.in_flight.most, len(listed))
        with ThreadPoolExecutor(workers, thread_name_prefix="endpoint") as pool:
            try:
                futures = [pool.submit(one, item) for item in listed]
                errors = [error for future in futures if (error := future.exception()) is not None]
            except BaseException:  # Ctrl-C: what waits is not sent any more
                failed.set()
                raise
        if errors:
            raise next(error for error in errors if not isinstance(error, _Unsent))
        return [future.result() for future in futures]

    def _count(self, answer: Answer) -> None:
        if not answer.from_cache:
            with self._lock:
                self.requests += 1
