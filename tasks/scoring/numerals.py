"""Numbers in figures and units by their name, whatever way both are written.

eight = 8; 1,200 = 1 200 = 1'200 = 1200; 8,5 = 8.50 = 8.5; 1.5 million = 1500000; third = 3rd; 8kg = 8 kilogrammes =
8 kg; $8 = 8 USD = 8 dollars.
What it is not: a conversion (8 kg is not 8000 g). 1.200 is read as one point two, and "nineteen ninety" as two numbers;
the 1990s, 3D and 2.0.1 are words.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple


class Token(NamedTuple):
    """A part of a text.

    kind: word, number (in figures) or character (of a script without spaces); text: as it was written; folded: as it
    is compared; clause: whether punctuation stands before it; joined: whether a hyphen joins it to the token before;
    glued: whether nothing separates it from that.
    """

    kind: str
    text: str
    folded: str
    clause: bool = False
    joined: bool = False
    glued: bool = False


class Word(NamedTuple):
    """A normalised word; clause and joined as of a token; capitals: 0 none, 1 its first letter, 2 all its letters."""

    text: str
    clause: bool = False
    joined: bool = False
    capitals: int = 0


def _values(names: str, values: Iterable[int]) -> dict[str, int]:
    return dict(zip(names.split(), values, strict=True))


_CARDINALS = _values(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety",
    [*range(20), *range(20, 100, 10)],
)
_ORDINALS = _values(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth "
    "ninetieth",
    [*range(1, 20), *range(20, 100, 10)],
)
_NUMERALS = _CARDINALS | _ORDINALS
_SCALES = _values("hundred thousand million billion bn trillion", [10**2, 10**3, 10**6, 10**9, 10**9, 10**12])
_UNITS = {
    spelling: unit
    for unit, spellings in {
        "gram": "g gramme", "kilogram": "kg kgs kilo kilogramme", "milligram": "mg milligramme", "tonne": "t",
        "metre": "m meter", "kilometre": "km kilometer", "centimetre": "cm centimeter", "millimetre": "mm millimeter",
        "litre": "l liter", "millilitre": "ml milliliter", "second": "s sec", "minute": "min", "hour": "h hr hrs",
        "year": "yr yrs", "foot": "ft feet", "inch": "", "pound": "lb lbs £", "ounce": "oz", "mile": "mi",
        "percent": "%", "dollar": "$ usd", "euro": "€ eur", "yen": "¥ jpy", "degree": "°", "celsius": "°c",
        "fahrenheit": "°f", "square": "sq", "per": "", "kilometre per hour": "kph kmh", "mile per hour": "mph",
        "square kilometre": "km2", "square metre": "m2", "cubic metre": "m3",
    }.items()
    for spelling in (unit, *spellings.split())
}  # fmt: skip
_THOUSANDS = re.compile(r"-?\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?")
_DECIMAL_COMMA = re.compile(r"-?\d+,\d+")
_PLAIN = re.compile(r"-?\d+(?:\.\d+)?")


def with_numerals(tokens: Sequence[Token]) -> Iterator[Word]:
    """The words of tokens, with numbers in figures and units by their name."""
    place, currency, behind_number = 0, "", False
    while place < len(tokens):
        token = tokens[place]
        number, end = _number(tokens, place)
        unit = _UNITS.get(token.folded, "")
        if end > place:
            yield Word(number, token.clause, token.joined)
            yield from [Word(currency)] if currency else []
            place, currency, behind_number = end, "", not number.endswith("th")
            continue
        if token.text in "$€£¥" and place + 1 < len(tokens) and tokens[place + 1].kind == "number":
            currency = unit
        elif unit and behind_number and not token.clause:
            yield from map(Word, unit.split())
            behind_number = unit in ("square", "per") or (place + 1 < len(tokens) and tokens[place + 1].folded == "per")
        else:
            capitals = 2 if token.text.isupper() else int(token.text[0].isupper())
            yield Word(token.folded, token.clause, token.joined, capitals)
            behind_number = False
        place += 1


def _number(tokens: Sequence[Token], start: int) -> tuple[str, int]:
    """The number that begins at a token and the place behind it; the place itself where none begins."""
    first, behind = tokens[start], tokens[start + 1] if start + 1 < len(tokens) else None
    if first.kind == "number":
        number = _figures(first.text)
        glued = behind.folded if behind and behind.glued and behind.kind == "word" else ""
        if glued in ("st", "nd", "rd", "th"):
            return f"{number}th", start + 2
        if glued and (glued not in _UNITS or (glued == "s" and number[-1] == "0")):
            return number + glued, start + 2
        scale = _SCALES.get(behind.folded) if behind and not behind.clause else None
        if scale is None or len(number) > 20 or not _PLAIN.fullmatch(number):
            return number, start + 1
        return _figures(f"{Decimal(number) * scale:f}"), start + 2
    if first.folded == "one" and behind and behind.folded in ("of", "who", "that", "which"):
        return "", start
    return _number_in_words(tokens, start)


def _number_in_words(tokens: Sequence[Token], start: int) -> tuple[str, int]:
    total, group, last, place = 0, 0, "start", start
    while place < len(tokens) and (place == start or not tokens[place].clause):
        word = tokens[place].folded
        value = _NUMERALS.get(word)
        if value is not None and (last in ("start", "scale") or (last == "tens" and 0 < value < 10)):
            group, last = group + value, "tens" if value >= 20 else "ones"
            if word in _ORDINALS:
                return f"{total + group}th", place + 1
        elif word == "hundred" and (last == "start" or 0 < group < 100):
            group, last = max(group, 1) * 100, "scale"
        elif word in _SCALES and (last == "start" or group):
            total, group, last = total + max(group, 1) * _SCALES[word], 0, "scale"
        elif word != "and" or last != "scale" or place + 1 == len(tokens) or tokens[place + 1].folded not in _NUMERALS:
            break
        place += 1
    return str(total + group) if place > start else "", place


def _figures(written: str) -> str:
    """The figures of a number without separators and needless zeros; a decimal comma becomes a point."""
    figures = written.replace(" ", "").replace("'", "")
    if _THOUSANDS.fullmatch(figures):
        figures = figures.replace(",", "")
    elif _DECIMAL_COMMA.fullmatch(figures):
        figures = figures.replace(",", ".")
    if not _PLAIN.fullmatch(figures):
        return figures
    whole, point, fraction = figures.removeprefix("-").partition(".")
    fraction = fraction.rstrip("0")
    sign = "-" if figures[0] == "-" else ""
    return f"{sign}{whole.lstrip('0') or '0'}{point if fraction else ''}{fraction}"
