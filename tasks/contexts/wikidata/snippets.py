"""The snippet of a page that mentions an answer, with a slot for each mention.

It is whole sentences of the first paragraph of running text that mentions it: not of a list, and not of a section about
the text's sources.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from swaymeter.data.records import SLOT
from swaymeter.tasks.contexts.texts import sentences_of
from swaymeter.tasks.contexts.wikidata.mentions import NameSpan, mentions

WORDS = 80
_FEWEST_WORDS = 3
_DEEPEST_HEADING = 6

_END = re.compile(r"[.!?…。！？؟।][\"'”’»)\]]*\s*\Z")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_ABOUT_THE_TEXT = frozenset(
    {
        "bibliography", "citations", "external links", "footnotes", "further reading", "literature", "notes",
        "notes and references", "references", "references and notes", "see also", "sources", "works cited",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence's place in its paragraph, and the mentions in it."""

    text: str
    start: int
    mentions: tuple[NameSpan, ...]

    @property
    def words(self) -> int:
        return len(self.text.split())

    @property
    def is_whole(self) -> bool:
        """Whether it ends as a sentence does, unlike an entry of a list."""
        return _END.search(self.text) is not None

    def with_slots(self) -> str:
        parts, after = [], 0
        for mention in self.mentions:
            start, end = mention.start - self.start, mention.end - self.start
            # The point of "U.S." is that of the sentence, too, where it is the last.
            end -= self.text[end - 1] == "." and not self.text[end:].strip()
            parts += [self.text[after:start], SLOT]
            after = end
        return "".join((*parts, self.text[after:]))


def find_snippet(text: str, names: Sequence[str], *, subject: Sequence[str] = (), words: int = WORDS) -> str | None:
    """The first snippet of a page's plain text that mentions something by a name, with slots; None without a mention.

    It begins with its paragraph, or later where the mention would be beyond `words`, and continues after the mention up
    to `words`. subject: names inside which nothing is mentioned. None, too, for a text that contains the slot itself.
    """
    text = unicodedata.normalize("NFC", text)
    if SLOT in text:
        return None
    for paragraph in _paragraphs(text):
        mentioned = mentions(paragraph, names, inside=subject)
        sentences = _sentences(paragraph, mentioned) if mentioned else []
        for place, sentence in enumerate(sentences):
            if not (sentence.mentions and sentence.is_whole):
                continue
            if len(sentence.with_slots().replace(SLOT, " ").split()) >= _FEWEST_WORDS:
                return _snippet(sentences, place, words)
    return None


def _paragraphs(text: str) -> Iterator[str]:
    """The lines of the text's body; control characters are spaces."""
    passed_over: int | None = None
    for line in text.splitlines():
        line = CONTROL.sub(" ", line).strip()
        # The number of equals signs on both sides of a heading; 0 for other lines.
        before, after = len(line) - len(line.lstrip("=")), len(line) - len(line.rstrip("="))
        level = min(before, after, len(line) // 2, _DEEPEST_HEADING)
        if level == 0:
            if line and passed_over is None:
                yield line
        elif passed_over is None or level <= passed_over:
            passed_over = level if line[level:-level].strip().casefold() in _ABOUT_THE_TEXT else None


def _sentences(paragraph: str, mentioned: Sequence[NameSpan]) -> list[_Sentence]:
    """The paragraph's sentences; none ends within a mention."""
    sentences, start, end = [], 0, 0
    for piece in sentences_of(paragraph):
        end += len(piece)
        if not any(mention.start < end < mention.end for mention in mentioned):
            inside = tuple(mention for mention in mentioned if start <= mention.start < end)
            sentences.append(_Sentence(paragraph[start:end], start, inside))
            start = end
    return sentences


def _snippet(sentences: Sequence[_Sentence], place: int, words: int) -> str:
    first, last = 0, place
    taken = sum(sentence.words for sentence in sentences[: place + 1])
    while taken > words and first < place:
        taken -= sentences[first].words
        first += 1
    while last + 1 < len(sentences) and sentences[last + 1].is_whole:
        taken += sentences[last + 1].words
        if taken > words:
            break
        last += 1
    return "".join(sentence.with_slots() for sentence in sentences[first : last + 1]).strip()
