"""Templates and formats of cells for every page of a report."""

import json
import math
import re
from collections.abc import Mapping
from functools import partial
from importlib import resources
from numbers import Integral, Real
from typing import Any

import jinja2
import numpy as np
import pandas as pd
from jinja2.environment import TemplateStream
from markupsafe import Markup

from swaymeter.data.digests import integrity
from swaymeter.data.escaping import html
from swaymeter.data.records.statistics import SHARE
from swaymeter.reports.style import PARTITION_HUES, QUERY_HUES, rules_of_themes


def template(package: str, file: str, filters: Mapping[str, Any]) -> jinja2.Template:
    """Return a template, which escapes every value and may extend base.html; an undefined variable is an error."""
    environment = jinja2.Environment(
        autoescape=True,
        finalize=html,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=jinja2.FunctionLoader(partial(asset, "swaymeter.reports.page")),
    )
    environment.filters.update(filters)
    return environment.from_string(asset(package, file))


def page_stream(package: str, file: str, css: str, filters: Mapping[str, Any], **values: object) -> TemplateStream:
    """Return a template filled with `values`, piece by piece; the page's `css` comes after the CSS of all pages."""
    hues = "".join(f"--{name}:{hue};" for name, hue in {**QUERY_HUES, **PARTITION_HUES}.items())
    css = rules_of_themes(hues) + "\n" + asset("swaymeter.reports.page", "page.css") + css
    return template(package, file, filters).stream(css=Markup(css), style_hash=integrity(css), **values)


_MARKUP = re.compile("[<>&\x7f-\x9f\u2028\u2029]")


def script_json(value: object) -> Markup:
    """Return a value as JSON for a script element; characters of markup are escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(_MARKUP.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def asset(package: str, file: str) -> str:
    """Return the text of a file in a package."""
    return resources.files(package).joinpath(file).read_text(encoding="utf-8")


_ADDRESS = re.compile(r"https?://[^\s<>\"'`{}|\\^]*[^\s<>\"'`{}|\\^.,;:!?)\]]")


def cell(value: object, unit: str = "") -> str:
    """Return a value as the page shows it: a dash for a missing value, and numbers rounded; the CSV has all digits."""
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
    # A column of counts with a missing count has floats. 0 and 1 get decimals, because they may be shares or scores.
    if number.is_integer() and abs(number) > 1 and unit != "nats":
        return f"{number:,.0f}"
    return _digits(number)


def heading(column: str, unit: str = "") -> str:
    """Return a column's name in words, with its unit."""
    words = column.replace("_", " ")
    if unit == SHARE:
        return f"% {words.removeprefix('share ')}"
    return f"{words} ({unit})" if unit else words


def linked(text: str) -> Markup:
    """Return the text with its web addresses as plain links, and with everything else escaped."""
    markup, at = Markup(), 0
    for match in _ADDRESS.finditer(text):
        markup += html(text[at : match.start()])
        markup += Markup('<a href="{0}" rel="noopener noreferrer">{0}</a>').format(match.group())
        at = match.end()
    return markup + html(text[at:])


_ROUNDING = 1e-12
"""Upper bound on values that are rounding errors of 0."""


def _digits(number: float) -> str:
    size = abs(number)
    if _ROUNDING < size < 0.001:
        return f"{number:.1e}"
    return f"{number:,.0f}" if size >= 1000 else f"{number:z.3f}"


def numeric(value: object) -> bool:
    """Return True if a cell is a number or a missing number."""
    return value is None or value is pd.NA or isinstance(value, Real)
