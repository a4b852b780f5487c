"""The work on live questions: what is known of it so far, what each piece is called, and which of it is done.

What there is to do follows from lists that are fetched first. Where one is not there, or a model cannot be identified,
nothing is known of what follows; the piece of work that needs it says why.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from data.errors import SwaymeterError
from data.sources.property_names import relation_of
from data.sources.triples.popqa_list import PROPERTIES
from data.storage.workspace import Stored
from flows.live_files import LiveFiles, Part
from flows.live_names import PAGES_WORK, page_work, property_work, seeds_work, writing_work

Found = TypeVar("Found")


@dataclass(frozen=True)
class LiveWorks:
    """The work on a study's live questions; relations: only these, all where none are named."""

    files: LiveFiles
    relations: tuple[str, ...] = ()

    def seed_lists(self) -> list[str]:
        """The names of the lists of facts, as `LiveFiles.seeds` has them; none where no facts are asked for."""
        wanted = self.files.wanted
        if not wanted.needs_triples or set(self.relations) == {"disputable"}:
            return []
        return list(wanted.triples.properties) if wanted.triples.source == "wikidata" else ["seeds"]

    def lists_pages(self) -> bool:
        """Whether the list of pages is part of the work."""
        return self._of_disputes and self.files.pages() is not None

    def properties(self) -> list[str]:
        """The relations whose facts become questions, of those selected."""
        return [name for name in self._all_properties() if not self.relations or name in self.relations]

    def titles(self) -> Sequence[str]:
        """The pages that are searched for disputes; none where only other relations are selected."""
        return _known(lambda: self.files.titles) if self._of_disputes else []

    def disputed(self) -> list[str]:
        """The pages whose disputes are there."""
        return [title for title in self.titles() if _are_there(functools.partial(self.files.disputes, title))]

    def parts(self) -> list[Part]:
        """The properties, and the pages whose disputes are there."""
        made: list[Callable[[], Part]] = [functools.partial(self.files.of_property, name) for name in self.properties()]
        made += [functools.partial(self.files.of_page, title) for title in self.disputed()]
        return [part for make in made for part in _known(functools.partial(_alone, make))]

    def relations_named(self) -> list[str]:
        """The relations of the questions, selected or not, as far as the study or the list of facts names them."""
        wanted = self.files.wanted
        named = dict.fromkeys(self._all_properties())
        if wanted.needs_triples:
            listed = wanted.triples.properties or (PROPERTIES.values() if wanted.triples.source == "popqa" else ())
            named |= dict.fromkeys(relation_of(property_id) for property_id in listed)
        return [*named, *(["disputable"] if wanted.needs_disputes else [])]

    def works(self) -> Iterator[tuple[str, bool]]:
        """The pieces of work that fetch live questions, by name, and whether each is done; lists come first."""
        lists = dict(_known(lambda: list(self.files.seeds().items()))) if self.files.wanted.needs_triples else {}
        for name in self.seed_lists():
            yield seeds_work(name), name in lists and lists[name].exists()
        for name in self.properties():
            yield property_work(name), _are_there(functools.partial(_files, self.files.of_property, name))
        listed = self.files.pages() if self._of_disputes else None
        if listed is not None:
            yield PAGES_WORK, listed.exists()
        there = self.disputed()
        for title in self.titles():
            yield page_work(title), title in there
        for title in there:
            yield writing_work(title), _are_there(functools.partial(_files, self.files.of_page, title))

    def made_from(self) -> list[Stored]:
        """The files, as far as they are there, of the facts and disputes that questions are made from."""
        files = list(_known(lambda: list(self.files.seeds().values()))) if self.files.wanted.needs_triples else []
        files += [self.files.disputes(title)[0] for title in self.disputed()]
        return [stored for stored in files if stored.exists()]

    def dropped(self) -> list[Stored]:
        """The files, as far as they are there, of what became no question."""
        files = [part.dropped for part in self.parts()]
        files += [self.files.disputes(title)[1] for title in self.disputed()]
        return [stored for stored in files if stored.exists()]

    @property
    def _of_disputes(self) -> bool:
        return self.files.wanted.needs_disputes and (not self.relations or "disputable" in self.relations)

    def _all_properties(self) -> Sequence[str]:
        return _known(self.files.properties) if self.files.wanted.needs_triples else []


def _known(names: Callable[[], Sequence[Found]]) -> Sequence[Found]:
    """What is asked for; nothing where a file or a model that tells it cannot be read, which is said elsewhere."""
    try:
        return names()
    except SwaymeterError:
        return []


def _alone(make: Callable[[], Part]) -> list[Part]:
    return [make()]


def _files(of: Callable[[str], Part], name: str) -> tuple[Stored, Stored]:
    part = of(name)
    return part.questions, part.dropped


def _are_there(files: Callable[[], Sequence[Stored]]) -> bool:
    """Whether all the files are; not where it is not known which they are."""
    found = _known(files)
    return bool(found) and all(stored.exists() for stored in found)
