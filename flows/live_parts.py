"""The parts that live questions are fetched in: what each is called, its files, and several of them read together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from data.errors import SwaymeterError
from data.sources.http.manners import printable
from data.workspace import Stored

Found = TypeVar("Found")

PAGES_WORK = "fetch x pages"
"""What fetching the list of controversial pages is called."""


def seeds_work(name: str) -> str:
    """What fetching a list of facts is called."""
    return f"fetch x {name} facts" if name != "seeds" else "fetch x seeds"


def property_work(relation: str) -> str:
    """What fetching a property's questions is called."""
    return f"fetch x {relation} questions"


def page_work(title: str) -> str:
    """What searching a page for disputes is called."""
    return f"fetch x page {printable(title)}"


def writing_work(title: str) -> str:
    """What writing the questions of a page's disputes is called."""
    return f"write x page {printable(title)}"


@dataclass(frozen=True)
class Part:
    """One part of the live questions, a property or a page: where its questions, and what became none, are kept."""

    name: str
    questions: Stored
    dropped: Stored

    def exists(self) -> bool:
        """Whether both files are there."""
        return self.questions.exists() and self.dropped.exists()


def together(parts: Sequence[Callable[[], Sequence[Found]]]) -> list[Found]:
    """What the parts that can be read hold; SwaymeterError, that of the first, where nothing is held and any cannot."""
    found: list[Found] = []
    problems: list[SwaymeterError] = []
    for part in parts:
        try:
            found += part()
        except SwaymeterError as error:
            problems.append(error)
    if problems and not found:
        raise problems[0]
    return found


def or_nothing(names: Callable[[], Sequence[Found]]) -> Sequence[Found]:
    """What is asked for; nothing where a file that tells it is not there or cannot be read, which is said elsewhere."""
    try:
        return names()
    except SwaymeterError:
        return []
