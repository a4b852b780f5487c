"""Rules that exchange the words of two groups in a sentence, such as he and she.

The bundled rules are in exchange.yaml; a user's file may have pairs of its own. Each word of a pair is replaced by its
counterpart, with the capitals of the word. "her" and "his" may be in two pairs. The next word then decides between the
two counterparts:

    her -> his    before a word that may be owned: her book
    her -> him    elsewhere: at the end, before punctuation, or before an unowned word, such as "to" or "and"
    his -> her    before a word that may be owned: his book
    his -> hers   elsewhere

Before a word that may be owned, the counterpart comes from the first pair. "her" has the pairs [his, her] and
[him, her], so "her book" becomes "his book".
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
"""The words that may be in two pairs."""
WordPair = Annotated[tuple[Text, ...], Field(min_length=2, max_length=2)]


def _check_pairs(pairs: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    for first, second in pairs:
        if braces := sorted(set("{}") & set(first + second)):
            raise ValueError(f"{first!r}, {second!r}: write the words without {braces[0]!r}, which marks slots")
        if first.lower() == second.lower():
            raise ValueError(f"{first!r} would be exchanged with itself; write two different words")
    for word, counterparts in _counterparts(pairs).items():
        limit = 2 if word in OWNERS else 1
        if len(counterparts) > limit:
            raise ValueError(
                f"{word!r} is in {len(counterparts)} pairs; keep at most {limit} of the pairs with {word!r}"
            )
    return pairs


Pairs = Annotated[tuple[WordPair, ...], Field(min_length=1), AfterValidator(_check_pairs)]


@dataclass(frozen=True, kw_only=True, config=ENTRY)
class Exchange:
    """A rule for the exchange of words.

    Attributes:
        name: name of the rule, such as gender; "own" for the pairs of a user's file.
        pairs: pairs of words that change places, such as (he, she).
        unowned: words that cannot be owned, such as "to"; `her` before such a word becomes `him`.
    """

    name: str
    pairs: Pairs
    unowned: Texts

    def __call__(self, text: str) -> str:
        """Return the text with the words of each pair exchanged."""
        counterparts = _counterparts(self.pairs)
        longest_first = sorted(counterparts, key=len, reverse=True)
        words = "|".join(f"({re.escape(word)})" for word in longest_first)
        # A word after "{" is the name of a slot.
        pattern = re.compile(rf"(?<![\w{{])(?:{words})(?!\w)", re.IGNORECASE)
        return pattern.sub(self._counterpart([counterparts[word] for word in longest_first]), text)

    def _counterpart(self, counterparts: Sequence[Sequence[str]]) -> Callable[[re.Match[str]], str]:
        """Return the function that replaces a matched word by its counterpart.

        Args:
            counterparts: the counterparts of each word, in the order of the pattern's groups.
        """
        unowned = frozenset(word.lower() for word in self.unowned)

        def counterpart(match: re.Match[str]) -> str:
            # The group's number identifies the word. The matched text may differ: the pattern of "i" also matches "İ".
            possible = counterparts[(match.lastindex or 1) - 1]
            next_word = re.match(r"\s+(\w+)", match.string[match.end() :])
            may_be_owned = next_word is not None and next_word[1].lower() not in unowned
            word = possible[0] if may_be_owned else possible[-1]
            if len(match[0]) > 1 and match[0].isupper():
                return word.upper()
            return word[0].upper() + word[1:] if match[0][0].isupper() else word

        return counterpart


def _counterparts(pairs: tuple[tuple[str, ...], ...]) -> dict[str, list[str]]:
    """Return the counterparts of each word, in the order of the pairs; the words are in small letters."""
    counterparts: dict[str, list[str]] = {}
    for first, second in pairs:
        counterparts.setdefault(first.lower(), []).append(second)
        counterparts.setdefault(second.lower(), []).append(first)
    return counterparts


@cache
def exchanges() -> Mapping[str, Exchange]:
    """Return the bundled rules by name."""
    return entries("exchange.yaml", "exchanges", Exchange, "name")


def exchange_of(value: Any) -> Any:
    """Return the bundled rule for a name, or the fields of a user's rule for a list of pairs.

    A user's rule has the unowned words of the bundled rule `gender`. Any other value is returned unchanged.

    Raises:
        ValueError: no bundled rule has the name.
    """
    if isinstance(value, list | tuple):
        return {"name": "own", "pairs": value, "unowned": exchanges()["gender"].unowned}
    if isinstance(value, str):
        if value not in exchanges():
            raise ValueError(str(UnknownName("exchange rule", value, exchanges())))
        return exchanges()[value]
    return value


AnExchange = Annotated[Exchange, BeforeValidator(exchange_of)]
"""A bundled rule by its name, or pairs of words."""
