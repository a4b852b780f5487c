"""The forms in which an answer may stand in a text: a table of kinds, each a function from an answer to other words.

    exact   say the same, wherever they stand: another order of a list, Henry the Eighth for Henry VIII, email, e-mail
    loose   say the same if nothing else of the reply fits the place, and not where they fit two answers alike: 9:00 for
            9 p.m., the month and day of a date whose year the question names
    bare    loose, and only at the end of a clause: 8 for 8 kg where the reply gives no unit
    person  loose, and only without another first name: the last name where the question asks for a person

Forms are derived from the answer that is looked for, never from the reply. The kinds are in of_names and of_numbers.
"""

import re
from collections.abc import Iterator, Sequence

from swaymeter.data.wording.word import PLACES, Answer, Kind, Name, Texts, Word, texts_of
from swaymeter.data.wording.words import words
from swaymeter.tasks.scoring.wording.forms import of_names, of_numbers

_MOST_WORDS = 12
"""Of an answer that has other forms; one with more is a sentence."""
_PLACE = "|".join(sorted(PLACES))


def _rewritten(*rows: tuple[str, str]) -> Kind:
    """A kind from patterns of whole answers, and their other forms between upright lines."""
    table = [(re.compile(pattern), templates.split("|")) for pattern, templates in rows]

    def kind(answer: Answer) -> Iterator[Texts]:
        for pattern, templates in table:
            if found := pattern.fullmatch(" ".join(answer.texts)):
                yield from (tuple(found.expand(template).split()) for template in templates)

    return kind


_EXACT = _rewritten(
    (r"([^\W\d_]+)\+\+", r"\1 plus plus"),  # C++
    (r"([^\W\d_]+)\+", r"\1 plus|\1 positive"),
    (r"([^\W\d_]+)-", r"\1 minus|\1 negative"),
    (r"([^\W\d_]+)#", r"\1 sharp"),
    (rf"(?=\S+(?: \S+){{1,3}}$)({_PLACE}) (?:of )?(.+)", r"\2 \1"),  # River Alme, University of Oslo
    (rf"(?=\S+(?: \S+){{1,3}}$)(?!(?:{_PLACE}) )(.+) ({_PLACE})", r"\2 \1|\2 of \1"),
    (r"(\S+(?: \S+)+) [市省县縣都府県州区국시]", r"\1"),
    (r"(spring|summer|winter)( .+|)", r"\1\2|\1 of\2"),
    (r"(?:autumn|fall)( .+|)", r"autumn\1|autumn of\1|fall\1|fall of\1"),
)
_LOOSE = _rewritten(
    (r"([a-z]{1,4})(\d{1,5})", r"\1 \2"),  # MH370
    (r"([a-z]{1,4}) (\d{1,5})", r"\1\2"),
    (r"(\S+) (c)elsius|(\S+) (f)ahrenheit", r"\1\3 degree|\1\3 \2\4"),
    (r"1/(\d+)", r"\1th"),  # a third, which is also an ordinal
    (r"0\.25", "quarter"),
)


def forms(side: str, written: str, asked: Sequence[Word]) -> Iterator[Name]:
    """Every form of an answer, the written one first; asked: the words of the question."""
    name = words(written)
    answer = Answer(written, name, texts_of(name), texts_of(asked))
    whole = Name(side, answer.texts, name[0], first_and_last=of_names.is_first_and_last(answer))
    known = {answer.texts}
    yield whole
    if len(name) > _MOST_WORDS:
        return
    for kinds, made in (
        ((*of_names.EXACT, *of_numbers.EXACT, _EXACT), whole),
        ((*of_names.LOOSE, *of_numbers.LOOSE, _LOOSE), whole._replace(exact=False)),
        (of_numbers.BARE, whole._replace(exact=False, bare=True)),
        (of_names.PERSON, whole._replace(exact=False, person=True)),
        (of_names.SHORT, whole._replace(exact=False, short=True)),
        (of_names.INITIALS, whole._replace(exact=False, first=name[0]._replace(capitals=2))),
    ):
        for texts in (texts for kind in kinds for texts in kind(answer)):
            if texts and texts not in known:
                known.add(texts)
                first = next((word for word in name if word.text == texts[0]), name[0])
                yield made._replace(texts=texts, first=made.first if made.first is not name[0] else first)
    listed = of_names.items(written)
    yield from (whole._replace(texts=item, items=listed) for item in dict.fromkeys(listed))
