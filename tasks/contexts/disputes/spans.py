"""The span of words in which two revisions of a page differ, from the first differing word to the last.

Two revisions have such a span only if their wikitexts differ in one line, and their visible texts only in the span.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain, islice

from swaymeter.data import reasons
from swaymeter.tasks.contexts.disputes.open_markup import open_markup
from swaymeter.tasks.contexts.disputes.running_text import PlacedSentence, running_text, sentence_at, words_of
from swaymeter.tasks.contexts.texts import fold

MAX_BYTES_PER_WORD = 200
"""Limit of the difference between the sizes of two texts: so many bytes, times the limit of the words of a span."""
_NEIGHBOURS = 5
"""Limit of the words that are compared on each side of a span."""
_MIN_LIKENESS = 0.5
"""Two spans are at the same position if at least this share of the words on each side is equal."""
_WORDS_PER_VISIBLE_WORD = 2
"""Limit of the words of wikitext for each visible word: the wikitext of a link has its target and its visible text."""
_PIECE = re.compile(r"\w+|\s+|.", re.DOTALL)
_NON_TEXT = re.compile(r"\{\{|\}\}|[<>]")
_LINK = re.compile(r"[\[\]|]")


@dataclass(frozen=True, slots=True)
class Span:
    """A span of words, from `start` to `end` in its paragraph."""

    paragraph: str
    start: int
    end: int

    @property
    def text(self) -> str:
        """The text of the span."""
        return self.paragraph[self.start : self.end]

    def sentence(self) -> PlacedSentence | None:
        """Return the sentence around the span, as `sentence_at` does."""
        return sentence_at(self.paragraph, self.start, self.end)


@dataclass(frozen=True, slots=True)
class Replacement:
    """The span in which two texts differ, in each of the texts.

    Attributes:
        first: the span of the first text.
        second: the span of the second text.
        before: up to five words before the span, folded, also from earlier lines.
        after: up to five words after the span, folded, also from later lines.
    """

    first: Span
    second: Span
    before: tuple[str, ...]
    after: tuple[str, ...]


def replacement(first: str, second: str, *, max_words: int) -> Replacement | str:
    """Return the only span, of at most `max_words` words, in which two wikitexts differ, or a rejection reason."""
    lines, other_lines = first.split("\n"), second.split("\n")
    line_index, lines_after = _common_lengths(lines, other_lines)
    if not (len(lines) == len(other_lines) == line_index + lines_after + 1):
        return reasons.NOT_SINGLE_SPAN
    reason = _line_rejection(lines[line_index], other_lines[line_index], max_words)
    if reason:
        return reason
    visible_texts = [running_text(text) for text in _sections(lines, other_lines, line_index)]
    if visible_texts[0] == visible_texts[1]:
        return reasons.NOT_IN_RUNNING_TEXT
    visible_index, lines_after = _common_lengths(*visible_texts)
    if any(len(visible_lines) != visible_index + 1 + lines_after for visible_lines in visible_texts):
        return reasons.NOT_SINGLE_SPAN
    return _line_replacement(visible_texts[0], visible_texts[1], visible_index, max_words)


def likeness(first: Replacement, second: Replacement) -> float:
    """Return the share of equal words around two replacements, 0 to 1; 0 if less than half are equal on one side."""
    sides = ((first.before, second.before), (first.after, second.after))

    def share(words: Sequence[str], other_words: Sequence[str]) -> float:
        blocks = SequenceMatcher(None, words, other_words, autojunk=False).get_matching_blocks()
        return sum(block.size for block in blocks) / max(len(words), len(other_words))

    shares = [share(words, other_words) for words, other_words in sides if words and other_words]
    if not shares:  # on both sides, at least one of the replacements has no words
        return float(all(words == other_words for words, other_words in sides))
    return sum(shares) / len(shares) if min(shares) >= _MIN_LIKENESS else 0.0


def _sections(first: Sequence[str], second: Sequence[str], line_index: int) -> tuple[str, str]:
    """Return the section of the differing line in each text; the whole texts if markup is open across a heading."""
    headings = [index for index, line in enumerate(first) if _is_heading(line)]
    start = max((index for index in headings if index < line_index), default=0)
    end = min((index for index in headings if index > line_index), default=len(first))
    sections = "\n".join(first[start:end]), "\n".join(second[start:end])
    texts = ("\n".join(first[:start]), *sections)
    has_open_markup = any(positions for positions, _ in map(open_markup, texts))
    return ("\n".join(first), "\n".join(second)) if has_open_markup else sections


def _is_heading(line: str) -> bool:
    """Return True for a line such as "== History ==", perhaps with a comment after it."""
    text = line.rstrip()
    if text.startswith("=") and text.endswith("-->"):
        text = text[: max(0, text.rfind("<!--"))].rstrip()
    return len(text) > 1 and text.startswith("=") and text.endswith("=")


def _line_rejection(first: str, second: str, max_words: int) -> str | None:
    """Return the rejection reason that the wikitext of the changed line gives without the slow parser, or None."""
    if _is_heading(first) or _is_heading(second):
        return reasons.NOT_IN_RUNNING_TEXT
    pieces = _PIECE.findall(first), _PIECE.findall(second)
    pieces_before, pieces_after = _common_lengths(*pieces)
    middles = ["".join(line_pieces[pieces_before : len(line_pieces) - pieces_after]) for line_pieces in pieces]
    words = [[word[0] for word in words_of(middle)] for middle in middles]
    counts = [len(middle_words) for middle_words in words]
    if words[0] == words[1]:
        return reasons.ONLY_MARKUP
    has_link = any(_LINK.search(middle) for middle in middles)
    if not all(counts) and not has_link:
        return reasons.NOT_SINGLE_SPAN
    if max(counts) > max_words * _WORDS_PER_VISIBLE_WORD:
        return reasons.SPAN_TOO_LONG
    if any(_NON_TEXT.search(middle) for middle in middles):
        return reasons.NOT_IN_RUNNING_TEXT
    return None


def _line_replacement(
    lines: Sequence[str], other_lines: Sequence[str], line_index: int, max_words: int
) -> Replacement | str:
    """Return the span in which two visible texts differ, or a rejection reason; only the line `line_index` differs."""
    first, second = lines[line_index], other_lines[line_index]
    matches = words_of(first), words_of(second)
    words = [[match[0] for match in line_matches] for line_matches in matches]
    words_before, words_after = _common_lengths(*words)
    counts = [len(line_words) - words_before - words_after for line_words in words]
    if not any(counts):
        return reasons.ONLY_MARKUP
    if not all(counts):
        return reasons.NOT_SINGLE_SPAN
    if max(counts) > max_words:
        return reasons.SPAN_TOO_LONG
    first_span, second_span = (
        Span(line, line_matches[words_before].start(), line_matches[words_before + count - 1].end())
        for line, line_matches, count in zip((first, second), matches, counts, strict=True)
    )
    if (first[: first_span.start], first[first_span.end :]) != (second[: second_span.start], second[second_span.end :]):
        return reasons.NOT_SINGLE_SPAN
    earlier = _neighbours(words[0][:words_before][::-1], lines[:line_index][::-1], step=-1)[::-1]
    later = _neighbours(words[0][words_before + counts[0] :], lines[line_index + 1 :], step=1)
    return Replacement(first_span, second_span, earlier, later)


def _neighbours(nearest: Sequence[str], beyond: Sequence[str], *, step: int) -> tuple[str, ...]:
    """Return up to five words on one side of a span, nearest first: `nearest`, then the words of the lines `beyond`.

    A step of -1 reads each of these lines from its end.
    """
    all_words = chain(nearest, (word[0] for line in beyond for word in words_of(line)[::step]))
    return tuple(fold(word) for word in islice(all_words, _NEIGHBOURS))


def _common_lengths(first: Sequence[str], second: Sequence[str]) -> tuple[int, int]:
    """Return the length of the common beginning of two sequences, and of the common end of their remainders."""
    shorter = min(len(first), len(second))
    before = next((index for index in range(shorter) if first[index] != second[index]), shorter)
    rest = shorter - before
    return before, next((index for index in range(rest) if first[-1 - index] != second[-1 - index]), rest)
