"""Tables of common words, and types for the parts of a text and for the forms of an answer."""

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import NamedTuple

Texts = tuple[str, ...]
"""Normal forms of words, such as ("new", "york")."""


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


def phrase_set(text: str) -> frozenset[Texts]:
    """Return the phrases of a text, which are separated by "|"."""
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
FOREIGN_FUNCTION_WORDS = word_set(
    "der die das den dem des ein eine einen in im am an auf zu mit von und fur ist sind war hat haben wird kann "
    "darf es sie er man mi mu ли gun gunu gunleri "
    "la el los las le les un una une est elle il on se esta son hay del de a en e "
    "wer wie wo wann welche welcher welches welchem welchen heisst hiess wurde wurden bei seit als"
)
"""Function words of German, French, Spanish, Turkish and Russian."""


class Token(NamedTuple):
    """A part of a written text.

    Attributes:
        kind: word, number (in figures), sign (of comparison) or character (of a script without spaces).
        written: The token as the text has it.
        folded: The normal form, which is compared.
        begins_clause: True if the token begins a clause, after punctuation.
        joined: True if a hyphen stands between the token and the token before, or if both are one katakana word.
        follows_token: True if the token before ends where the token begins, without a space between.
        stems: The token's forms without a suffix, a prefix or a particle.
    """

    kind: str
    written: str
    folded: str
    begins_clause: bool = False
    joined: bool = False
    follows_token: bool = False
    stems: tuple[str, ...] = ()


class Word(NamedTuple):
    """A normalised word.

    Attributes:
        text: The normal form, which is compared.
        begins_clause: True if the word begins a clause, as in `Token`.
        joined: True if the word is joined to the word before, as in `Token`.
        capitals: 0 for no capitals, 1 for a first letter in capitals, 2 for all letters.
        article: True if "the" or "a" preceded the word in the text.
        kind: word, number, ordinal, roman (a number in Roman numerals after a name), unit or sign.
        stems: The word's forms without a suffix, a prefix or a particle.
    """

    text: str
    begins_clause: bool = False
    joined: bool = False
    capitals: int = 0
    article: bool = False
    kind: str = "word"
    stems: tuple[str, ...] = ()


_TEXT = attrgetter("text")


def texts_of(words: Iterable[Word]) -> Texts:
    """Return the normal forms of words."""
    return tuple(map(_TEXT, words))


class Name(NamedTuple):
    """A form of an answer, such as a name, for which a reply or a context is searched.

    Attributes:
        side: The side whose answer the form is, context or original; None for a longer name that contains an answer
            and means something else.
        texts: The normal forms of its words.
        first: The first word.
        exact: True for an exact form, False for a loose form (see `tasks.scoring.wording.forms`).
        is_last_name: True for the last name of a person.
        items: The items of an answer that is a list; empty for other answers.
        are_ordered: True if the order of the items matters.
    """

    side: str | None
    texts: Texts
    first: Word
    exact: bool = True
    is_last_name: bool = False
    items: tuple[Texts, ...] = ()
    are_ordered: bool = False


class Answer(NamedTuple):
    """An answer from which further forms are derived.

    Attributes:
        written: The answer as the study has it.
        words: The words of the answer.
        texts: The normal forms of these words.
        question: The words of the question that decide about forms (see `tasks.scoring.wording.forms`).
        is_of_person: True if the question asks for a person.
    """

    written: str
    words: tuple[Word, ...]
    texts: Texts
    question: frozenset[str]
    is_of_person: bool


FormRule = Callable[[Answer], Iterable[Texts]]
"""A function that yields the words of further forms of an answer."""
