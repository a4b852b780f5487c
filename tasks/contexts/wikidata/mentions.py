"""Where a text mentions a thing by one of its names: as whole words, in any case.

Names come from Wikidata's labels and aliases, and some of these are no names that a text is likely to mean: country
codes ("in", "no", "can" of India, Norway, Canada), flags. So a form of up to three characters is looked for in its own
case only, and only where it is the label, a word of a name ("pop" of "pop music") or its initials ("US", "R&B").
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

SHORT = 3
"""Characters of a form that is looked for with care."""
# One character for one, so that places in the text stay what they are.
_PLAIN = str.maketrans(
    {**dict.fromkeys("‘’ʼ", "'"), **dict.fromkeys("‐‑", "-"), **dict.fromkeys("\u00a0\u2009\u202f", " ")}
)
_JOINERS = frozenset("_\u200c\u200d")


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in a text, and the name's form that stands there."""

    start: int
    end: int
    form: str


def mentions(text: str, names: Sequence[str], *, inside: Sequence[str] = ()) -> list[Mention]:
    """Every mention in its order, none within another; of those that begin together the longest.

    text: in normal form C. names: the label first. inside: names of something else; what lies inside a mention of that
    is none: "Oslo" is not mentioned by "Oslo Opera House" where that is one of them.
    """
    plain = text.translate(_PLAIN)
    found = [(place, False) for place in _places(plain, names)] + [(place, True) for place in _places(plain, inside)]
    kept: list[Mention] = []
    free_from = 0
    for (start, end), other in sorted(found, key=lambda one: (one[0][0], -one[0][1], not one[1])):
        if start >= free_from:
            free_from = end
            if not other:
                kept.append(Mention(start, end, text[start:end]))
    return kept


def _places(plain: str, names: Sequence[str]) -> Iterator[tuple[int, int]]:
    for form in _forms(names):
        for found in _pattern(form).finditer(plain):
            if _stands_alone(plain, *found.span()):
                yield found.span()


def _pattern(form: str) -> re.Pattern[str]:
    pattern = " +".join(map(re.escape, form.split()))
    if len(form) > SHORT:
        return re.compile(pattern, re.IGNORECASE)
    begins = form[0].upper() if form == form.lower() else form[0]  # as it may begin a sentence
    return re.compile(pattern if begins == form[0] else f"[{form[0]}{begins}]{pattern[1:]}")


def _forms(names: Sequence[str]) -> list[str]:
    """The different names as they are looked for, without those that are none."""
    plain = [" ".join(unicodedata.normalize("NFC", name).translate(_PLAIN).split()) for name in names]
    long = [form for form in plain if len(form) > SHORT or form == plain[0]]
    short = [form for form in plain if len(form) <= SHORT and any(_is_short_for(form, other) for other in long)]
    return [form for form in dict.fromkeys((*long, *short)) if any(map(str.isalnum, form))]


def _is_short_for(form: str, name: str) -> bool:
    words = re.findall(r"\w+", name.casefold())
    if form.casefold() in words:
        return True
    initials = iter(word[0] for word in words)
    return form != form.lower() and all(letter in initials for letter in form.casefold() if letter.isalnum())


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether no letter, digit or mark touches it, nor a hyphen before it, as that of "non-fiction"."""
    hyphenated = text[start - 1 : start] == "-" and start > 1 and _joins(text[start - 2])
    return not (hyphenated or (start and _joins(text[start - 1])) or (end < len(text) and _joins(text[end])))


def _joins(character: str) -> bool:
    return character in _JOINERS or unicodedata.category(character)[0] in "LMN"
