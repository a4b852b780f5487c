"""The span of words in which two texts of a page differ, where nothing else differs.

The span reaches from the first word that differs to the last one. The texts differ in one line of wikitext and, as a
reader sees them, in that span alone: `[[Derry]]` and `[[Derry|Londonderry]]` differ in a word, `[[Derry]]` and
`[[Derry (city)|Derry]]` in none.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from data import reasons
from tasks.contexts.disputes.open_markup import open_markup
from tasks.contexts.disputes.running_text import Sentence, running_text, sentence_at, words_of
from tasks.contexts.listed_names import folded

MOST_BYTES_A_WORD = 200
_NEIGHBOURS = 5
_ALIKE = 0.5
_WORDS_OF_MARKUP = 2  # a link has a word of its target for each word that it shows
_PIECE = re.compile(r"\w+|\s+|.", re.DOTALL)
_FOREIGN = re.compile(r"\{\{|\}\}|[<>]")
_LINK = re.compile(r"[\[\]|]")


@dataclass(frozen=True, slots=True)
class Span:
    """A span of words, from `start` to `end` in its paragraph."""

    paragraph: str
    start: int
    end: int

    @property
    def text(self) -> str:
        """The span's words, and the characters between them."""
        return self.paragraph[self.start : self.end]

    def sentence(self) -> Sentence | None:
        """The sentence that holds the span; None where the span is not within one."""
        return sentence_at(self.paragraph, self.start, self.end)


@dataclass(frozen=True, slots=True)
class Replacement:
    """The spans of two texts that differ.

    before, behind: the five words on either side, folded; those of other lines where the line has fewer.
    """

    first: Span
    second: Span
    before: tuple[str, ...]
    behind: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoReplacement:
    """Why the difference of two texts is not the replacement of a span."""

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
    if any(len(lines) != before + 1 + behind for lines in shown):
        return NoReplacement(reasons.NOT_ONE_SPAN)
    return _of_lines(shown[0], shown[1], before, most_words)


def likeness(first: Replacement, second: Replacement) -> float:
    """How much of the words beside two replacements is the same, from 0 to 1; 0 for those in different places.

    In the same place, half of the words on either side are the same, in the same order; where one of the two is at the
    text's edge, only the other side counts.
    """
    sides = [(mine, theirs) for mine, theirs in ((first.before, second.before), (first.behind, second.behind))]
    shares = [_share(mine, theirs) for mine, theirs in sides if mine and theirs]
    if not shares:
        return float(sides[0][0] == sides[0][1] and sides[1][0] == sides[1][1])
    return sum(shares) / len(shares) if min(shares) >= _ALIKE else 0.0


def _share(mine: Sequence[str], theirs: Sequence[str]) -> float:
    blocks = SequenceMatcher(None, mine, theirs, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / max(len(mine), len(theirs))


@dataclass(frozen=True, slots=True)
class _Changed:
    """A line of two wikitexts that differ in nothing else."""

    first: Sequence[str]
    second: Sequence[str]
    number: int

    def lines(self) -> tuple[str, str]:
        return self.first[self.number], self.second[self.number]

    def sections(self) -> tuple[str, str]:
        """Both texts, or only their sections around the line where no markup reaches over a heading."""
        headings = [number for number, line in enumerate(self.first) if _is_heading(line)]
        start = max((number for number in headings if number < self.number), default=0)
        end = min((number for number in headings if number > self.number), default=len(self.first))
        sections = "\n".join(self.first[start:end]), "\n".join(self.second[start:end])
        closed = not any(open_markup(text).places for text in ("\n".join(self.first[:start]), *sections))
        return sections if closed else ("\n".join(self.first), "\n".join(self.second))


def _changed_line(first: Sequence[str], second: Sequence[str]) -> _Changed | NoReplacement:
    before, behind = _alike(first, second)
    if not (len(first) == len(second) == before + behind + 1):
        return NoReplacement(reasons.NOT_ONE_SPAN)
    changed = _Changed(first, second, before)
    outside = any(_is_heading(line) for line in changed.lines())
    return NoReplacement(reasons.NOT_IN_RUNNING_TEXT) if outside else changed


def _is_heading(line: str) -> bool:
    text = line.rstrip()
    if text.startswith("=") and text.endswith("-->"):
        text = text[: max(0, text.rfind("<!--"))].rstrip()
    return len(text) > 1 and text.startswith("=") and text.endswith("=")


def _why_not_worth_reading(changed: _Changed, most_words: int) -> str | None:
    """The reason for a rejection that the changed line alone gives, so that most texts need not be parsed."""
    middles = _middles(*changed.lines())
    words_of_middles = [[word[0] for word in words_of(middle)] for middle in middles]
    counts = [len(words) for words in words_of_middles]
    if words_of_middles[0] == words_of_middles[1]:
        return reasons.ONLY_MARKUP
    link = any(_LINK.search(middle) for middle in middles)
    if not all(counts) and not link:
        return reasons.NOT_ONE_SPAN
    if max(counts) > most_words * _WORDS_OF_MARKUP:
        return reasons.SPAN_TOO_LONG
    if any(_FOREIGN.search(middle) for middle in middles):
        return reasons.NOT_IN_RUNNING_TEXT
    return None


def _of_lines(
    lines: Sequence[str], other_lines: Sequence[str], number: int, most_words: int
) -> Replacement | NoReplacement:
    """The span that differs in the line of that number, the only line in which two texts differ."""
    first, second = lines[number], other_lines[number]
    words = words_of(first), words_of(second)
    texts = [[word[0] for word in row] for row in words]
    before, behind = _alike(*texts)
    counts = [len(row) - before - behind for row in texts]
    if not any(counts):
        return NoReplacement(reasons.ONLY_MARKUP)
    if not all(counts):
        return NoReplacement(reasons.NOT_ONE_SPAN)
    if max(counts) > most_words:
        return NoReplacement(reasons.SPAN_TOO_LONG)
    first_span, second_span = (
        Span(line, row[before].start(), row[before + count - 1].end())
        for line, row, count in zip((first, second), words, counts, strict=True)
    )
    if (first[: first_span.start], first[first_span.end :]) != (second[: second_span.start], second[second_span.end :]):
        return NoReplacement(reasons.NOT_ONE_SPAN)
    earlier = _words(texts[0][:before], (_word_texts(line) for line in reversed(lines[:number])), nearest_last=True)
    later = _words(
        texts[0][before + counts[0] :], (_word_texts(line) for line in lines[number + 1 :]), nearest_last=False
    )
    return Replacement(first_span, second_span, earlier, later)


def _word_texts(line: str) -> list[str]:
    return [word[0] for word in words_of(line)]


def _words(here: Sequence[str], lines: Iterator[list[str]], *, nearest_last: bool) -> tuple[str, ...]:
    """The words nearest to a span: those of its line, and of the lines beyond until there are enough."""
    nearest = list(here)
    while len(nearest) < _NEIGHBOURS and (line := next(lines, None)) is not None:
        nearest = [*line, *nearest] if nearest_last else [*nearest, *line]
    return tuple(folded(word) for word in (nearest[-_NEIGHBOURS:] if nearest_last else nearest[:_NEIGHBOURS]))


def _middles(first: str, second: str) -> tuple[str, str]:
    pieces = _PIECE.findall(first), _PIECE.findall(second)
    before, behind = _alike(*pieces)
    first_middle, second_middle = ("".join(row[before : len(row) - behind]) for row in pieces)
    return first_middle, second_middle


def _alike(first: Sequence[str], second: Sequence[str]) -> tuple[int, int]:
    """How many items two sequences have in common at the beginning, and of the others at the end."""
    most = min(len(first), len(second))
    before = _first_difference(most, lambda place: first[place] != second[place])
    return before, _first_difference(most - before, lambda place: first[-1 - place] != second[-1 - place])


def _first_difference(most: int, differ: Callable[[int], bool]) -> int:
    return next((place for place in range(most) if differ(place)), most)
