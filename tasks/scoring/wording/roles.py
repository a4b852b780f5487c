"""In which role a text names something: as what is asked for, or as something beside it.

    relatives   "Ann Lind's brother", "the brother of Ann Lind" name another person than Ann Lind
    segments    the words around a name up to punctuation or a conjunction; of two names, one whose segment has the
                question's words answers it, and one with another verb does not: "founded by Ann; Bob joined later"
    attached    of two amounts that which the question's own word follows: 8 GB of RAM and 64 GB of storage

What it is not: a parser. Where two names stand in equal segments it says nothing.
"""

from collections.abc import Sequence
from typing import NamedTuple

from swaymeter.data.wording.word import (
    AUXILIARIES,
    FUNCTION_WORDS,
    FUNCTION_WORDS_ELSEWHERE,
    TITLES,
    Word,
    word_set,
)
from swaymeter.tasks.scoring.wording.opposites import IRREGULAR, is_opposite, is_same

_RELATIVES = word_set(
    "brother sister sibling wife husband widow widower spouse son daughter child father mother parent stepson "
    "stepmother stepfather stepdaughter cousin nephew niece uncle aunt grandson granddaughter grandfather grandmother "
    "ancestor descendant teacher student pupil mentor apprentice assistant friend rival colleague successor "
    "predecessor partner boyfriend girlfriend fiance fiancee lover servant secretary biographer opponent bruder "
    "schwester vater mutter sohn tochter schwiegersohn schwiegertochter ehemann ehefrau witwe vetter cousine neffe "
    "nichte onkel tante lehrer schuler freund freundin rivale kollege nachfolger nachfolgerin vorganger vorgangerin"
)
_BY_VERBS = (
    (word_set("student pupil apprentice schuler"), word_set("taught teach teache train trained mentored lehrte")),
    (word_set("wife husband widow widower"), word_set("married marry heiratete")),
    (word_set("son daughter child"), word_set("born raised")),
)
"""Relatives, and verbs of a question that asks for whose they are."""
_AWAY = word_set("from of")
_DIRECTIONS = word_set("north south east west northeast northwest southeast southwest")
_OF = word_set("of von des der von to")
_LINKS = word_set("and but while whereas which who where though although then und wahrend wobei mais et pero y")
_OPENING = word_set("since after when because as before until once nachdem weil seit")
_SAYING = word_set(
    "said stated named called mentioned according claimed attributed credited listed described cited given identified "
    "believed considered thought known provided based regarded following including suggested indicated reported "
    "text source article website brochure leaflet context information first second 1th 2th one other another "
    "say know passage think mention claim state accord give"
)
_VERBS = word_set(
    "join move play close end finish begin start arrive depart born write direct produce work "
    "live study marry retire resign leave follow support narrate attend visit "
    "kam kommt zog zieht wuchs starb stiess schrieb ging arbeitete lebte studierte heiratete spielte spielt fuhrte"
)
_EMPTY = FUNCTION_WORDS | FUNCTION_WORDS_ELSEWHERE | AUXILIARIES
_UNTIL = word_set("to until till bis and")
_OPENING_VERBS = word_set("open begin start offnet beginnt")
_CLOSING_VERBS = word_set("close end finish schliesst endet")
_PRONOUNS = word_set("it he she they")
_TIMES = word_set(
    "monday tuesday wednesday thursday friday saturday sunday weekday weekend day year morning evening winter summer "
    "today now currently later earlier also first"
)


def is_of_another(text: Sequence[Word], start: int, end: int, asked: Sequence[Word]) -> bool:
    """Whether the words from start to end only say whose relative, or what near by, is meant.

    Ann Lind's brother, the brother of Ann Lind; 70 km from Oslo, north of Oslo.
    """
    if start > 1 and text[start - 1].text in _AWAY and not text[start].clause:
        is_distance = text[start - 2].kind == "unit" and text[start - 1].text == "from"
        if (is_distance or text[start - 2].text in _DIRECTIONS) and _AWAY.isdisjoint(word.text for word in asked):
            return True
    for place in range(end, min(end + 3, len(text))):
        word = text[place]
        if word.clause or word.text in _EMPTY:
            break
        if word.text in _RELATIVES:
            return _is_about_another(word.text, asked)
        if word.capitals:
            break
    for place in range(start - 1, max(start - 4, 0), -1):
        if text[place + 1].clause:
            break
        if text[place].text in _OF:
            noun = text[place - 1].text
            return noun in _RELATIVES and not text[place].clause and _is_about_another(noun, asked)
        if text[place].text in FUNCTION_WORDS or (text[place].capitals and text[place].text not in TITLES):
            break
    return False


def _is_about_another(noun: str, asked: Sequence[Word]) -> bool:
    """Whether a question does not ask whose relative somebody is, nor for the other relative of two."""
    texts = [word.text for word in asked]
    if any(noun in nouns and not verbs.isdisjoint(texts) for nouns, verbs in _BY_VERBS):
        return False
    if noun not in texts:
        return _RELATIVES.isdisjoint(texts)
    place = texts.index(noun)
    behind = texts[place + 1 : place + 3]
    if behind[:1] and behind[0] in _OF:
        return behind[1:] not in (["which"], ["whom"], ["what"], ["who"])
    return place > 1 and asked[place - 1].capitals > 0


class _Segment(NamedTuple):
    """What stands around a name.

    start: where the name stands; matched: the words of the question in it; verbs, nouns: whether it has verbs and other
    words that are not in the question; finite: whether it has an auxiliary;
    attached: whether the next word behind the name is in the question, None where there is none.
    """

    start: int
    matched: frozenset[str]
    verbs: bool
    nouns: bool
    finite: bool
    attached: bool | None


def answering(text: Sequence[Word], places: Sequence[tuple[int, int, str | None]], asked: Sequence[Word]) -> list[bool]:
    """Which of the names of two sides (start, end, side) may answer the question: those that no other surpasses."""
    content = [word.text for word in asked if word.text not in _EMPTY]
    if not content:
        return [True] * len(places)
    texts = {word.text for word in asked}
    ends = -1 if not _OPENING_VERBS.isdisjoint(texts) else 1 if not _CLOSING_VERBS.isdisjoint(texts) else 0
    segments = [_segment(text, start, end, content) for start, end, _ in places]
    return [
        not (ends and _is_end_of_range(text, start, end, ends))
        and not any(
            side != other and _surpasses(beside, segment) for (*_, other), beside in zip(places, segments, strict=True)
        )
        for (start, end, side), segment in zip(places, segments, strict=True)
    ]


def _is_end_of_range(text: Sequence[Word], start: int, end: int, which: int) -> bool:
    """Whether a time is the end of a range of times (from 9 to 5) that is not asked for: -1 the last, 1 the first."""
    beside, further = (start - 1, start - 2) if which < 0 else (end, end + 1)
    if not 0 <= further < len(text) or text[beside].text not in _UNTIL:
        return False
    return text[further].text.startswith(("clock", "dial"))


def _surpasses(one: _Segment, other: _Segment) -> bool:
    if one.attached and other.attached is False:
        return True
    if not one.matched or one.verbs:
        return False
    if other.verbs:
        return not other.matched > one.matched
    if other.nouns and one.matched > other.matched and (other.finite or other.start > one.start):
        return True
    if not other.matched or not other.nouns or not one.matched >= other.matched:
        return False
    return one.matched > other.matched or not one.nouns


def _segment(text: Sequence[Word], start: int, end: int, asked: Sequence[str]) -> _Segment:
    left, right = start, end
    while left and not text[left].clause and text[left - 1].text not in _LINKS and not _opens(text, left - 1):
        left -= 1
    while right < len(text) and not text[right].clause and text[right].text not in _LINKS and not _opens(text, right):
        right += 1
    is_led = any(not word.capitals and word.text not in _EMPTY for word in text[left:start])
    if left and text[left].clause and not is_led and not any(map(_is_verb, text[end:right])):
        left -= 1  # an apposition: born in Richmond, Virginia
        while left and not text[left].clause and text[left - 1].text not in _LINKS:
            left -= 1
    matched: set[str] = set()
    verbs = nouns = finite = is_pronoun = False
    for word in (*text[left:start], *text[end:right]):
        found = next((one for one in asked if is_same(one, word.text)), None)
        is_pronoun = is_pronoun or word.text in _PRONOUNS
        finite = finite or word.text in AUXILIARIES
        if found is not None:
            matched.add(found)
        elif word.kind == "number" and any(one.isdigit() for one in asked):
            nouns = True  # another year
        elif word.text in _EMPTY or word.text in _SAYING or word.text in _TIMES or word.kind != "word":
            continue
        elif _is_verb(word) or any(is_opposite(one, word.text) for one in asked):
            verbs = True
        elif not word.capitals:
            nouns = True
    behind = [word.text for word in text[end:right] if word.text != "of" and word.kind != "number"]
    is_amount = text[start].kind == "number" and bool(behind) and behind[0] not in _EMPTY
    attached = any(is_same(one, behind[0]) for one in asked) if is_amount else None
    return _Segment(start, frozenset(matched), verbs, nouns and not is_pronoun, finite, attached)


def _opens(text: Sequence[Word], place: int) -> bool:
    """Whether a conjunction opens a clause there: since Tom retired, not since 2015."""
    return text[place].text in _OPENING and place + 1 < len(text) and text[place + 1].capitals > 0


def _is_verb(word: Word) -> bool:
    text = word.text
    if word.capitals or text == "left":
        return False
    is_form = (len(text) > 4 and text.endswith("ed")) or (len(text) > 5 and text.endswith("ing"))
    return is_form or text in _VERBS or text.removeprefix("re") in IRREGULAR
