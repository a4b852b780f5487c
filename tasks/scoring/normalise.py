"""A text as normalised words, so that two spellings of the same words are equal.

Unicode forms, full-width letters, digits of any script, marks of direction, accents, case, punctuation and hyphens,
apostrophes, possessive and plural s, and articles make no difference. Numbers and units are as tasks.scoring.numerals
writes them. A date is its year, its month, and its day, so that it contains its year: 12 May 1990 = May 12th, 1990 =
1990-05-12 = 12.05.1990.
What it is not: a parser of every date: of 5/6/1990 only the year is known, because the order of the other two is not.
A script without spaces between words is split into characters.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from tasks.scoring.numerals import Token, Word, with_numerals

_MARKS = "".join(char for char in map(chr, range(0x300, 0x1D00)) if unicodedata.category(char)[0] == "M")
_LETTERS = str.maketrans(
    dict.fromkeys(map(chr, (*range(0x300, 0x370), *range(0x64B, 0x660))))
    | dict(zip("øØłŁđĐðÐı‘’ʼ`´−‐‑٫٬", "oOlLdDdDi'''''---.,", strict=True))
    | {"æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "þ": "th", "Þ": "Th", "&": " and "}
)
_SPELLINGS = [
    (re.compile(pattern, flags), replacement)
    for pattern, flags, replacement in (
        (r"\bcan't\b|\bcannot\b", re.IGNORECASE, "can not"),
        (r"n't\b", re.IGNORECASE, " not"),
        (r"'m\b", re.IGNORECASE, " am"),
        (r"'s\b", re.IGNORECASE, ""),
        (r"\bper cent\b", re.IGNORECASE, "percent"),
        (r"\bminus (?=\d)", re.IGNORECASE, "-"),
        (r"\bdegrees? (?=(?:celsius|fahrenheit)\b)", re.IGNORECASE, ""),
        (r"(?<=\d)( ?[a-z]{1,3})/(?=(?:h|s|min)\b)", re.IGNORECASE, r"\1 per "),
    )
]
_INITIALS = re.compile(r"(?<![\w.])(?:(?:[A-Z]\.)+[A-Z]\b\.?|(?:[A-Z]\. ?){2,})")

_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
           "November", "December")  # fmt: skip
_MONTH = r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
_MONTH += r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
_DAY, _YEAR = r"(?<![\d.,])(\d{1,2})(?:st|nd|rd|th)?", r"(\d{4})(?!\d)"
_YEAR_FIRST = re.compile(rf"(?<!\d){_YEAR}([-/.])(\d{{1,2}})\2(\d{{1,2}})(?:T(?=\d)|(?!\d))")
_YEAR_LAST = re.compile(rf"(?<!\d)(\d{{1,2}})([-/.])(\d{{1,2}})\2{_YEAR}")
_DAY_MONTH = re.compile(rf"{_DAY} (?:of )?{_MONTH}(?:,? {_YEAR})?", re.IGNORECASE)
_MONTH_DAY = re.compile(rf"\b{_MONTH} (?:the )?(?:{_DAY}(?!\w)(?:,? {_YEAR})?|(?:of )?{_YEAR})", re.IGNORECASE)

_TOKEN = re.compile(
    r"(?P<number>(?:(?<![\w-])-)?(?:\d{1,3}(?:[ ']\d{3})+(?![.,:]?\d)|\d+(?:[.,:]\d+)*))"
    r"|(?P<character>[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff])"
    rf"|(?P<word>[%$€£¥]|°[cf]?\b|°|[^\W_](?:[^\W_{_MARKS}]|[{_MARKS}]|'(?=[^\W_]))*)|(?P<other>\S)",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)  # a question and its answers are looked at with every reply
def words(text: str) -> tuple[Word, ...]:
    """The normalised words of a text, without articles, except where an article ends a clause (group A).

    The time it takes is linear in the text's length.
    """
    found = list(with_numerals(list(_tokens(_with_dates(_letters(text))))))
    kept: list[Word] = []
    clause = False
    for place, word in enumerate(found, 1):
        clause |= word.clause
        behind = found[place] if place < len(found) else None
        if word.text in ("a", "an", "the") and behind and not (behind.clause or behind.joined):
            continue
        kept.append(word._replace(clause=clause))
        clause = False
    return tuple(kept)


def _letters(text: str) -> str:
    """Without accents and invisible characters, with the digits 0 to 9, contractions in full and initials together."""
    if not text.isascii():
        text = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text))
        visible = (char for char in text if unicodedata.category(char) != "Cf")
        text = "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in visible)
        text = unicodedata.normalize("NFC", text.translate(_LETTERS))
    text = text.replace("&", " and ")
    for pattern, replacement in _SPELLINGS:
        text = pattern.sub(replacement, text)
    return _INITIALS.sub(lambda match: re.sub(r"[. ]", "", match[0]) + " ", text)


def _with_dates(text: str) -> str:
    """With every date as in 1990 May 12d."""

    def in_digits(match: re.Match[str]) -> str:
        first, mark, second, year = match.groups()
        if mark == "." or int(first) > 12:
            first, second = second, first
        elif int(second) <= 12:
            return f"{year} {first}/{second}"
        return _date(match[0], year, int(first), second)

    def in_letters(match: re.Match[str], year: str | None, month: str, day: str | None) -> str:
        if month[0].islower() and not (day and year):  # "may 12 people", "8 may"
            return match[0]
        number = next(place for place, name in enumerate(_MONTHS, 1) if name.lower().startswith(month[:3].lower()))
        return _date(match[0], year, number, day)

    text = _YEAR_FIRST.sub(lambda match: f"{_date(match[0], match[1], int(match[3]), match[4])} ", text)
    text = _YEAR_LAST.sub(in_digits, text)
    text = _DAY_MONTH.sub(lambda match: in_letters(match, match[3], match[2], match[1]), text)
    return _MONTH_DAY.sub(lambda match: in_letters(match, match[3] or match[4], match[1], match[2]), text)


def _date(written: str, year: str | None, month: int, day: str | None) -> str:
    if not 1 <= month <= 12 or (day and not 1 <= int(day) <= 31):
        return written
    return " ".join([*([year] if year else []), _MONTHS[month - 1], *([f"{int(day)}d"] if day else [])])


def _tokens(text: str) -> Iterator[Token]:
    clause, hyphen, end, behind = False, False, 0, "other"
    for match in _TOKEN.finditer(text):
        touches = end == match.start()
        clause |= "\n" in text[end : match.start()]
        glued, end, behind = touches and behind != "other", match.end(), match.lastgroup or ""
        if behind == "other":
            hyphen = match[0] == "-" and glued and not text[end : end + 1].isspace()
            clause |= match[0] in ".,;:!?()[]-–—" and not hyphen
            continue
        yield Token(behind, match[0], _folded(match[0]), clause, hyphen and touches, glued)
        clause = hyphen = False


def _folded(word: str) -> str:
    """In lower case and without a plural s: cities and city, clashes and clash."""
    word = word.casefold().replace("'", "")
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("ches", "shes", "xes", "sses", "zes", "oes")) else word[:-1]
