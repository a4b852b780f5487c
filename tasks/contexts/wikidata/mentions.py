"""Mentions of an entity in a text by its names, as whole words, and the snippet of a page around its mentions.

A name without capitals, or a phrase with a capital only at its beginning ("Film actor"), matches in any case. Any other
name matches in its own spelling or in all capitals: Reading is a town and reading is not.

A name of up to three characters is short, such as a country's code ("in", "no"). It matches only in its own case, or
with a capital at its beginning. It must be the label, a word of a longer name ("pop" of "pop music") or the initials of
a longer name ("US", "R&B"). A single character never matches.

A snippet has whole sentences of the first paragraph of running text that mentions the entity, with a slot for each
mention. Lists and sections such as "References" have no snippets.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from swaymeter.data.records import SLOT
from swaymeter.tasks.contexts.texts import sentences_of

SHORT = 3
"""The most characters of a short name."""
# Single characters replace single characters, so that positions in the text stay the same.
_PLAIN = str.maketrans(
    {**dict.fromkeys("‘’ʼ", "'"), **dict.fromkeys("‐‑", "-"), **dict.fromkeys("\u00a0\u2009\u202f", " ")}
)
_JOINERS = frozenset("_\u200c\u200d")  # characters that continue a word, besides letters, combining marks and digits
# Words with or without a capital: "The Hague", "the Hague".
_PARTICLES = frozenset(
    {
        "a",
        "an",
        "and",
        "at",
        "by",
        "for",
        "from",
        "in",
        "of",
        "on",
        "or",
        "the",
        "to",
        "with",
        "da",
        "de",
        "del",
        "der",
        "des",
        "di",
        "du",
        "el",
        "la",
        "le",
        "les",
        "los",
        "van",
        "von",
    }
)


@dataclass(frozen=True, slots=True)
class NameSpan:
    """The range of a mention in a text."""

    start: int
    end: int


def mentions(text: str, names: Sequence[str], *, inside: Sequence[str] = (), any_case: bool = False) -> list[NameSpan]:
    """Return the mentions in order.

    Of overlapping mentions, the first counts. If several mentions begin together, the longest counts.

    Args:
        text: a text in normal form C.
        names: the names, the label first.
        inside: longer names whose parts are no mentions: Oslo in "Oslo Opera House".
        any_case: True ignores the case of names, except of short names.
    """
    plain = text.translate(_PLAIN)
    candidates = [(start, -end, True) for start, end in _ranges(plain, names, any_case)]
    candidates += [(start, -end, False) for start, end in _ranges(plain, inside, any_case=True)]
    accepted: list[NameSpan] = []
    free_from = 0
    for start, minus_end, is_mention in sorted(candidates):  # by start, the longest first
        if start >= free_from:
            free_from = -minus_end
            if is_mention:
                accepted.append(NameSpan(start, free_from))
    return accepted


def is_written(text: str, name: str) -> bool:
    """Return True if a text contains a name, even within a longer word; the rules for capitals hold."""
    form = _plain(name)
    return bool(form and _pattern(form, any_case=False).search(text.translate(_PLAIN)))


def _ranges(plain: str, names: Sequence[str], any_case: bool) -> Iterator[tuple[int, int]]:
    for form in _forms(names):
        if len(form) <= len(plain):
            for match in _pattern(form, any_case).finditer(plain):
                if _stands_alone(plain, *match.span()):
                    yield match.span()


def _pattern(form: str, any_case: bool) -> re.Pattern[str]:
    words = form.split()
    if len(form) > SHORT and (any_case or not _has_capitals(form)):
        return re.compile(" +".join(map(re.escape, words)), re.IGNORECASE)
    capitalised = words[0][0].upper() + words[0][1:]  # as at the beginning of a sentence
    patterns = [_alternatives(words[0], capitalised), *map(re.escape, words[1:])]
    if len(form) <= SHORT:
        return re.compile(" +".join(patterns))
    if any(_has_capitals(word) for word in words if word.lower() not in _PARTICLES):
        for index, word in enumerate(words):
            if word.lower() in _PARTICLES:
                patterns[index] = _alternatives(word.lower(), word.capitalize())
    in_capitals = " +".join(re.escape(word.upper()) for word in words)
    return re.compile(f"(?:{' +'.join(patterns)}|{in_capitals})")


def _alternatives(first: str, second: str) -> str:
    return f"(?:{re.escape(first)}|{re.escape(second)})"


def _has_capitals(form: str) -> bool:
    """Return True if a form has capitals, apart from the first letter of a phrase such as "Film actor"."""
    is_phrase = len(re.findall(r"[^\W\d_]{2,}", form)) > 1 and form.split()[0].lower() not in _PARTICLES
    return form[is_phrase:] != form[is_phrase:].lower()


def _forms(names: Sequence[str]) -> list[str]:
    """Return the names that can match, in plain characters, by the module's rules for short names."""
    plain = [_plain(name) for name in names]
    long = [form for form in plain if len(form) > SHORT or form == plain[0]]
    short = [form for form in plain if len(form) <= SHORT and any(_is_short_for(form, other) for other in long)]
    lower_case = {form.lower() for form in plain[:1]} - {*plain[:1]}  # an alias "reading" of "Reading" is left out
    return [
        form
        for form in dict.fromkeys((*long, *short))
        if len(form) > 1 and form not in lower_case and any(map(str.isalnum, form))
    ]


def _plain(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).translate(_PLAIN).split())


def _is_short_for(form: str, name: str) -> bool:
    words = re.findall(r"\w+", name.casefold())
    if form.casefold() in words:  # "pop" of "pop music"
        return True
    initials = iter(word[0] for word in words)  # "US" of "United States"; initials may be skipped, but not reordered
    return form != form.lower() and all(letter in initials for letter in form.casefold() if letter.isalnum())


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Return True if no letter, digit or combining mark touches the range, and no part such as "non-" precedes it."""
    hyphenated = text[start - 1 : start] == "-" and start > 1 and _joins(text[start - 2])
    return not (hyphenated or (start and _joins(text[start - 1])) or (end < len(text) and _joins(text[end])))


def _joins(character: str) -> bool:
    return character in _JOINERS or unicodedata.category(character)[0] in "LMN"


WORDS = 80
"""Default limit of the words of a snippet."""
_FEWEST_WORDS = 3
"""The fewest words, beside mentions, of the sentence for which a snippet is chosen."""
_DEEPEST_HEADING = 6

_SENTENCE_END = re.compile(r"[.!?…。！？؟।][\"'”’»)\]]*\s*\Z")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SOURCE_HEADINGS = frozenset(
    {
        "bibliography",
        "citations",
        "external links",
        "footnotes",
        "further reading",
        "literature",
        "notes",
        "notes and references",
        "references",
        "references and notes",
        "see also",
        "sources",
        "works cited",
    }
)
"""Headings, in lower case, of sections that have no snippets."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence with its mentions; `start` and the mentions are positions in the paragraph."""

    text: str
    start: int
    mentions: tuple[NameSpan, ...]

    @property
    def words(self) -> int:
        return len(self.text.split())

    @property
    def is_whole(self) -> bool:
        """True if the sentence ends with a punctuation mark such as ".", unlike an entry of a list."""
        return _SENTENCE_END.search(self.text) is not None

    def with_slots(self) -> str:
        parts, behind_last = [], 0
        for mention in self.mentions:
            start, end = mention.start - self.start, mention.end - self.start
            if self.text[end - 1] == "." and not self.text[end:].strip():
                end -= 1  # the last full stop of "U.S." also ends the sentence
            parts += [self.text[behind_last:start], SLOT]
            behind_last = end
        return "".join((*parts, self.text[behind_last:]))


def find_snippet(text: str, names: Sequence[str], *, subject: Sequence[str] = (), words: int = WORDS) -> str | None:
    """Return the first snippet of a page's plain text that mentions an entity, with slots; None without a mention.

    A snippet begins with its paragraph, or later if the sentences up to the mention have more than `words` words. It
    has at most `words` words, unless the sentence of the mention alone has more.

    Args:
        text: plain text; a text that contains `SLOT` has no snippet.
        names: names of the entity, the label first.
        subject: names of the page's subject; the entity's name within such a name is no mention.
        words: limit of the words.
    """
    text = unicodedata.normalize("NFC", text)
    if SLOT in text:
        return None
    for paragraph in _paragraphs(text):
        spans = mentions(paragraph, names, inside=subject)
        sentences = _sentences(paragraph, spans) if spans else []
        for index, sentence in enumerate(sentences):
            if not (sentence.mentions and sentence.is_whole):
                continue
            if len(sentence.with_slots().replace(SLOT, " ").split()) >= _FEWEST_WORDS:
                return _snippet(sentences, index, words)
    return None


def _paragraphs(text: str) -> Iterator[str]:
    """Yield each line as a paragraph, outside sections with `_SOURCE_HEADINGS`; control characters become spaces."""
    skipped_level: int | None = None  # level of the heading of a skipped section
    for line in text.splitlines():
        line = CONTROL.sub(" ", line).strip()
        # The level of a heading is the number of equals signs on each side; other lines have level 0.
        before, after = len(line) - len(line.lstrip("=")), len(line) - len(line.rstrip("="))
        level = min(before, after, len(line) // 2, _DEEPEST_HEADING)
        if level == 0:
            if line and skipped_level is None:
                yield line
        elif skipped_level is None or level <= skipped_level:
            skipped_level = level if line[level:-level].strip().casefold() in _SOURCE_HEADINGS else None


def _sentences(paragraph: str, spans: Sequence[NameSpan]) -> list[_Sentence]:
    """Return the paragraph's sentences; the full stop within a mention such as "St. Paul" ends no sentence."""
    sentences, start, end = [], 0, 0
    for piece in sentences_of(paragraph):
        end += len(piece)
        if not any(mention.start < end < mention.end for mention in spans):
            sentence_mentions = tuple(mention for mention in spans if start <= mention.start < end)
            sentences.append(_Sentence(paragraph[start:end], start, sentence_mentions))
            start = end
    return sentences


def _snippet(sentences: Sequence[_Sentence], index: int, words: int) -> str:
    """Return the sentence at `index` and sentences around it, as many as fit into `words` words, with slots."""
    first, last = 0, index
    size = sum(sentence.words for sentence in sentences[: index + 1])
    while size > words and first < index:
        size -= sentences[first].words
        first += 1
    while last + 1 < len(sentences) and sentences[last + 1].is_whole:
        size += sentences[last + 1].words
        if size > words:
            break
        last += 1
    return "".join(sentence.with_slots() for sentence in sentences[first : last + 1]).strip()
