"""One request to a public service: who asks, its address and redirects, its complete response, or the error."""

import logging
import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
from requests import exceptions as failures
from requests.utils import requote_uri
from requests_ratelimiter import LimiterSession
from urllib3 import exceptions as broken
from urllib3.util.retry import Retry

from swaymeter.data.errors import ServiceBudget, ServiceError, ServiceTimeout, printable
from swaymeter.data.sources.http.answer import Reply, TransientError, out_of_time, phrase
from swaymeter.data.sources.http.deadline import DeadlineAdapter, Overdue
from swaymeter.data.sources.http.services import TRANSIENT

LARGEST = 64 * 2**20
CONNECT_S = 5.0
"""Seconds for a connection to an address of a host."""
_CHUNK = 2**16
_OUR_SIDE = re.compile(r"^<?[\w.]*HTTPS?Connection(Pool)?\(.*?\): (Failed to establish a new connection: )?")
_CONTACT = re.compile(r"[^\s@,;<>]+@[^\s@,;<>]+\.[^\s@,;<>]+|https?://[^\s/]+\S*")
_KEEPS_METHOD = (301, 302, 307, 308)
_RETRY = Retry(retry_after_max=2**31)  # the budget of the run limits it


logging.getLogger("urllib3.connection").setLevel(logging.ERROR)  # its warnings quote what a service sends


class Unreachable(Exception):
    """No connection is possible: unknown host, no route, connection refused, certificate not trusted."""


class OneExchange(LimiterSession):
    """Requests at a rate, with a deadline. Redirects are not resolved here: that reads their body, of any size.

    connections: how many are kept open.
    """

    def __init__(self, *, connections: int = 10, **settings: Any) -> None:
        super().__init__(**settings)
        for scheme in ("http://", "https://"):
            self.mount(scheme, DeadlineAdapter(connections))

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """None: redirects are responses like others."""
        return None


def exchange(
    http: requests.Session,
    request: requests.PreparedRequest,
    *,
    named: str,
    timeout_s: float,
    transient: Collection[int] = TRANSIENT,
) -> Reply:
    """Sends the request once and reads the complete response, of at most 64 MiB; redirects are not followed.

    `timeout_s` limits the seconds without data, and twice as many those of the whole response; transient: statuses
    that a later try may not have. Raises Unreachable,
    TransientError or ServiceError; the messages of the last two begin with `named`.
    """
    settings = http.merge_environment_settings(request.url, {}, True, None, None)
    try:
        with http.send(request, timeout=(CONNECT_S, timeout_s), allow_redirects=False, **settings) as response:
            return _reply(response, named, transient)
    except Overdue as error:
        raise TransientError(f"{named} {error}", kind=ServiceTimeout, tries=2) from None
    except (failures.ReadTimeout, broken.ReadTimeoutError):
        raise TransientError(f"{named} was silent for {timeout_s:g} s", kind=ServiceTimeout, tries=2) from None
    except failures.SSLError as error:
        own = "; where an authority of your own has signed it, name the file of its certificate in REQUESTS_CA_BUNDLE"
        raise Unreachable(_why(error) + (own if "CERTIFICATE_VERIFY_FAILED" in str(error) else "")) from None
    except (failures.ConnectTimeout, failures.ProxyError) as error:
        raise Unreachable(_why(error)) from None
    except failures.ConnectionError as error:
        if isinstance(getattr(error.args[0] if error.args else None, "reason", None), broken.NewConnectionError):
            raise Unreachable(_why(error)) from None
        raise TransientError(f"{named} dropped the connection ({_why(error)})") from None
    except (failures.RequestException, broken.LocationValueError) as error:
        raise ServiceError(f"{named} cannot be requested: {printable(str(error), 200)}") from None
    except OSError as error:  # a file of certificates that is not there
        raise ServiceError(
            f"{named} cannot be requested: {printable(str(error), 200)}; correct REQUESTS_CA_BUNDLE or CURL_CA_BUNDLE"
        ) from None
    except broken.DecodeError:
        raise TransientError(f"{named} sent a response that cannot be decompressed", tries=2) from None
    except broken.HTTPError:
        raise TransientError(f"{named} broke off in its answer", kind=ServiceTimeout, tries=2) from None


def _reply(response: requests.Response, named: str, transient: Collection[int]) -> Reply:
    status, wait_s = response.status_code, _retry_after_s(response.headers.get("Retry-After"))
    if status not in transient:
        body = _body(response, named)
        return Reply(status, body, datetime.now(UTC), response.headers, wait_s)
    message = f"{named} answers {phrase(status)}"
    # Some SPARQL services (QLever) report with 429 that a query, not a client, takes too much time.
    if status == 429 and wait_s is None and out_of_time(_body(response, named)):
        raise ServiceTimeout(f"{message}: the query ran out of time; ask for less")
    if status == 429:
        raise TransientError(f"{message}: it refuses requests for now", wait_s=wait_s, ends=ServiceBudget)
    raise TransientError(message, kind=ServiceTimeout if status == 504 else ServiceError, wait_s=wait_s)


def _retry_after_s(value: str | None) -> float | None:
    """The seconds of a Retry-After, a number or a date; None where it is missing or invalid."""
    try:
        return None if value is None else float(_RETRY.parse_retry_after(value))
    except (broken.InvalidHeader, ValueError, OverflowError):
        return None


def _body(response: requests.Response, named: str) -> bytes:
    body = bytearray()
    while chunk := response.raw.read1(_CHUNK, decode_content=True):
        body += chunk
        if len(body) > LARGEST:
            raise ServiceTimeout(f"{named} sends more than {LARGEST // 2**20} MiB; ask for less")
    return bytes(body)


def _why(error: failures.RequestException) -> str:
    cause: Any = error.args[0] if error.args else error
    cause = getattr(cause, "reason", None) or cause
    if isinstance(cause, broken.ProtocolError) and isinstance(cause.args[-1], Exception):
        cause = cause.args[-1]
    return printable(f"{type(cause).__name__}: {_OUR_SIDE.sub('', str(cause))}", 160)


def user_agent(contact: str | None, named: str, *, needed: bool) -> str:
    """The user agent: program, version, contact, library; ServiceError without a valid contact where one is needed."""
    contact = (contact or "").strip()
    if needed and not contact:
        raise ServiceError(
            f"{named} requires a contact: give an e-mail address or a URL "
            "as `services.contact` in the study file, or in SWAYMETER_CONTACT"
        )
    plain = contact.isascii() and contact.isprintable() and len(contact) <= 200 and not set(contact) & set("()\\")
    if contact and not (plain and _CONTACT.search(contact)):
        raise ServiceError(
            f"{named} requires a valid contact: {printable(contact, 60)!r} is not an e-mail address or a URL in one "
            "plain line of at most 200 characters, without brackets; correct `services.contact` in the study file, or "
            "SWAYMETER_CONTACT"
        )
    who = f" ({contact})" if contact else ""
    return f"swaymeter/{version('swaymeter')}{who} python-requests/{requests.__version__}"


def check_address(address: str, name: str) -> None:
    """ServiceError where the address of a service is not an http or https address with a host."""
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


def place_in(address: str, path: str, named: str) -> str:
    """The service's address with a path added; ServiceError where the path leads out of the service."""
    if {".", ".."} & set(path.split("/")) or set("?#\\") & set(path):
        raise ServiceError(f"{named} has no place named {printable(path)!r}")
    return f"{address.rstrip('/')}/{path.lstrip('/')}" if path else address


def redirected(request: requests.PreparedRequest, status: int, headers: Mapping[str, str], named: str) -> str | None:
    """The address that a redirect leads to; None where the response is not a redirect.

    ServiceError where it leads to another scheme, host or port, unless from http to https of the same host: a query is
    not sent to a host that the study does not name.
    """
    target = headers.get("Location")
    if target is None or not (status in _KEEPS_METHOD or (status == 303 and request.method == "GET")):
        return None
    here = urlsplit(request.url or "")
    try:
        there = urljoin(request.url or "", target)
        parts = urlsplit(there)
        same = (parts.scheme, parts.hostname, parts.port) == (here.scheme, here.hostname, here.port)
    except ValueError:
        raise ServiceError(f"{named} redirects to {printable(target)!r}, which is not a valid address") from None
    upgraded = (here.scheme, parts.scheme) == ("http", "https") and parts.hostname == here.hostname
    if not same and not upgraded:
        raise ServiceError(
            f"{named} redirects to another host, {printable(there, 200)!r}; "
            "if that is its new address, give it in the study file"
        )
    return requote_uri(there)
