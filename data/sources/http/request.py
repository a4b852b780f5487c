"""What a request says: who asks, the address, and which redirects it follows."""

import re
from collections.abc import Mapping
from importlib.metadata import version
from urllib.parse import urljoin, urlsplit

import requests
from requests.utils import requote_uri

from swaymeter.data.errors import ServiceError
from swaymeter.data.sources.http.printable import printable

_CONTACT = re.compile(r"[^\s@,;<>]+@[^\s@,;<>]+\.[^\s@,;<>]+|https?://[^\s/]+\S*")
_KEEPS_METHOD = (301, 302, 307, 308)


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
