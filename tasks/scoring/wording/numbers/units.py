"""Tables: units by their name, and what compares a number, by its sign."""

from collections.abc import Mapping

from swaymeter.tasks.scoring.wording.word import word_set

UNITS = {
    spelling: unit
    for unit, spellings in {
        "gram": "g gramme gramm", "kilogram": "kg kgs kilo kilogramme kilogramm", "milligram": "mg milligramme",
        "tonne": "t", "metre": "m meter", "kilometre": "km kilometer", "centimetre": "cm centimeter zentimeter",
        "millimetre": "mm millimeter", "litre": "l liter", "millilitre": "ml milliliter",
        "second": "s sec sekunde sekunden", "minute": "min minuten minuto",
        "hour": "h hr hrs heure stunde stunden hora", "year": "yr yrs jahr jahre jahren", "foot": "ft feet",
        "inch": "", "pound": "lb lbs £ gbp", "ounce": "oz", "mile": "mi", "percent": "% pct prozent procent",
        "dollar": "$ usd buck", "euro": "€ eur", "cent": "ct", "yen": "¥ jpy", "degree": "° grad", "celsius": "°c",
        "fahrenheit": "°f", "square": "sq", "per": "", "kilometre per hour": "kph kmh", "mile per hour": "mph",
        "square kilometre": "km2", "square metre": "m2", "cubic metre": "m3", "hectare": "ha", "watt": "w",
        "kilowatt": "kw", "megawatt": "mw", "gigawatt": "gw", "kilowatt hour": "kwh", "volt": "v", "hertz": "hz",
        "kilohertz": "khz", "megahertz": "mhz", "gigahertz": "ghz", "kilobyte": "kb", "megabyte": "mb",
        "gigabyte": "gb", "terabyte": "tb", "kilocalorie": "kcal", "rupee": "₹ rs inr", "franc": "chf",
        "day": "tag tage tagen jour dia", "week": "wk woche wochen semaine semana", "month": "monat monate monaten",
    }.items()
    for spelling in (unit, *spellings.split())
}  # fmt: skip
MONEY = word_set("$ € £ ¥ ₹ usd eur gbp jpy inr rs chf")
COMPARED = {
    tuple(phrase.split()): sign
    for sign, phrases in {
        "<": "less than|fewer than|under|below|lower than|smaller than",
        ">": "more than|over|above|greater than|higher than|upward of",
        ">=": "at least|no less than|not less than|no fewer than|minimum of",
        "<=": "at most|no more than|not more than|up to|maximum of",
    }.items()
    for phrase in phrases.split("|")
}
COMPARED_BEHIND: Mapping[tuple[str, ...], str] = {("or", "more"): ">=", ("or", "less"): "<=", ("or", "fewer"): "<="}
COMPARING = frozenset(phrase[0] for phrase in COMPARED)
SIGNS = {"≤": "<=", "=<": "<=", "≥": ">=", "=>": ">="}
