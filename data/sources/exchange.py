"""One request to a public service and its whole answer, and what each thing that can go wrong in between means.

Unreachable     no name, no way, refused, no trust: nobody is there
Passing         it may go better soon: 429, 502, 503, 504, a dropped connection, silence, an answer that breaks off
ServiceError    the answer is there and is nonsense: asking again would bring the same
ServiceTimeout  the answer is there, and ends where the service ran out of time, or is too large: ask for less
"""

import json
import re
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import requests
from requests import exceptions as failures
from requests.utils import select_proxy
from requests_ratelimiter import LimiterSession
from urllib3 import exceptions as broken

from data.errors import ServiceBudget, ServiceError, ServiceTimeout
from data.sources.manners import asked_to_wait, printable

LARGEST = 64 * 2**20
CONNECT_S = 5.0
"""Seconds for the name of a host to be found, and for a connection to it."""
PASSING = (429, 502, 503, 504)
_CHUNK = 2**16
_OUT_OF_TIME = re.compile(rb"timed?[ -]?out|TimeoutException|deadline is expired|cancel+ed", re.IGNORECASE)
_OUR_SIDE = re.compile(r"^<?[\w.]*HTTPS?Connection(Pool)?\(.*?\): (Failed to establish a new connection: )?")


class Unreachable(Exception):
    """Nobody answers at the address; the text says why."""


class Passing(Exception):
    """A try that failed for a reason that may pass.

    kind: the error to raise when it does not; wait_s: seconds the service asks us to wait; tries: how often at most;
    ends: the error that ends the session where all tries of a request fail so.
    """

    def __init__(
        self,
        said: str,
        *,
        kind: type[ServiceError] = ServiceError,
        wait_s: float | None = None,
        tries: int | None = None,
        ends: type[ServiceError] | None = None,
    ) -> None:
        super().__init__(said)
        self.kind, self.wait_s, self.tries, self.ends = kind, wait_s, tries, ends


@dataclass(frozen=True)
class Reply:
    """An answer that came whole: HTTP status, headers, the body unpacked, and seconds the service asks us to wait."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    wait_s: float | None = None


@dataclass(frozen=True)
class ServiceProblem:
    """An error inside an answer; passing: asking again later may help; kind: the error to raise."""

    message: str
    passing: bool = False
    kind: type[ServiceError] = ServiceError


@dataclass(frozen=True)
class Answer:
    """What a service said: the parsed JSON, the address asked, and when (UTC; of the retrieval, also when kept since).

    content is None where an allowed status other than 200 came without JSON.
    """

    content: Any
    address: str
    retrieved_at: datetime
    from_cache: bool
    status: int = 200


ErrorOf = Callable[[Any], ServiceProblem | None]


def no_error(content: Any) -> ServiceProblem | None:
    """For services that report no errors inside their answers."""
    return None


class OneExchange(LimiterSession):
    """Requests at a rate. Where a redirect leads is not looked at, for that reads its body, whatever its size."""

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """None: redirects are an answer like others."""
        return None


def exchange(
    http: requests.Session, request: requests.PreparedRequest, *, named: str, connect_s: float, timeout_s: float
) -> Reply:
    """Sends the request once and reads the whole answer, of at most 64 MiB; redirects are not followed.

    `timeout_s` bounds the seconds of silence, and again those of reading the answer. Raises Unreachable, Passing or
    ServiceError; the texts of the last two begin with `named`.
    """
    settings = http.merge_environment_settings(request.url, {}, True, None, None)
    try:
        with http.send(request, timeout=(connect_s, timeout_s), allow_redirects=False, **settings) as response:
            status, wait_s = response.status_code, asked_to_wait(response.headers)
            if status in PASSING:
                said = f"{named} answers {_phrase(status)}"
                # So some SPARQL services (QLever) say that the query, not who asks, takes too much of their time.
                if status == 429 and wait_s is None and out_of_time(_body(response, named, timeout_s)):
                    raise ServiceTimeout(f"{said}, for the query ran out of time; ask for less")
                if status == 429:
                    raise Passing(f"{said}: it refuses us for now", wait_s=wait_s, ends=ServiceBudget)
                raise Passing(said, kind=ServiceTimeout if status == 504 else ServiceError, wait_s=wait_s)
            return Reply(status, response.headers, _body(response, named, timeout_s), wait_s)
    except (failures.ReadTimeout, broken.ReadTimeoutError):
        raise Passing(f"{named} was silent for {timeout_s:g} s", kind=ServiceTimeout, tries=2) from None
    except (failures.ConnectTimeout, failures.ProxyError, failures.SSLError) as error:
        raise Unreachable(_why(error)) from None
    except failures.ConnectionError as error:
        if isinstance(getattr(error.args[0] if error.args else None, "reason", None), broken.NewConnectionError):
            raise Unreachable(_why(error)) from None
        raise Passing(f"{named} dropped the connection ({_why(error)})") from None
    except (failures.RequestException, broken.LocationValueError) as error:
        raise ServiceError(f"{named} cannot be asked: {printable(str(error), 200)}") from None
    except broken.DecodeError:
        raise Passing(f"{named} sent an answer that cannot be unpacked", tries=2) from None
    except broken.HTTPError:
        raise Passing(f"{named} broke off in its answer", kind=ServiceTimeout, tries=2) from None


def content_of(reply: Reply, named: str) -> Any:
    """The JSON of an answer; ServiceTimeout where it is cut short, ServiceError where it is something else.

    None where an answer that is not 200 OK has no JSON, since its status says all.
    """
    try:
        text = reply.body.decode("utf-8-sig")
        content = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        if reply.status != HTTPStatus.OK:
            return None
        if reply.body.lstrip()[:1] in (b"{", b"[", b""):
            raise ServiceTimeout(
                f"{named} answered with JSON cut short after {len(reply.body)} bytes; ask for less"
            ) from None
        raise ServiceError(f"{named} answered with something that is not JSON: {printable(reply.body)!r}") from None
    if "\\u" in text:
        try:
            json.dumps(content, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ServiceError(f"{named} answered with half a character (a lone surrogate), which is no text") from None
    return content


def refusal(reply: Reply, named: str) -> ServiceError:
    """The error of an answer whose status is not one of those that were hoped for."""
    said = f"{named} answered {_phrase(reply.status)}: {printable(reply.body)!r}"
    if reply.status == HTTPStatus.INTERNAL_SERVER_ERROR and out_of_time(reply.body):
        return ServiceTimeout(f"{said}; ask for less")
    return ServiceError(said)


def out_of_time(said: bytes) -> bool:
    """Whether the text of an error says that the service ran out of time."""
    return _OUT_OF_TIME.search(said[:_CHUNK]) is not None


def seconds_to_connect(http: requests.Session, address: str) -> float:
    """Seconds to allow for each network address of the host, so that all of them together take about CONNECT_S.

    Unreachable where the name is unknown or the answer to that takes longer than CONNECT_S (which no timeout of the
    HTTP libraries covers). Behind a proxy the name is the proxy's business.
    """
    settings = http.merge_environment_settings(address, {}, True, None, None)
    if select_proxy(address, settings["proxies"]):
        return CONNECT_S
    host, port = urlsplit(address).hostname or "", urlsplit(address).port
    found: list[int] = []
    wrong: list[Exception] = []

    def look_up() -> None:
        try:
            found.append(len(socket.getaddrinfo(host, port or 443, type=socket.SOCK_STREAM)))
        except (OSError, UnicodeError) as error:
            wrong.append(error)

    thread = Thread(target=look_up, daemon=True, name=f"look up {host}")
    thread.start()
    thread.join(CONNECT_S)
    if not sum(found):
        why = printable(str(wrong[0])) if wrong else f"nobody said within {CONNECT_S:g} s"
        raise Unreachable(f"the name {host} is not found ({why})")
    return max(1.0, CONNECT_S / found[0])


def _body(response: requests.Response, named: str, timeout_s: float) -> bytes:
    last = time.monotonic() + timeout_s
    body = bytearray()
    while chunk := response.raw.read1(_CHUNK, decode_content=True):
        body += chunk
        if len(body) > LARGEST:
            raise ServiceTimeout(f"{named} sends more than {LARGEST // 2**20} MiB; ask for less")
        if time.monotonic() > last:
            raise Passing(f"{named} still sends after {timeout_s:g} s", kind=ServiceTimeout, tries=2)
    return bytes(body)


def _why(error: failures.RequestException) -> str:
    cause: Any = error.args[0] if error.args else error
    cause = getattr(cause, "reason", None) or cause
    if isinstance(cause, broken.ProtocolError) and isinstance(cause.args[-1], Exception):
        cause = cause.args[-1]
    return printable(f"{type(cause).__name__}: {_OUR_SIDE.sub('', str(cause))}", 160)


def _phrase(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _no_number(said: str) -> Any:
    raise ValueError(f"{said} is no number of JSON")
