"""Responses of a service: their content and their errors."""

import json
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime
from http import HTTPStatus
from http.client import responses
from typing import Any

from swaymeter.data.errors import ServiceError, ServiceTimeout, is_text, printable

JSON, TEXT = "application/json", "text/plain, */*;q=0.5"
MISREAD = (LookupError, TypeError, ValueError, AttributeError)
"""Exceptions of a function that reads a response of an unexpected form."""
_TIMEOUT_WORDS = re.compile(rb"timed?[ -]?out|TimeoutException|deadline is expired|cancel+ed", re.IGNORECASE)
_SEARCHED_BYTES = 2**16
"""Number of bytes of a message that are searched for `_TIMEOUT_WORDS`."""


@dataclass(frozen=True)
class Response:
    """A complete response.

    Attributes:
        status: The HTTP status.
        body: The decompressed body; empty once `content` is read from it.
        retrieved_at: The time of its arrival, UTC.
        wait_s: Seconds in its header Retry-After; None without the header.
        rerun: Time in ms of the --force or --refresh that cached the response; 0 for a run without these options.
        content: Parsed JSON, or text.
        from_cache: True if it was cached, and not requested now.
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
    """A failed try that may succeed later: a status such as 429, a dropped connection, a late or broken response.

    Attributes:
        message: A sentence that names the service.
        kind: The error to raise if no retry succeeds.
        wait_s: Seconds to wait before a retry, such as the seconds in Retry-After; None for the usual backoff.
        tries: Number of tries for this error; None for `Service.tries`.
    """

    message: str
    kind: type[ServiceError] = ServiceError
    wait_s: float | None = None
    tries: int | None = None

    def __str__(self) -> str:
        return self.message


ErrorOf = Callable[[Any], ServiceError | TransientError | None]
"""A function from the content of a response to the error that it reports; None without an error."""


def reading_problem(error: Exception) -> str:
    """Return the reason, in words, why a response could not be read."""
    return printable(f"it has no {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__, 160)


def reading_check(read: Callable[[Any], object]) -> ErrorOf:
    """Return a function that returns an error if `read` raises one of MISREAD for a content."""

    def problem(content: Any) -> ServiceError | None:
        try:
            read(content)
        except MISREAD as error:
            reason = reading_problem(error)
            message = f"JSON that is not the expected response ({reason}); correct the address of the service"
            return ServiceError(message)
        return None

    return problem


def is_timeout_message(message: bytes) -> bool:
    """Return True if the text of an error reports that the service ran out of time."""
    return _TIMEOUT_WORDS.search(message[:_SEARCHED_BYTES]) is not None


def status_phrase(status: int) -> str:
    """Return a status with its HTTP reason phrase, such as "404 Not Found"."""
    return f"{status} {responses.get(status, '')}".rstrip()


def read_content(response: Response, *, is_json: bool, allow: Collection[int], error_of: ErrorOf, label: str) -> Any:
    """Return the content of a valid response: JSON or text.

    If JSON is expected, a response with an error status in `allow` may be text, too.

    Args:
        response: The response.
        is_json: True if JSON is expected.
        allow: Statuses of valid responses.
        error_of: Returns the error that the content reports, or None.
        label: Name of the service in messages.

    Raises:
        ServiceTimeout: The service ran out of time, or its JSON is cut short.
        ServiceError: The response is not valid.
        TransientError: `error_of` returned it.
    """
    if response.status not in allow:
        raise _refusal(response, label)
    content = _parse(response, is_json, label)
    error = error_of(content)
    if error is None:
        return content
    if is_json and isinstance(content, str):  # an error page
        raise _refusal(response, label, str(error))
    message = f"{label} answered with an error: {printable(str(error), 300)}"
    if isinstance(error, ServiceError):
        raise type(error)(message)
    raise replace(error, message=message, wait_s=error.wait_s if response.wait_s is None else response.wait_s)


def _refusal(response: Response, label: str, reason: str = "") -> ServiceError:
    reason = printable(reason, 300) or printable(response.body)
    message = f"{label} answered {status_phrase(response.status)}: {reason!r}"
    if response.status == HTTPStatus.INTERNAL_SERVER_ERROR and is_timeout_message(response.body):
        return ServiceTimeout(f"{message}; choose fewer entities or pairs")
    return ServiceError(message)


def _parse(response: Response, is_json: bool, label: str) -> Any:
    try:
        if not is_json:
            return response.body.decode()
        text = response.body.decode("utf-8-sig")
        content = json.loads(text, parse_constant=_refuse_constant)
        if "\\u" in text and not is_text(json.dumps(content, ensure_ascii=False)):
            raise ValueError("a lone surrogate")
        return content
    except (ValueError, RecursionError) as error:
        if is_json and response.status != HTTPStatus.OK:
            return response.body.decode("utf-8-sig", "replace")
        begins_as_json = is_json and response.body.lstrip()[:1] in (b"{", b"[", b"")
        if begins_as_json and (isinstance(error, json.JSONDecodeError) or "unexpected end of data" in str(error)):
            raise ServiceTimeout(
                f"{label} answered with JSON cut short after {len(response.body)} bytes; choose fewer entities or pairs"
            ) from None
        expected = "JSON" if is_json else "text in UTF-8"
        reason, beginning = printable(str(error), 160), printable(response.body)
        raise ServiceError(
            f"{label} answered with something that is not {expected} ({reason}): {beginning!r}; correct the "
            "address of the service, or run again later"
        ) from None


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not a JSON number")
