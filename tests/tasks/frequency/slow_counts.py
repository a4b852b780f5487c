"""The counts of a pair, slowly, word by word, by the rules of decision 0007."""

import unicodedata
from collections.abc import Iterable

from swaymeter.data.records import CountedPair


def slow_words(text: str) -> list[str]:
    ascii_signs = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
    kept = (c for c in text if c not in ascii_signs and not unicodedata.category(c).startswith("P"))
    return "".join(kept).split()


def places(text: list[str], names: Iterable[str]) -> list[tuple[int, int]]:
    """First and last word of each occurrence that is within no longer one of the same names."""
    found = {
        (first, first + len(name) - 1)
        for name in map(slow_words, names)
        for first in range(len(text))
        if name and text[first : first + len(name)] == name
    }
    return [(a, b) for a, b in found if not any((c, d) != (a, b) and c <= a and b <= d for c, d in found)]


def slow_counts(documents: list[str], pair: CountedPair, window: int) -> tuple[int, int, int, int]:
    entities = capitals = small = both = 0
    for text in map(slow_words, documents):
        mine, answers = places(text, pair.entity_names), places(text, pair.answer_names)
        cased = [name for name in pair.entity_names if len(slow_words(name)) == 1 and name.lower() != name.upper()]
        capitals += len(places(text, [name for name in cased if name != name.lower()]))
        small += len(places(text, [name.lower() for name in cased]))
        entities += len(mine)
        both += sum(
            any(0 < first - end <= window or 0 < start - last <= window for first, last in answers)
            for start, end in mine
        )
    return entities, capitals, small, both
