"""What the tests of sessions share: who asks, a clock that need not be waited for, and an error inside an answer."""

import time
from collections.abc import Callable
from typing import Any

from swaymeter.data.errors import ServiceError
from swaymeter.data.sources.http.answer import TransientError
from swaymeter.data.sources.http.session import Session

CONTACT = "tests@example.org"
Open = Callable[..., Session]


class Clock:
    """A clock that only goes on while somebody sleeps, besides the time that passes."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def now(self) -> float:
        return time.monotonic() + sum(self.slept)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def maxlag(content: Any) -> ServiceError | TransientError | None:
    error = content.get("error") if isinstance(content, dict) else None
    if not error:
        return None
    return TransientError(error["info"]) if error["code"] == "maxlag" else ServiceError(error["info"])
