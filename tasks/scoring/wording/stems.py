"""What a word may be without what its language joins to it.

    apostrophes   İstanbul'da, l'Italie: the parts on both sides
    Hangul        서울에서: without a particle or a copula
    Hebrew        בירושלים: without one or two one-letter prefixes
    Arabic        والقاهرة: without conjunction, preposition and article

A name is looked for as the word itself and as its stems, so that a name that only looks as if it had a prefix stays
whole. Cyrillic case endings, which no list of stems could hold, are cut from every word of four letters or more alike:
Москва = Москве = Москву.
What it is not: morphology. A stem that is another word is taken for it.
"""

import re

from swaymeter.tasks.scoring.wording.word import word_set

_HANGUL_SUFFIXES = word_set(
    "은 는 이 가 을 를 에 의 로 으로 와 과 도 만 에서 에게 까지 부터 께서 한테 처럼 보다 라고 이라고 이며 이고 이나 "
    "에는 에서는 에도 으로는 이다 입니다 이에요 예요 이었다 였다 이었습니다 였습니다 이었고 였고 인 이란 란 라는 "
    "이라는 에서의 으로의"
)
_HEBREW_PREFIXES = re.compile(r"[ובכלמשה]{1,2}(?=[\u05d0-\u05ea]{3})")
_ARABIC_PREFIXES = re.compile(r"[وف]?[بلك]?(?:ال)?(?=[\u0621-\u064a]{3})")
_CYRILLIC_ENDING = re.compile(
    r"(?<=[\u0400-\u04ff]{3})(?:ами|ями|ыми|ими|ого|его|ому|ему|ой|ей|ом|ем|ым|им|ах|ях|ых|их|ов|ев|[аеиоуыэюяйьъ]{1,3})$"
)
_OF_FAMILY = re.compile(r"(?<=[\u0400-\u04ff]{3})[оеё]в$")
"""Of a family name, and also an ending."""
_SHORTEST = 3


def stems(word: str) -> tuple[str, ...]:
    """The stems of a word in lower case whose apostrophes are still there; those of ASCII need an apostrophe."""
    found: list[str] = []
    if "'" in word:
        found += [part for part in word.split("'") if len(part) >= _SHORTEST]
    if word.isascii():
        return tuple(found)
    first = word[0]
    if "\uac00" <= first <= "\ud7a3":
        found += [word.removesuffix(ending) for ending in _HANGUL_SUFFIXES if word.endswith(ending) and word != ending]
    elif "\u0590" <= first <= "\u05ff" and (prefix := _HEBREW_PREFIXES.match(word)):
        found += [word[length:] for length in range(1, prefix.end() + 1)]
    elif "\u0600" <= first <= "\u06ff" and (prefix := _ARABIC_PREFIXES.match(word)):
        found += [word[length:] for length in range(1, prefix.end() + 1)]
        found += [word[2:]] if word.startswith("لل") else []
    return tuple(found)


def without_ending(word: str) -> str:
    """A word without its Cyrillic case ending, where it has one and four letters; Орлов = Орлова = Орловым."""
    if len(word) < 4 or not "\u0400" <= word[0] <= "\u04ff":
        return word
    return _OF_FAMILY.sub("", _CYRILLIC_ENDING.sub("", word))
