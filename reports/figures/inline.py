"""An SVG for the page: it follows the reader's theme, and is a third of the size that it is saved in."""

import re

from reports.style import THEMES

_SHORTER = (
    (r"<!--.*?-->", ""),
    (r"\s+", " "),
    (r'<g id="[^"]*"\s*/>', ""),
    (r'<g id="[^"]*">', "<g>"),
    (r"(?<=[#\"])DejaVuSans-Bold-", "b"),
    (r"(?<=[#\"])DejaVuSans-", "g"),
    (r'<use xlink:href="(#[bg]\w+)" transform="translate\(([\d.]+) 0\)"/>', r'<use href="\1" x="\2"/>'),
    (r"xlink:href", "href"),
    (r"(?<=>) (?=<)", ""),
)


def themed(svg: str) -> str:
    """The SVG with ink, grid and paper following the reader's theme, and shorter; marks keep their hues."""
    for long, short in _SHORTER:
        svg = re.sub(long, short, svg, flags=re.DOTALL)
    svg = re.sub(r"scale\([^)]*\)|(?<=[\s\",(])-?\d+\.\d{3,}(?![\de])", _shortened, svg)
    for role, colour in THEMES["light"].items():
        svg = svg.replace(colour, f"var(--{role})")
    dark = f"@media screen and (prefers-color-scheme:dark){{:root{{{_variables('dark')}}}}}"
    return svg.replace('<style type="text/css">', f'<style type="text/css">:root{{{_variables("light")}}}{dark}', 1)


def _shortened(number: re.Match[str]) -> str:
    return number.group() if number.group().startswith("scale") else f"{float(number.group()):.2f}"


def _variables(theme: str) -> str:
    return "".join(f"--{role}:{colour};" for role, colour in THEMES[theme].items())
