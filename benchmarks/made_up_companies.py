"""Passages about companies that nobody has founded, as long as one wants them, and questions that they answer.

A company has six passages: one that states the facts, one that is out of date and states others, and four about other
things. Everything follows from the company's number.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from swaymeter.data.records import OwnKind, Passage

PASSAGES = 6
HALF_A_SENTENCE = 10  # tokens

_BEGINNINGS = ("Brum", "Ostre", "Velk", "Quarn", "Tolm", "Ysse", "Drav", "Hesk", "Marn", "Zeld", "Fenn", "Gorv")
_ENDS = ("vek", "lund", "ista", "mere", "dale", "quil", "anth", "osk", "ewick", "ulla", "oram", "iff")
_FIRST = ("Ilka", "Bertil", "Runa", "Casimo", "Odette", "Torvin", "Maelis", "Jorunn", "Pavlin", "Sunniva")
_GOODS = ("tide gauges", "bread ovens", "signal lamps", "cargo sledges", "church bells", "paper lanterns")

QUESTIONS = (
    "In which town is the head office of {company}?", "Who founded {company}?", "In which year was {company} founded?",
    "What does {company} make?", "Who leads {company}?", "How many people work at {company}?",
    "Which company did {company} buy?", "Where is the oldest workshop of {company}?",
)  # fmt: skip
"""What the first passage of a company answers, and the second one answers otherwise."""

_FACTS = (
    "The head office of {company} is in {town}.", "{company} was founded by {person}.", "It was founded in {year}.",
    "{company} makes {goods}.", "The head of {company} is {other_person}.", "{number} people work at {company}.",
    "{company} has bought {other_company}.", "The oldest workshop of {company} is in {other_town}.",
)  # fmt: skip
_SENTENCES = (
    "In {year}, {number} {goods} were sent to {town} by barge.",
    "{person} keeps the accounts of the warehouse in {town}.",
    "The road from {town} to {other_town} was closed for {number} days in {year}.",
    "A visitor from {other_company} counted {number} crates beside the gate.",
    "The museum of {town} shows a drawing that {person} made in {year}.",
    "Since {year}, the ferry to {other_town} has carried {goods} every {number} hours.",
    "{other_person} wrote {number} letters to the harbour office about {goods}.",
    "After the flood of {year}, the canteen moved from {town} to {other_town}.",
)
_KINDS: tuple[OwnKind, ...] = ("supporting", "conflicting", *["irrelevant"] * (PASSAGES - 2))  # type: ignore[assignment]


@dataclass(frozen=True)
class Company:
    """A company: its name, its passages, and the questions about it."""

    name: str
    passages: tuple[Passage, ...]
    questions: tuple[str, ...]


def company(number: int, length: int, tokens_of: Callable[[str], int]) -> Company:
    """The company of that number; length: of a passage, about, in tokens as `tokens_of` counts those of a sentence."""
    chosen = random.Random(f"company {number}")
    name = f"{_name(chosen)} {number + 1}"
    passages = []
    for kind in _KINDS:
        begun = _FACTS if kind in ("supporting", "conflicting") else ()
        passages.append(Passage(_passage(chosen, name, begun, length, tokens_of), kind))
    return Company(name, tuple(passages), tuple(question.format(company=name) for question in QUESTIONS))


def rotated(passages: Sequence[Passage], start: int) -> tuple[Passage, ...]:
    """The passages in the order that begins with the one at `start`."""
    return (*passages[start:], *passages[:start])


def _passage(
    chosen: random.Random, company: str, begun: Sequence[str], length: int, tokens_of: Callable[[str], int]
) -> str:
    sentences = [_filled(chosen, sentence, company) for sentence in begun]
    tokens = sum(map(tokens_of, sentences))
    while tokens + HALF_A_SENTENCE < length:
        sentences.append(_filled(chosen, chosen.choice(_SENTENCES), company))
        tokens += tokens_of(f" {sentences[-1]}")
    return " ".join(sentences)


def _filled(chosen: random.Random, sentence: str, company: str) -> str:
    return sentence.format(
        company=company, town=_name(chosen), other_town=_name(chosen), other_company=f"{_name(chosen)} Brothers",
        person=f"{chosen.choice(_FIRST)} {_name(chosen)}", other_person=f"{chosen.choice(_FIRST)} {_name(chosen)}",
        goods=chosen.choice(_GOODS), year=chosen.randrange(1800, 2000), number=chosen.randrange(12, 990),
    )  # fmt: skip


def _name(chosen: random.Random) -> str:
    return chosen.choice(_BEGINNINGS) + chosen.choice(_ENDS)
