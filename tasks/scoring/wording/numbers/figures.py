"""Numbers in figures in one form: separators, needless zeros, fractions, and Chinese characters."""

import re
import unicodedata
from decimal import Decimal
from fractions import Fraction

_THOUSANDS = re.compile(r"-?\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?")
_POINTS = re.compile(r"-?\d{1,3}(?:\.\d{3}){2,}|-?\d{1,3}(?:\.\d{3})+,\d+|-?[1-9]\d{0,2}\.000")
_DECIMAL_COMMA = re.compile(r"-?\d+,\d+")
_PLAIN = re.compile(r"-?\d+(?:\.\d+)?")
_CHARACTERS = re.compile(
    r"(?<!\d)\d{1,15}(?:\.\d{1,9})?[十百千万萬亿億]+|[〇零一二两三四五六七八九十百千][〇零一二两三四五六七八九十百千万萬亿億]+"
    r"|[一二两三四五六七八九十](?=[点點时時年月日号岁歳个個人名天分秒小次])"
)
_COUNTER = re.compile(r"(?<=\d)[个個](?=小时|小時|月|星期|人)")
_POWERS = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}


def in_figures(text: str) -> str:
    """A text with numbers in Chinese characters in figures: 三百万 and 300万 as 3000000."""
    return _COUNTER.sub("", _CHARACTERS.sub(lambda match: _of_characters(match[0]), text))


def _of_characters(written: str) -> str:
    parts = re.findall(r"\d+(?:\.\d+)?|.", written)
    if not _POWERS.keys() & set(parts):  # 一九九〇: figure by figure
        return "".join(part if part[0].isdigit() else str(_figure(part)) for part in parts)
    total = section = number = Fraction(0)
    for part in parts:
        if (power := _POWERS.get(part)) is None:
            number = Fraction(part) if part[0].isdigit() else Fraction(_figure(part))
        elif power < 10**4:
            section, number = section + (number or 1) * power, Fraction(0)
        else:
            total, section, number = total + (section + number) * power, Fraction(0), Fraction(0)
    return written_out(total + section + number)


def _figure(character: str) -> int:
    return 2 if character == "两" else int(unicodedata.numeric(character))


def written_out(value: Fraction) -> str:
    """In figures: a whole number, a decimal where it ends, else a fraction."""
    if value.denominator == 1:
        return str(value.numerator)
    divisor = value.denominator
    for prime in (2, 5):
        while divisor % prime == 0:
            divisor //= prime
    return (
        f"{value.numerator}/{value.denominator}" if divisor > 1 else f"{Decimal(value.numerator) / value.denominator:f}"
    )


def normal_figures(written: str) -> str:
    """The figures of a number without separators and needless zeros; a decimal comma becomes a point."""
    if "/" in written:
        whole, _, fraction = written.rpartition(" ")
        above, below = map(int, fraction.lstrip("-").split("/"))
        if above >= below:
            return written
        value = int(whole.lstrip("-") or 0) + Fraction(above, below)
        return f"{'-' if written[0] == '-' else ''}{written_out(value)}"
    figures = written.replace(" ", "").replace("'", "")
    if _THOUSANDS.fullmatch(figures):
        figures = figures.replace(",", "")
    elif _POINTS.fullmatch(figures):
        figures = figures.replace(".", "").replace(",", ".")
    elif _DECIMAL_COMMA.fullmatch(figures):
        figures = figures.replace(",", ".")
    if not _PLAIN.fullmatch(figures):
        return figures
    whole, point, fraction = figures.removeprefix("-").partition(".")
    fraction = fraction.rstrip("0")
    sign = "-" if figures[0] == "-" else ""
    return f"{sign}{whole.lstrip('0') or '0'}{point if fraction else ''}{fraction}"
