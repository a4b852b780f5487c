"""The running text of a wiki page: paragraphs and lists as a reader sees them, and their sentences.

Tables, headings, footnotes and pictures are removed. Formulas, and templates that are no footnotes, leave a gap in
their line. A text with a gap, except at its end, is not a sentence.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import mwparserfromhell
from mwparserfromhell.nodes import Argument, ExternalLink, HTMLEntity, Node, Tag, Template, Text, Wikilink
from mwparserfromhell.parser import ParserError
from mwparserfromhell.wikicode import Wikicode

from swaymeter.tasks.contexts.disputes.open_markup import open_markup
from swaymeter.tasks.contexts.texts import sentences_of

GAP = "\ufffc"  # stands for removed text; Unicode's object replacement character

_READ_TAGS = frozenset(
    {"b", "i", "u", "em", "strong", "small", "big", "sub", "sup", "span", "div", "p", "q", "cite", "abbr", "bdi", "bdo"}
    | {"center", "blockquote", "dfn", "font", "ins", "mark", "nowiki", "noinclude", "time", "tt", "var", "wbr"}
)
"""Tags whose text is read. Any tag that is neither here nor in `_SKIPPED_TAGS` leaves a gap, except br: a space."""
_SKIPPED_TAGS = frozenset(
    {"ref", "references", "gallery", "table", "li", "dd", "dt", "hr", "includeonly", "section", "templatestyles"}
)
"""Tags that add no text to a line; for the parser, the text of a list item follows its tag (li, dd, dt)."""
_FOOTNOTES = frozenset(
    {"sfn", "sfnp", "sfnm", "efn", "efn-ua", "efn-la", "refn", "r", "rp", "ref", "notetag", "cn", "fact"}
    | {"citation needed", "cite needed", "better source needed", "page needed", "failed verification"}
    | {"unreliable source?", "verify source", "primary source inline", "clarify", "dubious", "disputed inline", "vague"}
    | {"who", "when", "where", "which", "why", "by whom", "according to whom", "pov statement", "anchor", "nbsp"}
)
"""Templates that add no words to their sentence: footnotes, and remarks of editors."""
_TABLE_LINE = re.compile(r"\s*(?:[|!]|\{\|)")
_MARKUP = re.compile(r"\{\{|\}\}|\[\[|\]\]|</?[a-z]|<!--|-->", re.IGNORECASE)
_MAGIC = re.compile(r"__[A-Z]+__")  # __NOTOC__
_NO_TEXT = re.compile(r"\s*(?:file|image|media|category)\s*:", re.IGNORECASE)  # a picture or a category
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z]+)*:")  # the link de:Oslo to another Wikipedia
_REDIRECT = re.compile(r"\s*#redirect\b", re.IGNORECASE)
_SPACE = re.compile(r"\s+")
_SPACE_BEFORE_PUNCTUATION = re.compile(r" +(?=[,.;:!?)\]](?:[\s\")\]]|$))")  # the space of "Oslo , the capital"
_AFTER_BRACKET = re.compile(r"\((?:[ ,;]+|(?=\)))")  # "(; " of a removed pronunciation
_EMPTY_BRACKETS = re.compile(r" ?\( ?\)")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]]*$")
_WORD = re.compile(
    r"[\w\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0dff\u0e31-\u0e4e\u200c\u200d]+"
    r"(?:['’.\-‐‑]\w+|(?<=\d),(?=\d)\w+)*"
)

# The HTML entity &lt; stands for the character "<", which looks like markup. A private-use character stands for "<"
# until the search for markup is over.
_HIDDEN = {ord(sign): chr(0xE000 + ord(sign)) for sign in "<>[]{}|!"}
_RESTORED = {ord(hidden): chr(sign) for sign, hidden in _HIDDEN.items()}

WORDS = range(5, 101)  # numbers of words of a sentence
MAX_LETTERS = 2_000  # of a sentence
MAX_DEPTH = 100  # of nested markup
MAX_COMMENTS = 20  # in a heading; the parser's time grows with the square of their number
MAX_REREAD = 5_000_000  # characters that the parser may read again: a few seconds


def running_text(wikitext: str) -> list[str]:
    """Return the lines of the running text, with single spaces and with `GAP` for a template, a formula and the like.

    Lines with broken markup are removed. The list is empty for a redirect, and if the parser fails or is too slow.
    """
    if _REDIRECT.match(wikitext) or not _is_readable(wikitext):
        return []
    encodable = wikitext.encode("utf-8", "replace").decode("utf-8")  # without lone surrogates
    try:
        shown = "".join(_visible_text(mwparserfromhell.parse(encodable).nodes))
    except (ParserError, RecursionError):
        return []
    lines = []
    for line in shown.split("\n"):
        if not _TABLE_LINE.match(line) and not _MARKUP.search(line):
            text = _SPACE.sub(" ", _MAGIC.sub("", line.translate(_RESTORED))).strip()
            lines.append(_EMPTY_BRACKETS.sub("", _AFTER_BRACKET.sub("(", _SPACE_BEFORE_PUNCTUATION.sub("", text))))
    return [line for line in lines if line.strip(f"{GAP} ")]


def words_of(text: str) -> list[re.Match[str]]:
    """Return the words with their positions; a hyphen, apostrophe or point between letters does not split a word."""
    return list(_WORD.finditer(text))


@dataclass(frozen=True, slots=True)
class PlacedSentence:
    """A sentence, and the start of the requested span in it."""

    text: str
    start: int


def sentence_at(paragraph: str, start: int, end: int) -> PlacedSentence | None:
    """Return the sentence around a span of a paragraph: 5 to 100 words without a gap; None without such a sentence."""
    sentence_start = 0
    for sentence in sentences_of(paragraph):
        if sentence_start <= start and end <= sentence_start + len(sentence):
            text = sentence.lstrip()
            offset = start - sentence_start - (len(sentence) - len(text))
            text = text.rstrip(f"{GAP} ")  # a gap after the last word, such as a template, is no part of the sentence
            is_whole = GAP not in text and len(text) <= MAX_LETTERS and _SENTENCE_END.search(text)
            return PlacedSentence(text, offset) if is_whole and len(words_of(text)) in WORDS else None
        sentence_start += len(sentence)
    return None


def _is_readable(wikitext: str) -> bool:
    """Return True if the parser is fast enough, although the parser reads the text after unclosed markup again."""
    headings = (line for line in wikitext.split("\n") if line.startswith("="))
    if any(heading.count("<!--") > MAX_COMMENTS for heading in headings):
        return False
    unclosed, depth = open_markup(wikitext)
    return depth <= MAX_DEPTH and sum(len(wikitext) - position for position in unclosed) <= MAX_REREAD


def _visible_text(nodes: Iterable[Node]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, Text):
            yield node.value
        elif isinstance(node, HTMLEntity):
            yield _character(node)
        elif isinstance(node, Wikilink):
            title = str(node.title)
            if not _NO_TEXT.match(title) and not (node.text is None and _LANGUAGE.match(title)):
                yield from _visible_text_of(node.title if node.text is None else node.text)
        elif isinstance(node, ExternalLink):
            yield GAP if node.title is None and not node.brackets else "".join(_visible_text_of(node.title))
        elif isinstance(node, Template):
            name = " ".join(str(node.name).replace("_", " ").split()).casefold()
            yield " " if name in _FOOTNOTES else GAP
        elif isinstance(node, Argument):
            yield GAP
        elif isinstance(node, Tag):
            name = str(node.tag).strip().casefold()
            if name == "br":
                yield " "
            elif name in _READ_TAGS:
                yield from _visible_text_of(node.contents)
            elif name not in _SKIPPED_TAGS:
                yield GAP


def _visible_text_of(code: Wikicode | None) -> Iterator[str]:
    if code is not None:
        yield from _visible_text(code.nodes)


def _character(entity: HTMLEntity) -> str:
    try:
        character = str(entity.normalize())
    except (ValueError, OverflowError):
        return " "
    is_printable = all(letter.isprintable() and letter != "\ufffd" for letter in character)
    return character.translate(_HIDDEN) if is_printable else " "
