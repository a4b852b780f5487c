"""HTTP headers: the user agent that is sent, and the Retry-After that is received."""

import re
from collections.abc import Mapping
from importlib.metadata import version

import requests
from urllib3.exceptions import InvalidHeader
from urllib3.util.retry import Retry

from data.errors import ServiceError
from data.sources.http.printable import printable

_CONTACT = re.compile(r"[^\s@,;<>]+@[^\s@,;<>]+\.[^\s@,;<>]+|https?://[^\s/]+\S*")
_RETRY = Retry(retry_after_max=2**31)  # the budget of the run limits it


def user_agent(contact: str | None, named: str, *, needed: bool = True) -> str:
    """The user agent: program, version, contact, library; ServiceError without an e-mail address or URL.

    named: the service, for messages. needed: whether the service requires a contact.
    """
    reachable = (contact or "").strip()
    if not reachable and not needed:
        return f"swaymeter/{version('swaymeter')} python-requests/{requests.__version__}"
    if not reachable:
        raise ServiceError(
            f"{named} requires a contact: give an e-mail address or a URL "
            "as `services.contact` in the study file, or in SWAYMETER_CONTACT"
        )
    fits = (
        reachable.isascii() and reachable.isprintable() and len(reachable) <= 200 and not set(reachable) & set("()\\")
    )
    if not fits or not _CONTACT.search(reachable):
        raise ServiceError(
            f"{named} requires a valid contact: {printable(reachable, 60)!r} is not an e-mail address or a URL in one "
            "plain line of at most 200 characters, without brackets; correct `services.contact` in the study file, or "
            "SWAYMETER_CONTACT"
        )
    return f"swaymeter/{version('swaymeter')} ({reachable}) python-requests/{requests.__version__}"


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """The seconds of Retry-After, a number or a date in the header; None where it is missing or invalid."""
    value = headers.get("Retry-After")
    if value is None:
        return None
    try:
        return float(_RETRY.parse_retry_after(value))
    except (InvalidHeader, ValueError, OverflowError):
        return None
