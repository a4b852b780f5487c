"""What every page of a report is made with: its template, the colours of both themes, and hashes for its policy."""

import base64
import hashlib
from collections.abc import Mapping
from functools import partial
from importlib import resources
from typing import Any

import jinja2
from jinja2.environment import TemplateStream
from markupsafe import Markup

from swaymeter.reports.style import PARTITION_HUES, QUERY_HUES, rules_of_themes


def template(package: str, file: str, filters: Mapping[str, Any]) -> jinja2.Template:
    """The template in a package; it escapes whatever it is given, and an unknown name is an error.

    It may extend base.html, which all pages begin and end with.
    """
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        loader=jinja2.FunctionLoader(partial(asset, "swaymeter.reports.page")),
    )  # fmt: skip
    environment.filters.update(filters)
    return environment.from_string(asset(package, file))


def written(
    package: str, file: str, css: str, filters: Mapping[str, Any], **words: object
) -> TemplateStream:  # fmt: skip
    """A page piece by piece: the template in a package, with its style after that of all pages, and these words."""
    hues = "".join(f"--{name}:{hue};" for name, hue in {**QUERY_HUES, **PARTITION_HUES}.items())
    css = rules_of_themes(hues) + "\n" + asset("swaymeter.reports.page", "page.css") + css
    return template(package, file, filters).stream(css=Markup(css), style_hash=digest(css), **words)


def asset(package: str, file: str) -> str:
    return resources.files(package).joinpath(file).read_text(encoding="utf-8")


def digest(text: str) -> str:
    """What a content security policy calls this style or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
