"""The running text of a wiki's page: its paragraphs and lists as a reader sees them, and their sentences.

Left out: templates, references, comments, tables, headings, galleries, formulas, pictures with their captions, links to
categories and to other wikis, whatever a tag holds that is not known to hold text. Of a link, what it shows.
What it is not: the page as the wiki renders it. No template is expanded; a sentence that stands on one has a gap.
"""

import re
from collections.abc import Iterable, Iterator

import mwparserfromhell
from mwparserfromhell.nodes import ExternalLink, HTMLEntity, Node, Tag, Template, Text, Wikilink
from mwparserfromhell.wikicode import Wikicode

from tasks.contexts.sentence_ends import sentences_of

_READ = frozenset(
    {"b", "i", "u", "em", "strong", "small", "big", "sub", "sup", "span", "div", "p", "q", "cite", "abbr", "bdi", "bdo"}
    | {"center", "blockquote", "dfn", "font", "ins", "mark", "nowiki", "noinclude", "time", "tt", "var", "wbr"}
)
_OF_A_TABLE = re.compile(r"\s*(?:[|!]|\{\|)")
_MARKUP = re.compile(r"\{\{|\}\}|\[\[|\]\]|</?[a-z]|<!--|-->", re.IGNORECASE)
_MAGIC = re.compile(r"__[A-Z]+__")
_NO_TEXT = re.compile(r"\s*(?:file|image|media|category)\s*:", re.IGNORECASE)
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z]+)*:")
_REDIRECT = re.compile(r"\s*#redirect\b", re.IGNORECASE)
_OPENS_OR_CLOSES = re.compile(
    r"(\[|\{\{|<!--|<(?!(?:br|hr|wbr|li|p|td|tr|th|dd|dt)\b)[a-z][^<>]*(?<!/)>)|\]|\}\}|-->|</", re.IGNORECASE
)
_SPACE = re.compile(r"\s+")
_BEFORE_MARK = re.compile(r" +(?=[,.;:!?)\]](?:[\s\")\]]|$))")
_BEHIND_BRACKET = re.compile(r"\((?:[ ,;]+|(?=\)))")
_EMPTY_BRACKETS = re.compile(r" ?\( ?\)")
_ENDS = re.compile(r"[.!?…][\"'”’»)\]]*$")
_WORD = re.compile(
    r"[\w\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0dff\u0e31-\u0e4e\u200c\u200d]+"
    r"(?:['’.\-‐‑]\w+|(?<=\d),(?=\d)\w+)*"
)

# What an entity stands for is text, whatever it looks like: until the markup that is left has been looked for, it is
# written in letters of the private use area.
_HIDDEN = {ord(sign): chr(0xE000 + ord(sign)) for sign in "<>[]{}|!"}
_SHOWN = {ord(hidden): chr(sign) for sign, hidden in _HIDDEN.items()}

FEWEST_WORDS = 5
MOST_WORDS = 100
DEEPEST = 500


def running_text(wikitext: str) -> list[str]:
    """The lines of the running text, with single spaces, without those in which broken markup is left; none of a text
    whose markup is nested 500 deep."""
    if _REDIRECT.match(wikitext) or _is_too_deep(wikitext):
        return []
    sound = wikitext.encode("utf-8", "replace").decode("utf-8")
    shown = "".join(_shown(mwparserfromhell.parse(sound).nodes))
    lines = (line for line in shown.split("\n") if not _OF_A_TABLE.match(line) and not _MARKUP.search(line))
    return [line for line in (_tidied(line.translate(_SHOWN)) for line in lines) if line]


def words_of(text: str) -> list[re.Match[str]]:
    """The words with their places; a hyphen, an apostrophe or a point between letters does not part a word."""
    return list(_WORD.finditer(text))


def sentence_at(paragraph: str, start: int, end: int) -> str | None:
    """The sentence that holds a span of a paragraph; None where the span is not within one.

    A sentence has 5 to 100 words and its mark at the end: entries of lists, captions and fragments are none.
    """
    begin = 0
    for sentence in sentences_of(paragraph):
        if begin <= start and end <= begin + len(sentence):
            found = sentence.strip()
            whole = FEWEST_WORDS <= len(words_of(found)) <= MOST_WORDS and _ENDS.search(found)
            return found if whole else None
        begin += len(sentence)
    return None


def _is_too_deep(wikitext: str) -> bool:
    """Whether so much is opened and not closed that a parser's time would grow with the square of it."""
    depth = 0
    for mark in _OPENS_OR_CLOSES.finditer(wikitext):
        depth = depth + 1 if mark[1] else max(0, depth - 1)
        if depth > DEEPEST:
            return True
    return False


def _shown(nodes: Iterable[Node]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, Text):
            yield node.value
        elif isinstance(node, HTMLEntity):
            yield _character(node)
        elif isinstance(node, Wikilink):
            yield from _of_link(node)
        elif isinstance(node, ExternalLink):
            yield from _within(node.title)
        elif isinstance(node, Template):
            yield " "
        elif isinstance(node, Tag):
            yield from _of_tag(node)


def _of_link(link: Wikilink) -> Iterator[str]:
    title = str(link.title)
    if not _NO_TEXT.match(title) and not (link.text is None and _LANGUAGE.match(title)):
        yield from _within(link.title if link.text is None else link.text)


def _of_tag(tag: Tag) -> Iterator[str]:
    name = str(tag.tag).strip().casefold()
    if name == "br":
        yield " "
    elif name in _READ:
        yield from _within(tag.contents)


def _within(code: Wikicode | None) -> Iterator[str]:
    if code is not None:
        yield from _shown(code.nodes)


def _character(entity: HTMLEntity) -> str:
    try:
        said = str(entity.normalize())
    except (ValueError, OverflowError):
        return " "
    seen = all(letter.isprintable() and letter != "\ufffd" for letter in said)
    return said.translate(_HIDDEN) if seen else " "


def _tidied(line: str) -> str:
    text = _SPACE.sub(" ", _MAGIC.sub("", line)).strip()
    return _EMPTY_BRACKETS.sub("", _BEHIND_BRACKET.sub("(", _BEFORE_MARK.sub("", text)))
