"""How a public service is treated: we say who asks, wait as long as it says, and follow it nowhere else.

What a service says about itself (a reason, an address to go to, seconds to wait) is text from the web: it is read with
care, cut, and made printable before anybody sees it.
"""

import re
from collections.abc import Mapping
from importlib.metadata import version
from urllib.parse import urljoin, urlsplit

import requests
from requests.utils import requote_uri
from urllib3.exceptions import InvalidHeader
from urllib3.util.retry import Retry

from data.errors import ServiceError

_CONTACT = re.compile(r"[^\s@,;<>]+@[^\s@,;<>]+\.[^\s@,;<>]+|https?://[^\s/]+\S*")
_KEEPS_METHOD = (301, 302, 307, 308)
_RETRY = Retry(retry_after_max=2**31)  # how long is too long is said by the budget of the run


def user_agent(contact: str | None, named: str, *, needed: bool = True) -> str:
    """What we call ourselves: program, version, who runs it, library; ServiceError without an e-mail address or URL.

    named: the service that is to be told, as errors name it. needed: not, where a service asks for nobody to reach.
    """
    said = (contact or "").strip()
    if not said and not needed:
        return f"swaymeter/{version('swaymeter')} python-requests/{requests.__version__}"
    if not said:
        raise ServiceError(
            f"{named} is asked only by somebody it can reach: give an e-mail address or a URL "
            "as `services.contact` in the study file, or in SWAYMETER_CONTACT"
        )
    fits = said.isascii() and said.isprintable() and len(said) <= 200 and not set(said) & set("()\\")
    if not fits or not _CONTACT.search(said):
        raise ServiceError(
            f"{named} cannot be told who asks: the contact {printable(said, 60)!r} is neither an e-mail address nor a "
            "URL in one plain line of at most 200 characters, without brackets; mend `services.contact` in the study "
            "file, or SWAYMETER_CONTACT"
        )
    return f"swaymeter/{version('swaymeter')} ({said}) python-requests/{requests.__version__}"


def place_in(address: str, path: str, named: str) -> str:
    """The address of a place of a service; ServiceError where its path leads out of it."""
    if {".", ".."} & set(path.split("/")) or set("?#\\") & set(path):
        raise ServiceError(f"{named} has no place named {printable(path)!r}")
    return f"{address.rstrip('/')}/{path.lstrip('/')}" if path else address


def asked_to_wait(headers: Mapping[str, str]) -> float | None:
    """The seconds of Retry-After, given as seconds or as a date; None without one that can be read."""
    said = headers.get("Retry-After")
    if said is None:
        return None
    try:
        return float(_RETRY.parse_retry_after(said))
    except (InvalidHeader, ValueError, OverflowError):
        return None


def redirected(request: requests.PreparedRequest, status: int, headers: Mapping[str, str], named: str) -> str | None:
    """Where the same request is to be sent instead; None where this is no redirect.

    Only to the same scheme, host and port, or from http to https of the same host: anything else is a ServiceError that
    names it, for a query is not sent to a host that nobody named.
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
        raise ServiceError(f"{named} sends us to {printable(target)!r}, which is no address") from None
    upgraded = (here.scheme, parts.scheme) == ("http", "https") and parts.hostname == here.hostname
    if not same and not upgraded:
        raise ServiceError(
            f"{named} sends us to another host, {printable(there, 200)!r}; "
            "if that is where it lives now, give this address in the study file"
        )
    return requote_uri(there)


def check_address(address: str, name: str) -> None:
    """ServiceError where the address of a service is not an http or https address with a host."""
    try:
        parts = urlsplit(address)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        fits = False
    if not fits or parts.query or parts.fragment or parts.username or not address.isprintable() or " " in address:
        raise ServiceError(
            f"the address of {name}, {printable(address)!r}, is no plain http or https address; "
            "give another in the study file"
        )


def printable(said: str | bytes, most: int = 80) -> str:
    """The first characters of what somebody said, on one line and printable."""
    text = said[: 8 * most].decode("utf-8", "replace") if isinstance(said, bytes) else said[: 8 * most]
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[:most]
