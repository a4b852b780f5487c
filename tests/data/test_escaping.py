"""Escaping: any text stays a text in every output format."""

import csv
import io
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from time import perf_counter
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from markupsafe import Markup

from swaymeter.data.escaping import (
    csv_cell,
    html,
    json_text,
    latex,
    looks_like_formula,
    markdown,
    sheet_cell,
    sheet_text,
    terminal,
    xml,
)

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
TEXTS = (
    "plain",
    "",
    " ",
    "東京 München",
    "a\nb\tc",
    "a\r\nb\rc",
    *(f"a{chr(number)}b" for number in range(32)),
    "\x7f\x85\x9b31m",
    "\x1b]0;title\x07\x1b[2J",
    "\x1b]8;;http://a\x1b\\",
    "\u202eabc\u202c\u2066\u2069\u200e",
    "\ufffe\uffff\U0001f600",
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "]]><!--",
    "&lt;&#60;",
    "{{ 7 * 7 }}",
    "=1+1|x",
    "+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    " =1",
    "'=1",
    '"=1',
    "a;=1+1",
    "a\n=1+1",
    "\uff1d1",
    "\u200b=1",
    r"\input{/etc/passwd}",
    r"$\frac{1}{$",
    "a_b # 50% & ~ {x} ^^41",
    "[red]x[/red] [link=http://a]b[/link]",
    "# a",
    "- a",
    "+ a",
    "* a",
    "1. a",
    "1) a",
    "> a",
    "---",
    "===",
    "| a | b |\n| --- | --- |",
    "```",
    "    code",
    "[x](javascript:alert(1))",
    "![x](y)",
    "<http://a>",
    "a  \nb",
    ": a",
    "~~a~~",
    "$x$",
)
"""Texts that studies, files, servers and models may contain."""


class Rendered(HTMLParser):
    """The text that a browser shows of HTML, and the HTML's elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text, self.elements = "", list[str]()
        self.feed(text)
        self.close()

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.elements.append(tag)


def render_html(text: str) -> str:
    rendered = Rendered(f"<p>{html(text)}</p>")
    assert rendered.elements == ["p"]
    return rendered.text


def render_markdown(text: str) -> str:
    rendered = Rendered(MarkdownIt("gfm-like", {"linkify": False}).render(markdown(text)))
    assert set(rendered.elements) <= {"p"}
    return rendered.text.removesuffix("\n")


def read_cell(text: str) -> str:
    file = io.StringIO(newline="")
    csv.writer(file).writerow([csv_cell(text), "end"])
    ((cell, end),) = csv.reader(io.StringIO(file.getvalue(), newline=""))
    assert end == "end"
    is_number = bool(re.fullmatch("-[0-9.e-]+", cell))
    assert cell.startswith("'") or not looks_like_formula(cell) or is_number
    return re.sub("_x([0-9A-F]{4})_", lambda match: chr(int(match[1], 16)), cell.removeprefix("'"))


def read_xml(text: str) -> str:
    return str(ElementTree.fromstring(ElementTree.tostring(ElementTree.Element("a", text=xml(text)))).get("text"))


def one_terminal_line(text: str) -> str:
    return terminal(" ".join(text.split()))


def unchanged(text: str) -> str:
    return text


def normalise_newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(
    ("escape", "escape_and_read", "expected"),
    [
        (terminal, terminal, terminal),
        (html, render_html, lambda text: CONTROL.sub(escape_code, normalise_newlines(text))),
        (markdown, render_markdown, one_terminal_line),
        (csv_cell, read_cell, unchanged),
        (xml, read_xml, lambda text: re.sub(r"[\ufffe\uffff]", escape_code, CONTROL.sub(escape_code, text))),
        (json_text, lambda text: json.loads(json_text(text)), unchanged),
    ],
    ids=["terminal", "html", "markdown", "csv", "xml", "json"],
)
def test_any_text_stays_text(
    escape: Callable[[str], str],
    escape_and_read: Callable[[str], str],
    expected: Callable[[str], str],
    text: str,
) -> None:
    assert not CONTROL.search(str(escape(text)))
    if escape is not csv_cell or not text.startswith("'"):  # `read_cell` removes any first apostrophe
        assert escape_and_read(text) == expected(text)


def escape_code(character: re.Match[str]) -> str:
    return character[0].encode("unicode_escape").decode()


@pytest.mark.parametrize("text", TEXTS)
def test_no_text_is_a_command_of_latex(text: str) -> None:
    escaped = latex(text)
    assert escaped.isascii()
    assert escaped.isprintable()
    assert not re.search(r"\\(input|frac)|(?<!\\)[$%&#_]|\^\^", escaped)


def test_markup_is_not_escaped_again() -> None:
    assert html(Markup("<b>a</b>")) == "<b>a</b>"


CELL_TEXTS = [
    "",
    "Oslo",
    "=1+1",
    "-5",
    "+47 22",
    "@SUM(1)",
    "\t=1",
    " =1",
    '"=1',
    "\u202e=1",
    "＝1+1",
    "1914",
    "1/2",
    "3 pm",
    "12 March 2020",
    "May 5",
    "TRUE",
    "false",
    "#N/A",
    "5E3",
    "€5",
    "'s-Hertogenbosch",
    "'68 Comeback",
    "'=1",
    "''1",
    "'",
    "''",
    "a; =cmd|' /C calc'!A0",
    "x\n- item",
    "x\n",
    "\x07bell",
    "a\rb",
    "a\r\nb",
    "_x0041_",
    "_x005F_x0041_",
    "\ufffe",
    "[ENTITY] {0} {entity}",
    "<b>",
    '"',
    "שלום",
    "👩‍🚀",
    "../../etc/passwd",
    "\x00",
    "e",
    "May",
]


@pytest.mark.parametrize("text", CELL_TEXTS)
def test_a_cell_is_harmless_and_read_back(text: str) -> None:
    cell = sheet_cell(text)
    assert sheet_text(cell) == text
    if looks_like_formula(cell.lstrip("'")):
        assert cell.startswith("'")
    assert cell[:1] not in ("=", "+", "-", "@", "\t", "\r", "\n", "＝")


@pytest.mark.parametrize(
    ("text", "is_formula"),
    [(text, True) for text in ("=1", " =1", '"=1', "\u202e=1", "＝1", "\n+1", "-x", "@x")]
    + [(text, False) for text in ("", "Oslo", "a=b", "e-mail", "(=1)", "1-2")],
)
def test_formulas_are_recognised(text: str, is_formula: bool) -> None:
    assert looks_like_formula(text) is is_formula


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        (text, f"'{text}")
        for text in ("1914", "1,000", "1/2", "3:15 pm", "12 March 2020", "Sept 5", "TRUE", "5E3", "10%")
    ]
    + [(text, text) for text in ("Oslo", "1914 Oslo", "'s-Hertogenbosch", "Mayor", "May", "1st", "a 1 b 2")]
    + [("a\x07b\r\n\tc", "a_x0007_b_x000D_\n\tc"), ("_x0041_", "_x005F_x0041_")]
    + [('a "=b" - c = d', 'a "=b" - c = d'), ('a;=HYPERLINK("x")', 'a;_x003D_HYPERLINK("x")')],
)
def test_cells_are_escaped_for_a_spreadsheet(text: str, cell: str) -> None:
    assert sheet_cell(text) == cell


@pytest.mark.parametrize("separator", ["; ", ";", "\n", " \n ", "\n\n\t", ";;\"' ", ' \t"', " ; "])
@pytest.mark.parametrize("sign", "=+-@\uff1d")
def test_formulas_do_not_begin_after_a_separator(separator: str, sign: str) -> None:
    cell = sheet_cell(f"a{separator}{sign}{sign}1")
    assert cell == f"a{separator}_x{ord(sign):04X}_{sign}1"
    assert sheet_text(cell) == f"a{separator}{sign}{sign}1"


@pytest.mark.parametrize("separators", ["\n", "\n ", ";", "; ", '\t"', "'\n"])
def test_cell_full_of_separators_is_escaped_quickly(separators: str) -> None:
    text = separators * (32_767 // len(separators))  # a cell of Excel has at most 32,767 characters
    start = perf_counter()
    assert sheet_text(sheet_cell(f"a{text}b=1")) == f"a{text}b=1"
    assert perf_counter() - start < 0.5
