"""Responses of a service: their content, and the errors that a later try may not have."""

import json
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from http.client import responses
from typing import Any, Literal

from swaymeter.data.errors import ServiceError, ServiceTimeout, is_text, printable

Form = Literal["json", "text"]

MAX_VALUES = 4_000_000
"""Upper bound on the values of a JSON document: `{},` becomes 72 bytes, and 64 MiB of it would fill gigabytes."""
MISREAD = (LookupError, TypeError, ValueError, AttributeError)
"""Exceptions of functions that read a response of an unexpected form."""
_TIMEOUT_WORDS = re.compile(rb"timed?[ -]?out|TimeoutException|deadline is expired|cancel+ed", re.IGNORECASE)
_SEARCHED_BYTES = 2**16


@dataclass(frozen=True)
class Answer:
    """A complete response.

    Attributes:
        status: The HTTP status.
        body: The decompressed body; empty once it is read.
        retrieved_at: The time of its arrival, UTC.
        wait_s: Seconds of its Retry-After.
        rerun: The highest number of a forced rerun that it serves.
        content: Parsed JSON, or text.
        from_cache: It was not requested now.
    """

    status: int
    body: bytes
    retrieved_at: datetime
    wait_s: float | None = None
    rerun: int = 0
    content: Any = None
    from_cache: bool = False


@dataclass(eq=False)
class TransientError(Exception):
    """A failed try that may succeed later: 429, 502, 503, 504, a dropped connection, a late or cut response.

    Attributes:
        message: A sentence that names the service.
        kind: The error to raise if no retry succeeds.
        wait_s: Seconds of Retry-After.
        tries: Number of tries; None for the service's own.
        ends_session: Other requests would fail in the same way, and are not sent once no retry succeeded.
    """

    message: str
    kind: type[ServiceError] = ServiceError
    wait_s: float | None = None
    tries: int | None = None
    ends_session: bool = False

    def __str__(self) -> str:
        return self.message


ErrorOf = Callable[[Any], ServiceError | TransientError | None]
"""Return the error inside a response, or None."""
Immutable = bool | Callable[[Any], bool]


@dataclass(frozen=True)
class Expected:
    """Conditions of a valid response.

    Attributes:
        form: JSON or text.
        error_of: Returns an error inside a response.
        allow: Valid statuses.
        immutable: The response never expires; a function decides by the content.
    """

    form: Form
    error_of: ErrorOf
    allow: Collection[int]
    immutable: Immutable

    def is_immutable(self, content: Any) -> bool:
        """Return True if a later request would get the same content."""
        return self.immutable(content) if callable(self.immutable) else self.immutable


def why(error: Exception) -> str:
    """Return in words why a response could not be read."""
    return printable(f"it has no {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__, 160)


def misread(reads: Callable[[Any], object]) -> ErrorOf:
    """Return a function that finds an error in a response if `reads` raises one of MISREAD."""

    def problem(content: Any) -> ServiceError | None:
        try:
            reads(content)
        except MISREAD as error:
            return ServiceError(f"JSON that is not the requested answer ({why(error)}); is its address right?")
        return None

    return problem


def refusal(answer: Answer, named: str, reason: str = "") -> ServiceError:
    """Return the error of a response with another status than the valid ones, which quotes its body or a reason."""
    message = f"{named} answered {phrase(answer.status)}: {printable(reason, 300) or printable(answer.body)!r}"
    if answer.status == HTTPStatus.INTERNAL_SERVER_ERROR and out_of_time(answer.body):
        return ServiceTimeout(f"{message}; ask for less")
    return ServiceError(message)


def out_of_time(message: bytes) -> bool:
    """Return True if the text of an error reports that the service ran out of time."""
    return _TIMEOUT_WORDS.search(message[:_SEARCHED_BYTES]) is not None


def phrase(status: int) -> str:
    """Return a status with its HTTP reason phrase."""
    return f"{status} {responses.get(status, '')}".rstrip()


def read_content(answer: Answer, form: Form, named: str) -> Any:
    """Return the JSON or the text of a response; of another status than 200 also text in place of JSON.

    Raises:
        ServiceTimeout: The JSON is cut short or too large.
        ServiceError: The body is not the expected form.
    """
    if form == "json":
        return _json(answer, named)
    try:
        return answer.body.decode()
    except UnicodeDecodeError as error:
        raise ServiceError(
            f"{named} answered with something that is not text in UTF-8 (byte {error.start}): "
            f"{printable(answer.body)!r}"
        ) from None


def _json(answer: Answer, named: str) -> Any:
    if sum(map(answer.body.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise ServiceTimeout(f"{named} sends JSON of more than {MAX_VALUES:,} values; ask for less")
    try:
        text = answer.body.decode("utf-8-sig")
        content = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        if answer.status != HTTPStatus.OK:
            return answer.body.decode("utf-8-sig", "replace")
        raise _json_error(error, answer.body, named) from None
    if "\\u" in text and not is_text(json.dumps(content, ensure_ascii=False)):
        raise ServiceError(f"{named} answered with a lone surrogate, which is not text")
    return content


def _json_error(error: Exception, body: bytes, named: str) -> ServiceError:
    if body.lstrip()[:1] not in (b"{", b"[", b""):
        return ServiceError(f"{named} answered with something that is not JSON: {printable(body)!r}")
    is_cut = isinstance(error, json.JSONDecodeError) or getattr(error, "reason", "") == "unexpected end of data"
    if is_cut:
        return ServiceTimeout(f"{named} answered with JSON cut short after {len(body)} bytes; ask for less")
    return ServiceError(f"{named} answered with JSON that cannot be used: {printable(str(error), 160)}")


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not a JSON number")
