"""Other forms of numbers, quantities, dates and times of day."""

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from swaymeter.data.wording.numbers.number_words import normal_figures, written_out
from swaymeter.data.wording.word import MONTHS, Answer, Kind, Texts, Word, word_set

_CONNECTORS = word_set("to and until till through")
_RATIOS = (
    ("kilometre", "metre", (1000,)), ("metre", "centimetre", (100,)), ("centimetre", "millimetre", (10,)),
    ("tonne", "kilogram", (1000,)), ("kilogram", "gram", (1000,)), ("litre", "millilitre", (1000,)),
    ("week", "day", (7,)), ("day", "hour", (24,)), ("hour", "minute", (60,)), ("minute", "second", (60,)),
    ("year", "month", (12,)), ("gigabyte", "megabyte", (1024, 1000)), ("terabyte", "gigabyte", (1024, 1000)),
)  # fmt: skip
"""How many of the second unit make one of the first."""
_TIME = re.compile(r"(clock|dial)(\d\d)(\d\d)")
_WHEN = word_set("when time hour wann uhr heure hora")
_MINUTES = {5: "5", 10: "10", 15: "quarter", 20: "20", 25: "25"}


def _range(answer: Answer) -> Iterator[Texts]:
    """5-7, 5 to 7, between 5 and 7; 9 a.m. to 5 p.m."""
    name, texts = answer.name, answer.texts
    for place in range(1, len(name)):
        connector = texts[place] if texts[place] in _CONNECTORS else ""
        end = place + 1 if connector else place
        if end < len(name) and _is_amount(name[place - 1]) and _is_amount(name[end]):
            if not (connector or name[end].joined or re.search(r"[–—-]", answer.written)):
                continue
            for between in ((), ("to",), ("and",), ("until",)):
                yield (*texts[:place], *between, *texts[end:])


def _is_amount(word: Word) -> bool:
    return word.kind == "number" or _TIME.fullmatch(word.text) is not None


def _decade(answer: Answer) -> Iterator[Texts]:
    """The 90s for the 1990s; the 1700s for the 18th century."""
    texts = answer.texts
    for place, text in enumerate(texts):
        if re.fullmatch(r"19\d0s", text):
            yield (*texts[:place], text[2:], *texts[place + 1 :])
        elif re.fullmatch(r"\d0s", text):
            yield (*texts[:place], f"19{text}", *texts[place + 1 :])
    if len(texts) == 2 and texts[1] == "century" and answer.name[0].kind == "ordinal":
        yield (f"{int(texts[0].removesuffix('th')) - 1}00s",)


def _in_other_units(answer: Answer) -> Iterator[Texts]:
    """1500 m for 1.5 km, 2048 MB for 2 GB."""
    if len(answer.texts) != 2 or not re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", answer.texts[0]):
        return
    number, unit = Fraction(answer.texts[0]), answer.texts[1]
    for large, small, ratios in _RATIOS:
        for ratio in ratios:
            if unit == large:
                yield (written_out(number * ratio), small)
            elif unit == small:
                yield (written_out(number / ratio), large)


def _half_of_day(answer: Answer) -> Iterator[Texts]:
    """A time by the other ways to name its half of the day, and before the hour: 9:00 for 9 p.m., ten to eleven."""
    if not 1 <= sum(_TIME.fullmatch(text) is not None for text in answer.texts) <= 3:
        return
    for texts in (answer.texts, *_range(answer)):
        yield from product(*(tuple(_other_times(text)) for text in texts))
    if len(answer.texts) == 1 and (time := _TIME.fullmatch(answer.texts[0])):
        hour, minute = int(time[2]), int(time[3])
        if before := _MINUTES.get(60 - minute):
            yield (before, "to", str(hour % 12 + 1))
        if minute == 0:
            yield (str(hour), "hour")
        elif not _WHEN.isdisjoint(answer.asked):
            yield (normal_figures(f"{hour}.{minute:02d}"),)


def _other_times(text: str) -> Iterator[str]:
    yield text
    if time := _TIME.fullmatch(text):
        hour, minute = int(time[2]), time[3]
        if time[1] == "clock":
            yield f"dial{hour % 12:02d}{minute}"
        else:
            yield from (f"clock{one:02d}{minute}" for one in (hour, hour + 12))


def _time_of_hours(answer: Answer) -> Iterator[Texts]:
    """9h00 for 9 heures."""
    if len(answer.texts) == 2 and answer.texts[1] == "hour" and re.fullmatch(r"1?\d|2[0-3]", answer.texts[0]):
        hour = int(answer.texts[0])
        yield from ((f"clock{hour:02d}00",), (f"dial{hour % 12:02d}00",))


def _date_otherwise(answer: Answer) -> Iterator[Texts]:
    """A date without the year that the question names, and in figures of which nobody knows the order: 5/6/1990."""
    texts = answer.texts
    month = next((place for place, text in enumerate(texts) if text in MONTHS), -1)
    if month < 0 or len(texts) != month + 2 or not re.fullmatch(r"\d{1,2}d", texts[-1]):
        return
    day, number = texts[-1].removesuffix("d"), str(MONTHS.index(texts[month]) + 1)
    if month == 0:
        yield (f"{day}.{int(number):02d}",)
        yield (f"{day}.{number}",)
    elif month == 1:
        yield from ((texts[0], number, day), (texts[0], day, number))
        year = texts[0][2:]
        yield from ((f"{int(day):02d}.{int(number):02d}.{year}",), (f"{day}.{number}.{year}",))
        if texts[0] in answer.asked:
            yield texts[1:]


def _share(answer: Answer) -> Iterator[Texts]:
    """25%, a quarter, one in four and 0.25."""
    number, *unit = ("1/4",) if answer.texts == ("quarter",) else answer.texts
    if unit and answer.texts[1:-1] in (("in",), ("out", "of"), ("of",)) and f"{number}{unit[-1]}".isdigit():
        number, unit = f"{number}/{unit[-1]}", []
    if unit not in ([], ["percent"]) or not re.fullmatch(r"\d{1,9}(?:\.\d{1,9}|/[1-9]\d?)?", number):
        return
    share = Fraction(number) / (100 if unit else 1)
    if not 0 < share < 1:
        return
    above, below = str(share.numerator), str(share.denominator)
    yield (written_out(share),)
    yield from ((above, "in", below), (above, "out", "of", below), (written_out(share * 100), "percent"))


def _grouped(answer: Answer) -> Iterator[Texts]:
    """2500 for 2.500, as a point groups thousands in many languages."""
    if grouped := re.match(r"(\d{1,3})\.(\d{3})(?![\d.,])", answer.written):
        yield (grouped[1] + grouped[2], *answer.texts[1:])


def _small_m(answer: Answer) -> Iterator[Texts]:
    """1.5m, which is also a length, for 1.5 million."""
    number = answer.texts[0]
    if number.isdigit() and 6 < len(number) < 20 and number.endswith("00000"):
        millions = f"{int(number) // 10**6}.{number[-6]}".removesuffix(".0")
        yield (millions, "metre", *answer.texts[1:])


def _without_unit(answer: Answer) -> Iterator[Texts]:
    """The number of a quantity; a full hour in figures alone."""
    name = answer.name
    if 1 < len(name) <= 4 and name[0].kind == "number":
        if all(word.kind in ("unit", "word") and (word.kind == "unit" or not word.capitals) for word in name[1:]):
            yield answer.texts[:1]
    elif len(name) > 2 and name[0].kind == "sign" and name[1].kind == "number" and name[2].kind == "unit":
        yield answer.texts[:2]
    elif len(name) == 1 and (time := _TIME.fullmatch(name[0].text)) and time[3] == "00":
        yield from {(str(int(time[2]) % 12 or 12),), (str(int(time[2])),)}


EXACT: tuple[Kind, ...] = (_range, _decade)
LOOSE: tuple[Kind, ...] = (_half_of_day, _time_of_hours, _date_otherwise, _share, _grouped, _in_other_units, _small_m)
BARE: tuple[Kind, ...] = (_without_unit,)
