"""How often pages of the English Wikipedia are read: views a month, by people, over all kinds of access.

Views through redirects are not counted. The service adds a month to its counts some days after the month's end. A page
without views in a month has no entry for it, one without any gets a 404.
"""

import calendar
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import quote

from data.sources.http.printable import shown
from data.sources.http.session import ServiceProblem, Session

PROJECT = "en.wikipedia"
COUNTED_AFTER_DAYS = 5
"""Days after its end when a month is counted for sure."""

_MOST = 10**12  # views of a page in a month, more than there are views of all pages


@dataclass(frozen=True, slots=True)
class Views:
    """mean: views a month, over `months` months; address and time (UTC) of the answer."""

    mean: float
    months: int
    retrieved_at: datetime
    address: str


class PageViews:
    """The page views service of Wikimedia."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def monthly_mean(self, title: str, *, first: str, last: str) -> Views:
        """The mean views of a page per month, over the months from first to last (YYYY-MM), both included.

        title: the page's own, not that of a redirect. A month without an entry counts 0, and so does a page that the
        service does not know. ServiceError where it fails or its answer is invalid.
        """
        months = [_named(month) for month in range(_numbered(first), _numbered(last) + 1)]
        days = calendar.monthrange(*map(int, last.split("-")))[1]
        begins, ends = f"{first.replace('-', '')}0100", f"{last.replace('-', '')}{days}00"
        path = f"per-article/{PROJECT}/all-access/user/{quote(title.replace(' ', '_'), safe='')}/monthly"

        def problem(content: Any) -> ServiceProblem | None:
            views = _views(content, months)
            return ServiceProblem(views) if isinstance(views, str) else None

        answer = self.session.ask({}, path=f"{path}/{begins}/{ends}", allow=(200, 404), error_of=problem)
        views = _views(answer.content, months)
        assert not isinstance(views, str), views
        return Views(sum(views.values()) / len(months), len(months), answer.retrieved_at, answer.address)


def months(until: date | None = None, count: int = 12) -> tuple[str, str]:
    """The first and the last (YYYY-MM) of the last `count` whole months before a day; None: of those surely counted."""
    day = until or (datetime.now(UTC) - timedelta(days=COUNTED_AFTER_DAYS)).date()
    last = 12 * day.year + day.month - 2
    return _named(last - count + 1), _named(last)


def _named(month: int) -> str:
    return f"{month // 12:04}-{month % 12 + 1:02}"


def _numbered(month: str) -> int:
    year, number = month.split("-")
    return 12 * int(year) + int(number) - 1


def _views(content: Any, months: list[str]) -> dict[str, int] | str:
    """Views by month; or a message where the answer is invalid."""
    items = content.get("items") if isinstance(content, dict) else None
    if items is None:
        return {} if _is_unknown_page(content) else f"no page views, {shown(content)}; is its address right?"
    if not isinstance(items, list):
        return f"page views that are not a list, {shown(items)}"
    views: dict[str, int] = {}
    for item in items:
        stamp, count = (item.get("timestamp"), item.get("views")) if isinstance(item, dict) else (None, None)
        month = f"{stamp[:4]}-{stamp[4:6]}" if isinstance(stamp, str) else ""
        if month not in months or month in views or type(count) is not int or not 0 <= count < _MOST:
            return f"page views of other months than requested, {shown(item)}"
        views[month] = count
    return views


def _is_unknown_page(content: Any) -> bool:
    """Whether the service reports that it has no views; an invalid address is reported with another type."""
    if not isinstance(content, dict):
        return False
    title, kind = content.get("title"), content.get("type")
    return isinstance(title, str) and "not found" in title.lower() and not str(kind).endswith("#route")
