"""Dates and times of day in one normal form.

A date is written as year, month and day, so that it contains its year as a word: 1990 May 12d = 12 May 1990 =
May 12th, 1990 = 1990-05-12 = 12.05.1990 = 12. Mai 1990 = 1990年5月12日.
A time of day is one word. If its half of the day is clear (9 p.m. = 21:00 = nine in the evening), the word is
clock2100. Otherwise the word is dial0900, a time on a dial of 12 hours (9:00 = nine o'clock).

Not every date is read. From 5/6/1990 only the year is read, because the order of month and day is ambiguous. "8h" is
read as a duration, and "half nine" as two numbers.
"""

import re
from collections.abc import Callable

from swaymeter.data.wording.numbers.number_words import CARDINALS, GERMAN, ORDINALS

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_MONTH_NAMES = (
    "january jan januar janvier enero gennaio janeiro januari",
    "february feb februar fevrier febrero febbraio fevereiro februari",
    "march mar marz mars marzo marco maart",
    "april apr avril abril aprile",
    "may mai mayo maggio maio mei",
    "june jun juni juin junio giugno junho",
    "july jul juli juillet julio luglio julho",
    "august aug aout agosto augustus",
    "september sep sept septembre septiembre settembre setembro",
    "october oct oktober octobre octubre ottobre outubro",
    "november nov novembre noviembre novembro",
    "december dec dezember decembre diciembre dicembre dezembro",
)
_MONTH_NUMBERS = {name: number for number, names in enumerate(_MONTH_NAMES, 1) for name in names.split()}
_ALSO_WORDS = frozenset(("may", "mar", "march", "mars", "marco", "mai", "mei", "jan", "dec", "sept"))
"""Names of months that are other words, too, if they begin with a small letter."""
_MONTH = rf"({'|'.join(sorted(_MONTH_NUMBERS, key=len, reverse=True))})\b\.?"
_ANY_MONTH = re.compile(rf"\b{_MONTH}")
_DAY, _YEAR = r"(?<![\d.,:/])(\d{1,2})(?:st|nd|rd|th|er)?", r"(\d{4})(?!\d)"
_YEAR_FIRST = re.compile(rf"(?<!\d){_YEAR}([-/.])(\d{{1,2}})\2(\d{{1,2}})(?:T(?=\d)|(?!\d))")  # 1990-05-12
_YEAR_LAST = re.compile(rf"(?<!\d)(\d{{1,2}})([-/.])(\d{{1,2}})\2{_YEAR}")  # 12.05.1990
_DAY_MONTH = re.compile(rf"{_DAY}\.? (?:of |de )?{_MONTH}(?:,? (?:de |del )?{_YEAR})?", re.IGNORECASE)
_MONTH_DAY = re.compile(rf"\b{_MONTH} (?:the )?(?:{_DAY}(?!\w)(?:,? {_YEAR})?|(?:of |de )?{_YEAR})", re.IGNORECASE)
_DAYS = (
    {name: number for name, number in ORDINALS.items() if number < 20 or name in ("twentieth", "thirtieth")}
    | {
        f"{tens}-{ones}": CARDINALS[tens] + ORDINALS[ones]
        for tens in ("twenty", "thirty")
        for ones in list(ORDINALS)[:9]
    }
    | {f"{word}{'t' if value < 20 else 'st'}": value for word, value in GERMAN.items() if value not in (1, 3, 7)}
    | {
        f"{ones}und{tens}st": GERMAN[ones] + GERMAN[tens]
        for ones in list(GERMAN)[:9]
        for tens in ("zwanzig", "dreissig")
    }
    | {"erst": 1, "dritt": 3, "siebt": 7}
)
"""Days of a month as English ordinals, and as German ordinals without their ending."""
_DAY_WORD = rf"\b({'|'.join(sorted(_DAYS, key=len, reverse=True)).replace('-', '[- ]')})(?:e[nrs])?"
_WORD_MONTH = re.compile(rf"{_DAY_WORD}(?= (?:of )?(?-i:(?=[A-Z])){_MONTH})", re.IGNORECASE)

_HOUR_WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_HOURS = {word: number for number, word in enumerate(_HOUR_WORDS, 1)}
_UHR = {name: number for name, number in GERMAN.items() if number <= 12}
"""Hours as German words: "neun Uhr" is 9:00."""
_HOUR = rf"(?<![\w.,:$€£¥+])(?P<hour>\d{{1,2}}|{'|'.join(_HOUR_WORDS)})"
_MINUTE, _SECOND = r"(?P<minute>[0-5]\d)", r"(?::[0-5]\d)?"
_DAY_HALF = (
    r"(?P<half>a\.? ?m\b\.?|p\.? ?m\b\.?|(?:o'?clock )?(?:in the (?:early |late )?|at )"
    r"(?:morning|afternoon|evening|night)\b)"
)
"""The half of the day, such as "p.m." or "in the evening"."""
_CLOCK = r"(?: ?o'? ?clock)"
_SHIFT_MINUTES = {"quarter": 15, "half": 30, "半": 30, "반": 30, "halb": -30, "five": 5, "ten": 10, "twenty": 20}
"""Minutes that a word adds to the hour, or subtracts if "to" or "vor" follows the word; "halb neun" is 8:30."""
_TIMES = [
    (substrings, re.compile(pattern, re.IGNORECASE))
    for substrings, pattern in (
        (
            ("half", "quarter", "minutes", " past"),
            rf"(?P<shift>half|(?:a )?quarter|\w+(?= minutes)|(?:five|ten|twenty)(?= past))(?: minutes)? "
            rf"(?P<direction>past|after|to|before|till) "
            rf"{_HOUR}(?!\w|[.,:/]\d){_CLOCK}?(?: {_DAY_HALF})?",
        ),
        (
            ("am", "a.m", "a m", "a. m", "pm", "p.m", "p m", "p. m", "morning", "afternoon", "evening", "night"),
            rf"{_HOUR}(?:[:.h]{_MINUTE}{_SECOND})?{_CLOCK}?(?: ?{_DAY_HALF})",
        ),
        (
            (":", "h0", "h1", "h2", "h3", "h4", "h5"),
            rf"{_HOUR}[:h]{_MINUTE}{_SECOND}(?![\w:]|[.,]\d)(?: ?(?:hours|hrs|uhr|h)\b)?",
        ),
        (("clock",), rf"{_HOUR}{_CLOCK}"),
        (
            ("halb", "viertel"),
            rf"\b(?:(?P<shift>halb)|(?P<quarter>viertel) (?P<direction>nach|vor)) (?P<uhr>{'|'.join(_UHR)})\b(?: uhr)?",
        ),
        (
            ("uhr",),
            rf"(?:{_HOUR}|\b(?P<uhr>{'|'.join(_UHR)}))(?:[.:]{_MINUTE})? Uhr\b"
            rf"(?: (?P<half>morgens|vormittags|nachmittags|abends|nachts))?",
        ),
        (
            ("시",),
            r"(?P<half>오[전후])? ?(?P<hour>\d{1,2})시(?: ?(?P<minute>\d{1,2})분| ?(?P<shift>반))?(?!간)",
        ),
        (
            ("时", "時", "点", "點"),
            r"(?P<half>[上下]午|午[前後后]|凌晨|早上|晚上)?(?P<hour>\d{1,2})[时時点點](?:(?P<minute>\d{1,2})分|(?P<shift>半))?(?!间|間)",
        ),
    )
]
"""Patterns of times. To save time, a pattern is tried only on texts that have one of its substrings."""
_NAMED_TIMES = [
    (
        ("noon", "midnight"),
        re.compile(r"\b(?:12|twelve)(?: o'?clock)? (?=noon|midnight)", re.IGNORECASE),
        "",
    ),
    (("noon", "mid"), re.compile(r"\b(?:noon|mid-?day)\b", re.IGNORECASE), " clock1200 "),
    (
        (" bis ", " und ", " until ", " till ", " to "),
        re.compile(
            r"\b(\d{1,2})[.:]([0-5]\d)(?= (?:bis|und|until|till|to) (?:\d{1,2}[.:])?\d{1,2} ?(?:uhr|[ap]\.?m))",
            re.IGNORECASE,
        ),
        r"\1:\2",
    ),
    (
        ("uhr",),
        re.compile(r"\b(?<=von )(\d{1,2})(?= bis (?:\d{1,2}[.:])?\d{1,2} uhr)", re.IGNORECASE),
        r"\1 Uhr",
    ),
    (("midnight",), re.compile(r"\bmidnight\b", re.IGNORECASE), " clock0000 "),
]
"""Substrings, pattern and replacement for named times ("noon") and for the first time of a span ("9.30 to 11 a.m.")."""
_DIGIT = re.compile(r"\d")
_TIME_SUBSTRINGS = (
    "clock",
    "noon",
    " uhr",
    "midday",
    "mid-day",
    "midnight",
    "half ",
    "halb",
    "viertel",
    "quarter",
    " past ",
    "morning",
    "evening",
    "night",
    " a.m",
    " p.m",
    " am",
    " pm",
    "minutes",
)
"""Substrings of which a text with a time of day has at least one."""
_TIME_SUBSTRINGS_WITH_DIGITS = (
    "am",
    "a.m",
    "pm",
    "p.m",
    ":",
    "uhr",
    "hours",
    "hrs",
    "h0",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "时",
    "時",
    "시",
    "点",
    "點",
    "a m",
    "p m",
)
"""Further such substrings, for a text with digits."""


def with_dates(text: str) -> str:
    """Return the text with every date in the form 1990 May 12d, and every time of day as one word."""
    lower = text.lower()
    has_digits = _DIGIT.search(text) is not None
    substrings = (*_TIME_SUBSTRINGS, *_TIME_SUBSTRINGS_WITH_DIGITS) if has_digits else _TIME_SUBSTRINGS
    if any(substring in lower for substring in substrings):
        text = _with_times(text)
    has_month = _ANY_MONTH.search(text.lower()) is not None
    if has_month:
        text = _WORD_MONTH.sub(lambda match: str(_DAYS[match[1].lower().replace(" ", "-")]), text)
    if not has_digits and not _DIGIT.search(text):
        return text
    text = _YEAR_FIRST.sub(lambda match: f"{_date(match[0], match[1], int(match[3]), match[4])} ", text)
    text = _YEAR_LAST.sub(_with_month_in_figures, text)
    if has_month:
        text = _DAY_MONTH.sub(lambda match: _with_month_name(match, match[3], match[2], match[1]), text)
        text = _MONTH_DAY.sub(lambda match: _with_month_name(match, match[3] or match[4], match[1], match[2]), text)
    return text


def _with_times(text: str) -> str:
    replacements: list[tuple[tuple[str, ...], re.Pattern[str], str | Callable[[re.Match[str]], str]]] = [*_NAMED_TIMES]
    replacements += [(substrings, pattern, _time) for substrings, pattern in _TIMES]
    lower = text.lower()
    for substrings, pattern, replacement in replacements:
        if any(substring in lower for substring in substrings):
            text = pattern.sub(replacement, text)
            lower = text.lower()
    return text


def _with_month_in_figures(match: re.Match[str]) -> str:
    """Return a date such as 12.05.1990 in its normal form; 5/6/1990, whose order is ambiguous, becomes 1990, 5-6."""
    first, separator, second, year = match.groups()
    if separator == "." or int(first) > 12:
        day, month = first, second
    elif int(second) > 12:
        day, month = second, first
    else:
        return f"{year}, {first}-{second}"
    return _date(match[0], year, int(month), day)


def _with_month_name(match: re.Match[str], year: str | None, month: str, day: str | None) -> str:
    if month.lower() in _ALSO_WORDS and month[0].islower() and not (day and year):  # "may 12 people", "8 may"
        return match[0]
    return _date(match[0], year, _MONTH_NUMBERS[month.lower()], day)


def _date(text: str, year: str | None, month: int, day: str | None) -> str:
    """Return a date in its normal form, such as 1990 May 12d; the unchanged text for an impossible date."""
    if not 0 <= month <= 12 or (day and not 1 <= int(day) <= 31):
        return text
    months = [MONTHS[month - 1]] if month else []  # the month 00, as in 1990-00-12, is left out
    return " ".join([*([year] if year else []), *months, *([f"{int(day)}d"] if day else [])])


def _time(match: re.Match[str]) -> str:
    """Return a time as one word: clock2100 (of 24 hours) if its half of the day is clear, or dial0900 (of 12)."""
    groups = match.groupdict()
    if uhr := groups.get("uhr"):
        groups["hour"] = uhr
    if groups.get("quarter"):
        groups["shift"] = "quarter"
    hour_text = groups["hour"].lower()
    day_half = (groups.get("half") or "").lower().replace("o'clock", "").strip()
    hour, minute = _HOURS.get(hour_text) or _UHR.get(hour_text) or int(hour_text), int(groups.get("minute") or 0)
    if shift := (groups.get("shift") or "").lower().removeprefix("a "):
        shift_minutes = int(shift) if shift.isdigit() else _SHIFT_MINUTES.get(shift, 60)  # 60: unknown, refused below
        minute = shift_minutes if groups.get("direction") in (None, "past", "after", "nach") else -shift_minutes
    # Not a time of day: the hour 25, an unknown number of minutes, and 17 p.m.
    if hour > 24 or not -60 < minute < 60 or (day_half and hour > 12 and day_half[0] in "ap"):
        return match[0]
    minutes = (hour % 24 * 60 + minute) % (24 * 60)
    if day_half:
        is_before_noon = day_half.startswith(
            ("am", "a.", "a m", "上", "凌", "早", "午前", "오전", "morgens", "vormittags")
        )
        is_before_noon |= "morning" in day_half or ("night" in day_half and hour in (12, 1, 2, 3, 4))
        if hour <= 12:
            minutes = minutes % (12 * 60) + (0 if is_before_noon else 12 * 60)
    # 09:00 is on a clock of 24 hours; 9:00 may be in the evening.
    has_24_hours = day_half or hour > 12 or hour == 0 or (hour_text[0] == "0" and len(hour_text) == 2)
    name = "clock" if has_24_hours else "dial"
    minutes %= 24 * 60 if has_24_hours else 12 * 60
    return f" {name}{minutes // 60:02d}{minutes % 60:02d} "
