"""Numbers in figures and units by their name, whatever way both are written.

eight = 8; 1,200 = 1 200 = 1'200 = 1200; 8,5 = 8.50 = 8.5; 1.5 million = 1.5M = 1500000; half a million; a dozen = 12;
two and a half = 2½ = 2 1/2 = 2.5; two thirds = 2/3; third = 3rd; nineteen ninety = 1990; World War II = World War 2;
8kg = 8 kilogrammes = 8 kg; $8 = 8 USD = 8 dollars. What compares a number is a word before it: < for less than 8, >=
for 8 or more.
What it is not: a conversion (8 kg is not 8000 g), or arithmetic (10² is not 100). 1.200 is read as one point two; the
1990s, 3D and 2.0.1 are words. A capital M, B or K behind a figure is a scale, a small m a metre unless it is money.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from tasks.scoring.wording.word import Token, Word, word_set


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
_ELSEWHERE = {
    name: number
    for number, names in {
        2: "zwei zwo deux dos due dois", 3: "drei trois tre", 4: "vier quatre cuatro quattro quatro",
        5: "funf cinq cinco cinque", 6: "sechs seis sei", 7: "sieben sept siete sette sete",
        8: "acht huit ocho otto oito", 9: "neun neuf nueve nove", 10: "zehn dix diez dieci dez", 11: "onze undici",
        12: "zwolf douze doce dodici doze", 15: "funfzehn quinze quince", 20: "zwanzig vingt veinte venti vinte",
        30: "dreissig trente treinta trenta trinta",
        40: "vierzig quarante cuarenta quaranta quarenta", 50: "funfzig cinquante cincuenta cinquanta cinquenta",
    }.items()
    for name in names.split()
}  # fmt: skip
"""Numbers in German, French, Spanish, Italian and Portuguese that are not words of English."""
_CARDINALS |= _ELSEWHERE
_NUMERALS = _CARDINALS | _ORDINALS
_SCALES = _values(
    "dozen hundred thousand lakh million mln mio crore billion bn trillion",
    [12, 10**2, 10**3, 10**5, 10**6, 10**6, 10**6, 10**7, 10**9, 10**9, 10**12],
) | _values(
    "hundert tausend mil mille millionen millone milhoe milioni milliarde milliarden milliard miliardi",
    [10**2, 10**3, 10**3, 10**3, 10**6, 10**6, 10**6, 10**6, 10**9, 10**9, 10**9, 10**9],
)
_SCALE_LETTERS = {"k": 10**3, "K": 10**3, "M": 10**6, "mn": 10**6, "B": 10**9, "bn": 10**9, "Bn": 10**9, "tn": 10**12}
_MONEY_LETTERS = {"m": 10**6, "b": 10**9, "t": 10**12, "T": 10**12}
_FRACTIONS = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}
_DECADES = _values("twenties thirties forties fifties sixties seventies eighties nineties", range(20, 100, 10))
_STARTS = frozenset((*_NUMERALS, *_SCALES, *_DECADES, "half", "quarter"))
_BEFORE_ONE, _BEHIND_ONE = frozenset(("no", "any", "every", "this", "that")), frozenset(("of", "who", "that", "which"))
_UNITS = {
    spelling: unit
    for unit, spellings in {
        "gram": "g gramme", "kilogram": "kg kgs kilo kilogramme", "milligram": "mg milligramme", "tonne": "t",
        "metre": "m meter", "kilometre": "km kilometer", "centimetre": "cm centimeter", "millimetre": "mm millimeter",
        "litre": "l liter", "millilitre": "ml milliliter", "second": "s sec", "minute": "min",
        "hour": "h hr hrs heure stunde hora", "year": "yr yrs",
        "foot": "ft feet", "inch": "", "pound": "lb lbs £ gbp", "ounce": "oz", "mile": "mi",
        "percent": "% pct", "dollar": "$ usd buck", "euro": "€ eur", "yen": "¥ jpy", "degree": "°", "celsius": "°c",
        "fahrenheit": "°f", "square": "sq", "per": "", "kilometre per hour": "kph kmh", "mile per hour": "mph",
        "square kilometre": "km2", "square metre": "m2", "cubic metre": "m3", "hectare": "ha", "watt": "w",
        "kilowatt": "kw", "megawatt": "mw", "gigawatt": "gw", "kilowatt hour": "kwh", "volt": "v", "hertz": "hz",
        "kilohertz": "khz", "megahertz": "mhz", "gigahertz": "ghz", "kilobyte": "kb", "megabyte": "mb",
        "gigabyte": "gb", "terabyte": "tb", "kilocalorie": "kcal", "rupee": "₹ rs inr", "franc": "chf", "day": "",
        "week": "wk", "month": "",
    }.items()
    for spelling in (unit, *spellings.split())
}  # fmt: skip
_MONEY = word_set("$ € £ ¥ ₹ usd eur gbp jpy inr rs chf")
_COMPARED = {
    tuple(phrase.split()): sign
    for sign, phrases in {
        "<": "less than|fewer than|under|below|lower than|smaller than",
        ">": "more than|over|above|greater than|higher than|upward of",
        ">=": "at least|no less than|not less than|no fewer than|minimum of",
        "<=": "at most|no more than|not more than|up to|maximum of",
    }.items()
    for phrase in phrases.split("|")
}
_COMPARED_BEHIND: Mapping[tuple[str, ...], str] = {("or", "more"): ">=", ("or", "less"): "<=", ("or", "fewer"): "<="}
_COMPARING = frozenset(phrase[0] for phrase in _COMPARED)
_SIGNS = {"≤": "<=", "=<": "<=", "≥": ">=", "=>": ">="}
_THOUSANDS = re.compile(r"-?\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?")
_POINTS = re.compile(r"-?\d{1,3}(?:\.\d{3}){2,}|-?\d{1,3}(?:\.\d{3})+,\d+|-?[1-9]\d{0,2}\.000")
_DECIMAL_COMMA = re.compile(r"-?\d+,\d+")
_PLAIN = re.compile(r"-?\d+(?:\.\d+)?")
_ROMAN = re.compile(r"(?=[IVXL])(?:XL|L?X{0,3})(?:IX|IV|V?I{0,3})")


_CHARACTERS = re.compile(r"(?:\d+(?:\.\d+)?|[〇零一二两三四五六七八九十百千])[〇零一二两三四五六七八九十百千万萬亿億]+|"
                         r"[一二两三四五六七八九十](?=[点點时時年月日号岁歳])")  # fmt: skip
_POWERS = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}


def in_figures(text: str) -> str:
    """A text with numbers in Chinese characters in figures: 三百万 and 300万 as 3000000."""
    return _CHARACTERS.sub(lambda match: _of_characters(match[0]), text)


def _of_characters(written: str) -> str:
    parts = re.findall(r"\d+(?:\.\d+)?|.", written)
    if not _POWERS.keys() & set(parts):  # 一九九〇: figure by figure
        return "".join(part if part.isdigit() else f"{unicodedata.numeric(part):.0f}" for part in parts)
    total = section = number = Fraction(0)
    for part in parts:
        if (power := _POWERS.get(part)) is None:
            number = Fraction(part) if part[0].isdigit() else Fraction(int(unicodedata.numeric(part)))
        elif power < 10**4:
            section, number = section + (number or 1) * power, Fraction(0)
        else:
            total, section, number = total + (section + number) * power, Fraction(0), Fraction(0)
    return _written(total + section + number)


def with_numerals(tokens: Sequence[Token]) -> Iterator[Word]:
    """The words of tokens, with numbers in figures and units by their name."""
    place, currency, behind_number = 0, "", False
    while place < len(tokens):
        token = tokens[place]
        if token.kind == "sign":
            yield Word(_SIGNS.get(token.text, token.text), token.clause, kind="sign")
            place, behind_number = place + 1, False
            continue
        if token.folded in _COMPARING and (length := _comparing(tokens, place)):
            phrase = tuple(one.folded for one in tokens[place : place + length])
            yield Word(_COMPARED[phrase], token.clause, kind="sign")
            place, behind_number = place + length, False
            continue
        if token.folded in ("a", "an") and not behind_number and _is_one(tokens, place):
            yield Word("1", token.clause, kind="number")
            place, behind_number = place + 1, True
            continue
        is_negative = token.folded in ("minus", "negative") and place + 1 < len(tokens)
        read = _number(tokens, place + is_negative, bool(currency))
        if is_negative and read.end > place + 1 and read.kind == "number":
            yield Word(f"-{read.text}", token.clause, kind="number")
            place, behind_number = read.end, True
            continue
        if is_negative:
            read = _Read("", place)
        unit = _UNITS.get(token.folded, "")
        if read.end > place:
            if compared := read.compared or _COMPARED_BEHIND.get(_folded(tokens, read.end, 2)):
                yield Word(compared, token.clause, kind="sign")
            yield Word(read.text, token.clause, token.joined, kind=read.kind)
            yield from [Word(currency, kind="unit")] if currency else []
            place, currency, behind_number = read.end, "", read.kind == "number"
            if _folded(tokens, place, 2) in _COMPARED_BEHIND:
                place += 2
            continue
        if token.folded in _MONEY and place + 1 < len(tokens) and tokens[place + 1].kind == "number":
            currency = unit
        elif unit and behind_number and not token.clause and (len(token.text) > 1 or not token.text.isupper()):
            yield from (Word(word, kind="unit") for word in unit.split())
            behind_number = unit in ("square", "per") or (place + 1 < len(tokens) and tokens[place + 1].folded == "per")
        else:
            capitals = 2 if token.text.isupper() else int(token.text[0].isupper())
            if number := _roman(tokens, place):
                yield Word(number, token.clause, token.joined, 2, kind="roman")
            else:
                yield Word(token.folded, token.clause, token.joined, capitals, stems=token.stems)
            behind_number = False
        place += 1


def _folded(tokens: Sequence[Token], start: int, count: int) -> tuple[str, ...]:
    return tuple(token.folded for token in tokens[start : start + count])


def _comparing(tokens: Sequence[Token], start: int) -> int:
    """How many words compare the number behind them: two in "more than 8", none in "more than Oslo"."""
    for length in (3, 2, 1):
        if _folded(tokens, start, length) in _COMPARED and start + length < len(tokens):
            behind = tokens[start + length]
            is_money = behind.folded in _MONEY
            if behind.kind == "number" or is_money or behind.folded in _CARDINALS or behind.folded == "half":
                return length
    return 0


def _is_one(tokens: Sequence[Token], place: int) -> bool:
    """Whether "a" is a number: an hour, a week; not a second one, nor twelve dollars an hour."""
    behind = tokens[place + 1].folded if place + 1 < len(tokens) else ""
    before = tokens[place - 1].folded if place else ""
    is_unit = (
        len(behind) > 3 and behind in _UNITS and behind not in ("second", "degree", "square", "pound", "yard", "foot")
    )
    return is_unit and before not in _UNITS and before not in ("time", "once", "half")


class _Read(NamedTuple):
    """A number as it is compared, and the place behind it; that at which it was looked for where there is none."""

    text: str
    end: int
    kind: str = "number"
    compared: str = ""


def _number(tokens: Sequence[Token], start: int, is_money: bool) -> _Read:
    first, behind = tokens[start], tokens[start + 1] if start + 1 < len(tokens) else None
    if first.kind == "number":
        return _number_in_figures(tokens, start, is_money)
    if first.folded not in _STARTS or first.kind != "word":
        return _Read("", start)
    if first.folded == "one" and (
        (behind and behind.folded in _BEHIND_ONE) or (start and tokens[start - 1].folded in _BEFORE_ONE)
    ):
        return _Read("", start)  # a pronoun
    return _number_in_words(tokens, start)


def _number_in_figures(tokens: Sequence[Token], start: int, is_money: bool) -> _Read:
    number, end, behind = (
        _figures(tokens[start].text),
        start + 1,
        tokens[start + 1] if start + 1 < len(tokens) else None,
    )
    if not behind:
        return _Read(number, end)
    if behind.text == "+":
        return _Read(number, start + 2, compared=">=")
    glued = behind.text if behind.glued and behind.kind == "word" else ""
    if glued.lower() in ("st", "nd", "rd", "th"):
        return _Read(f"{number}th", start + 2, "ordinal")
    is_plain = len(number) <= 20 and _PLAIN.fullmatch(number) is not None
    scale = None if behind.clause else _SCALES.get(behind.folded)
    if is_plain and scale is None and (glued or (is_money and not behind.clause)):
        letters = _SCALE_LETTERS | _MONEY_LETTERS if is_money else _SCALE_LETTERS
        scale = letters.get(behind.text)
    if is_plain and scale:
        return _Read(_written(Fraction(number) * scale), start + 2)
    if glued and (
        behind.folded not in _UNITS or (glued == "s" and number[-1] == "0") or (glued.isupper() and len(glued) == 1)
    ):
        return _Read(number + behind.folded, start + 2, "word")
    if is_plain and not behind.clause and _folded(tokens, end, 3) == ("and", "a", "half"):
        return _scaled(tokens, Fraction(number) + Fraction(1, 2), end + 3)
    return _Read(number, end)


def _number_in_words(tokens: Sequence[Token], start: int) -> _Read:
    total, group, last, place = 0, 0, "start", start
    while place < len(tokens) and (place == start or not tokens[place].clause):
        word = tokens[place].folded
        value = _NUMERALS.get(word)
        if (decade := _DECADES.get(tokens[place].text.lower())) and (place == start or 13 <= group <= 20):
            return _Read(f"{group * 100 + decade}s", place + 1, "word")
        if value is not None and (last in ("start", "scale") or (last == "tens" and 0 < value < 10)):
            group, last = group + value, "tens" if value >= 20 else "ones"
            if word in _ORDINALS:
                return _ordinal(tokens, start, total + group, place + 1)
        elif place == start + 1 and 13 <= group <= 20 and word in _CARDINALS and _CARDINALS[word] >= 10:
            group, last = group * 100 + _CARDINALS[word], "tens"  # nineteen ninety
        elif word == "hundred" and (last == "start" or 0 < group < 100):
            group, last = max(group, 1) * 100, "scale"
        elif word in _SCALES and (group or (last == "start" and tokens[place].text.lower() == word)):  # no "millions"
            total, group, last = total + max(group, 1) * _SCALES[word], 0, "scale"
        elif word != "and" or last != "scale" or place + 1 == len(tokens) or tokens[place + 1].folded not in _NUMERALS:
            break
        place += 1
    if place == start:
        return _half(tokens, start)
    return _with_fraction(tokens, total + group, place)


def _ordinal(tokens: Sequence[Token], start: int, value: int, end: int) -> _Read:
    """An ordinal; of "a third of" the fraction."""
    if start and tokens[start - 1].folded == "a" and _folded(tokens, end, 1) == ("of",):
        return _Read(_written(Fraction(1, value)), end)
    return _Read(f"{value}th", end, "ordinal")


def _half(tokens: Sequence[Token], start: int) -> _Read:
    """half, half a million, a quarter of."""
    word = tokens[start].folded
    if word == "quarter" and _folded(tokens, start + 1, 1) == ("of",):
        return _Read("0.25", start + 1)
    if word != "half":
        return _Read("", start)
    scaled = _scaled(tokens, Fraction(1, 2), start + 2) if _folded(tokens, start + 1, 1) == ("a",) else None
    return scaled if scaled and scaled.end > start + 2 else _scaled(tokens, Fraction(1, 2), start + 1)


def _with_fraction(tokens: Sequence[Token], value: int, end: int) -> _Read:
    """A number in words with what stands behind it: three quarters, one and a half, one point five."""
    behind = _folded(tokens, end, 3)
    if not behind or tokens[end].clause:
        return _Read(str(value), end)
    if (divisor := _FRACTIONS.get(behind[0])) and 0 < value < divisor:
        return _scaled(tokens, Fraction(value, divisor), end + 1)
    if behind in (("and", "a", "half"), ("and", "one", "half")):
        return _scaled(tokens, value + Fraction(1, 2), end + 3)
    if behind[0] == "point" and len(behind) > 1 and _CARDINALS.get(behind[1], 10) < 10:
        figures, place = "", end + 1
        while (figure := _CARDINALS.get("".join(_folded(tokens, place, 1)), 10)) < 10:
            figures, place = f"{figures}{figure}", place + 1
        return _scaled(tokens, Fraction(f"{value}.{figures}"), place)
    return _Read(str(value), end)


def _scaled(tokens: Sequence[Token], value: Fraction, end: int) -> _Read:
    """The value times the scale that stands behind it, if one does."""
    scale = _SCALES.get("".join(_folded(tokens, end, 1)))
    return _Read(_written(value * scale), end + 1) if scale else _Read(_written(value), end)


def _written(value: Fraction) -> str:
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


def _roman(tokens: Sequence[Token], place: int) -> str:
    """The value of a Roman numeral in capitals behind a name (George VI); of I, which is a word, none."""
    token = tokens[place]
    if (
        not place
        or token.clause
        or token.text == "I"
        or token.text[0] not in "IVXL"
        or not _ROMAN.fullmatch(token.text)
    ):
        return ""
    before = tokens[place - 1]
    if not before.text[0].isupper() or (before.text.isupper() and len(before.text) > 1 and len(token.text) == 1):
        return ""
    values = {"I": 1, "V": 5, "X": 10, "L": 50}
    figures = [values[letter] for letter in token.text]
    return str(sum(-one if one < two else one for one, two in zip(figures, [*figures[1:], 0], strict=True)))


def _figures(written: str) -> str:
    """The figures of a number without separators and needless zeros; a decimal comma becomes a point."""
    if "/" in written:
        whole, _, fraction = written.rpartition(" ")
        above, below = map(int, fraction.lstrip("-").split("/"))
        if above >= below:
            return written
        value = int(whole.lstrip("-") or 0) + Fraction(above, below)
        return f"{'-' if written[0] == '-' else ''}{_written(value)}"
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
