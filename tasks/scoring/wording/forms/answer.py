"""An answer that is looked for, and a form of it."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from swaymeter.tasks.scoring.wording.word import Texts, Word


class Name(NamedTuple):
    """A form of an answer to look for.

    side: whose answer it is, None for a longer name that is nobody's; texts: its words as they are compared; first: the
    first of them as it is written; exact, bare,
    person, short: see kinds; first_and_last: whether it may have a middle name; items: of a list, its parts in any
    order;    beside: what stands beside it in the question.
    """

    side: str | None
    texts: Texts
    first: Word
    exact: bool = True
    bare: bool = False
    person: bool = False
    short: bool = False
    first_and_last: bool = False
    items: tuple[Texts, ...] = ()
    beside: frozenset[tuple[int, Texts]] = frozenset()


class Answer(NamedTuple):
    """An answer as it is written, its words, and the words of the question."""

    written: str
    name: tuple[Word, ...]
    texts: Texts
    asked: Texts


Kind = Callable[[Answer], Iterable[Texts]]
"""From an answer to the words of its other forms."""
