"""Requests to one model server, with an adaptive number of concurrent requests.

The requests go through a session of data/sources/http, like requests to public services.
"""

import os
import re
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from swaymeter.data.digests import identity
from swaymeter.data.errors import ServiceError, UsageError, printable
from swaymeter.data.sources.http.response import ErrorOf, Response
from swaymeter.data.sources.http.services import TRANSIENT, Service
from swaymeter.data.sources.http.session import Session, shared_session
from swaymeter.tasks.models.endpoints.endpoint import Endpoint
from swaymeter.tasks.models.progress import report_prompts

Item = TypeVar("Item")
Result = TypeVar("Result")

_TRIES = 6
_TRANSIENT_STATUSES = (*TRANSIENT, 500, 529)
_CACHE_TTL_DAYS = 36_500.0  # a hundred years: cached responses never expire by themselves


class RequestsInFlight:
    """Limit of concurrent requests; a rising rate of responses doubles the limit, and a falling rate halves it."""

    BETTER, WORSE = 1.1, 0.7
    """Ratios of the rate to the rate at the limit's last change. The limit is doubled above BETTER, and halved below
    WORSE."""

    def __init__(self, maximum: int) -> None:
        self.maximum, self.limit = maximum, min(4, maximum)
        self._active, self._ended, self._last_rate = 0, 0, 0.0
        self._changed = threading.Condition()
        self._began = time.monotonic()

    def begin(self) -> None:
        """Begin to measure the rate, so that a pause before the next requests does not count."""
        with self._changed:
            self._ended, self._began = 0, time.monotonic()

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Take a slot for one request."""
        with self._changed:
            self._changed.wait_for(lambda: self._active < self.limit)
            self._active += 1
        try:
            yield
        finally:
            with self._changed:
                self._active -= 1
                self._ended += 1
                if self._ended >= 2 * self.limit:
                    self._adapt()
                self._changed.notify_all()

    def _adapt(self) -> None:
        now = time.monotonic()
        rate = self._ended / max(now - self._began, 1e-9)
        if rate > self.BETTER * self._last_rate:
            self._last_rate, self.limit = rate, min(2 * self.limit, self.maximum)
        elif rate < self.WORSE * self._last_rate:
            self._last_rate, self.limit = rate, max(1, self.limit // 2)
        self._ended, self._began = 0, now


class _CancelledRequest(Exception):
    """A request that is not sent, because another request has failed."""


@dataclass(eq=False)
class Client:
    """Requests to one server.

    Attributes:
        endpoint: The model and its server.
        cache: The folder of all cached responses.
        rerun: The number of a forced rerun; cached responses of lower numbers are requested again.
        offline: True to use only cached responses.
        requests: Number of requests so far.
        folder: The endpoint's folder, which lies in `cache`.

    Raises:
        UsageError: The environment variable of the key is not set, and requests are possible.
    """

    endpoint: Endpoint
    cache: Path
    rerun: int = 0
    offline: bool = False
    requests: int = field(default=0, init=False)
    folder: Path = field(init=False)

    def __post_init__(self) -> None:
        endpoint = self.endpoint
        self.in_flight = RequestsInFlight(endpoint.in_flight)
        address, _, query_string = endpoint.address.partition("?")
        address = re.sub(r"/(models|chat/completions|completions)$", "", address.rstrip("/"))
        # Routes begin with v1/ if the address ends with /v1, or has no path (http://localhost:8000).
        is_versioned = address.endswith("/v1")
        self.root = address.removesuffix("/v1")
        self.prefix = "v1/" if is_versioned or not urlsplit(address).path.strip("/") else ""
        self._lock = threading.Lock()
        max_age_days = _CACHE_TTL_DAYS if endpoint.max_age_hours is None else endpoint.max_age_hours / 24
        self._service = Service(
            f"model {endpoint.name}",
            self.root,
            max_concurrency=endpoint.in_flight,
            requests_per_minute=endpoint.requests_per_minute or 60_000,  # so many that they are no limit
            cache_ttl_days=max_age_days,
            timeout_s=endpoint.timeout_s,
            max_requests=endpoint.max_requests or sys.maxsize,
            tries=_TRIES,
            contact_needed=False,
            transient=_TRANSIENT_STATUSES,
            cached_for_any_address=True,
            query=query_string,
            key_header=endpoint.key_header,
        )
        self.folder = self.cache / identity(endpoint.name)  # a digest, which no two names share
        if endpoint.revision:  # replies of other weights are not used
            self.folder = self.folder / f"revision-{identity(endpoint.revision)}"
        variable = endpoint.key_variable
        if variable and not (self.offline or self._key):
            raise UsageError(
                f"model {endpoint.name}: its key is read from the environment variable {variable}, which is "
                "not set; set the variable, or leave out `key_from` if the server needs no key"
            )
        if not (self._key.isascii() and self._key.isprintable()) or self._key != self._key.strip():
            raise UsageError(
                f"model {endpoint.name}: the key in the environment variable {variable} begins or ends with a space "
                "or a line end, or has a character that no HTTP header may have; set the variable to the key alone"
            )

    @property
    def _key(self) -> str:
        return os.environ.get(self.endpoint.key_variable, "") if self.endpoint.key_variable else ""

    @property
    def session(self) -> Session:
        """The HTTP session that all threads of a run share; each run opens a new session."""
        return shared_session(
            self._service, contact=None, cache=self.folder, rerun=self.rerun, key=self._key, offline=self.offline
        )

    def post(
        self,
        path: str,
        body: Mapping[str, Any],
        *,
        store: bool = True,
        fresh: bool = False,
        allow: Collection[int] = (200,),
        error_of: ErrorOf = lambda content: None,
    ) -> Response:
        """Send a body in JSON and return the response.

        Args:
            path: The route of the server.
            body: The request.
            store: Cache the response.
            fresh: Send the request even if its response is cached, unless offline.
            allow: Statuses that are no errors.
            error_of: Returns the error in a response; None without an error.
        """
        response = self.session.ask(
            body,
            method="POST",
            path=path,
            as_json=True,
            allow=allow,
            error_of=error_of,
            keep=store,
            bypass_cache=fresh,
        )
        self._count(response)
        return response

    def get(self, path: str) -> Any:
        """Return the content of a route; None if the server lacks or refuses the route.

        Raises:
            ServiceError: The request fails for another reason, or the response reports an error.
        """
        response = self.session.ask(
            {}, path=path, allow=(200, 400, 401, 403, 404, 405, 501), bypass_cache=True, keep=False
        )
        self._count(response)
        error = response.content.get("error") if response.status == 200 and isinstance(response.content, dict) else None
        if error:
            raise ServiceError(
                f"model {self.endpoint.name} ({self.root}) answered with an error: {printable(str(error), 300)}"
            )
        return response.content if response.status == 200 else None

    def each(
        self, request: Callable[[Item], Result], items: Iterable[Item], *, prompts_each: float = 1
    ) -> list[Result]:
        """Send a request for each item, several at once, and return the results in the order of the items.

        The first error cancels all requests that wait.

        Args:
            request: Sends the request of an item, and returns its result.
            items: The items.
            prompts_each: Number of prompts of an item, for progress.
        """
        all_items = list(items)
        if len(all_items) < 2:
            return [request(item) for item in all_items]
        self.in_flight.begin()
        has_failed = threading.Event()

        def send(item: Item) -> Result:
            with self.in_flight.slot():
                if has_failed.is_set():
                    raise _CancelledRequest
                try:
                    return request(item)
                except BaseException:
                    has_failed.set()
                    raise

        workers = min(self.in_flight.maximum, len(all_items))
        with ThreadPoolExecutor(workers, thread_name_prefix="endpoint") as pool:
            try:
                futures = [pool.submit(send, item) for item in all_items]
                for future in as_completed(futures):
                    if future.exception() is None:
                        report_prompts(prompts_each)
                errors = [error for future in futures if (error := future.exception()) is not None]
            except BaseException:  # Ctrl-C: waiting requests are not sent
                has_failed.set()
                raise
        if errors:
            raise next(error for error in errors if not isinstance(error, _CancelledRequest))
        return [future.result() for future in futures]

    def _count(self, response: Response) -> None:
        if not response.from_cache:
            with self._lock:
                self.requests += 1
