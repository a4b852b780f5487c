"""The normal form of numbers and units: figures for a number, the name for a unit.

eight = 8; 1,200 = 1 200 = 1'200 = 1200; 8,5 = 8.50 = 8.5; 1.5 million = 1.5M = 1500000; half a million; a dozen = 12;
two and a half = 2½ = 2 1/2 = 2.5; two thirds = 2/3; third = 3rd; nineteen ninety = 1990; World War II = World War 2;
8kg = 8 kilogrammes = 8 kg; $8 = 8 USD = 8 dollars. A comparison becomes a sign before its number: "< 8" for less than
8, ">= 8" for 8 or more.

Units are not converted (see tasks.scoring.wording.forms), and nothing is computed: 10² is not 100. 1.200 is read as one
point two, but 2.000 as two thousand. The 1990s, 3D and 2.0.1 are words. M, B or K after a figure is a scale. A small m
after a figure is a metre, but million in an amount of money, such as $5m.
"""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from swaymeter.data.wording.numbers import number_words as table
from swaymeter.data.wording.numbers.number_words import CARDINALS, NUMERALS, SCALES, UNITS, figures_of
from swaymeter.data.wording.word import Token, Word

_BEFORE_PRONOUN = frozenset(("no", "any", "every", "this", "that"))
"""Words before the pronoun "one", as in no one."""
_AFTER_PRONOUN = frozenset(("of", "who", "that", "which"))
"""Words after the pronoun "one", as in one of."""
_WORDS_OF_NUMBERS = frozenset(
    (
        *("a", "an", "minus", "negative"),
        *table.FIRST_WORDS_OF_COMPARISONS,
        *table.FIRST_WORDS,
        *UNITS,
        *table.MONEY,
    )
)
"""Words that may begin a number or a comparison, and units; German numbers are not among them."""
_ROMAN = re.compile(r"(?=[IVXL])(?:XL|L?X{0,3})(?:IX|IV|V?I{0,3})")


def with_numerals(tokens: Sequence[Token]) -> Iterator[Word]:
    """Yield the words of tokens, with numbers in figures and units by their name."""
    index, currency, is_after_number = 0, "", False
    while index < len(tokens):
        token = tokens[index]
        if _is_plain(token):
            yield _plain_word(tokens, index)
            index, is_after_number = index + 1, False
            continue
        is_sign = token.kind == "sign"
        if length := 1 if is_sign else _comparison_length(tokens, index):
            phrase = _folded(tokens, index, length)
            sign = table.SIGNS.get(token.written, token.written) if is_sign else table.SIGNS_BEFORE_NUMBERS[phrase]
            yield Word(sign, token.begins_clause, kind="sign")
            index, is_after_number = index + length, False
            continue
        if token.folded in ("a", "an") and not is_after_number and _is_counting_article(tokens, index):
            yield Word("1", token.begins_clause, kind="number")
            index, is_after_number = index + 1, True
            continue
        is_negative = token.folded in ("minus", "negative") and index + 1 < len(tokens)
        number = _number(tokens, index + is_negative, bool(currency))
        if is_negative and number.end > index + 1 and number.kind == "number":
            yield Word(f"-{number.text}", token.begins_clause, kind="number")
            index, is_after_number = number.end, True
            continue
        if is_negative:
            number = _NumberMatch("", index)
        unit = UNITS.get(token.folded, "")
        if number.end > index:
            if comparison := number.comparison or table.SIGNS_AFTER_NUMBERS.get(_folded(tokens, number.end, 2)):
                yield Word(comparison, token.begins_clause, kind="sign")
            yield Word(number.text, token.begins_clause, token.joined, kind=number.kind)
            if currency:
                yield Word(currency, kind="unit")
            index, currency, is_after_number = number.end, "", number.kind == "number"
            if _folded(tokens, index, 2) in table.SIGNS_AFTER_NUMBERS:
                index += 2
            continue
        if token.folded in table.MONEY and index + 1 < len(tokens) and tokens[index + 1].kind == "number":
            currency = unit
        # A single capital after a number, such as M in "section 8 M", is a word.
        elif (
            unit
            and is_after_number
            and not token.begins_clause
            and (len(token.written) > 1 or not token.written.isupper())
        ):
            yield from (Word(word, kind="unit") for word in unit.split())
            is_after_number = unit in ("square", "per") or (
                index + 1 < len(tokens) and tokens[index + 1].folded == "per"
            )
        else:
            yield _plain_word(tokens, index)
            is_after_number = False
        index += 1


def _is_plain(token: Token) -> bool:
    """Return True if a token cannot belong to a number, a comparison or a unit."""
    word = token.folded
    if token.kind in ("number", "sign") or word in _WORDS_OF_NUMBERS:
        return False
    return len(word) <= 6 or table.german_compound(word) is None


def _plain_word(tokens: Sequence[Token], index: int) -> Word:
    """Return the word of a token that belongs to no number; a Roman numeral after a name becomes its value."""
    token = tokens[index]
    capitals = 2 if token.written.isupper() else int(token.written[0].isupper())
    if capitals == 2 and (roman := _roman(tokens, index)):
        return Word(roman, token.begins_clause, token.joined, 2, kind="roman")
    return Word(token.folded, token.begins_clause, token.joined, capitals, stems=token.stems)


def _folded(tokens: Sequence[Token], start: int, count: int) -> tuple[str, ...]:
    return tuple(token.folded for token in tokens[start : start + count])


def _comparison_length(tokens: Sequence[Token], start: int) -> int:
    """Return the number of words of a comparison before a number: 2 for "more than 8", 0 for "more than Oslo"."""
    for length in (3, 2, 1) if tokens[start].folded in table.FIRST_WORDS_OF_COMPARISONS else ():
        if _folded(tokens, start, length) in table.SIGNS_BEFORE_NUMBERS and start + length < len(tokens):
            after = tokens[start + length]
            if after.kind == "number" or after.folded in table.MONEY | CARDINALS.keys() | {"half"}:
                return length
    return 0


def _is_counting_article(tokens: Sequence[Token], index: int) -> bool:
    """Return True if "a" means one: "an hour", "a week", but not "a second one" or "twelve dollars an hour"."""
    after = tokens[index + 1].folded if index + 1 < len(tokens) else ""
    before = tokens[index - 1].folded if index else ""
    is_excluded = after in ("second", "degree", "square", "pound", "yard", "foot") or before in ("time", "once", "half")
    return len(after) > 3 and after in UNITS and before not in UNITS and not is_excluded


class _NumberMatch(NamedTuple):
    """A number in the tokens of a text.

    Attributes:
        text: The normal form; "" without a number.
        end: The index after the number; without a number, the index at which the search began.
        kind: The kind of the word that the number becomes.
        comparison: The sign of comparison for the number, such as ">=" for 8+; "" without a comparison.
    """

    text: str
    end: int
    kind: str = "number"
    comparison: str = ""


def _number(tokens: Sequence[Token], start: int, is_money: bool) -> _NumberMatch:
    """Read a number in figures or words; after a currency `is_money` is True, and m means million."""
    first, after = tokens[start], tokens[start + 1] if start + 1 < len(tokens) else None
    if first.kind == "number":
        return _number_in_figures(tokens, start, is_money)
    if first.folded not in table.FIRST_WORDS or first.kind != "word":
        may_be_compound = len(first.folded) > 6 and first.kind == "word"
        compound = table.german_compound(first.folded) if may_be_compound else None
        return _scaled(tokens, compound, start + 1) if compound else _NumberMatch("", start)
    before = tokens[start - 1].folded if start else ""
    if first.folded == "one" and ((after and after.folded in _AFTER_PRONOUN) or before in _BEFORE_PRONOUN):
        return _NumberMatch("", start)  # a pronoun
    return _number_in_words(tokens, start)


def _number_in_figures(tokens: Sequence[Token], start: int, is_money: bool) -> _NumberMatch:
    number, end = table.normal_figures(tokens[start].written), start + 1
    after = tokens[end] if end < len(tokens) else None
    if not after:
        return _NumberMatch(number, end)
    if after.written == "+":
        return _NumberMatch(number, start + 2, comparison=">=")
    suffix = after.written if after.follows_token and after.kind == "word" else ""
    if suffix.lower() in ("st", "nd", "rd", "th"):
        return _NumberMatch(f"{number}th", start + 2, "ordinal")  # both 3rd and third become 3th
    is_decimal = len(number) <= 20 and table.PLAIN.fullmatch(number) is not None
    scale = None if after.begins_clause else SCALES.get(after.folded)
    if is_decimal and scale is None and (suffix or (is_money and not after.begins_clause)):
        letters = table.SCALE_LETTERS | (table.MONEY_LETTERS if is_money else {})
        scale = letters.get(after.written)
    if is_decimal and scale:
        return _NumberMatch(figures_of(Fraction(number) * scale), start + 2)
    is_decade = suffix == "s" and number[-1] == "0"  # 1990s
    is_letter = suffix.isupper() and len(suffix) == 1  # 3D
    if suffix and (after.folded not in UNITS or is_decade or is_letter):
        return _NumberMatch(number + after.folded, start + 2, "word")
    return _NumberMatch(number, end)


def _number_in_words(tokens: Sequence[Token], start: int) -> _NumberMatch:
    """Read a number in words.

    In the loop, `total` is the value up to the last scale, such as thousand, and `group` the value after that scale.
    `last` is the kind of the last word: start, ones, tens or scale.
    """
    total, group, last, index = 0, 0, "start", start
    while index < len(tokens) and (index == start or not tokens[index].begins_clause):
        word = tokens[index].folded
        value = NUMERALS.get(word)
        if (decade := table.DECADES.get(tokens[index].written.lower())) and (index == start or 13 <= group <= 20):
            return _NumberMatch(f"{group * 100 + decade}s", index + 1, "word")
        if value is not None and (last in ("start", "scale") or (last == "tens" and 0 < value < 10)):
            group, last = group + value, "tens" if value >= 20 else "ones"
            if word in table.ORDINALS:
                return _NumberMatch(f"{total + group}th", index + 1, "ordinal")
        elif index == start + 1 and 13 <= group <= 20 and word in CARDINALS and CARDINALS[word] >= 10:
            group, last = group * 100 + CARDINALS[word], "tens"  # nineteen ninety
        elif word == "hundred" and (last == "start" or 0 < group < 100):
            group, last = max(group, 1) * 100, "scale"
        # "millions" alone is no number.
        elif word in SCALES and (group or (last == "start" and tokens[index].written.lower() == word)):
            total, group, last = total + max(group, 1) * SCALES[word], 0, "scale"
        elif not (
            word == "and" and last == "scale" and index + 1 < len(tokens) and tokens[index + 1].folded in NUMERALS
        ):
            break  # only an "and" as in "hundred and five" is part of a number
        index += 1
    if index == start:
        return _half(tokens, start)
    return _with_fraction(tokens, total + group, index)


def _half(tokens: Sequence[Token], start: int) -> _NumberMatch:
    word = tokens[start].folded
    if word == "quarter" and _folded(tokens, start + 1, 1) == ("of",):
        return _NumberMatch("0.25", start + 1)
    if word not in ("half", "halfte", "moitie", "mitad"):
        return _NumberMatch("", start)
    scaled = _scaled(tokens, Fraction(1, 2), start + 2) if _folded(tokens, start + 1, 1) == ("a",) else None
    return scaled if scaled and scaled.end > start + 2 else _scaled(tokens, Fraction(1, 2), start + 1)


def _with_fraction(tokens: Sequence[Token], value: int, end: int) -> _NumberMatch:
    """Read the fraction after a value in words: three quarters, one and a half."""
    after = _folded(tokens, end, 3)
    if not after or tokens[end].begins_clause:
        return _NumberMatch(str(value), end)
    if (divisor := table.FRACTIONS.get(after[0])) and 0 < value < divisor:
        return _scaled(tokens, Fraction(value, divisor), end + 1)
    if after in (("and", "a", "half"), ("and", "one", "half")):
        return _scaled(tokens, value + Fraction(1, 2), end + 3)
    return _NumberMatch(str(value), end)


def _scaled(tokens: Sequence[Token], value: Fraction, end: int) -> _NumberMatch:
    """Return the value in figures, multiplied by any scale after it, as in 1.5 million."""
    scale = SCALES.get("".join(_folded(tokens, end, 1)))
    return _NumberMatch(figures_of(value * scale), end + 1) if scale else _NumberMatch(figures_of(value), end)


def _roman(tokens: Sequence[Token], index: int) -> str:
    """Return the value of a Roman numeral in capitals after a name (George VI); "" for any other word, and for I."""
    token = tokens[index]
    if not index or token.begins_clause or token.written == "I" or not _ROMAN.fullmatch(token.written):
        return ""
    name = tokens[index - 1].written
    is_abbreviation = name.isupper() and len(name) > 1 and len(token.written) == 1
    if not name[0].isupper() or is_abbreviation:
        return ""
    values = [{"I": 1, "V": 5, "X": 10, "L": 50}[letter] for letter in token.written]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return str(sum(-value if value < next_value else value for value, next_value in pairs))
