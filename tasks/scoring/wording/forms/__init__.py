"""The forms in which an answer may stand in a text: a table of kinds, each a function from an answer to other words.

    exact   say the same, wherever they stand: another order of a list, Henry the Eighth for Henry VIII, email, e-mail
    loose   say the same if nothing else of the reply fits the place, and not where they fit two answers alike: 9:00 for
            9 p.m., the month and day of a date whose year the question names
    bare    loose, and only at the end of a clause: 8 for 8 kg where the reply gives no unit
    person  loose, and only without another first name: the last name where the question asks for a person

Forms are derived from the answer that is looked for, never from the reply. The kinds are in of_names and of_numbers.
"""

from collections.abc import Iterator, Sequence

from swaymeter.tasks.scoring.wording.forms import of_names, of_numbers
from swaymeter.tasks.scoring.wording.word import Answer, Name, Word, texts_of
from swaymeter.tasks.scoring.wording.words import words

_MOST_WORDS = 12
"""Of an answer that has other forms; one with more is a sentence."""


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
        ((*of_names.EXACT, *of_numbers.EXACT), whole),
        ((*of_names.LOOSE, *of_numbers.LOOSE), whole._replace(exact=False)),
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
