"""Where a text mentions a thing by one of its names: as whole words, in the case of the name.

A name without capitals, or a phrase whose only capital is its first ("Film actor"), matches in any case, a name with
capitals only as it is written or in all capitals: Reading is a town and reading is not. A form of up to three letters,
such as the codes of countries ("in", "no"), is matched in its own case only, and only where it is the label, a word of
a name ("pop" of "pop music") or its initials ("US", "R&B"); a single character never matches.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

SHORT = 3
"""Most characters of a form that is matched with restrictions."""
# One character for one, so that places in the text stay the same.
_PLAIN = str.maketrans(
    {**dict.fromkeys("‘’ʼ", "'"), **dict.fromkeys("‐‑", "-"), **dict.fromkeys("\u00a0\u2009\u202f", " ")}
)
_JOINERS = frozenset("_\u200c\u200d")
# Words of a name with or without a capital: "The Hague", "the Hague".
_PARTICLES = frozenset(
    {
        "a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with",
        "da", "de", "del", "der", "des", "di", "du", "el", "la", "le", "les", "los", "van", "von",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class NameSpan:
    """A place in a text."""

    start: int
    end: int


def mentions(text: str, names: Sequence[str], *, inside: Sequence[str] = (), any_case: bool = False) -> list[NameSpan]:
    """Every mention in its order, none within another; of those that begin at the same place the longest.

    text: in normal form C; names: the label first; inside: names within which nothing is mentioned, not Oslo by "Oslo
    Opera House"; any_case: whether the case of names does not count, except for short forms.
    """
    plain = text.translate(_PLAIN)
    candidates = [(start, -end, True) for start, end in _places(plain, names, any_case)]
    candidates += [(start, -end, False) for start, end in _places(plain, inside, any_case=True)]
    accepted: list[NameSpan] = []
    free_from = 0
    for start, minus_end, is_mention in sorted(candidates):
        if start >= free_from:
            free_from = -minus_end
            if is_mention:
                accepted.append(NameSpan(start, free_from))
    return accepted


def is_written(text: str, name: str) -> bool:
    """Whether a name's letters occur in a text, even within a word."""
    form = _plain(name)
    return bool(form and _pattern(form, any_case=False).search(text.translate(_PLAIN)))


def _places(plain: str, names: Sequence[str], any_case: bool) -> Iterator[tuple[int, int]]:
    for form in _forms(names):
        if len(form) <= len(plain):
            for match in _pattern(form, any_case).finditer(plain):
                if _stands_alone(plain, *match.span()):
                    yield match.span()


def _pattern(form: str, any_case: bool) -> re.Pattern[str]:
    words = form.split()
    if len(form) > SHORT and (any_case or not _has_capitals(form)):
        return re.compile(" +".join(map(re.escape, words)), re.IGNORECASE)
    begins = words[0][0].upper() + words[0][1:]  # as a sentence does
    patterns = [_either(words[0], begins), *map(re.escape, words[1:])]
    if len(form) > SHORT:
        proper = any(_has_capitals(word) for word in words if word.lower() not in _PARTICLES)
        patterns = [
            _either(word.lower(), word.capitalize()) if proper and word.lower() in _PARTICLES else pattern
            for word, pattern in zip(words, patterns, strict=True)
        ]
        patterns = [f"(?:{' +'.join(patterns)}|{' +'.join(re.escape(word.upper()) for word in words)})"]
    return re.compile(" +".join(patterns))


def _either(first: str, second: str) -> str:
    return f"(?:{re.escape(first)}|{re.escape(second)})"


def _has_capitals(form: str) -> bool:
    """Whether it has capitals besides that of a phrase's beginning."""
    is_phrase = len(re.findall(r"[^\W\d_]{2,}", form)) > 1 and form.split()[0].lower() not in _PARTICLES
    return form[is_phrase:] != form[is_phrase:].lower()


def _forms(names: Sequence[str]) -> list[str]:
    plain = [_plain(name) for name in names]
    long = [form for form in plain if len(form) > SHORT or form == plain[0]]
    short = [form for form in plain if len(form) <= SHORT and any(_is_short_for(form, other) for other in long)]
    small = {form.lower() for form in plain[:1]} - {*plain[:1]}  # "reading" beside the label "Reading"
    return [
        form
        for form in dict.fromkeys((*long, *short))
        if len(form) > 1 and form not in small and any(map(str.isalnum, form))
    ]


def _plain(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).translate(_PLAIN).split())


def _is_short_for(form: str, name: str) -> bool:
    words = re.findall(r"\w+", name.casefold())
    if form.casefold() in words:
        return True
    initials = iter(word[0] for word in words)
    return form != form.lower() and all(letter in initials for letter in form.casefold() if letter.isalnum())


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether no letter, digit or mark touches it, nor a hyphen before it, as in "non-fiction"."""
    hyphenated = text[start - 1 : start] == "-" and start > 1 and _joins(text[start - 2])
    return not (hyphenated or (start and _joins(text[start - 1])) or (end < len(text) and _joins(text[end])))


def _joins(character: str) -> bool:
    return character in _JOINERS or unicodedata.category(character)[0] in "LMN"
