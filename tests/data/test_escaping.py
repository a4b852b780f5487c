"""Whatever anybody can write stays text wherever it is written."""

import csv
import io
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from markupsafe import Markup

from swaymeter.data.escaping import csv_cell, html, json_text, latex, looks_like_formula, markdown, terminal, xml

ACTS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
WRITTEN = (
    "plain", "", " ", "東京 München", "a\nb\tc", "a\r\nb\rc",
    *(f"a{chr(number)}b" for number in range(32)), "\x7f\x85\x9b31m", "\x1b]0;title\x07\x1b[2J", "\x1b]8;;http://a\x1b\\",
    "\u202eabc\u202c\u2066\u2069\u200e", "\ufffe\uffff\U0001f600",
    "<script>alert(1)</script>", "\"><img src=x onerror='alert(1)'>", "]]><!--", "&lt;&#60;", "{{ 7 * 7 }}",
    "=1+1|x", "+1", "-1+1", "@SUM(A1)", "\t=1", " =1", "'=1", "\"=1", "a;=1+1", "a\n=1+1", "\uff1d1", "\u200b=1",
    r"\input{/etc/passwd}", r"$\frac{1}{$", "a_b # 50% & ~ {x} ^^41", "[red]x[/red] [link=http://a]b[/link]",
    "# a", "- a", "+ a", "* a", "1. a", "1) a", "> a", "---", "===", "| a | b |\n| --- | --- |", "```", "    code",
    "[x](javascript:alert(1))", "![x](y)", "<http://a>", "a  \nb", ": a", "~~a~~", "$x$",
)  # fmt: skip
"""Texts of studies, files, servers and models."""


class Shown(HTMLParser):
    """What a browser shows of HTML, and the elements that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text, self.elements = "", list[str]()
        self.feed(text)
        self.close()

    def handle_data(self, data: str) -> None:
        """A text."""
        self.text += data

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """An element."""
        self.elements.append(tag)


def in_html(text: str) -> str:
    shown = Shown(f"<p>{html(text)}</p>")
    assert shown.elements == ["p"]
    return shown.text


def in_markdown(text: str) -> str:
    shown = Shown(MarkdownIt("gfm-like", {"linkify": False}).render(markdown(text)))
    assert set(shown.elements) <= {"p"}
    return shown.text.removesuffix("\n")


def in_a_cell(text: str) -> str:
    written = io.StringIO(newline="")
    csv.writer(written).writerow([csv_cell(text), "end"])
    ((cell, end),) = csv.reader(io.StringIO(written.getvalue(), newline=""))
    assert end == "end"
    assert cell.startswith("'") or not looks_like_formula(cell) or re.fullmatch("-[0-9.e-]+", cell)
    return re.sub("_x([0-9A-F]{4})_", lambda code: chr(int(code[1], 16)), cell.removeprefix("'"))


def in_xml(text: str) -> str:
    return str(ElementTree.fromstring(ElementTree.tostring(ElementTree.Element("a", text=xml(text)))).get("text"))


def on_one_line(text: str) -> str:
    return terminal(" ".join(text.split()))


def same(text: str) -> str:
    return text


def in_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


@pytest.mark.parametrize("text", WRITTEN)
@pytest.mark.parametrize(
    ("write", "shown", "expected"),
    [
        (terminal, terminal, terminal), (html, in_html, lambda text: ACTS.sub(code, in_lines(text))),
        (markdown, in_markdown, on_one_line), (csv_cell, in_a_cell, same),
        (xml, in_xml, lambda text: re.sub(r"[\ufffe\uffff]", code, ACTS.sub(code, text))),
        (json_text, lambda text: json.loads(json_text(text)), same),
    ],
    ids=["terminal", "html", "markdown", "csv", "xml", "json"],
)
def test_any_text_stays_text(
    write: Callable[[str], str], shown: Callable[[str], str], expected: Callable[[str], str], text: str
) -> None:
    assert not ACTS.search(str(write(text)))
    if write is not csv_cell or not text.startswith("'"):
        assert shown(text) == expected(text)


def code(character: re.Match[str]) -> str:
    return character[0].encode("unicode_escape").decode()


@pytest.mark.parametrize("text", WRITTEN)
def test_no_text_is_a_command_of_latex(text: str) -> None:
    made = latex(text)
    assert made.isascii()
    assert made.isprintable()
    assert not re.search(r"\\(input|frac)|(?<!\\)[$%&#_]|\^\^", made)


def test_markup_is_not_escaped_again() -> None:
    assert html(Markup("<b>a</b>")) == "<b>a</b>"
