"""A request to a service: its user agent, its deadline, and its complete response or the error.

A socket's timeout counts only the seconds without data, and a server may send a byte now and then for ever. So
`_TimedReader` reads every response, and ends at the deadline.
"""

import io
import json
import logging
import re
import socket
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime
from http.client import HTTPException, HTTPResponse
from importlib.metadata import version
from typing import Any
from weakref import WeakSet

import requests
from pyrate_limiter import Limiter
from requests import exceptions as requests_errors
from requests.adapters import HTTPAdapter
from requests_ratelimiter import LimiterSession
from urllib3 import exceptions as urllib3_errors
from urllib3.util.retry import Retry

from swaymeter.data.errors import ServiceBudget, ServiceError, ServiceTimeout, printable
from swaymeter.data.sources.http.response import Response, TransientError, status_phrase
from swaymeter.data.sources.http.services import Service

MAX_BYTES = 64 * 2**20
"""Limit of the bytes of a decompressed response."""
CONNECT_S = 5.0
"""Limit of the seconds for a connection to an address of a host."""
DEADLINE_TIMEOUTS = 2
"""Limit of the time from the end of a request to the last byte of the response, as a multiple of `timeout_s`."""
_CHUNK = 2**16
_TRIES = 2
"""Number of tries if a response is late or broken, or a service cannot be reached; else `Service.tries` applies."""
_SHORTEST_KEY = 8
"""Length of the shortest API key that is removed from texts; a shorter key, such as EMPTY, is no secret."""
_CONTACT = re.compile(r"[^\s@,;<>]+@[^\s@,;<>]+\.[^\s@,;<>]+|https?://[^\s/]+\S*")
_PLAIN = re.compile(r"[!-'*-\[\]-~ ]{,200}")  # ASCII without ( ) and \
_RETRY_AFTER = Retry(retry_after_max=2**31)  # no limit here: `Session` limits the pauses

logging.getLogger("urllib3.connection").setLevel(logging.ERROR)  # its warnings quote what a service sends


class _TimedReader(io.RawIOBase):
    """The stream of a response; TimeoutError after the deadline, or after a timeout without data."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket) -> None:
        self._raw, self._socket = raw, sock
        self._timeout_s = sock.gettimeout() or 0.0
        self._deadline = time.monotonic() + DEADLINE_TIMEOUTS * self._timeout_s

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        seconds_left = self._deadline - time.monotonic()
        if seconds_left <= 0:
            raise TimeoutError
        self._socket.settimeout(min(seconds_left, self._timeout_s))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _TimedAdapter(HTTPAdapter):
    """Connections whose responses have a deadline; `close` ends the connections of all threads."""

    def __init__(self, connections: int) -> None:
        self._sockets: WeakSet[socket.socket] = WeakSet()
        self._lock, self._is_closed = threading.Lock(), False
        super().__init__(pool_maxsize=connections)

    def get_connection_with_tls_context(self, *arguments: Any, **keywords: Any) -> Any:
        pool: Any = super().get_connection_with_tls_context(*arguments, **keywords)
        if "response_class" not in vars(pool.ConnectionCls):
            attributes = {"response_class": self._timed_response}
            pool.ConnectionCls = type("TimedConnection", (pool.ConnectionCls,), attributes)
        return pool

    def _timed_response(self, sock: socket.socket, *arguments: Any, **keywords: Any) -> HTTPResponse:
        response = HTTPResponse(sock, *arguments, **keywords)
        response.fp = io.BufferedReader(_TimedReader(response.fp.detach(), sock))
        with self._lock:
            self._sockets.add(sock)
            if self._is_closed:  # by another thread, after the request was sent
                _shut_down(sock)
        return response

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            for sock in self._sockets:
                _shut_down(sock)
        super().close()


def _shut_down(sock: socket.socket) -> None:
    with suppress(OSError):
        # An SSLSocket's own shutdown would remove its encryption while another thread reads.
        socket.socket.shutdown(sock, socket.SHUT_RDWR)


class Exchange(LimiterSession):
    """Connections to a service, with a limited rate of requests.

    Args:
        service: The service.
        label: Name of the service in messages.
        limiter: Limits the requests per minute.
        key: The API key; in responses and messages, [key] stands in its place.
    """

    def __init__(self, service: Service, label: str, limiter: Limiter, key: str) -> None:
        super().__init__(limiter=limiter, per_host=False, limit_statuses=())
        self._service, self._label = service, label
        self._key = _spellings_of(key) if len(key) >= _SHORTEST_KEY else None
        for scheme in ("http://", "https://"):
            self.mount(scheme, _TimedAdapter(service.max_concurrency))

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """Return None, so that no redirect is followed: the library would read a redirect's body, however large."""
        return None

    def fetch(self, request: requests.PreparedRequest) -> Response:
        """Send a request once and read the complete response, of at most 64 MiB.

        Raises:
            TransientError: A later try may succeed.
            ServiceError: No later try would succeed.
        """
        timeout_s = self._service.timeout_s
        settings = self.merge_environment_settings(request.url, {}, True, None, None)  # proxies and certificates
        try:
            with self.send(request, timeout=(CONNECT_S, timeout_s), allow_redirects=False, **settings) as response:
                return self._response(response)
        except (requests_errors.ReadTimeout, urllib3_errors.ReadTimeoutError):
            message = f"was silent for {timeout_s:g} s, or still sends after {DEADLINE_TIMEOUTS * timeout_s:g} s"
            raise TransientError(f"{self._label} {message}", ServiceTimeout, tries=_TRIES) from None
        except requests_errors.ConnectionError as error:
            raise self._connection_error(error) from None
        except (OSError, urllib3_errors.LocationValueError) as error:
            # The library raises OSError itself, and no subclass, if the file of certificates is missing.
            advice = "; correct REQUESTS_CA_BUNDLE or CURL_CA_BUNDLE" if type(error) is OSError else ""
            raise ServiceError(f"{self._label} cannot be requested: {self._quoted(str(error), 200)}{advice}") from None
        except urllib3_errors.HTTPError:
            message = f"{self._label} sent a response that ends too early or cannot be decompressed"
            raise TransientError(message, ServiceTimeout, tries=_TRIES) from None

    def _connection_error(self, error: BaseException) -> TransientError:
        while error.__context__:  # requests and urllib3 wrap the cause
            error = error.__context__
        cause = self._quoted(f"{type(error).__name__}: {error}", 160)
        if isinstance(error, HTTPException | ConnectionResetError | BrokenPipeError):
            return TransientError(f"{self._label} dropped the connection ({cause})")
        if "CERTIFICATE_VERIFY_FAILED" in cause:
            cause += "; for a certificate signed by your own authority, name the authority's file in REQUESTS_CA_BUNDLE"
        return TransientError(f"{self._label} cannot be reached: {cause}", tries=_TRIES)

    def _response(self, response: requests.Response) -> Response:
        status, wait_s = response.status_code, _retry_after_s(response)
        message = f"{self._label} answers {status_phrase(status)}"
        if response.is_redirect:
            target = self._quoted(response.headers["Location"], 200)
            raise ServiceError(f"{message} and redirects to {target!r}; write the new address into the study file")
        if status not in self._service.transient:
            return Response(status, self._body(response), datetime.now(UTC), wait_s)
        raise TransientError(message, {429: ServiceBudget, 504: ServiceTimeout}.get(status, ServiceError), wait_s)

    def _body(self, response: requests.Response) -> bytes:
        body = bytearray()
        while chunk := response.raw.read1(_CHUNK, decode_content=True):
            body += chunk
            if len(body) > MAX_BYTES:  # after a timeout, the caller requests less
                raise ServiceTimeout(
                    f"{self._label} sends more than {MAX_BYTES // 2**20} MiB; choose fewer entities, pairs or questions"
                )
        return self._without_key(bytes(body))

    def _quoted(self, text: str, length: int) -> str:
        """Return the first characters of a text; the API key is removed before the cut, which could split it."""
        return printable(self._without_key(text.encode(errors="replace")).decode(), length)

    def _without_key(self, text: bytes) -> bytes:
        return self._key.sub(b"[key]", text) if self._key else text


def _spellings_of(key: str) -> re.Pattern[bytes]:
    """Return a pattern of an API key; each of its characters may be plain, or escaped as in JSON or an address."""

    def spellings(character: str) -> str:
        percent_encoded = "".join(f"%{byte:02x}" for byte in character.encode())
        forms = map(re.escape, (character, json.dumps(character)[1:-1], f"\\{character}"))
        return "|".join([*forms, rf"(?i:\\u{ord(character):04x})", f"(?i:{percent_encoded})"])

    return re.compile("".join(f"(?:{spellings(character)})" for character in key).encode())


def _retry_after_s(response: requests.Response) -> float | None:
    try:
        return _RETRY_AFTER.get_retry_after(response.raw)
    except (urllib3_errors.InvalidHeader, ValueError, OverflowError):
        return None


def user_agent(contact: str | None, label: str, *, needed: bool) -> str:
    """Return the user agent: program, version, contact and library.

    Raises:
        ServiceError: The contact is not valid, or a needed contact is missing.
    """
    contact = (contact or "").strip()
    if (contact or needed) and not (_PLAIN.fullmatch(contact) and _CONTACT.search(contact)):
        problem = f"the contact {printable(contact, 60)!r} is not valid" if contact else "no contact is set"
        raise ServiceError(
            f"{label} requires a contact, but {problem}; set `services.contact` in the study file, or the environment "
            "variable SWAYMETER_CONTACT, to an e-mail address or a URL, in at most 200 ASCII characters without "
            "parentheses or backslashes"
        )
    comment = f" ({contact})" if contact else ""
    return f"swaymeter/{version('swaymeter')}{comment} python-requests/{requests.__version__}"
