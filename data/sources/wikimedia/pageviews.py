"""Page views of the English Wikipedia: views a month by people, not by programs, on devices of all kinds.

Views through redirects are not counted. The service counts a month some days after the month's end. A month without
views has no entry in a response; the response for a page without any views has the status 404.
"""

import calendar
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from swaymeter.data.errors import shown
from swaymeter.data.sources.http.response import reading_check

if TYPE_CHECKING:
    from swaymeter.data.sources.http.session import Session

PROJECT = "en.wikipedia"
COUNTED_AFTER_DAYS = 5
"""Days after the end of a month until its count is complete."""

_MAX_VIEWS = 10**12  # upper bound of the views of a page in a month; all pages together have fewer


class PageViews:
    """The page views service of Wikimedia."""

    def __init__(self, session: "Session") -> None:
        self.session = session

    def monthly_mean(self, title: str, *, first: str, last: str) -> float:
        """Return the mean views of a page per month; a page that the service does not know has 0 views.

        Args:
            title: The title of the page, not of a redirect.
            first: The first month, YYYY-MM.
            last: The last month, YYYY-MM, included.

        Raises:
            ServiceError: The service fails, or its response is invalid.
        """
        month_names = [_month_name(number) for number in range(_month_number(first), _month_number(last) + 1)]
        year, month = map(int, last.split("-"))
        last_day = calendar.monthrange(year, month)[1]
        begin, end = f"{first.replace('-', '')}0100", f"{last.replace('-', '')}{last_day}00"  # YYYYMMDDHH
        path = f"per-article/{PROJECT}/all-access/user/{quote(title.replace(' ', '_'), safe='')}/monthly"

        def read(content: Any) -> dict[str, int]:
            return _views(content, month_names)

        response = self.session.ask({}, path=f"{path}/{begin}/{end}", allow=(200, 404), error_of=reading_check(read))
        views = read(response.content)
        return sum(views.values()) / len(month_names)


def months(until: date | None = None, count: int = 12) -> tuple[str, str]:
    """Return the first and the last (YYYY-MM) of `count` whole months before a day.

    Args:
        until: The day; None for the day that was COUNTED_AFTER_DAYS days ago.
        count: Number of months.
    """
    day = until or (datetime.now(UTC) - timedelta(days=COUNTED_AFTER_DAYS)).date()
    last = 12 * day.year + day.month - 2  # the month before
    return _month_name(last - count + 1), _month_name(last)


def _month_name(number: int) -> str:
    return f"{number // 12:04}-{number % 12 + 1:02}"


def _month_number(name: str) -> int:
    """Return the number of a month YYYY-MM; January of the year 0 has the number 0."""
    year, month = name.split("-")
    return 12 * int(year) + int(month) - 1


def _views(content: Any, month_names: list[str]) -> dict[str, int]:
    """Return the views by month; {} for the 404 of a page without views. The 404 of an invalid address is an error."""
    if "items" not in content and "not found" in content["title"].lower() and not content["type"].endswith("#route"):
        return {}
    views: dict[str, int] = {}
    for item in content["items"]:
        month, count = f"{item['timestamp'][:4]}-{item['timestamp'][4:6]}", item["views"]
        if month not in month_names or month in views or type(count) is not int or not 0 <= count < _MAX_VIEWS:
            raise ValueError(
                f"an entry of page views has an unrequested month, a repeated month or an invalid count: {shown(item)}"
            )
        views[month] = count
    return views
