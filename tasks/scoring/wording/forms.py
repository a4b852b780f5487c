"""The forms of an answer: other words that count as the answer in a reply.

    exact     states the answer in any reply: email for e-mail, 5 to 7 for 5-7
    loose     states the answer if the same words are neither an exact form of either side's answer nor any form of the
              other side's answer: 9:00 for 9 p.m., 1500 m for 1.5 km, the month and day of a date
    person    a loose form: the last name of a person; it does not count after another first name
    initials  a loose form in capitals: BBC for British Broadcasting Corporation

An answer is the context's or the original answer; the sides are `context` and `original`. A rule is a function from an
answer to forms of one kind. Forms are derived from the answer, never from the reply.
"""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product

from swaymeter.data.wording.numbers.number_words import figures_of
from swaymeter.data.wording.word import (
    FUNCTION_WORDS,
    MONTHS,
    PERSONS,
    PLACES,
    TITLES,
    Answer,
    FormRule,
    Name,
    Texts,
    Word,
    texts_of,
    word_set,
)
from swaymeter.data.wording.words import words
from swaymeter.tasks.scoring.wording.lists import ORDERING, items_of_answer

_MAX_WORDS = 12
"""Limit of the words of an answer that has other forms; a longer answer is a sentence."""

_DECIDING = PLACES | ORDERING
"""Words of a question that decide about forms of any answer. A word that question and answer share decides, too."""
_LANDMARK = "|".join(sorted(PLACES))
_DROPPED_TITLES = TITLES - word_set("king queen president saint lord lady")
_ARTICLES = word_set("la le les el los las der die das den dem il lo gli un une una uno ein eine einen het de os as o")
_APPROXIMATE = word_set("about approximately roughly around nearly almost circa c ca some exactly only")
_PARTICLES = word_set("von van de der den la di da del dos bin al le ter zu")
_COMPANIES = word_set("inc incorporated corp corporation ltd limited llc plc gmbh ag co company")

_CONNECTORS = word_set("to and until till through")
_TIME = re.compile(r"(clock|dial)(\d\d)(\d\d)")
"""A time as `swaymeter.data.wording` writes it: clock2100 for 9 p.m. (24 hours), dial0900 for 9:00 (12 hours)."""
_RATIOS = """
kilometre metre 1000
metre centimetre 100
centimetre millimetre 10
tonne kilogram 1000
kilogram gram 1000
litre millilitre 1000
week day 7
day hour 24
hour minute 60
minute second 60
year month 12
gigabyte megabyte 1024
gigabyte megabyte 1000
terabyte gigabyte 1024
terabyte gigabyte 1000
"""
"""A unit, a smaller unit, and the number of smaller units in one larger unit."""


def forms(side: str, written: str, question: Texts) -> tuple[Name, ...]:
    """Return every form of an answer, the written form first.

    Args:
        side: The side of the answer: context or original.
        written: The answer as the study has it.
        question: The normal forms of the question's words.
    """
    deciding_words = (_DECIDING | set(texts_of(words(written)))).intersection(question)
    return tuple(form._replace(side=side) for form in _forms(written, deciding_words, _asks_for_person(question)))


@lru_cache(maxsize=4096)  # both sides, and questions of a kind, have answers in common
def _forms(written: str, deciding_words: frozenset[str], is_of_person: bool) -> tuple[Name, ...]:
    """Return the forms of an answer, without a side; `deciding_words` are words of the question (see `_DECIDING`)."""
    answer_words = words(written)
    return tuple(_distinct_forms(Answer(written, answer_words, texts_of(answer_words), deciding_words, is_of_person)))


def _distinct_forms(answer: Answer) -> Iterator[Name]:
    """Yield each form of an answer once; if several rules give a form, the first rule counts."""
    answer_words = answer.words
    whole = Name(None, answer.texts, answer_words[0])
    yielded = {answer.texts}
    yield whole
    if len(answer_words) > _MAX_WORDS:
        return
    in_capitals = answer_words[0]._replace(capitals=2)  # 2: all letters are capitals
    loose = whole._replace(exact=False)
    for rules, form in (
        (EXACT, whole),
        (LOOSE, loose),
        (PERSON, loose._replace(is_last_name=True)),
        (INITIALS, loose),
    ):
        for texts in (texts for rule in rules for texts in rule(answer)):
            if texts and texts not in yielded:
                yielded.add(texts)
                first = next((word for word in answer_words if word.text == texts[0]), answer_words[0])
                yield form._replace(texts=texts, first=in_capitals if rules is INITIALS else first)
    if listed := items_of_answer(answer.written, answer.question):
        for item in dict.fromkeys(listed.items):
            yield whole._replace(texts=item, items=listed.items, are_ordered=listed.are_ordered)


def _pattern_rule(*rows: tuple[str, str]) -> FormRule:
    """Return a rule from rows: a pattern of whole answers, and templates of their other forms, separated by "|"."""
    table = [(re.compile(pattern), templates.split("|")) for pattern, templates in rows]

    def rule(answer: Answer) -> Iterator[Texts]:
        written = " ".join(answer.texts)
        for pattern, templates in table:
            if match := pattern.fullmatch(written):
                yield from (tuple(match.expand(template).split()) for template in templates)

    return rule


_exact_patterns = _pattern_rule(
    (r"([^\W\d_]+)\+\+", r"\1 plus plus"),  # C++
    (r"([^\W\d_]+)\+", r"\1 plus|\1 positive"),
    (r"([^\W\d_]+)-", r"\1 minus|\1 negative"),
    (r"([^\W\d_]+)#", r"\1 sharp"),
    (rf"(?=\S+(?: \S+){{1,3}}$)({_LANDMARK}) (?:of )?(.+)", r"\2 \1"),  # River Alme, University of Oslo
    (rf"(?=\S+(?: \S+){{1,3}}$)(?!(?:{_LANDMARK}) )(.+) ({_LANDMARK})", r"\2 \1|\2 of \1"),
    (r"(spring|summer|winter)( .+|)", r"\1\2|\1 of\2"),
    (r"(?:autumn|fall)( .+|)", r"autumn\1|autumn of\1|fall\1|fall of\1"),
)
_loose_patterns = _pattern_rule(
    (r"(mon|tue|wed|thu|fri|sat|sun)\w*day", r"\1|\1s"),
    (r"(thur)sday", r"\1|\1s"),
)


def _without_addition(answer: Answer) -> Iterator[Texts]:
    """Drop brackets, a title, an article, "about", or "Inc."."""
    answer_words, texts = answer.words, answer.texts
    if "(" in answer.written:
        yield texts_of(words(re.sub(r"\([^()]*\)", " ", answer.written)))
    if len(answer_words) == 1:
        return
    if texts[0] in _DROPPED_TITLES | _APPROXIMATE or (texts[0] in _ARTICLES and not answer_words[0].capitals):
        yield texts[1:]
    if texts[-1] in _COMPANIES:
        yield texts[:-1]


def _without_hyphen(answer: Answer) -> Iterator[Texts]:
    """Write one word for words with a hyphen: email, roleplaying; USB Type-C for USB-C."""
    joined: list[str] = []
    for word in answer.words:
        if word.joined and joined and word.text.isalpha():
            joined[-1] += word.text
        else:
            joined.append(word.text)
    yield tuple(joined)
    if len(answer.texts) == 2 and answer.words[1].joined and len(answer.texts[1]) == 1:
        yield (answer.texts[0], "type", answer.texts[1])


def _ing_form(answer: Answer) -> Iterator[Texts]:
    """Write a first verb with -ing: leaving for leave."""
    answer_words, texts = answer.words, answer.texts
    if len(texts) > 1 and answer_words[0].kind == "word" and not answer_words[0].capitals and texts[0].isalpha():
        yield (f"{texts[0].removesuffix('e')}ing", *texts[1:])


def _without_landmark(answer: Answer) -> Iterator[Texts]:
    """Drop a kind of place that the question names: the Alme for the River Alme."""
    texts, kinds = answer.texts, PLACES.intersection(answer.question)
    if len(texts) > 1 and texts[0] in kinds:
        yield texts[2:] if texts[1] == "of" else texts[1:]
    elif len(texts) > 1 and texts[-1] in kinds:
        yield texts[:-1]


def _without_last_word(answer: Answer) -> Iterator[Texts]:
    """Drop the last word if the question has it: Oslo Philharmonic for Oslo Philharmonic Orchestra."""
    answer_words, texts = answer.words, answer.texts
    if len(texts) > 2 and texts[-1] in answer.question and answer_words[0].capitals and answer_words[-1].capitals:
        yield texts[:-1]


def _initials(answer: Answer) -> Iterator[Texts]:
    """Write BBC for British Broadcasting Corporation."""
    letters = [word.text[0] for word in answer.words if word.capitals and not word.joined]
    is_name = all(word.capitals or word.text in FUNCTION_WORDS for word in answer.words)
    if len(letters) > 2 and is_name and answer.written.isascii() and not answer.is_of_person:
        yield ("".join(letters),)


def _without_middle_name(answer: Answer) -> Iterator[Texts]:
    """Write John Kennedy for John F. Kennedy, J. Kennedy for John Kennedy."""
    texts = answer.texts
    if answer.is_of_person and all(word.capitals for word in answer.words):
        if len(texts) == 3:
            yield (texts[0], texts[2])
        if len(texts) == 2 and len(texts[0]) > 1:
            yield (texts[0][0], texts[1])


def _last_name(answer: Answer) -> Iterator[Texts]:
    answer_words, texts = answer.words, answer.texts
    if not 2 <= len(answer_words) <= 5 or not answer.is_of_person or not answer_words[0].capitals or len(texts[-1]) < 4:
        return
    if any(word.kind != "word" or not (word.capitals or word.text in _PARTICLES) for word in answer_words):
        return
    if texts[-1] not in answer.question and texts[-1] not in PLACES | _COMPANIES | FUNCTION_WORDS:
        last = next(index for index in range(len(answer_words) - 1, -1, -1) if not answer_words[index].joined)
        yield texts[last:]


def _asks_for_person(question: Sequence[str]) -> bool:
    return bool(question) and (
        question[0] in ("who", "whom", "whose", "wer", "quien", "qui", "chi", "quem", "кто", "kim")
        or any(word in ("which", "what") and following in PERSONS for word, following in pairwise(question))
    )


def _range(answer: Answer) -> Iterator[Texts]:
    """Write "5 to 7" and "5 and 7" for 5-7; likewise for times, such as "9 a.m. to 5 p.m."."""
    answer_words, texts = answer.words, answer.texts
    for index in range(1, len(answer_words)):
        connector = texts[index] if texts[index] in _CONNECTORS else ""
        end = index + 1 if connector else index
        if end < len(answer_words) and _is_amount(answer_words[index - 1]) and _is_amount(answer_words[end]):
            if not (connector or answer_words[end].joined or re.search(r"[–—-]", answer.written)):
                continue
            for between in ((), ("to",), ("and",), ("until",)):
                yield (*texts[:index], *between, *texts[end:])
                if texts[end + 1 :]:  # "2 °C to 8 °C" for "2 to 8 °C"
                    yield (*texts[:index], *texts[end + 1 :], *between, *texts[end:])


def _is_amount(word: Word) -> bool:
    return word.kind == "number" or _TIME.fullmatch(word.text) is not None


def _in_other_units(answer: Answer) -> Iterator[Texts]:
    """Write 1500 m for 1.5 km, 2048 MB for 2 GB."""
    if len(answer.texts) != 2 or not re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", answer.texts[0]):
        return
    number, unit = Fraction(answer.texts[0]), answer.texts[1]
    for large, small, ratio in (row.split() for row in _RATIOS.strip().splitlines()):
        if unit == large:
            yield (figures_of(number * int(ratio)), small)
        elif unit == small:
            yield (figures_of(number / int(ratio)), large)


def _other_half_of_day(answer: Answer) -> Iterator[Texts]:
    """Write a time without its half of the day, or with either half: 9:00 for 9 p.m., and 9 p.m. for 9:00."""
    if not 1 <= sum(_TIME.fullmatch(text) is not None for text in answer.texts) <= 3:
        return
    for texts in (answer.texts, *_range(answer)):
        yield from product(*(tuple(_other_times(text)) for text in texts))


def _other_times(text: str) -> Iterator[str]:
    """Yield a word and, for a time, the same time with 12 or 24 hours."""
    yield text
    if time := _TIME.fullmatch(text):
        hour, minute = int(time[2]), time[3]
        if time[1] == "clock":
            yield f"dial{hour % 12:02d}{minute}"
        else:
            yield from (f"clock{clock:02d}{minute}" for clock in (hour, hour + 12))


def _date(answer: Answer) -> Iterator[Texts]:
    """Write a date without its year, and in figures, with day and month in either order."""
    texts = answer.texts
    month = next((index for index, text in enumerate(texts) if text in MONTHS), -1)
    # The normalised words of "12 May" are may, 12d, and those of "12 May 1990" are 1990, may, 12d.
    if month not in (0, 1) or len(texts) != month + 2 or not re.fullmatch(r"\d{1,2}d", texts[-1]):
        return
    day, month_number = texts[-1].removesuffix("d"), str(MONTHS.index(texts[month]) + 1)
    if month == 0:
        yield (f"{day}.{int(month_number):02d}",)
        yield (f"{day}.{month_number}",)
    else:
        yield from ((texts[0], month_number, day), (texts[0], day, month_number))
        year = texts[0][2:]
        yield from ((f"{int(day):02d}.{int(month_number):02d}.{year}",), (f"{day}.{month_number}.{year}",))
        yield texts[1:]


def _share(answer: Answer) -> Iterator[Texts]:
    """Write 0.25, one in four and 25% for a quarter, and likewise for the other notations of a share."""
    number, *unit = ("1/4",) if answer.texts == ("quarter",) else answer.texts
    between = answer.texts[1:-1]
    if unit and between in (("in",), ("out", "of"), ("of",)) and f"{number}{unit[-1]}".isdigit():  # 1 in 4
        number, unit = f"{number}/{unit[-1]}", []
    if unit not in ([], ["percent"]) or not re.fullmatch(r"\d{1,9}(?:\.\d{1,9}|/[1-9]\d?)?", number):
        return
    share = Fraction(number) / (100 if unit else 1)
    if not 0 < share < 1:
        return
    numerator, denominator = str(share.numerator), str(share.denominator)
    yield (figures_of(share),)
    yield from (
        (numerator, "in", denominator),
        (numerator, "out", "of", denominator),
        (figures_of(share * 100), "percent"),
    )


def _without_thousands_point(answer: Answer) -> Iterator[Texts]:
    """Write 2500 for 2.500, because a point separates thousands in many languages."""
    if grouped := re.match(r"(\d{1,3})\.(\d{3})(?![\d.,])", answer.written):
        yield (grouped[1] + grouped[2], *answer.texts[1:])


EXACT: tuple[FormRule, ...] = (
    _without_addition,
    _without_hyphen,
    _ing_form,
    _range,
    _exact_patterns,
)
LOOSE: tuple[FormRule, ...] = (
    _without_landmark,
    _without_last_word,
    _without_middle_name,
    _other_half_of_day,
    _date,
    _share,
    _without_thousands_point,
    _in_other_units,
    _loose_patterns,
)
PERSON: tuple[FormRule, ...] = (_last_name,)
INITIALS: tuple[FormRule, ...] = (_initials,)
