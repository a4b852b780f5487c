"""What a public service answered: whole or cut short, good or an error; and what a good answer is to be."""

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any, Literal

from data.errors import ServiceError, ServiceTimeout
from data.sources.http.printable import printable

Form = Literal["json", "text"]

_READ_FOR_REASONS = 2**16
_OUT_OF_TIME = re.compile(rb"timed?[ -]?out|TimeoutException|deadline is expired|cancel+ed", re.IGNORECASE)


@dataclass(frozen=True)
class Reply:
    """An answer that came whole: HTTP status, headers, the body unpacked, and seconds the service asks us to wait."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    wait_s: float | None = None


@dataclass(frozen=True)
class ServiceProblem:
    """An error inside an answer; transient: asking again later may help; kind: the error to raise.

    wait_s: seconds to wait before that, where the answer's header says none. tries: how often to ask in all, where that
    is more than the service's settings say, since waiting is all that helps.
    """

    message: str
    transient: bool = False
    kind: type[ServiceError] = ServiceError
    wait_s: float | None = None
    tries: int | None = None


@dataclass(frozen=True)
class Answer:
    """What a service said: the parsed JSON or the text, the address asked, and when (UTC; of a cached one, too).

    content is None where an allowed status other than 200 came without JSON.
    """

    content: Any
    address: str
    retrieved_at: datetime
    from_cache: bool
    status: int = 200


ErrorOf = Callable[[Any], ServiceProblem | None]
Lasting = bool | Callable[[Any], bool]


def no_error(content: Any) -> ServiceProblem | None:
    """For services that report no errors inside their answers."""
    return None


@dataclass(frozen=True)
class Wanted:
    """What a good answer is: its form, its statuses, no error inside; and whether a cached one never grows old."""

    form: Form = "json"
    error_of: ErrorOf = no_error
    allow: Collection[int] = (200,)
    lasting: Lasting = False

    def content(self, reply: Reply, named: str) -> Any:
        """The JSON or the text of an answer: see `content_of` and `text_of`."""
        return content_of(reply, named) if self.form == "json" else text_of(reply, named)

    def lasts(self, content: Any) -> bool:
        """Whether asking again would bring the same, whenever that is."""
        return self.lasting if isinstance(self.lasting, bool) else self.lasting(content)


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
            raise ServiceError(
                f"{named} answered with half a character (a lone surrogate), which is not text"
            ) from None
    return content


def text_of(reply: Reply, named: str) -> str:
    """The text of an answer, letter by letter (a byte order mark and line ends too); ServiceError where not UTF-8."""
    try:
        return reply.body.decode()
    except UnicodeDecodeError as error:
        raise ServiceError(
            f"{named} answered with something that is not text in UTF-8 (byte {error.start}): {printable(reply.body)!r}"
        ) from None


def refusal(reply: Reply, named: str) -> ServiceError:
    """The error of an answer whose status is not one of those that were hoped for."""
    said = f"{named} answered {phrase(reply.status)}: {printable(reply.body)!r}"
    if reply.status == HTTPStatus.INTERNAL_SERVER_ERROR and out_of_time(reply.body):
        return ServiceTimeout(f"{said}; ask for less")
    return ServiceError(said)


def out_of_time(said: bytes) -> bool:
    """Whether the text of an error says that the service ran out of time."""
    return _OUT_OF_TIME.search(said[:_READ_FOR_REASONS]) is not None


def phrase(status: int) -> str:
    """The status with the words that HTTP has for it."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _no_number(said: str) -> Any:
    raise ValueError(f"{said} is not a number of JSON")
