"""exchange.yaml, and lists of one's own: words of two groups that change places in a sentence, such as he and she.

Each word of a pair is replaced by its counterpart, wherever it stands as a whole word and whatever its capitals; all
else stays. "her" and "his" may stand in two pairs, and the next word decides between their counterparts:

    her -> his  where something follows that may be hers: a word that is not in `unowned`
    her -> him  otherwise: before a mark, at the end, or before a word of `unowned`, such as "to" or "and"

and likewise his -> her, his -> hers. Of its two pairs, the one that stands first is the one before what is owned.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic.dataclasses import dataclass

from swaymeter.data.catalog.reading import ENTRY, Text, Texts, entries
from swaymeter.data.errors import UnknownName

OWNERS = ("her", "his")
"""The words of two pairs; of no other word the next one says which counterpart is meant."""
Words = Annotated[tuple[Text, ...], Field(min_length=2, max_length=2)]


def _different(pairs: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    for first, second in pairs:
        if braces := sorted({*"{}"} & {*first, *second}):
            raise ValueError(f"{first!r}, {second!r}: has {braces[0]!r}, which slots are made of; leave it out")
        if first.lower() == second.lower():
            raise ValueError(f"{first!r} would be exchanged with itself; write two different words")
    for word, others in _counterparts(pairs).items():
        if len(others) > (2 if word in OWNERS else 1):
            raise ValueError(f"{word!r} stands in {len(others)} pairs; leave all but one out (of her and his, two)")
    return pairs


Pairs = Annotated[tuple[Words, ...], Field(min_length=1), AfterValidator(_different)]


@dataclass(frozen=True, kw_only=True, config=ENTRY)
class Exchange:
    """A rule by which words change places: its pairs, and the words that nothing is owned before."""

    name: str
    pairs: Pairs
    unowned: Texts

    def __call__(self, text: str) -> str:
        """The text with the words of each pair exchanged."""
        known = _counterparts(self.pairs)
        longest_first = sorted(known, key=len, reverse=True)
        words = "|".join(f"({re.escape(word)})" for word in longest_first)
        found = re.compile(rf"(?<![\w{{])(?:{words})(?!\w)", re.IGNORECASE)
        return found.sub(self._counterpart([known[word] for word in longest_first]), text)

    def _counterpart(self, known: Sequence[Sequence[str]]) -> Callable[[re.Match[str]], str]:
        """What takes the place of a match; by its group, since one letter may have two small ones, such as İ."""
        unowned = frozenset(word.lower() for word in self.unowned)

        def counterpart(found: re.Match[str]) -> str:
            others = known[(found.lastindex or 1) - 1]
            following = re.match(r"\s+(\w+)", found.string[found.end() :])
            owns = following is not None and following[1].lower() not in unowned
            other = others[0] if owns else others[-1]
            if len(found[0]) > 1 and found[0].isupper():
                return other.upper()
            return other[0].upper() + other[1:] if found[0][0].isupper() else other

        return counterpart


def _counterparts(pairs: tuple[tuple[str, ...], ...]) -> dict[str, list[str]]:
    """The counterparts of each word, in the order of the pairs."""
    known: dict[str, list[str]] = {}
    for first, second in pairs:
        known.setdefault(first.lower(), []).append(second)
        known.setdefault(second.lower(), []).append(first)
    return known


@cache
def exchanges() -> Mapping[str, Exchange]:
    """The bundled rules by name."""
    return entries("exchange.yaml", "exchanges", Exchange, "name")


def exchange_of(written: Any) -> Any:
    """The bundled rule of a name; of a list of pairs, a rule of one's own; ValueError for a name that is unknown.

    A rule of one's own has the unowned words of the bundled one.
    """
    if isinstance(written, list | tuple):
        return {"name": "own", "pairs": written, "unowned": exchanges()["gender"].unowned}
    if isinstance(written, str):
        if written not in exchanges():
            raise ValueError(str(UnknownName("exchange rule", written, exchanges())))
        return exchanges()[written]
    return written


AnExchange = Annotated[Exchange, BeforeValidator(exchange_of)]
"""A bundled rule by its name, or pairs of words."""
