"""Values of a graph as texts for readers: names on one line, dates in words, numbers without exponents.

The texts do not depend on the machine's locale. Markup, braces, quotes and paths are left as they are.
"""

import calendar
import re
import unicodedata
from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from urllib.parse import unquote

from swaymeter.data.catalog import Relation
from swaymeter.data.sources.graph.sparql import Literal
from swaymeter.data.wording.numbers.dates import MONTHS

LONGEST = 300
"""Limit of the characters of a name or value; a longer text is a paragraph, and invalid."""

_XSD = "http://www.w3.org/2001/XMLSchema#"
_UNITS = ("http://yago-knowledge.org/resource/", "http://www.wikidata.org/entity/")
"""Beginnings of the IRIs of units; YAGO and Wikidata write the unit of a number as its datatype."""
_UNCHANGED_CLASSES = ("identifier", "text", "url")
"""Classes of objects whose values are put on one line, and otherwise stay unchanged."""
_NUMBER_TYPES = frozenset(
    {
        "decimal",
        "integer",
        "double",
        "float",
        "int",
        "long",
        "short",
        "byte",
        "nonNegativeInteger",
        "positiveInteger",
        "nonPositiveInteger",
        "negativeInteger",
        "unsignedInt",
        "unsignedLong",
        "unsignedShort",
        "unsignedByte",
    }
)
# Dates such as 1879-03-14T00:00:00Z, 1879-03 and 1879.
_ZONE = r"(?:Z|[+-][0-9]{2}:[0-9]{2})?"
_DAY = re.compile(rf"([+-]?[0-9]{{1,12}})-([0-9]{{2}})-([0-9]{{2}})(?:T[0-9]{{2}}:[0-9]{{2}}:[0-9.]{{2,30}})?{_ZONE}")
_MONTH = re.compile(rf"([+-]?[0-9]{{1,12}})-([0-9]{{2}})(?:-[0-9]{{2}})?{_ZONE}")
_YEAR = re.compile(rf"([+-]?[0-9]{{1,12}})(?:-[0-9]{{2}}-[0-9]{{2}})?{_ZONE}")
_DATES = {"date": _DAY, "dateTime": _DAY, "dateTimeStamp": _DAY, "gYearMonth": _MONTH, "gYear": _YEAR}
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,6})?")
_LARGEST_EXPONENT = 100
"""Limit of a number's exponent, because the text of 1e100 has 101 digits."""
# Soft hyphens, zero-width spaces, the tag characters U+E0000 to U+E007F, and characters that set the direction of text.
# Joiners and the direction marks U+200E and U+200F stay, because some scripts need them.
_INVISIBLE = re.compile(
    "[\u00ad\u200b\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)


def plain(text: str) -> str | None:
    """Return the text on one line, in NFC and without control characters; None for an empty or too long text."""
    if len(text) > 100 * LONGEST:  # so long a text is refused before it is cleaned
        return None
    visible = _INVISIBLE.sub("", unicodedata.normalize("NFC", text))
    printable = "".join(char for char in visible if char.isspace() or unicodedata.category(char) != "Cc")
    line = " ".join(printable.split())
    return line if 0 < len(line) <= LONGEST else None


def text(literal: Literal, relation: Relation, units: Mapping[str, str] = MappingProxyType({})) -> str | None:
    """Return the object of a fact as an answer, such as "14 March 1879" or "828 metres"; None for an invalid value.

    Texts in other languages than English, impossible dates, malformed numbers, and numbers with an exponent beyond ±100
    are invalid. Years follow XSD 1.1: 0000 is 1 BC. YAGO writes the year 1879 as 1879-01-01 with the datatype gYear.

    Args:
        literal: The object.
        relation: The relation; its unit is added to a number without a unit.
        units: Names of units by IRI. A unit without a name is named by the end of its IRI.
    """
    if literal.language is not None:
        return plain(literal.value) if re.fullmatch(r"en(-.*)?", literal.language, re.IGNORECASE) else None
    if relation.object_class in _UNCHANGED_CLASSES:
        return plain(literal.value)
    datatype = literal.datatype or ""
    value = literal.value.strip()
    if datatype.startswith(_UNITS):
        number = _number(value)
        words = units.get(datatype) or _unit_by_iri(datatype)
        if number is None or words is None:
            return None
        # "metre" and "metres" are the same unit, which is written as in the relation.
        is_unit_of_relation = _singular(relation.unit or "") == _singular(words)
        return f"{number} {relation.unit if is_unit_of_relation else words}"
    kind = datatype.removeprefix(_XSD) if datatype.startswith(_XSD) else ""
    if kind in _DATES:
        return _date(value, _DATES[kind])
    if kind in _NUMBER_TYPES:
        number = _number(value)
        return f"{number} {relation.unit}" if number and relation.unit else number
    if kind == "boolean":
        return {"1": "true", "0": "false"}.get(value, plain(value))
    return plain(value)


def unit_of(literal: Literal) -> str | None:
    """Return the IRI of a number's unit; None without a unit."""
    datatype = literal.datatype or ""
    return datatype if datatype.startswith(_UNITS) else None


def _unit_by_iri(unit: str) -> str | None:
    """Return the words at the end of a unit's IRI, such as "square metre" of .../Square_metre; None for an id."""
    name = unit[max(unit.rfind("/"), unit.rfind("#")) + 1 :]
    if re.fullmatch(r"Q[0-9]+", name):
        return None
    name = re.sub(r"_u([0-9A-Fa-f]{4})", lambda match: chr(int(match[1], 16)), name)  # YAGO writes _u0027 for '
    words = plain(unquote(name).replace("_", " "))
    return words[0].lower() + words[1:] if words else None


def _singular(words: str) -> list[str]:
    return [word.rstrip("s") for word in words.casefold().split()]


def _number(value: str) -> str | None:
    if len(value) > LONGEST or not _NUMBER.fullmatch(value):
        return None
    number = Decimal(value)
    if number.is_zero():
        return "0"
    if abs(number.adjusted()) > _LARGEST_EXPONENT:
        return None
    digits = format(number, "f")
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _date(value: str, form: re.Pattern[str]) -> str | None:
    match = form.fullmatch(value)
    if not match:
        return None
    year = int(match[1])
    month = int(match[2]) if form.groups > 1 else None
    day = int(match[3]) if form.groups > 2 else None
    year_text = str(year) if year > 0 else f"{1 - year} BC"
    if month is None:
        return year_text
    if not 1 <= month <= 12:
        return None
    if day is None:
        return f"{MONTHS[month - 1]} {year_text}"
    last_day = calendar.monthrange(year, month)[1]  # the proleptic Gregorian calendar
    return f"{day} {MONTHS[month - 1]} {year_text}" if 1 <= day <= last_day else None
