"""Mentions of an answer in a text, and the test that a mention is a whole name.

Of two forms of answers, one inside the other, the longer form counts. A form inside another name is no mention: York in
New York, Mexico in Mexico City, Henry in Henry IV, Oslo in Oslo-Nord, a part of a longer name in katakana, or 罗马
(Rome) in 罗马尼亚 (Romania). A name that is also a common word (May, Us, The Who) must be written as a name.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from swaymeter.data.wording.word import FUNCTION_WORDS, MONTHS, PERSONS, TITLES, Name, Texts, Word, texts_of, word_set
from swaymeter.data.wording.words import words

_ALSO_WORDS = FUNCTION_WORDS | word_set("nice reading bath mobile now must bill job march")
"""Common words that can be names, such as the cities Nice and Reading."""
_PART_OF_NAME = word_set(
    "new north south east west northern southern eastern western central equatorial upper lower inner outer greater "
    "lake mount port fort cape san santa"
)
"""Words that make the name after them a part of a longer name: New York."""
_BEHIND_NAME = word_set(
    "island islands river lake bay falls beach hill hills height heights spring springs valley forest airport "
    "foundation institute prize award university college school hotel street road avenue bridge castle "
    "peninsula desert sea ocean gulf strait"
)
"""Words that make the name before them a part of a longer name: Oslo University."""
_INSTITUTIONS = word_set("university college bank bishop archbishop battle siege treaty institute museum port gulf bay")
"""Institutions with a place in their name: the University of Oslo is not Oslo."""
_YEAR = re.compile(r"\d{4}")
_INITIALS = ""
"""The key of `by_first` for initials, such as WHO. Every sequence of capitalised words is compared with initials."""
_CONNECTING = word_set("and or also both plus then with as well finally")
"""Words between the items of a list."""
_LONGER_NAMES = word_set(
    "北爱尔兰 北愛爾蘭 北アイルランド 南苏丹 南蘇丹 南スーダン 印度尼西亚 印度尼西亞 印度洋 印度支那 罗马尼亚 "
    "羅馬尼亞 索马里 索馬里 几内亚比绍 赤道几内亚 巴布亚新几内亚 几内亚湾 赤道ギニア 白俄罗斯 白俄羅斯 墨西哥城 "
    "墨西哥湾 新墨西哥 巴拿马城 危地马拉城 科威特城 新德里 西弗吉尼亚 法属圭亚那 美属萨摩亚 中非共和国 東京都 "
    "东京都 北朝鮮 南アフリカ 東ティモール 新潟県 東京湾"
)
"""Names that contain another name: 罗马尼亚 (Romania) contains 罗马 (Rome)."""


class Mention(NamedTuple):
    """A form of an answer in a text.

    Attributes:
        start: The index of the first word.
        end: The index after the last word.
        name: The form.
    """

    start: int
    end: int
    name: Name


def by_first(names: Iterable[Name]) -> dict[str, list[Name]]:
    """Return names by the normal form of their first word; initials, such as WHO, also under the key `_INITIALS`."""
    names_by_first: dict[str, list[Name]] = {}
    for name in names:
        names_by_first.setdefault(name.texts[0], []).append(name)
        is_single_word = len(name.texts) == 1  # a word of three to six capitals may be initials
        if is_single_word and name.first.capitals == 2 and 2 < len(name.texts[0]) < 7:
            names_by_first.setdefault(_INITIALS, []).append(name)
    return names_by_first


@lru_cache(maxsize=1)
def longer_names() -> tuple[Name, ...]:
    """Return `_LONGER_NAMES` as names without a side, which only hide the names inside them."""
    return tuple(Name(None, texts_of(name), name[0]) for name in map(words, sorted(_LONGER_NAMES)))


def mentions(text: Sequence[Word], names: Mapping[str, Sequence[Name]]) -> list[Mention]:
    """Return every mention: the words of a name, all items of a list, or the words that initials stand for.

    Args:
        text: The words of the text.
        names: The names by first word, from `by_first`.
    """
    all_mentions: list[Mention] = []
    names_of_initials = names.get(_INITIALS, ())
    for start, word in enumerate(text):
        for key in (word.text, *word.stems) if word.stems else (word.text,):
            for name in names.get(key, ()):
                end = _end_of_list(text, start, name) if name.items else _end_of_words(text, start, name.texts)
                if end:
                    all_mentions.append(Mention(start, end, name))
        if names_of_initials and word.capitals:
            for name in names_of_initials:
                if end := _end_of_initials(text, start, name.texts[0]):
                    all_mentions.append(Mention(start, end, name))
    return all_mentions


def _end_of_initials(text: Sequence[Word], start: int, initials: str) -> int:
    """Return the index after capitalised words with these initials (World Health Organization for WHO), or 0."""
    index = start
    for letter in initials:
        while (
            index > start and index < len(text) and text[index].text in FUNCTION_WORDS and not text[index].begins_clause
        ):
            index += 1
        if index >= len(text) or text[index].text[0] != letter or not text[index].capitals:
            return 0
        if index > start and text[index].begins_clause:
            return 0
        index += 1
    return index


def _end_of_words(text: Sequence[Word], start: int, texts: Sequence[str]) -> int:
    """Return the index after the words `texts`; 0 if they do not stand at `start`."""
    end = start + len(texts)
    if end > len(text):
        return 0
    pairs = zip(text[start:end], texts, strict=True)
    return end if all(word.text == expected or expected in word.stems for word, expected in pairs) else 0


def _end_of_list(text: Sequence[Word], start: int, name: Name) -> int:
    """Return the index after the items of a list, which only connecting words separate; 0 if an item is missing."""
    missing, index, end = list(name.items), start, 0
    while missing and index < len(text):
        candidates = missing[:1] if name.are_ordered else sorted(missing, key=len, reverse=True)
        item = next((candidate for candidate in candidates if _end_of_words(text, index, candidate)), None)
        if item is not None:
            missing.remove(item)
            index = end = index + len(item)
        elif text[index].text in _CONNECTING and index > start:
            index += 1
        else:
            break
    return 0 if missing else end


def longest(all_mentions: Iterable[Mention]) -> list[Mention]:
    """Return the mentions that are not inside a longer mention."""
    outermost: list[Mention] = []
    for mention in sorted(all_mentions, key=lambda mention: (mention.start, -mention.end)):
        if not outermost or mention.end > outermost[-1].end or mention[:2] == outermost[-1][:2]:
            outermost.append(mention)
    return outermost


def is_part(texts: Texts, whole: Texts) -> bool:
    """Return True if `whole` contains the words `texts` side by side, in their order."""
    length = len(texts)
    return any(whole[start : start + length] == texts for start in range(len(whole) - length + 1))


def without_question(reply: Sequence[Word], question: Sequence[Word]) -> Sequence[Word]:
    """Return the reply without verbatim copies of the question."""
    texts, length = texts_of(question), len(question)
    if length <= 2 or texts[0] not in texts_of(reply):
        return reply
    remaining: list[Word] = []
    index = 0
    while index < len(reply):
        if reply[index].text == texts[0] and texts_of(reply[index : index + length]) == texts:
            index += length
        else:
            remaining.append(reply[index])
            index += 1
    return remaining


def is_whole(text: Sequence[Word], mention: Mention, question: Collection[str] = ()) -> bool:
    """Return True if a mention is a whole name, and not a common word that is spelled like the name.

    Args:
        text: The words of the text.
        mention: A mention in the text.
        question: The words of the question; "the Alme River" is the Alme if the question has the word "river".
    """
    start, end, name = mention
    first, last = text[start], text[end - 1]
    before = text[start - 1] if start and not first.begins_clause else None  # within the clause
    after = text[end] if end < len(text) and not text[end].begins_clause else None  # within the clause
    if first.joined and not text[start - 1].text[-1].isdigit():  # Oslo in Nord-Oslo; but km in 5-km is whole
        return False
    if after and after.joined and (after.capitals or not last.capitals) and not first.text[0].isdigit():
        return False  # Oslo in Oslo-Nord; but Oslo in Oslo-based is whole
    if before and before.text in _PART_OF_NAME and before.text not in question and before.capitals and first.capitals:
        return False  # York in New York
    if before and before.text == "of" and start > 1 and first.capitals and text[start - 2].text in _INSTITUTIONS:
        institution = text[start - 2]
        if institution.capitals and institution.text not in question:
            return False
    if after and after.text in _BEHIND_NAME and after.capitals == 1 and after.text not in question:
        is_street = name.texts[-1] in ("street", "road")  # Main Street in Main Street Bridge is a name by itself
        return is_street or not last.capitals  # Alme in Alme Valley is no name by itself
    is_city = after and after.text == "city" and last.capitals and name.texts != ("new", "york")
    if after and after.capitals and (is_city or after.kind == "roman"):  # Mexico in Mexico City, Henry in Henry IV
        return False
    if first.kind == "roman" and len(name.texts) == 1:
        return False
    if name.is_last_name:
        has_other_first_name = before and before.capitals and before.text not in FUNCTION_WORDS | TITLES | PERSONS
        return bool(first.capitals or not name.first.capitals) and not has_other_first_name
    if not name.exact and first.text in MONTHS and start and _YEAR.fullmatch(text[start - 1].text):
        return False  # the same day and month in another year
    return len(name.texts) > 1 or first.text not in _ALSO_WORDS or _is_name(text, mention)


def _is_name(text: Sequence[Word], mention: Mention) -> bool:
    """Return True if a word that is also a common word (May, Us, The Who, in) is used as a name."""
    start, end, name = mention
    if len(text) == 1:
        return True
    word = text[start]
    ends_clause = end == len(text) or text[end].begins_clause
    # The answer is in lower case. "nice" counts everywhere, and "in" only at the end of a clause.
    if name.first.capitals == 0:
        return len(word.text) > 2 or word.text not in FUNCTION_WORDS or (ends_clause and not word.begins_clause)
    if name.first.capitals == 2 and word.text != "i":  # "US" is a name, "us" and "Us" are not; "I" may be a pronoun
        return word.capitals == 2
    if name.first.article and word.article and word.capitals:
        return True
    if start == 0 or word.begins_clause:  # "May." is a name, "May I" is not
        return bool(word.capitals) and ends_clause
    return bool(word.capitals) and word.text != "i"
