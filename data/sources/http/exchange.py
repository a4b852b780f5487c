"""One request to a service: its address and user agent, a deadline, and its complete response or the error.

The timeouts of sockets count the seconds without data, so that a server which sends a byte now and then would be
listened to for ever. Here every read of a response passes through a reader that knows when the response began.
"""

import io
import logging
import re
import socket
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from http.client import HTTPResponse
from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakSet

import requests
from pyrate_limiter import Limiter
from requests import exceptions as failures
from requests.adapters import HTTPAdapter
from requests_ratelimiter import LimiterSession
from urllib3 import exceptions as broken
from urllib3.util.retry import Retry

from swaymeter.data.errors import ServiceBudget, ServiceError, ServiceTimeout, printable
from swaymeter.data.sources.http.answer import Answer, TransientError, out_of_time, phrase
from swaymeter.data.sources.http.secret import Secret
from swaymeter.data.sources.http.services import Service

MAX_BYTES = 64 * 2**20
CONNECT_S = 5.0
"""Seconds for a connection to an address of a host."""
DEADLINE_TIMEOUTS = 2
"""Timeouts that a whole response may take: one until it begins, and one until it is complete."""
_CHUNK = 2**16
_TRIES = 2
"""Tries of a request whose response is late or broken, and of a first connection."""
_CONNECTION = re.compile(r"^<?[\w.]*HTTPS?Connection(Pool)?\(.*?\): (Failed to establish a new connection: )?")
_CONTACT = re.compile(r"[^\s@,;<>]+@[^\s@,;<>]+\.[^\s@,;<>]+|https?://[^\s/]+\S*")
_PLAIN = re.compile(r"[!-'*-\[\]-~ ]{,200}")
_RETRY_AFTER = Retry(retry_after_max=2**31)  # `Limits` bounds a pause


logging.getLogger("urllib3.connection").setLevel(logging.ERROR)  # its warnings quote what a service sends


class Overdue(Exception):
    """A response that is not complete at its deadline."""


class _TimedReader(io.RawIOBase):
    def __init__(self, raw: io.RawIOBase, sock: socket.socket) -> None:
        self._raw, self._socket = raw, sock
        self._timeout_s = sock.gettimeout() or 0.0
        self._deadline = time.monotonic() + DEADLINE_TIMEOUTS * self._timeout_s

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        left = self._deadline - time.monotonic()
        if left > 0:
            self._socket.settimeout(min(left, self._timeout_s))
            try:
                return self._raw.readinto(buffer)
            except TimeoutError:
                if left >= self._timeout_s:
                    raise
        raise Overdue(f"still sends after {DEADLINE_TIMEOUTS * self._timeout_s:g} s")

    def close(self) -> None:
        self._raw.close()
        super().close()


class _TimedAdapter(HTTPAdapter):
    """Connections whose responses raise Overdue after the deadline; closing it ends them in all threads."""

    def __init__(self, connections: int) -> None:
        self._sockets: WeakSet[socket.socket] = WeakSet()
        self._lock = threading.Lock()
        super().__init__(pool_maxsize=connections)

    def get_connection_with_tls_context(self, *arguments: Any, **keywords: Any) -> Any:
        """Return the pool of connections to a host, directly or through a proxy."""
        pool: Any = super().get_connection_with_tls_context(*arguments, **keywords)
        if "response_class" not in vars(pool.ConnectionCls):
            name, timed = pool.ConnectionCls.__name__, {"response_class": self._response}
            pool.ConnectionCls = type(name, (pool.ConnectionCls,), timed)
        return pool

    def _response(self, sock: socket.socket, *arguments: Any, **keywords: Any) -> HTTPResponse:
        response = HTTPResponse(sock, *arguments, **keywords)
        response.fp = io.BufferedReader(_TimedReader(response.fp.detach(), sock))
        with self._lock:
            self._sockets.add(sock)
        return response

    def close(self) -> None:
        """Close all connections."""
        with self._lock, suppress(OSError):
            for sock in self._sockets:
                with suppress(OSError):
                    socket.socket.shutdown(sock, socket.SHUT_RDWR)
        super().close()


class Exchange(LimiterSession):
    """Connections to a service, at its requests per minute.

    Args:
        named: The service in messages.
        limiter: Keeps the requests per minute.
        secret: The key that no answer and no message repeats, not even a part of it.
    """

    def __init__(self, service: Service, named: str, limiter: Limiter, secret: Secret) -> None:
        super().__init__(limiter=limiter, per_host=False, limit_statuses=())
        self._service, self._named, self._secret, self._is_reached = service, named, secret, False
        for scheme in ("http://", "https://"):
            self.mount(scheme, _TimedAdapter(service.max_concurrency))

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """Return None: a redirect is refused, and to resolve it would read a body of any size."""
        return None

    def fetch(self, request: requests.PreparedRequest) -> Answer:
        """Send a request once and read the complete response, of at most 64 MiB.

        Raises:
            TransientError: A later try may succeed.
            ServiceError: No try will.
        """
        named, late = self._named, partial(TransientError, kind=ServiceTimeout, tries=_TRIES)
        settings = self.merge_environment_settings(request.url, {}, True, None, None)
        timeouts = CONNECT_S, self._service.timeout_s
        try:
            with self.send(request, timeout=timeouts, allow_redirects=False, **settings) as response:
                self._is_reached = True
                return self._answer(response)
        except Overdue as error:
            raise late(f"{named} {error}") from None
        except (failures.ReadTimeout, broken.ReadTimeoutError):
            raise late(f"{named} was silent for {self._service.timeout_s:g} s") from None
        except failures.ConnectionError as error:
            raise self._connection_error(error) from None
        except (failures.RequestException, broken.LocationValueError) as error:
            raise ServiceError(f"{named} cannot be requested: {self._quoted(str(error), 200)}") from None
        except OSError as error:  # a file of certificates that is not there
            raise ServiceError(
                f"{named} cannot be requested: {self._quoted(str(error), 200)}; correct REQUESTS_CA_BUNDLE or "
                "CURL_CA_BUNDLE"
            ) from None
        except broken.DecodeError:
            raise TransientError(f"{named} sent a response that cannot be decompressed", tries=_TRIES) from None
        except broken.HTTPError:
            raise late(f"{named} broke off in its answer") from None

    def _connection_error(self, error: failures.ConnectionError) -> TransientError:
        reason = getattr(error.args[0] if error.args else None, "reason", None)
        is_refused = isinstance(error, failures.SSLError | failures.ConnectTimeout | failures.ProxyError)
        if not is_refused and not isinstance(reason, broken.NewConnectionError):
            self._is_reached = True
            return TransientError(f"{self._named} dropped the connection ({self._quoted(_cause(error), 160)})")
        advice = "; if an authority of your own has signed it, name the file of its certificate in REQUESTS_CA_BUNDLE"
        message = f"{self._named} cannot be reached: {self._quoted(_cause(error), 160)}"
        message += advice if "CERTIFICATE_VERIFY_FAILED" in str(error) else ""
        return TransientError(message, tries=None if self._is_reached else _TRIES, ends_session=True)

    def _answer(self, response: requests.Response) -> Answer:
        status, wait_s = response.status_code, _retry_after_s(response.headers.get("Retry-After"))
        message = f"{self._named} answers {phrase(status)}"
        if response.is_redirect:
            target = self._quoted(response.headers["Location"], 200)
            raise ServiceError(f"{message} and redirects to {target!r}; give its present address in the study file")
        if status not in self._service.transient:
            return Answer(status, self._body(response), datetime.now(UTC), wait_s)
        # Some SPARQL services (QLever) report with 429 that a query, not a client, takes too much time.
        if status == 429 and wait_s is None and out_of_time(self._body(response)):
            raise ServiceTimeout(f"{message}: the query ran out of time; ask for less")
        if status == 429:
            message = f"{message}: it refuses requests for now"
            raise TransientError(message, ServiceBudget, wait_s, ends_session=True)
        raise TransientError(message, ServiceTimeout if status == 504 else ServiceError, wait_s)

    def _body(self, response: requests.Response) -> bytes:
        body = bytearray()
        while chunk := response.raw.read1(_CHUNK, decode_content=True):
            body += chunk
            if len(body) > MAX_BYTES:
                raise ServiceTimeout(f"{self._named} sends more than {MAX_BYTES // 2**20} MiB; ask for less")
        return self._secret.out_of_answer(bytes(body))

    def _quoted(self, text: str, length: int) -> str:
        """Return the first characters of a text without the key, which a cut must not leave in part."""
        return printable(self._secret.out_of(text), length)


def _retry_after_s(value: str | None) -> float | None:
    """Return the seconds of a Retry-After, a number or a date; None if it is missing or invalid."""
    try:
        return None if value is None else float(_RETRY_AFTER.parse_retry_after(value))
    except (broken.InvalidHeader, ValueError, OverflowError):
        return None


def _cause(error: failures.RequestException) -> str:
    cause: Any = error.args[0] if error.args else error
    cause = getattr(cause, "reason", None) or cause
    if isinstance(cause, broken.ProtocolError) and isinstance(cause.args[-1], Exception):
        cause = cause.args[-1]
    return f"{type(cause).__name__}: {_CONNECTION.sub('', str(cause))}"


def user_agent(contact: str | None, named: str, *, needed: bool) -> str:
    """Return the user agent: program, version, contact and library.

    Raises:
        ServiceError: The contact is not valid, or a needed one is missing.
    """
    contact = (contact or "").strip()
    if needed and not contact:
        raise ServiceError(
            f"{named} requires a contact: give an e-mail address or a URL "
            "as `services.contact` in the study file, or in SWAYMETER_CONTACT"
        )
    if contact and not (_PLAIN.fullmatch(contact) and _CONTACT.search(contact)):
        raise ServiceError(
            f"{named} requires a valid contact: {printable(contact, 60)!r} is not an e-mail address or a URL in one "
            "plain line of at most 200 characters, without brackets; correct `services.contact` in the study file, or "
            "SWAYMETER_CONTACT"
        )
    who = f" ({contact})" if contact else ""
    return f"swaymeter/{version('swaymeter')}{who} python-requests/{requests.__version__}"


def check_address(address: str, name: str) -> None:
    """Raise ServiceError if the address of a service is not an http or https address with a host."""
    try:
        parts = urlsplit(address)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        fits = False
    if not fits or parts.query or parts.fragment or parts.username or not address.isprintable() or " " in address:
        raise ServiceError(
            f"the address of {name}, {printable(address)!r}, is not a plain http or https address; "
            "give another in the study file"
        )


def join_path(address: str, path: str, named: str) -> str:
    """Return a service's address with a path added; ServiceError if the path leads out of the service."""
    if {".", ".."} & set(path.split("/")) or set("?#\\") & set(path):
        raise ServiceError(f"{named} has no place named {printable(path)!r}")
    return f"{address.rstrip('/')}/{path.lstrip('/')}" if path else address
