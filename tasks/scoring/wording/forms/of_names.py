"""Other forms of names, words, signs and lists."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise

from swaymeter.data.wording.word import (
    FUNCTION_WORDS,
    MONTHS,
    PERSONS,
    PLACES,
    TITLES,
    Answer,
    Kind,
    Texts,
    texts_of,
    word_set,
)
from swaymeter.data.wording.words import words

_DROPPED_TITLES = TITLES - word_set("king queen president saint lord lady")
_ARTICLES = word_set("la le les el los las der die das den dem il lo gli un une una uno ein eine einen het de os as o")
_APPROXIMATE = word_set("about approximately roughly around nearly almost circa c ca some exactly only")
_COMPANIES = word_set("inc incorporated corp corporation ltd limited llc plc gmbh ag co company")
_PARTICLES = word_set("von van de der den la di da del dos bin al le ter zu")
_WHERE = word_set("where city town place located capital born wo donde ou")
_WEEKDAYS = word_set("monday tuesday wednesday thursday friday saturday sunday")
_DIMENSIONS = word_set("old long tall high wide deep away")
_GERMAN = word_set("wer wie was wo wann welche welcher welches welchem welchen wohin woher woraus ist der die das")


def _without_addition(answer: Answer) -> Iterator[Texts]:
    """Without brackets, a title, a weekday before a date, an article, "about", or "Inc."."""
    name, texts = answer.name, answer.texts
    if "(" in answer.written:
        yield texts_of(words(re.sub(r"\([^()]*\)", " ", answer.written)))
    if len(name) == 1:
        return
    if texts[0] in _DROPPED_TITLES | _APPROXIMATE or (texts[0] in _ARTICLES and not name[0].capitals):
        yield texts[1:]
    if texts[0] in _WEEKDAYS and name[1].kind == "number":
        yield texts[1:]
    if texts[-1] in _COMPANIES or (texts[-1] in _DIMENSIONS and name[-2].kind == "unit"):
        yield texts[:-1]


def _without_hyphen(answer: Answer) -> Iterator[Texts]:
    """In one word: email, roleplaying."""
    joined: list[str] = []
    for word in answer.name:
        if word.joined and joined and word.text.isalpha():
            joined[-1] += word.text
        else:
            joined.append(word.text)
    yield tuple(joined)


def _ordinal(answer: Answer) -> Iterator[Texts]:
    """Henry the Eighth for Henry VIII, and the other way round."""
    name, texts = answer.name, answer.texts
    if name[-1].kind == "roman":
        yield (*texts[:-1], f"{texts[-1]}th")
    elif len(name) > 1 and texts[-1] == "i":
        yield from ((*texts[:-1], "1"), (*texts[:-1], "1th"))
    elif len(name) > 1 and name[-1].kind == "ordinal" and name[0].capitals:
        yield (*texts[:-1], texts[-1].removesuffix("th"))


def _inflected(answer: Answer) -> Iterator[Texts]:
    """Rotem Sandstein for roter Sandstein: the endings of a German adjective before its noun."""
    name, texts = answer.name, answer.texts
    if len(name) == 2 and name[1].capitals and not name[0].capitals:
        stem = re.fullmatch(r"(\w{3,}?)e[rsnm]?", texts[0])
        yield from ((f"{stem[1]}{ending}", texts[1]) for ending in ("e", "er", "es", "en", "em") if stem)


def _of_type(answer: Answer) -> Iterator[Texts]:
    """USB Type-C for USB-C."""
    if len(answer.texts) == 2 and answer.name[1].joined and len(answer.texts[1]) == 1:
        yield (answer.texts[0], "type", answer.texts[1])


def _with_ending(answer: Answer) -> Iterator[Texts]:
    """Blaue for blau, and den Niederlanden for die Niederlande, where the question is German."""
    name, texts = answer.name, answer.texts
    if not _GERMAN.isdisjoint(answer.asked):
        if len(texts) == 1 and name[0].kind == "word" and len(texts[0]) > 2:
            yield from ((f"{texts[0]}{ending}",) for ending in ("e", "er", "es", "en", "em", "n"))
        elif len(texts) == 2 and texts[0] in _ARTICLES:
            yield from ((f"{texts[1]}{ending}",) for ending in ("n", "en", "es"))


def _with_e(answer: Answer) -> Iterator[Texts]:
    """Muenchen for München, and the other way round."""
    spelled = re.sub("[äöüÄÖÜ]", lambda match: f"{unicodedata.normalize('NFD', match[0])[0]}e", answer.written)
    if spelled != answer.written:
        yield texts_of(words(spelled))


def _without_country(answer: Answer) -> Iterator[Texts]:
    """Paris for "Paris, France" where the question asks for a place."""
    if re.fullmatch(r"[^\d,;/&]+,[^\d,;/&]+", answer.written) and not _WHERE.isdisjoint(answer.asked):
        yield texts_of(words(answer.written.partition(",")[0]))


def _without_kind(answer: Answer) -> Iterator[Texts]:
    """The Alme for the River Alme where the question asks for a river."""
    texts = answer.texts
    if len(texts) > 1 and texts[0] in PLACES.intersection(answer.asked):
        yield texts[2:] if texts[1] == "of" else texts[1:]
    elif len(texts) > 1 and texts[-1] in PLACES.intersection(answer.asked):
        yield texts[:-1]


def _without_middle_name(answer: Answer) -> Iterator[Texts]:
    """John Kennedy for John F. Kennedy."""
    if len(answer.texts) == 3 and all(word.capitals for word in answer.name) and _asks_for_person(answer.asked):
        yield (answer.texts[0], answer.texts[2])


def is_first_and_last(answer: Answer) -> bool:
    """Whether it is a first and a last name."""
    are_names = all(word.capitals == 1 and not word.joined for word in answer.name)
    return are_names and len(answer.texts) == 2 and _asks_for_person(answer.asked)


def _without_last_word(answer: Answer) -> Iterator[Texts]:
    """The Oslo Philharmonic for the Oslo Philharmonic Orchestra where the question asks for an orchestra."""
    name, texts = answer.name, answer.texts
    if len(texts) > 2 and texts[-1] in answer.asked and name[0].capitals and name[-1].capitals:
        yield texts[:-1]


def _initials(answer: Answer) -> Iterator[Texts]:
    """BBC for British Broadcasting Corporation."""
    letters = [word.text[0] for word in answer.name if word.capitals and not word.joined]
    is_name = all(word.capitals or word.text in FUNCTION_WORDS for word in answer.name)
    if len(letters) > 2 and is_name and answer.written.isascii() and not _asks_for_person(answer.asked):
        yield ("".join(letters),)


def _last_name(answer: Answer) -> Iterator[Texts]:
    """The last name of a person."""
    name, texts = answer.name, answer.texts
    if not 2 <= len(name) <= 5 or not _asks_for_person(answer.asked) or not name[0].capitals or len(texts[-1]) < 4:
        return
    if any(word.kind != "word" or not (word.capitals or word.text in _PARTICLES) for word in name):
        return
    if texts[-1] not in answer.asked and texts[-1] not in PLACES | _COMPANIES | FUNCTION_WORDS:
        last = next(place for place in range(len(name) - 1, -1, -1) if not name[place].joined)
        yield texts[last:]
        first = next((place for place, text in enumerate(texts) if place and text in _PARTICLES), 0)
        yield texts[first:] if first else ()


def _asks_for_person(asked: Sequence[str]) -> bool:
    return bool(asked) and (
        asked[0] in ("who", "whom", "whose", "wer", "quien", "qui", "chi", "quem", "кто", "kim")
        or any(one in ("which", "what") and other in PERSONS for one, other in pairwise(asked))
    )


def items(written: str) -> tuple[Texts, ...]:
    """The parts of a list: red, white and blue. A date or number with a comma is none."""
    if re.search(r"\d, ?\d", written) or not re.search(r",|;|/|&|\band\b", written):
        return ()
    items = tuple(texts_of(words(part)) for part in re.split(r"[,;/&]|\band\b", written) if words(part))
    is_list = 1 < len(items) <= 8 and all(len(item) <= 4 for item in items)
    return items if is_list and not any(set(item).intersection(MONTHS) for item in items) else ()


EXACT: tuple[Kind, ...] = (_without_addition, _without_hyphen, _ordinal, _inflected, _of_type, _with_e)
LOOSE: tuple[Kind, ...] = (_without_country, _without_kind, _without_middle_name, _with_ending)
SHORT: tuple[Kind, ...] = (_without_last_word,)
INITIALS: tuple[Kind, ...] = (_initials,)
PERSON: tuple[Kind, ...] = (_last_name,)
