"""Responses of a public service: complete or truncated, valid or an error; and what a valid response must be."""

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from http.client import responses
from typing import Any, Literal

from swaymeter.data.errors import ServiceError, ServiceTimeout, is_text, printable

Form = Literal["json", "text"]

MOST_VALUES = 4_000_000
"""Values of a JSON document that are parsed: `{},` makes 72 bytes of 3, so that 64 MiB would take gigabytes."""
_READ_FOR_REASONS = 2**16
_OUT_OF_TIME = re.compile(rb"timed?[ -]?out|TimeoutException|deadline is expired|cancel+ed", re.IGNORECASE)


@dataclass(frozen=True)
class Reply:
    """A complete response: HTTP status, decompressed body, when it came (UTC), headers, seconds of its Retry-After.

    reruns: the names of the requests to fetch anew that it was sent for, of a cached one.
    """

    status: int
    body: bytes
    retrieved_at: datetime
    headers: Mapping[str, str] = field(default_factory=dict)
    wait_s: float | None = None
    reruns: frozenset[str] = frozenset()


@dataclass(eq=False)
class TransientError(Exception):
    """A try that failed and may succeed later: 429, 502, 503, 504, a dropped connection, a late or cut response.

    kind: the error to raise when no retry succeeds; wait_s: seconds of Retry-After; tries, patience: most and least
    tries, whatever the service's settings are; ends: the error that ends the session when all tries of a request fail
    so.
    """

    message: str
    kind: type[ServiceError] = ServiceError
    wait_s: float | None = None
    tries: int | None = None
    patience: int = 0
    ends: type[ServiceError] | None = None

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Answer:
    """The parsed JSON or the text of a response, and when it was received (UTC)."""

    content: Any
    address: str
    retrieved_at: datetime
    from_cache: bool
    status: int = 200


ErrorOf = Callable[[Any], ServiceError | TransientError | None]
"""Finds an error inside a response."""
Immutable = bool | Callable[[Any], bool]


MISREAD = (LookupError, TypeError, ValueError, AttributeError)
"""What reading an answer of another form than expected raises."""


def why(error: Exception) -> str:
    """What an answer lacks, in words, for the error with which it could not be read."""
    return printable(f"it has no {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__, 160)


def misread(reads: Callable[[Any], object]) -> ErrorOf:
    """Finds that an answer is not the requested one: `reads` raises one of MISREAD."""

    def problem(content: Any) -> ServiceError | None:
        try:
            reads(content)
        except MISREAD as error:
            return ServiceError(f"JSON that is not the requested answer ({why(error)}); is its address right?")
        return None

    return problem


@dataclass(frozen=True)
class Expected:
    """What a valid response is: its form, its statuses, no error inside; and whether a cached one never expires."""

    form: Form
    error_of: ErrorOf
    allow: Collection[int]
    immutable: Immutable

    def content(self, reply: Reply, named: str) -> Any:
        """The JSON or the text of a response; also the text of a response other than 200 OK that is not JSON."""
        return _json(reply, named) if self.form == "json" else _text(reply, named)

    def is_immutable(self, content: Any) -> bool:
        """Whether a later request would get the same content."""
        return self.immutable if isinstance(self.immutable, bool) else self.immutable(content)


def refusal(reply: Reply, named: str, words: str = "") -> ServiceError:
    """Return the error of a response whose status is not an expected one; words: quoted in place of its body."""
    message = f"{named} answered {phrase(reply.status)}: {printable(words, 300) or printable(reply.body)!r}"
    if reply.status == HTTPStatus.INTERNAL_SERVER_ERROR and out_of_time(reply.body):
        return ServiceTimeout(f"{message}; ask for less")
    return ServiceError(message)


def out_of_time(message: bytes) -> bool:
    """Whether the text of an error reports that the service ran out of time."""
    return _OUT_OF_TIME.search(message[:_READ_FOR_REASONS]) is not None


def phrase(status: int) -> str:
    """The status with its HTTP reason phrase."""
    return f"{status} {responses.get(status, '')}".rstrip()


def _json(reply: Reply, named: str) -> Any:
    try:
        text = reply.body.decode("utf-8-sig")
        # also those inside of texts, which are few
        if sum(map(reply.body.count, (b",", b"[", b"{"))) > MOST_VALUES:
            raise ServiceTimeout(f"{named} sends JSON of more than {MOST_VALUES:,} values; ask for less")
        content = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        if reply.status != HTTPStatus.OK:
            return reply.body.decode("utf-8-sig", "replace")
        raise _not_json(error, reply.body, named) from None
    if "\\u" in text and not is_text(json.dumps(content, ensure_ascii=False)):
        raise ServiceError(f"{named} answered with a lone surrogate, which is not text")
    return content


def _not_json(error: Exception, body: bytes, named: str) -> ServiceError:
    """The error of a body that is not JSON: another document, JSON that stops, or what is wrong in it."""
    if body.lstrip()[:1] not in (b"{", b"[", b""):
        return ServiceError(f"{named} answered with something that is not JSON: {printable(body)!r}")
    if isinstance(error, RecursionError):
        return ServiceError(f"{named} answered with JSON that is nested too deeply")
    if isinstance(error, UnicodeDecodeError) and error.reason != "unexpected end of data":
        return ServiceError(f"{named} answered with JSON that is not UTF-8 (byte {error.start})")
    if not isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return ServiceError(f"{named} answered with JSON that cannot be used: {printable(str(error))}")
    return ServiceTimeout(f"{named} answered with JSON cut short after {len(body)} bytes; ask for less")


def _text(reply: Reply, named: str) -> str:
    try:
        return reply.body.decode()
    except UnicodeDecodeError as error:
        raise ServiceError(
            f"{named} answered with something that is not text in UTF-8 (byte {error.start}): {printable(reply.body)!r}"
        ) from None


def _no_number(constant: str) -> Any:
    raise ValueError(f"{constant} is not a JSON number")
