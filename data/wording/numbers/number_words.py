"""Tables of words for numbers, scales, fractions and units, and the normal form of numbers in figures."""

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction

from swaymeter.data.wording.word import word_set


def _values(names: str, values: Iterable[int]) -> dict[str, int]:
    return dict(zip(names.split(), values, strict=True))


CARDINALS = _values(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety",
    [*range(20), *range(20, 100, 10)],
)
ORDINALS = _values(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth "
    "ninetieth",
    [*range(1, 20), *range(20, 100, 10)],
)
NUMERALS = CARDINALS | ORDINALS
SCALES = _values(
    "dozen hundred thousand lakh million mln mio crore billion bn trillion",
    [12, 10**2, 10**3, 10**5, 10**6, 10**6, 10**6, 10**7, 10**9, 10**9, 10**12],
) | _values(
    "dutzend hundert tausend mil mille millionen millone milhoe milioni milliarde milliarden milliard miliardi",
    [12, 10**2, 10**3, 10**3, 10**3, 10**6, 10**6, 10**6, 10**6, 10**9, 10**9, 10**9, 10**9],
)
"""Scales in English and in other European languages; the words have no accents and no plural s."""
SCALE_LETTERS = {"k": 10**3, "K": 10**3, "M": 10**6, "mn": 10**6, "B": 10**9, "bn": 10**9, "Bn": 10**9, "tn": 10**12}
"""Scales after a figure, as in 5k."""
MONEY_LETTERS = {"m": 10**6, "b": 10**9, "t": 10**12, "T": 10**12}
"""Further scales after a figure with a currency before it, as in $5m."""
FRACTIONS = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}
"""Divisors of fractions, such as 4 for three quarters."""
DECADES = _values("twenties thirties forties fifties sixties seventies eighties nineties", range(20, 100, 10))
FIRST_WORDS = frozenset((*NUMERALS, *SCALES, *DECADES, "half", "quarter", "halfte", "moitie", "mitad"))
"""Words with which a number in words may begin."""

GERMAN = _values(
    "ein zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn vierzehn "
    "funfzehn sechzehn siebzehn achtzehn neunzehn",
    range(1, 20),
) | _values("zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig", range(20, 100, 10))
"""Values of German numbers below 20 and of tens, in the normal form of words, which has no umlauts."""
_BEGINNINGS = frozenset(word[:3] for word in (*GERMAN, "hundert", "tausend", "anderthalb"))
_TENS = "|".join(word for word, value in GERMAN.items() if value >= 20)
_BELOW_20 = "|".join(sorted((word for word, value in GERMAN.items() if value < 20), key=len, reverse=True))
_BELOW_100 = rf"(?:(?:{_BELOW_20})und(?:{_TENS})|{_TENS}|{_BELOW_20})"
_WITHOUT_THOUSANDS = rf"(?:(?:{_BELOW_100})?hundert(?:und)?(?:{_BELOW_100})?|{_BELOW_100})"
_COMPOUND = re.compile(
    rf"(?:(?P<half>anderthalb|(?:{_BELOW_20})einhalb)(?P<scale>tausend)?"
    rf"|(?:(?P<thousands>{_WITHOUT_THOUSANDS})?(?P<thousand>tausend)(?:und)?)?(?P<rest>{_WITHOUT_THOUSANDS})?)"
)


def german_compound(word: str) -> Fraction | None:
    """Return the value of a German number in one word in the normal form (zweieinhalb); None for any other word."""
    match = _COMPOUND.fullmatch(word) if word[:3] in _BEGINNINGS else None
    if not match:
        return None
    if half := match["half"]:
        whole = 1 if half == "anderthalb" else GERMAN[half.removesuffix("einhalb")]
        return (whole + Fraction(1, 2)) * (1000 if match["scale"] else 1)
    thousands = (_german_without_thousands(match["thousands"]) or 1) if match["thousand"] else 0
    return Fraction(thousands * 1000 + _german_without_thousands(match["rest"]))


def _german_without_thousands(word: str | None) -> int:
    """Return the value of a German number without the word tausend, such as siebzehnhundert; 0 without a number."""
    hundreds_word, hundred, rest = (word or "").rpartition("hundert")
    hundreds = (GERMAN.get(hundreds_word) or _german_without_thousands(hundreds_word) or 1) if hundred else 0
    ones, _, tens_or_ones = rest.removeprefix("und").rpartition("und")  # funfundvierzig: funf, vierzig; funf: "", funf
    return hundreds * 100 + GERMAN.get(ones, 0) + GERMAN.get(tens_or_ones, 0)


UNITS = {
    spelling: unit
    for unit, spellings in {
        "gram": "g gramme gramm",
        "kilogram": "kg kgs kilo kilogramme kilogramm",
        "milligram": "mg milligramme",
        "tonne": "t",
        "metre": "m meter",
        "kilometre": "km kilometer",
        "centimetre": "cm centimeter zentimeter",
        "millimetre": "mm millimeter",
        "litre": "l liter",
        "millilitre": "ml milliliter",
        "second": "s sec sekunde sekunden",
        "minute": "min minuten minuto",
        "hour": "h hr hrs heure stunde stunden hora",
        "year": "yr yrs jahr jahre jahren",
        "foot": "ft feet",
        "inch": "",
        "pound": "lb lbs £ gbp",
        "ounce": "oz",
        "mile": "mi",
        "percent": "% pct prozent procent",
        "dollar": "$ usd buck",
        "euro": "€ eur",
        "cent": "ct",
        "yen": "¥ jpy",
        "degree": "° grad",
        "celsius": "°c",
        "fahrenheit": "°f",
        "square": "sq",
        "per": "",
        "kilometre per hour": "kph kmh",
        "mile per hour": "mph",
        "square kilometre": "km2",
        "square metre": "m2",
        "cubic metre": "m3",
        "hectare": "ha",
        "watt": "w",
        "kilowatt": "kw",
        "megawatt": "mw",
        "gigawatt": "gw",
        "kilowatt hour": "kwh",
        "volt": "v",
        "hertz": "hz",
        "kilohertz": "khz",
        "megahertz": "mhz",
        "gigahertz": "ghz",
        "kilobyte": "kb",
        "megabyte": "mb",
        "gigabyte": "gb",
        "terabyte": "tb",
        "kilocalorie": "kcal",
        "rupee": "₹ rs inr",
        "franc": "chf",
        "day": "tag tage tagen jour dia",
        "week": "wk woche wochen semaine semana",
        "month": "monat monate monaten",
    }.items()
    for spelling in (unit, *spellings.split())
}
"""Units by their spellings, which are in the normal form of words."""
MONEY = word_set("$ € £ ¥ ₹ usd eur gbp jpy inr rs chf")
"""Signs and codes of currencies, which may precede a number."""
SIGNS_BEFORE_NUMBERS: Mapping[tuple[str, ...], str] = {
    tuple(phrase.split()): sign
    for sign, phrases in {
        "<": "less than|fewer than|under|below|lower than|smaller than",
        ">": "more than|over|above|greater than|higher than|upward of",
        ">=": "at least|no less than|not less than|no fewer than|minimum of",
        "<=": "at most|no more than|not more than|up to|maximum of",
    }.items()
    for phrase in phrases.split("|")
}
"""The signs of comparisons before a number, such as "<" for less than 8."""
SIGNS_AFTER_NUMBERS: Mapping[tuple[str, ...], str] = {("or", "more"): ">=", ("or", "less"): "<=", ("or", "fewer"): "<="}
"""The signs of comparisons after a number, such as ">=" for 8 or more."""
FIRST_WORDS_OF_COMPARISONS = frozenset(phrase[0] for phrase in SIGNS_BEFORE_NUMBERS)
SIGNS = {"≤": "<=", "=<": "<=", "≥": ">=", "=>": ">="}
"""The normal form of written signs of comparison."""

_THOUSANDS = re.compile(r"-?\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?")  # 1,200,000.5 and 12,00,000
_POINTS = re.compile(
    r"-?\d{1,3}(?:\.\d{3}){2,}|-?\d{1,3}(?:\.\d{3})+,\d+|-?[1-9]\d{0,2}\.000"
)  # 1.200.000; 1.200,5; 2.000
_DECIMAL_COMMA = re.compile(r"-?\d+,\d+")  # 8,5
PLAIN = re.compile(r"-?\d+(?:\.\d+)?")


def figures_of(value: Fraction) -> str:
    """Return a number in figures: a whole number or a finite decimal if possible, otherwise a fraction."""
    if value.denominator == 1:
        return str(value.numerator)
    divisor = value.denominator
    for prime in (2, 5):
        while divisor % prime == 0:
            divisor //= prime
    return str(value) if divisor > 1 else f"{Decimal(value.numerator) / value.denominator:f}"


def normal_figures(number: str) -> str:
    """Return the figures of a number without separators and needless zeros: 1200.5 for 1,200.50, and 2.5 for 2 1/2."""
    if "/" in number:
        whole, _, fraction = number.rpartition(" ")
        numerator, denominator = map(int, fraction.lstrip("-").split("/"))
        if numerator >= denominator:  # an improper fraction, such as 5/2
            return number
        value = int(whole.lstrip("-") or 0) + Fraction(numerator, denominator)
        return f"{'-' if number[0] == '-' else ''}{figures_of(value)}"
    figures = number.replace(" ", "").replace("'", "")
    if _THOUSANDS.fullmatch(figures):
        figures = figures.replace(",", "")
    elif _POINTS.fullmatch(figures):
        figures = figures.replace(".", "").replace(",", ".")
    elif _DECIMAL_COMMA.fullmatch(figures):
        figures = figures.replace(",", ".")
    if not PLAIN.fullmatch(figures):
        return figures
    whole, point, fraction = figures.removeprefix("-").partition(".")
    fraction = fraction.rstrip("0")
    sign = "-" if figures[0] == "-" else ""
    return f"{sign}{whole.lstrip('0') or '0'}{point if fraction else ''}{fraction}"
