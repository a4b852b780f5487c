"""How a page shows values: cells of tables, headings of columns, texts with web addresses."""

import math
import re
from numbers import Integral, Real

import numpy as np
import pandas as pd
from markupsafe import Markup, escape

from swaymeter.data.records.statistics import SHARE

_ADDRESS = re.compile(r"https?://[^\s<>\"'`{}|\\^]*[^\s<>\"'`{}|\\^.,;:!?)\]]")


def cell(value: object, unit: str = "") -> str:
    """A value as the page shows it; a dash where there is none. A number's CSV has the digits that this rounds away."""
    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
        return "\N{EN DASH}"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, Integral):
        return f"{int(value):,}"
    if not isinstance(value, Real):
        return str(value)
    number = float(value)
    if math.isinf(number):
        return "∞" if number > 0 else "\N{MINUS SIGN}∞"
    if unit == SHARE:
        return f"{100 * number:.1f}%"
    if number.is_integer() and abs(number) > 1 and unit != "nats":  # a count beside missing ones is stored as a float
        return f"{number:,.0f}"
    return _digits(number)


def heading(column: str, unit: str = "") -> str:
    """A column's name in words, with its unit."""
    words = column.replace("_", " ")
    if unit == SHARE:
        return f"% {words.removeprefix('share ')}"
    return f"{words} ({unit})" if unit else words


def linked(text: str) -> Markup:
    """The text with its web addresses as plain links, everything else escaped."""
    markup, at = Markup(), 0
    for match in _ADDRESS.finditer(text):
        markup += escape(text[at : match.start()])
        markup += Markup('<a href="{0}" rel="noopener noreferrer">{0}</a>').format(match.group())
        at = match.end()
    return markup + escape(text[at:])


def _digits(number: float) -> str:
    size = abs(number)
    if size and size < 0.001:
        return f"{number:.1e}"
    return f"{number:,.0f}" if size >= 1000 else f"{number:.3f}"


def numeric(value: object) -> bool:
    """Whether a cell is a number, or stands where one is missing."""
    return value is None or value is pd.NA or isinstance(value, Real)
