"""The forms in which an answer may stand in a text, and where they stand.

    exact   say the same: another order of a list; the ordinal of a Roman numeral (Henry the Eighth = Henry VIII); a
            hyphen left out (email); a sign in words (C plus plus, AB negative); a range with "to" or "and"; without a
            title, a weekday, an article of another language, or what stands in brackets
    loose   say the same if nothing else fits the place: a time of day without its half of the day; a number without
            its unit, or a full hour in figures alone, at the end of a clause; a date without the year that the question
            names; the last word of a person's name where the question asks for a person

Of names that lie in one another the longest counts. A name inside a longer one is not stated: behind New, North and the
like; before City or a Roman numeral; beside a hyphen and a capital; inside a longer run of katakana; inside a known
longer name in a script without spaces, such as 罗马 (Rome) in 罗马尼亚 (Romania).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from tasks.scoring.wording.word import Word, word_set
from tasks.scoring.wording.words import words

FUNCTION_WORDS = word_set(
    "a about after all also am an and any are as at be been before being but by can could did do does for from had has "
    "have he her him his how i if in into is it its may me more most my no nor not of off on once only or our out over "
    "own same she should so some such than that the their them then there these they this those to too under until up "
    "us was we were what when where which while who whom whose why will with would you your"
)
_ALSO_WORDS = FUNCTION_WORDS | word_set("nice reading bath mobile now must bill job march")
_PART_OF_NAME = word_set(
    "new north south east west northern southern eastern western central equatorial upper lower inner outer greater"
)
_WHOLE_WITH_CITY = frozenset({("new", "york")})
_TITLES = word_set("sir dame mr mrs ms doctor professor lord lady king queen president senator")
_WEEKDAYS = word_set("monday tuesday wednesday thursday friday saturday sunday")
_ARTICLES = word_set("la le les el los las der die das den dem il lo gli un une una uno ein eine einen het de os as")
_MONTHS = word_set("january february march april may june july august september october november december")
_CONNECTING = word_set("and or also both plus then with as well finally")
_AT = word_set("at from by until till to around about after before past is")
_PERSONS = word_set(
    "person man woman actor actress author writer novelist poet playwright screenwriter filmmaker director producer "
    "composer singer musician rapper artist painter sculptor architect scientist physicist chemist mathematician "
    "philosopher economist politician president minister senator governor king queen emperor general explorer "
    "astronaut "
    "inventor engineer player footballer athlete coach boxer journalist comedian conductor animator teacher"
)
_SIGNS_IN_WORDS: Mapping[str, tuple[str, ...]] = {
    "++": (" plus plus",),
    "+": (" plus", " positive"),
    "-": (" minus", " negative"),
    "#": (" sharp",),
}
_LONGER_NAMES = word_set(
    "北爱尔兰 北愛爾蘭 北アイルランド 南苏丹 南蘇丹 南スーダン 印度尼西亚 印度尼西亞 印度洋 印度支那 罗马尼亚 "
    "羅馬尼亞 索马里 索馬里 几内亚比绍 赤道几内亚 巴布亚新几内亚 几内亚湾 赤道ギニア 白俄罗斯 白俄羅斯 墨西哥城 "
    "墨西哥湾 新墨西哥 巴拿马城 危地马拉城 科威特城 新德里 西弗吉尼亚 法属圭亚那 美属萨摩亚 中非共和国 東京都 "
    "东京都 北朝鮮 南アフリカ 東ティモール 新潟県 東京湾"
)


class Name(NamedTuple):
    """A form of an answer to look for.

    side: whose answer it is, None for a longer name that is nobody's; texts: its words as they are compared; first: the
    first of them as it is written; exact, bare, surname: see the forms; items: of a list, its parts in any order;
    beside: what stands beside it in the question.
    """

    side: str | None
    texts: tuple[str, ...]
    first: Word
    exact: bool = True
    bare: bool = False
    surname: bool = False
    items: tuple[tuple[str, ...], ...] = ()
    beside: frozenset[tuple[int, tuple[str, ...]]] = frozenset()


class Mention(NamedTuple):
    """Where a name stands in a text."""

    start: int
    end: int
    name: Name


def forms(side: str, written: str, asked: Sequence[Word]) -> Iterator[Name]:
    """Every form of an answer, the written one first; asked: the words of the question."""
    name = words(written)
    if not name:
        return
    whole = Name(side, _texts(name), name[0])
    yield whole
    for texts in dict.fromkeys(_equal_forms(written, name)):
        if texts != whole.texts:
            yield whole._replace(texts=texts, first=_first(name, texts))
    if (items := _items(written)) and len(items) > 1:
        yield from (whole._replace(texts=item, items=items) for item in dict.fromkeys(items))
    for texts in _times(name):
        yield whole._replace(texts=texts, exact=False)
    if (number := _bare_number(name)) is not None:
        yield whole._replace(texts=(number,), exact=False, bare=True)
    if (without_year := _without_year(name, asked)) is not None:
        yield whole._replace(texts=without_year, first=name[1], exact=False)
    if _is_person(name, asked):
        yield whole._replace(texts=(name[-1].text,), first=name[-1], exact=False, surname=True)


def _texts(name: Iterable[Word]) -> tuple[str, ...]:
    return tuple(word.text for word in name)


def _first(name: Sequence[Word], texts: Sequence[str]) -> Word:
    return next((word for word in name if word.text == texts[0]), name[0])


def _equal_forms(written: str, name: Sequence[Word]) -> Iterator[tuple[str, ...]]:
    """Other words that say the same as a name."""
    texts = _texts(name)
    if "(" in written and (outside := _texts(words(re.sub(r"\([^()]*\)", " ", written)))):
        yield outside
    if len(name) > 1 and texts[0] in _TITLES and texts[0] not in ("king", "queen", "president"):
        yield texts[1:]
    if len(name) > 1 and texts[0] in _WEEKDAYS and name[1].kind == "number":
        yield texts[1:]
    if any(word.joined and not word.text[0].isdigit() for word in name) and texts[0].isalpha():
        yield tuple(_without_hyphens(name))
    if name[-1].kind == "roman":
        yield (*texts[:-1], f"{texts[-1]}th")
    if len(name) > 1 and name[-1].kind == "ordinal" and name[0].capitals:
        yield (*texts[:-1], texts[-1].removesuffix("th"))
    if len(name) > 1 and texts[-1] == "i":
        yield from ((*texts[:-1], "1"), (*texts[:-1], "1th"))
    for sign, spoken in _SIGNS_IN_WORDS.items():
        if len(name) == 1 and texts[0].endswith(sign) and texts[0].rstrip("+-#").isalpha():
            yield from (_texts(words(texts[0].removesuffix(sign) + words_of_sign)) for words_of_sign in spoken)
            break
    if len(name) > 1 and texts[0] in _ARTICLES and not name[0].capitals:
        yield texts[1:]
    for place, word in enumerate(name[1:-1], 1):
        if word.text in ("to", "and", "until") and name[place - 1].kind == name[place + 1].kind == "number":
            yield (*texts[:place], *texts[place + 1 :])
    for place, word in enumerate(name[1:], 1):
        if word.kind == name[place - 1].kind == "number" and (word.joined or re.search(r"\d ?[–—] ?\d", written)):
            yield from ((*texts[:place], joint, *texts[place:]) for joint in ("to", "and", "until"))
            yield texts


def _without_hyphens(name: Sequence[Word]) -> list[str]:
    joined: list[str] = []
    for word in name:
        if word.joined and joined:
            joined[-1] += word.text
        else:
            joined.append(word.text)
    return joined


def _items(written: str) -> tuple[tuple[str, ...], ...]:
    """The parts of a list: red, white and blue. A date or number with a comma is none."""
    if re.search(r"\d, ?\d", written) or not re.search(r",|;|/|&|\band\b", written):
        return ()
    parts = [words(part) for part in re.split(r"[,;/&]|\band\b", written)]
    items = tuple(_texts(part) for part in parts if part)
    is_list = 1 < len(items) <= 8 and all(len(item) <= 4 for item in items)
    return items if is_list and not any(set(item) & _MONTHS for item in items) else ()


def _times(name: Sequence[Word]) -> Iterator[tuple[str, ...]]:
    """A time of day by the other ways to name its half of the day."""
    if len(name) != 1 or not re.fullmatch(r"(?:clock|dial)\d{4}", name[0].text):
        return
    kind, hour, minute = name[0].text[:-4], int(name[0].text[-4:-2]), name[0].text[-2:]
    if kind == "clock":
        yield (f"dial{hour % 12:02d}{minute}",)
    else:
        yield from ((f"clock{one:02d}{minute}",) for one in (hour, hour + 12))


def _bare_number(name: Sequence[Word]) -> str | None:
    """The number of a quantity without its unit, of a full hour without its o'clock."""
    if len(name) > 1 and name[0].kind == "number" and all(word.kind == "unit" for word in name[1:]):
        return name[0].text
    if len(name) == 1 and re.fullmatch(r"(?:clock|dial)\d\d00", name[0].text):
        return str(int(name[0].text[-4:-2]) % 12 or 12)
    return None


def _without_year(name: Sequence[Word], asked: Sequence[Word]) -> tuple[str, ...] | None:
    """The month and day of a date whose year the question names."""
    is_date = len(name) == 3 and name[0].kind == "number" and name[1].text in _MONTHS
    return _texts(name[1:]) if is_date and name[0].text in _texts(asked) else None


def _is_person(name: Sequence[Word], asked: Sequence[Word]) -> bool:
    """Whether the question asks for a person, and the name has a last one."""
    if not 2 <= len(name) <= 4 or not asked or len(name[-1].text) < 4 or not all(word.capitals for word in name):
        return False
    if any(word.kind != "word" or word.text in FUNCTION_WORDS for word in name) or name[-1].text in _texts(asked):
        return False
    return asked[0].text in ("who", "whom") or any(
        one.text in ("which", "what") and other.text in _PERSONS for one, other in pairwise(asked)
    )


def by_first(names: Iterable[Name]) -> dict[str, list[Name]]:
    """Names by the first of their words."""
    found: dict[str, list[Name]] = {}
    for name in names:
        found.setdefault(name.texts[0], []).append(name)
    return found


@lru_cache(maxsize=1)
def longer_names() -> tuple[Name, ...]:
    """Names in scripts without spaces that hold other names, and are nobody's answer."""
    return tuple(Name(None, _texts(name), name[0]) for name in map(words, sorted(_LONGER_NAMES)))


def mentions(text: Sequence[Word], names: Mapping[str, Sequence[Name]]) -> list[Mention]:
    """Every place where a name's words stand one behind the other, or the parts of a list in any order."""
    found = []
    for start, word in enumerate(text):
        for key in (word.text, *word.stems) if word.stems else (word.text,):
            for name in names.get(key, ()):
                end = _end_of_list(text, start, name.items) if name.items else _end(text, start, name.texts)
                if end:
                    found.append(Mention(start, end, name))
    return found


def _end(text: Sequence[Word], start: int, texts: Sequence[str]) -> int:
    """The place behind these words; 0 where others stand there."""
    end = start + len(texts)
    if end > len(text):
        return 0
    for word, wanted in zip(text[start:end], texts, strict=True):
        if word.text != wanted and wanted not in word.stems:
            return 0
    return end


def _end_of_list(text: Sequence[Word], start: int, items: Sequence[tuple[str, ...]]) -> int:
    """The place behind all parts of a list, with nothing but connecting words between them; 0 where one is missing."""
    missing, place, end = list(items), start, 0
    while missing and place < len(text):
        item = next((one for one in sorted(missing, key=len, reverse=True) if _end(text, place, one)), None)
        if item is not None:
            missing.remove(item)
            place = end = place + len(item)
        elif text[place].text in _CONNECTING and place > start:
            place += 1
        else:
            break
    return 0 if missing else end


def longest(found: Iterable[Mention]) -> list[Mention]:
    """The mentions that do not lie inside a longer one."""
    kept: list[Mention] = []
    for mention in sorted(found, key=lambda mention: (mention.start, -mention.end)):
        if not kept or mention.end > kept[-1].end or mention[:2] == kept[-1][:2]:
            kept.append(mention)
    return kept


def is_whole(text: Sequence[Word], mention: Mention) -> bool:
    """Whether the words are not part of a longer name, and are the answer rather than a word that is spelled as it."""
    start, end, name = mention
    first, behind = text[start], text[end] if end < len(text) else None
    before = text[start - 1] if start and not first.clause else None
    next_to = behind if behind and not behind.clause else None
    if first.joined and not (text[start - 1].text[-1].isdigit()):
        return False
    if next_to and next_to.joined and (next_to.capitals or not text[end - 1].capitals) and not first.text[0].isdigit():
        return False
    if before and before.text in _PART_OF_NAME and before.capitals and first.capitals:
        return False
    if (
        next_to
        and next_to.capitals
        and (
            next_to.kind == "roman"
            or (next_to.text == "city" and text[end - 1].capitals and name.texts not in _WHOLE_WITH_CITY)
        )
    ):
        return False
    if first.kind == "roman" and len(name.texts) == 1:
        return False
    if name.surname:
        is_another = before and before.capitals and before.text not in FUNCTION_WORDS | _TITLES | _PERSONS
        return bool(first.capitals) and not is_another
    if name.bare:
        return _stands_alone(text, mention)
    return len(name.texts) > 1 or first.text not in _ALSO_WORDS or _is_name(text, mention)


def _stands_alone(text: Sequence[Word], mention: Mention) -> bool:
    """Whether a number has no unit and no noun behind it."""
    behind = text[mention.end] if mention.end < len(text) else None
    if behind is None or behind.clause:
        return True
    return bool(mention.start) and text[mention.start - 1].text in _AT and behind.text in FUNCTION_WORDS


def _is_name(text: Sequence[Word], mention: Mention) -> bool:
    """Whether a word that is also a common one (May, Us, The Who, in) is meant as a name."""
    start, end, name = mention
    word, is_alone = text[start], len(text) == 1
    if is_alone:
        return True
    ends_clause = end == len(text) or text[end].clause
    if name.first.capitals == 0:
        return len(word.text) > 2 or word.text not in FUNCTION_WORDS or (ends_clause and not word.clause)
    if name.first.capitals == 2 and word.text != "i":  # "US" is a name in capitals alone
        return word.capitals == 2
    if name.first.article and word.article and word.capitals:
        return True
    if start == 0 or word.clause:
        return bool(word.capitals) and ends_clause
    return bool(word.capitals) and word.text != "i"
