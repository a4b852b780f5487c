"""The span of words that one text of a page has in place of another's, where nothing else differs.

The span reaches from the first word that differs to the last one. The texts differ in one line of wikitext and, as a
reader sees them, in that span alone: `[[Derry]]` and `[[Derry|Londonderry]]` differ in a word, `[[Derry]]` and
`[[Derry (city)|Derry]]` in none.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from data import reasons
from tasks.contexts.disputes.running_text import running_text, sentence_at, words_of
from tasks.contexts.listed_names import folded

MOST_BYTES_A_WORD = 200
_NEIGHBOURS = 5
_WORDS_OF_MARKUP = 2  # a link has a word of its target for one that it shows
_HEADING = re.compile(r"\s*=.*=\s*(?:<!--.*-->\s*)?$")
_PIECE = re.compile(r"\w+|\s+|.", re.DOTALL)
_FOREIGN = re.compile(r"\{\{|\}\}|[<>]")
_LINK = re.compile(r"[\[\]|]")
_PAIRED = (("<!--", "-->"), ("{{", "}}"), ("{|", "|}"), ("[[", "]]"), ("<", ">"))
_TAG = re.compile(r"<(/?)(nowiki|pre|ref|gallery|math|\w*include\w*|blockquote|div)\b[^>]*?(/?)>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Span:
    """A span of words, from `start` to `end` in its paragraph."""

    paragraph: str
    start: int
    end: int

    @property
    def text(self) -> str:
        """The span's words, and what stands between them."""
        return self.paragraph[self.start : self.end]

    def sentence(self) -> str | None:
        """The sentence that holds the span; None where there is none."""
        return sentence_at(self.paragraph, self.start, self.end)


@dataclass(frozen=True, slots=True)
class Replacement:
    """What the first of two texts says where the second says something else; around: the words beside it, folded."""

    first: Span
    second: Span
    around: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoReplacement:
    """Why two texts are no replacement of a span by another."""

    reason: str


def replacement(first: str, second: str, *, most_words: int) -> Replacement | NoReplacement:
    """The one span of at most `most_words` words that differs in two wikitexts."""
    changed = _changed_line(first.split("\n"), second.split("\n"))
    if isinstance(changed, NoReplacement):
        return changed
    refusal = _why_not_worth_reading(changed, most_words)
    if refusal:
        return NoReplacement(refusal)
    shown = [running_text(text) for text in changed.sections()]
    if shown[0] == shown[1]:
        return NoReplacement(reasons.NOT_IN_RUNNING_TEXT)
    before, behind = _alike(*shown)
    lines = [lines[before : len(lines) - behind] for lines in shown]
    if len(lines[0]) != 1 or len(lines[1]) != 1:
        return NoReplacement(reasons.NOT_ONE_SPAN)
    return _of_lines(lines[0][0], lines[1][0], most_words)


def same_place(one: Replacement, other: Replacement) -> bool:
    """Whether two replacements stand among the same words, half of them at least."""
    mine, theirs = set(one.around), set(other.around)
    return 2 * len(mine & theirs) >= len(mine | theirs)


@dataclass(frozen=True, slots=True)
class _Changed:
    """A line of two wikitexts that differ in nothing else."""

    first: Sequence[str]
    second: Sequence[str]
    number: int

    def lines(self) -> tuple[str, str]:
        return self.first[self.number], self.second[self.number]

    def sections(self) -> tuple[str, str]:
        """Both texts, or what their headings set apart around the line where nothing reaches over a heading."""
        headings = [number for number, line in enumerate(self.first) if line.startswith("=") and _HEADING.match(line)]
        start = max((number for number in headings if number < self.number), default=0)
        end = min((number for number in headings if number > self.number), default=len(self.first))
        if not _is_closed(self.first[:start]):
            return "\n".join(self.first), "\n".join(self.second)
        sections = "\n".join(self.first[start:end]), "\n".join(self.second[start:end])
        closed = all(_is_closed([section]) for section in sections)
        return sections if closed else ("\n".join(self.first), "\n".join(self.second))


def _changed_line(first: Sequence[str], second: Sequence[str]) -> _Changed | NoReplacement:
    before, behind = _alike(first, second)
    if not (len(first) == len(second) == before + behind + 1):
        return NoReplacement(reasons.NOT_ONE_SPAN)
    changed = _Changed(first, second, before)
    outside = any(_HEADING.match(line) and line.startswith("=") for line in changed.lines())
    return NoReplacement(reasons.NOT_IN_RUNNING_TEXT) if outside else changed


def _why_not_worth_reading(changed: _Changed, most_words: int) -> str | None:
    """What the changed line alone tells, so that most texts need not be parsed."""
    middles = _middles(*changed.lines())
    said = [[word[0] for word in words_of(middle)] for middle in middles]
    counts = [len(words) for words in said]
    if said[0] == said[1]:
        return reasons.ONLY_MARKUP
    link = any(_LINK.search(middle) for middle in middles)
    if not all(counts) and not link:
        return reasons.NOT_ONE_SPAN
    if max(counts) > most_words * _WORDS_OF_MARKUP:
        return reasons.SPAN_TOO_LONG
    if any(_FOREIGN.search(middle) for middle in middles):
        return reasons.NOT_IN_RUNNING_TEXT
    return None


def _of_lines(first: str, second: str, most_words: int) -> Replacement | NoReplacement:
    words = words_of(first), words_of(second)
    said = [[word[0] for word in row] for row in words]
    before, behind = _alike(*said)
    counts = [len(row) - before - behind for row in said]
    if not any(counts):
        return NoReplacement(reasons.ONLY_MARKUP)
    if not all(counts):
        return NoReplacement(reasons.NOT_ONE_SPAN)
    if max(counts) > most_words:
        return NoReplacement(reasons.SPAN_TOO_LONG)
    said_first, said_second = (
        Span(line, row[before].start(), row[before + count - 1].end())
        for line, row, count in zip((first, second), words, counts, strict=True)
    )
    if (first[: said_first.start], first[said_first.end :]) != (second[: said_second.start], second[said_second.end :]):
        return NoReplacement(reasons.NOT_ONE_SPAN)
    around = [*said[0][max(0, before - _NEIGHBOURS) : before], *said[0][before + counts[0] :][:_NEIGHBOURS]]
    return Replacement(said_first, said_second, tuple(folded(word) for word in around))


def _middles(first: str, second: str) -> tuple[str, str]:
    pieces = _PIECE.findall(first), _PIECE.findall(second)
    before, behind = _alike(*pieces)
    one, other = ("".join(row[before : len(row) - behind]) for row in pieces)
    return one, other


def _alike(first: Sequence[str], second: Sequence[str]) -> tuple[int, int]:
    """How many items two sequences have in common at the beginning, and of the others at the end."""
    most = min(len(first), len(second))
    before = _first_difference(most, lambda place: first[place] != second[place])
    return before, _first_difference(most - before, lambda place: first[-1 - place] != second[-1 - place])


def _first_difference(most: int, differ: Callable[[int], bool]) -> int:
    return next((place for place in range(most) if differ(place)), most)


def _is_closed(lines: Sequence[str]) -> bool:
    """Whether all that is opened here is closed here, as far as counting tells."""
    text = "\n".join(lines)
    if any(text.count(opening) != text.count(closing) for opening, closing in _PAIRED):
        return False
    depth = dict[str, int]()
    for closing, name, alone in _TAG.findall(text):
        depth[name.casefold()] = depth.get(name.casefold(), 0) + (0 if alone else -1 if closing else 1)
    return not any(depth.values())
