"""Passages of any length about invented companies, and questions that the passages answer.

A company has six passages. The first states facts, the second states outdated facts that contradict the first, and four
are about other things. Names, facts and passages all follow from the number of the company.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from swaymeter.data.records import OwnKind, Passage

PASSAGES = 6
HALF_A_SENTENCE = 10  # tokens; a passage gets a further sentence if it lacks more tokens than this

_BEGINNINGS = ("Brum", "Ostre", "Velk", "Quarn", "Tolm", "Ysse", "Drav", "Hesk", "Marn", "Zeld", "Fenn", "Gorv")
_ENDS = ("vek", "lund", "ista", "mere", "dale", "quil", "anth", "osk", "ewick", "ulla", "oram", "iff")
_FIRST = ("Ilka", "Bertil", "Runa", "Casimo", "Odette", "Torvin", "Maelis", "Jorunn", "Pavlin", "Sunniva")
_GOODS = ("tide gauges", "bread ovens", "signal lamps", "cargo sledges", "church bells", "paper lanterns")

QUESTIONS = (
    "In which town is the head office of {company}?",
    "Who founded {company}?",
    "In which year was {company} founded?",
    "What does {company} make?",
    "Who leads {company}?",
    "How many people work at {company}?",
    "Which company did {company} buy?",
    "Where is the oldest workshop of {company}?",
)
"""Questions to which the first and the second passage of a company give different answers."""

_FACTS = (
    "The head office of {company} is in {town}.",
    "{company} was founded by {person}.",
    "It was founded in {year}.",
    "{company} makes {goods}.",
    "The head of {company} is {other_person}.",
    "{number} people work at {company}.",
    "{company} has bought {other_company}.",
    "The oldest workshop of {company} is in {other_town}.",
)
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
    """Return the company with a number.

    Args:
        number: Number of the company, from 0.
        length: Approximate length of a passage in tokens.
        tokens_of: Function from a sentence to its number of tokens.
    """
    rng = random.Random(f"company {number}")
    name = f"{_name(rng)} {number + 1}"
    passages = []
    for kind in _KINDS:
        facts = _FACTS if kind in ("supporting", "conflicting") else ()
        passages.append(Passage(_passage(rng, name, facts, length, tokens_of), kind))
    return Company(name, tuple(passages), tuple(question.format(company=name) for question in QUESTIONS))


def rotated(passages: Sequence[Passage], start: int) -> tuple[Passage, ...]:
    """Return the passages in rotated order, beginning with the passage at `start`."""
    return (*passages[start:], *passages[:start])


def _passage(
    rng: random.Random, company: str, facts: Sequence[str], length: int, tokens_of: Callable[[str], int]
) -> str:
    """Return a passage that begins with facts and continues with other sentences up to about `length` tokens."""
    sentences = [_filled(rng, sentence, company) for sentence in facts]
    tokens = sum(map(tokens_of, sentences))
    while tokens + HALF_A_SENTENCE < length:
        sentences.append(_filled(rng, rng.choice(_SENTENCES), company))
        tokens += tokens_of(f" {sentences[-1]}")
    return " ".join(sentences)


def _filled(rng: random.Random, sentence: str, company: str) -> str:
    return sentence.format(
        company=company,
        town=_name(rng),
        other_town=_name(rng),
        other_company=f"{_name(rng)} Brothers",
        person=f"{rng.choice(_FIRST)} {_name(rng)}",
        other_person=f"{rng.choice(_FIRST)} {_name(rng)}",
        goods=rng.choice(_GOODS),
        year=rng.randrange(1800, 2000),
        number=rng.randrange(12, 990),
    )


def _name(rng: random.Random) -> str:
    return rng.choice(_BEGINNINGS) + rng.choice(_ENDS)
