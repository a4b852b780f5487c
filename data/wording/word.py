"""Types for the parts of a text and the forms of an answer, and tables of common words."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

Texts = tuple[str, ...]
"""Words as they are compared."""


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, for a table of words."""
    return frozenset(text.split())


def phrase_set(text: str) -> frozenset[Texts]:
    """Return the phrases of a text, between upright lines, for a table of phrases."""
    return frozenset(tuple(phrase.split()) for phrase in text.split("|"))


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
MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
PERSONS = word_set(
    "person man woman actor actress author writer novelist poet playwright screenwriter filmmaker director producer "
    "composer singer musician rapper artist painter sculptor architect scientist physicist chemist mathematician "
    "philosopher economist politician president minister senator governor king queen emperor general explorer "
    "astronaut inventor engineer player footballer athlete coach boxer journalist comedian conductor animator teacher "
    "designer founder leader mayor pilot officer judge lawyer doctor professor chef dancer wife husband son daughter"
)
PLACES = word_set("river lake mount mountain island city university gulf bay sea ocean street bridge cape desert")
AUXILIARIES = word_set("is was are were be am do does did has have had can could will would should may might must")
FUNCTION_WORDS_ELSEWHERE = word_set(
    "der die das den dem des ein eine einen in im am an auf zu mit von und fur ist sind war hat haben wird kann "
    "darf es sie er man mi mu ли gun gunu gunleri "
    "la el los las le les un una une est elle il on se esta son hay del de a en e "
    "wer wie wo wann welche welcher welches welchem welchen heisst hiess wurde wurden bei seit als"
)
"""Of German, French, Spanish, Turkish and Russian."""


class Token(NamedTuple):
    """A part of a text as it was written.

    Attributes:
        kind: word, number (in figures), sign (of comparison) or character (of a script without spaces).
        text: The token as it was written.
        folded: The token as it is compared.
        clause: True if it begins a clause: punctuation stands before it.
        joined: A hyphen, or a word in katakana, joins it to the token before.
        glued: Nothing separates it from the token before.
        stems: Its forms without a suffix, a prefix or a particle.
    """

    kind: str
    text: str
    folded: str
    clause: bool = False
    joined: bool = False
    glued: bool = False
    stems: tuple[str, ...] = ()


class Word(NamedTuple):
    """A normalised word.

    Attributes:
        text: The word as it is compared.
        clause: As of a token.
        joined: As of a token.
        capitals: 0 for none, 1 for its first letter, 2 for all letters.
        article: "the" or "a" stood before it.
        kind: word, number, ordinal, roman (a number in Roman numerals behind a name), unit or sign.
        stems: As of a token.
    """

    text: str
    clause: bool = False
    joined: bool = False
    capitals: int = 0
    article: bool = False
    kind: str = "word"
    stems: tuple[str, ...] = ()


def texts_of(name: Iterable[Word]) -> Texts:
    """Return the words as they are compared."""
    return tuple(word.text for word in name)


class Name(NamedTuple):
    """A form of an answer to look for.

    Attributes:
        side: The side of the answer; None for a longer name that contains an answer and means something else.
        texts: Its words as they are compared.
        first: The first word as it is written.
        exact: True if it states the answer wherever it stands; see `tasks.scoring.wording.forms`.
        person: It is the last name of a person.
        items: The items of a list.
        are_ordered: The order of the items matters.
    """

    side: str | None
    texts: Texts
    first: Word
    exact: bool = True
    person: bool = False
    items: tuple[Texts, ...] = ()
    are_ordered: bool = False


class Answer(NamedTuple):
    """An answer as it is written, its words, and the words of the question."""

    written: str
    name: tuple[Word, ...]
    texts: Texts
    question: Texts


Kind = Callable[[Answer], Iterable[Texts]]
"""A rule that gives the words of further forms of an answer."""
