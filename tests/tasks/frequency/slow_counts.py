"""Counts of a pair, computed word by word by the rules of decision 0007."""

import unicodedata
from collections.abc import Iterable

from swaymeter.data.records import CountedPair


def slow_words(text: str) -> list[str]:
    ascii_signs = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
    characters = (sign for sign in text if sign not in ascii_signs and not unicodedata.category(sign).startswith("P"))
    return "".join(characters).split()


def occurrences(text: list[str], names: Iterable[str]) -> list[tuple[int, int]]:
    """Return the first and last word of each occurrence that is not part of a longer occurrence of these names."""
    spans = {
        (first, first + len(name) - 1)
        for name in map(slow_words, names)
        for first in range(len(text))
        if name and text[first : first + len(name)] == name
    }
    return [
        (first, last)
        for first, last in spans
        if not any((start, end) != (first, last) and start <= first and last <= end for start, end in spans)
    ]


def slow_counts(documents: list[str], pair: CountedPair, window: int) -> tuple[int, int, int, int]:
    """Return the entity count, the capitals count, the lower-case count and the pair count."""
    entities = capitals = lower_case = both = 0
    for text in map(slow_words, documents):
        entity_spans, answer_spans = occurrences(text, pair.entity_names), occurrences(text, pair.answer_names)
        cased = [name for name in pair.entity_names if len(slow_words(name)) == 1 and name.lower() != name.upper()]
        capitals += len(occurrences(text, [name for name in cased if name != name.lower()]))
        lower_case += len(occurrences(text, [name.lower() for name in cased]))
        entities += len(entity_spans)
        both += sum(
            any(0 < first - end <= window or 0 < start - last <= window for first, last in answer_spans)
            for start, end in entity_spans
        )
    return entities, capitals, lower_case, both
