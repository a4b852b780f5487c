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


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """The seconds of Retry-After, given as seconds or as a date; None without one that can be read."""
    said = headers.get("Retry-After")
    if said is None:
        return None
    try:
        return float(_RETRY.parse_retry_after(said))
    except (InvalidHeader, ValueError, OverflowError):
        return None
