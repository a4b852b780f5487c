"""The forms in which an answer may stand in a text: a table of kinds, each a function from an answer to other words.

    exact   say the same, wherever they stand: another order of a list, Henry the Eighth for Henry VIII, email, e-mail
    loose   say the same if nothing else of the reply fits the place, and not where they fit two answers alike: 9:00 for
            9 p.m., the month and day of a date whose year the question names
    bare    loose, and only at the end of a clause: 8 for 8 kg where the reply gives no unit
    person  loose, and only without another first name: the last name where the question asks for a person

Forms are derived from the answer that is looked for, never from the reply: a reply with other words is no guess.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import NamedTuple

from tasks.scoring.wording.figures import written_out
from tasks.scoring.wording.word import Word, word_set
from tasks.scoring.wording.words import words

Texts = tuple[str, ...]
FUNCTION_WORDS = word_set(
    "a about after all also am an and any are as at be been before being but by can could did do does for from had has "
    "have he her him his how i if in into is it its may me more most my no nor not of off on once only or our out over "
    "own same she should so some such than that the their them then there these they this those to too under until up "
    "us was we were what when where which while who whom whose why will with would you your"
)
TITLES = word_set(
    "frau herr herrn dr prof "
    "sir dame mr mrs ms miss doctor professor lord lady king queen president senator captain saint"
)
_DROPPED_TITLES = TITLES - word_set("king queen president saint lord lady")
_ARTICLES = word_set("la le les el los las der die das den dem il lo gli un une una uno ein eine einen het de os as o")
_APPROXIMATE = word_set("about approximately roughly around nearly almost circa c ca some exactly only")
_COMPANIES = word_set("inc incorporated corp corporation ltd limited llc plc gmbh ag co company")
_PARTICLES = word_set("von van de der den la di da del dos bin al le ter zu")
_PLACES = word_set("river lake mount mountain island city university gulf bay sea ocean street bridge cape desert")
_WHERE = word_set("where city town place located capital born wo donde ou")
_WEEKDAYS = word_set("monday tuesday wednesday thursday friday saturday sunday")
MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
          "december")  # fmt: skip
_SEASONS = word_set("spring summer autumn fall winter")
_DIMENSIONS = word_set("old long tall high wide deep away")
_CONNECTORS = word_set("to and until till through")
PERSONS = word_set(
    "person man woman actor actress author writer novelist poet playwright screenwriter filmmaker director producer "
    "composer singer musician rapper artist painter sculptor architect scientist physicist chemist mathematician "
    "philosopher economist politician president minister senator governor king queen emperor general explorer "
    "astronaut inventor engineer player footballer athlete coach boxer journalist comedian conductor animator teacher "
    "designer founder leader mayor pilot officer judge lawyer doctor professor chef dancer wife husband son daughter"
)
_SIGNS: Mapping[str, tuple[str, ...]] = {
    "++": ("plus plus",), "+": ("plus", "positive"), "-": ("minus", "negative"), "#": ("sharp",),
}  # fmt: skip
_GERMAN = word_set("wer wie was wo wann welche welcher welches welchem welchen wohin woher woraus ist der die das")
_RATIOS = (
    ("kilometre", "metre", (1000,)), ("metre", "centimetre", (100,)), ("centimetre", "millimetre", (10,)),
    ("tonne", "kilogram", (1000,)), ("kilogram", "gram", (1000,)), ("litre", "millilitre", (1000,)),
    ("week", "day", (7,)), ("day", "hour", (24,)), ("hour", "minute", (60,)), ("minute", "second", (60,)),
    ("year", "month", (12,)), ("gigabyte", "megabyte", (1024, 1000)), ("terabyte", "gigabyte", (1024, 1000)),
)  # fmt: skip
"""How many of the second unit make one of the first."""
_MOST_WORDS = 12
"""Of an answer that has other forms; one with more is a sentence."""
_TIME = re.compile(r"(clock|dial)(\d\d)(\d\d)")
_MINUTES = {5: "5", 10: "10", 15: "quarter", 20: "20", 25: "25"}


class Name(NamedTuple):
    """A form of an answer to look for.

    side: whose answer it is, None for a longer name that is nobody's; texts: its words as they are compared; first: the
    first of them as it is written; exact, bare, person: see the module; items: of a list, its parts in any order;
    beside: what stands beside it in the question.
    """

    side: str | None
    texts: Texts
    first: Word
    exact: bool = True
    bare: bool = False
    person: bool = False
    items: tuple[Texts, ...] = ()
    beside: frozenset[tuple[int, Texts]] = frozenset()


class _Answer(NamedTuple):
    """An answer as it is written, its words, and the words of the question."""

    written: str
    name: tuple[Word, ...]
    texts: Texts
    asked: Texts


def forms(side: str, written: str, asked: Sequence[Word]) -> Iterator[Name]:
    """Every form of an answer, the written one first; asked: the words of the question."""
    name = words(written)
    answer = _Answer(written, name, texts_of(name), texts_of(asked))
    whole = Name(side, answer.texts, name[0])
    known = {answer.texts}
    yield whole
    if len(name) > _MOST_WORDS:
        return
    for kinds, made in (
        (_EXACT, whole),
        (_LOOSE, whole._replace(exact=False)),
        (_BARE, whole._replace(exact=False, bare=True)),
        ((_last_name,), whole._replace(exact=False, person=True)),
    ):
        for texts in (texts for kind in kinds for texts in kind(answer)):
            if texts and texts not in known:
                known.add(texts)
                first = next((word for word in name if word.text == texts[0]), name[0])
                yield made._replace(texts=texts, first=first)
    items = _items(written)
    yield from (whole._replace(texts=item, items=items) for item in dict.fromkeys(items))


def texts_of(name: Iterable[Word]) -> Texts:
    """The words as they are compared."""
    return tuple(word.text for word in name)


def _without_addition(answer: _Answer) -> Iterator[Texts]:
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


def _without_hyphen(answer: _Answer) -> Iterator[Texts]:
    """In one word: email, roleplaying."""
    joined: list[str] = []
    for word in answer.name:
        if word.joined and joined and word.text.isalpha():
            joined[-1] += word.text
        else:
            joined.append(word.text)
    yield tuple(joined)


def _ordinal(answer: _Answer) -> Iterator[Texts]:
    """Henry the Eighth for Henry VIII, and the other way round."""
    name, texts = answer.name, answer.texts
    if name[-1].kind == "roman":
        yield (*texts[:-1], f"{texts[-1]}th")
    elif len(name) > 1 and texts[-1] == "i":
        yield from ((*texts[:-1], "1"), (*texts[:-1], "1th"))
    elif len(name) > 1 and name[-1].kind == "ordinal" and name[0].capitals:
        yield (*texts[:-1], texts[-1].removesuffix("th"))


def _sign_in_words(answer: _Answer) -> Iterator[Texts]:
    """C plus plus, AB negative."""
    (text, *further) = answer.texts
    sign = next((sign for sign in _SIGNS if text.endswith(sign)), None)
    if not further and sign and text.removesuffix(sign).isalpha():
        yield from ((text.removesuffix(sign), *spoken.split()) for spoken in _SIGNS[sign])


def _range(answer: _Answer) -> Iterator[Texts]:
    """5-7, 5 to 7, between 5 and 7; 9 a.m. to 5 p.m."""
    name, texts = answer.name, answer.texts
    for place in range(1, len(name)):
        connector = texts[place] if texts[place] in _CONNECTORS else ""
        end = place + 1 if connector else place
        if end < len(name) and _is_amount(name[place - 1]) and _is_amount(name[end]):
            if not (connector or name[end].joined or re.search(r"[–—-]", answer.written)):
                continue
            for between in ((), ("to",), ("and",), ("until",)):
                yield (*texts[:place], *between, *texts[end:])


def _is_amount(word: Word) -> bool:
    return word.kind == "number" or _TIME.fullmatch(word.text) is not None


def _decade(answer: _Answer) -> Iterator[Texts]:
    """The 90s for the 1990s; the 1700s for the 18th century."""
    texts = answer.texts
    for place, text in enumerate(texts):
        if re.fullmatch(r"19\d0s", text):
            yield (*texts[:place], text[2:], *texts[place + 1 :])
        elif re.fullmatch(r"\d0s", text):
            yield (*texts[:place], f"19{text}", *texts[place + 1 :])
    if len(texts) == 2 and texts[1] == "century" and answer.name[0].kind == "ordinal":
        yield (f"{int(texts[0].removesuffix('th')) - 1}00s",)


def _of_year(answer: _Answer) -> Iterator[Texts]:
    """Spring of 2019 for spring 2019, fall for autumn."""
    if answer.texts[0] in _SEASONS:
        names = ("autumn", "fall") if answer.texts[0] in ("autumn", "fall") else answer.texts[:1]
        yield from ((name, *between, *answer.texts[1:]) for name in names for between in ((), ("of",)))


def _place_reversed(answer: _Answer) -> Iterator[Texts]:
    """Alme River for River Alme, Oslo University for University of Oslo."""
    texts = answer.texts
    if 2 <= len(texts) <= 4 and texts[0] in _PLACES:
        yield (*(texts[2:] if texts[1] == "of" else texts[1:]), texts[0])
    elif 2 <= len(texts) <= 4 and texts[-1] in _PLACES:
        yield from ((texts[-1], *texts[:-1]), (texts[-1], "of", *texts[:-1]))


def _inflected(answer: _Answer) -> Iterator[Texts]:
    """Rotem Sandstein for roter Sandstein: the endings of a German adjective before its noun."""
    name, texts = answer.name, answer.texts
    if (
        len(name) == 2
        and not name[0].capitals
        and name[1].capitals
        and (stem := re.fullmatch(r"(\w{3,}?)e[rsnm]?", texts[0]))
    ):
        yield from ((f"{stem[1]}{ending}", texts[1]) for ending in ("e", "er", "es", "en", "em"))


def _of_type(answer: _Answer) -> Iterator[Texts]:
    """USB Type-C for USB-C."""
    if len(answer.texts) == 2 and answer.name[1].joined and len(answer.texts[1]) == 1:
        yield (answer.texts[0], "type", answer.texts[1])


def _with_ending(answer: _Answer) -> Iterator[Texts]:
    """Blaue for blau, and den Niederlanden for die Niederlande, where the question is German."""
    name, texts = answer.name, answer.texts
    if not _GERMAN.isdisjoint(answer.asked):
        if len(texts) == 1 and name[0].kind == "word" and len(texts[0]) > 2:
            yield from ((f"{texts[0]}{ending}",) for ending in ("e", "er", "es", "en", "em", "n"))
        elif len(texts) == 2 and texts[0] in _ARTICLES:
            yield from ((f"{texts[1]}{ending}",) for ending in ("n", "en", "es"))


def _in_other_units(answer: _Answer) -> Iterator[Texts]:
    """1500 m for 1.5 km, 2048 MB for 2 GB."""
    if len(answer.texts) != 2 or not re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", answer.texts[0]):
        return
    number, unit = Fraction(answer.texts[0]), answer.texts[1]
    for large, small, ratios in _RATIOS:
        for ratio in ratios:
            if unit == large:
                yield (written_out(number * ratio), small)
            elif unit == small:
                yield (written_out(number / ratio), large)


def _with_e(answer: _Answer) -> Iterator[Texts]:
    """Muenchen for München, and the other way round."""
    spelled = re.sub("[äöüÄÖÜ]", lambda match: f"{unicodedata.normalize('NFD', match[0])[0]}e", answer.written)
    if spelled != answer.written:
        yield texts_of(words(spelled))


def _without_suffix(answer: _Answer) -> Iterator[Texts]:
    """北京 for 北京市."""
    if len(answer.texts) >= 3 and answer.texts[-1] in word_set("市 省 县 縣 都 府 県 州 区 국 시"):
        yield answer.texts[:-1]


def _half_of_day(answer: _Answer) -> Iterator[Texts]:
    """A time by the other ways to name its half of the day, and before the hour: 9:00 for 9 p.m., ten to eleven."""
    if not 1 <= sum(_TIME.fullmatch(text) is not None for text in answer.texts) <= 3:
        return
    for texts in (answer.texts, *_range(answer)):
        yield from product(*(tuple(_other_times(text)) for text in texts))
    if len(answer.texts) == 1 and (time := _TIME.fullmatch(answer.texts[0])):
        hour, minute = int(time[2]), int(time[3])
        if before := _MINUTES.get(60 - minute):
            yield (before, "to", str(hour % 12 + 1))
        if minute == 0:
            yield (str(hour), "hour")


def _other_times(text: str) -> Iterator[str]:
    yield text
    if time := _TIME.fullmatch(text):
        hour, minute = int(time[2]), time[3]
        if time[1] == "clock":
            yield f"dial{hour % 12:02d}{minute}"
        else:
            yield from (f"clock{one:02d}{minute}" for one in (hour, hour + 12))


def _time_of_hours(answer: _Answer) -> Iterator[Texts]:
    """9h00 for 9 heures."""
    if len(answer.texts) == 2 and answer.texts[1] == "hour" and re.fullmatch(r"1?\d|2[0-3]", answer.texts[0]):
        hour = int(answer.texts[0])
        yield from ((f"clock{hour:02d}00",), (f"dial{hour % 12:02d}00",))


def _date_otherwise(answer: _Answer) -> Iterator[Texts]:
    """A date without the year that the question names, and in figures of which nobody knows the order: 5/6/1990."""
    texts = answer.texts
    month = next((place for place, text in enumerate(texts) if text in MONTHS), -1)
    if month < 0 or len(texts) != month + 2 or not re.fullmatch(r"\d{1,2}d", texts[-1]):
        return
    day, number = texts[-1].removesuffix("d"), str(MONTHS.index(texts[month]) + 1)
    if month == 0:
        yield (f"{day}.{int(number):02d}",)
        yield (f"{day}.{number}",)
    elif month == 1:
        yield from ((texts[0], number, day), (texts[0], day, number))
        if texts[0] in answer.asked:
            yield texts[1:]


def _share(answer: _Answer) -> Iterator[Texts]:
    """25%, a quarter, one in four and 0.25."""
    number, *unit = ("1/4",) if answer.texts == ("quarter",) else answer.texts
    if unit not in ([], ["percent"]) or not re.fullmatch(r"\d{1,9}(?:\.\d{1,9}|/[1-9]\d?)?", number):
        return
    share = Fraction(number) / (100 if unit else 1)
    if not 0 < share < 1:
        return
    above, below = str(share.numerator), str(share.denominator)
    yield (written_out(share),)
    yield from ((above, "in", below), (above, "out", "of", below), (written_out(share * 100), "percent"))


def _grouped(answer: _Answer) -> Iterator[Texts]:
    """2500 for 2.500, as a point groups thousands in many languages."""
    if grouped := re.match(r"(\d{1,3})\.(\d{3})(?![\d.,])", answer.written):
        yield (grouped[1] + grouped[2], *answer.texts[1:])


def _third(answer: _Answer) -> Iterator[Texts]:
    """A third, which is also an ordinal, for 1/3."""
    if len(answer.texts) == 1 and (part := re.fullmatch(r"1/(\d+)", answer.texts[0])):
        yield (f"{part[1]}th",)
    elif answer.texts == ("0.25",):
        yield ("quarter",)


def _degrees(answer: _Answer) -> Iterator[Texts]:
    """20 degrees for 20 °C."""
    if len(answer.texts) == 2 and answer.texts[1] in ("celsius", "fahrenheit"):
        yield from ((answer.texts[0], "degree"), (answer.texts[0], "c" if answer.texts[1] == "celsius" else "f"))


def _small_m(answer: _Answer) -> Iterator[Texts]:
    """1.5m, which is also a length, for 1.5 million."""
    number = answer.texts[0]
    if number.isdigit() and 6 < len(number) < 20 and number.endswith("00000"):
        millions = f"{int(number) // 10**6}.{number[-6]}".removesuffix(".0")
        yield (millions, "metre", *answer.texts[1:])


def _without_country(answer: _Answer) -> Iterator[Texts]:
    """Paris for "Paris, France" where the question asks for a place."""
    if re.fullmatch(r"[^\d,;/&]+,[^\d,;/&]+", answer.written) and not _WHERE.isdisjoint(answer.asked):
        yield texts_of(words(answer.written.partition(",")[0]))


def _without_kind(answer: _Answer) -> Iterator[Texts]:
    """The Alme for the River Alme where the question asks for a river."""
    texts = answer.texts
    if len(texts) > 1 and texts[0] in _PLACES.intersection(answer.asked):
        yield texts[2:] if texts[1] == "of" else texts[1:]
    elif len(texts) > 1 and texts[-1] in _PLACES.intersection(answer.asked):
        yield texts[:-1]


def _without_middle_name(answer: _Answer) -> Iterator[Texts]:
    """John Kennedy for John F. Kennedy."""
    if len(answer.texts) == 3 and all(word.capitals for word in answer.name) and _asks_for_person(answer.asked):
        yield (answer.texts[0], answer.texts[2])


def _without_unit(answer: _Answer) -> Iterator[Texts]:
    """The number of a quantity; a full hour in figures alone."""
    name = answer.name
    if 1 < len(name) <= 4 and name[0].kind == "number":
        if all(word.kind in ("unit", "word") and (word.kind == "unit" or not word.capitals) for word in name[1:]):
            yield answer.texts[:1]
    elif len(name) > 2 and name[0].kind == "sign" and name[1].kind == "number" and name[2].kind == "unit":
        yield answer.texts[:2]
    elif len(name) == 1 and (time := _TIME.fullmatch(name[0].text)) and time[3] == "00":
        yield from {(str(int(time[2]) % 12 or 12),), (str(int(time[2])),)}


_Kind = Callable[[_Answer], Iterable[Texts]]
_EXACT: tuple[_Kind, ...] = (
    _without_addition, _without_hyphen, _ordinal, _sign_in_words, _range, _decade, _of_year, _place_reversed,
    _inflected, _of_type, _with_e, _without_suffix,
)  # fmt: skip
_LOOSE: tuple[_Kind, ...] = (
    _half_of_day, _time_of_hours, _date_otherwise, _share, _grouped, _third, _degrees, _in_other_units, _small_m,
    _without_country, _without_kind, _without_middle_name, _with_ending,
)  # fmt: skip
_BARE: tuple[_Kind, ...] = (_without_unit,)


def _last_name(answer: _Answer) -> Iterator[Texts]:
    """The last name of a person."""
    name, texts = answer.name, answer.texts
    if not 2 <= len(name) <= 5 or not _asks_for_person(answer.asked) or not name[0].capitals or len(texts[-1]) < 4:
        return
    if any(word.kind != "word" or not (word.capitals or word.text in _PARTICLES) for word in name):
        return
    if texts[-1] not in answer.asked and texts[-1] not in _PLACES | _COMPANIES | FUNCTION_WORDS:
        last = next(place for place in range(len(name) - 1, -1, -1) if not name[place].joined)
        yield texts[last:]
        first = next((place for place, text in enumerate(texts) if place and text in _PARTICLES), 0)
        yield texts[first:] if first else ()


def _asks_for_person(asked: Sequence[str]) -> bool:
    return bool(asked) and (
        asked[0] in ("who", "whom", "whose", "wer", "quien", "qui", "chi", "quem")
        or any(one in ("which", "what") and other in PERSONS for one, other in pairwise(asked))
    )


def _items(written: str) -> tuple[Texts, ...]:
    """The parts of a list: red, white and blue. A date or number with a comma is none."""
    if re.search(r"\d, ?\d", written) or not re.search(r",|;|/|&|\band\b", written):
        return ()
    items = tuple(texts_of(words(part)) for part in re.split(r"[,;/&]|\band\b", written) if words(part))
    is_list = 1 < len(items) <= 8 and all(len(item) <= 4 for item in items)
    return items if is_list and not any(set(item).intersection(MONTHS) for item in items) else ()
