"""The files of questions that are made anew from live sources, by property and by page; all lie in `facts/`.

seeds                      the facts that a list names
questions, dropped         of each property: static and temporal questions, and what became none
pages                      the titles that are searched for disputes, where the study does not name them itself
disputes, dropped          of each page
questions, dropped         of each page: what a language model made of its disputes
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from data import catalog
from data.catalog.prompt_file import dispute_prompt
from data.dataset.questions import counted_anew
from data.errors import SwaymeterError
from data.records import Dispute, Partition, Question, Triple, as_row, of_row
from data.records.tables import DISPUTES, PAGES, QUESTIONS, REJECTED, TRIPLES
from data.storage.keys import content_key, drawn_first, file_digest
from data.storage.workspace import Stored, Workspace
from flows.study.questions import QuestionsPart
from flows.study.study_file import ModelPart, Study
from tasks.models.backends import identify_language_model
from tasks.models.identity import identify_model

Found = TypeVar("Found")

LIVE_VERSION = 1
WRITER_DTYPE: Literal["bfloat16"] = "bfloat16"
"""What a model that writes questions computes in where the study does not ask it anything itself."""


@dataclass(frozen=True)
class Part:
    """One part of the live questions, a property or a page: where its questions, and what became none, are kept."""

    name: str
    questions: Stored
    dropped: Stored


@dataclass(frozen=True)
class LiveFiles:
    """The files of a study's live questions."""

    study: Study
    workspace: Workspace

    @property
    def wanted(self) -> QuestionsPart:
        """What the study says of its questions."""
        assert self.study.questions is not None
        return self.study.questions

    # ---- of facts: by property ----------------------------------------------------------------------------------

    def seeds(self) -> dict[str, Stored]:
        """The files of the facts that are looked at: one of each property that is drawn from, or one list, `seeds`.

        MissingFile where the list is a file that cannot be read.
        """
        wanted = self.wanted.seeds
        made: dict[str, Any] = {
            "step": "seeds", "version": LIVE_VERSION, "source": wanted.source,
            "catalog": catalog.digest("relations.yaml"),
        }  # fmt: skip
        if wanted.source != "wikidata":
            if wanted.file:
                made["digest"] = file_digest(Path(wanted.file).expanduser())
            return {"seeds": self.workspace.facts("seeds", TRIPLES, made)}
        made |= {"address": self._address("wikidata"), "each": wanted.each, "seed": self.study.seed}
        return {
            name: self.workspace.facts(name, TRIPLES, made | {"property": name, "part": name})
            for name in wanted.properties
        }

    @functools.cached_property
    def chosen_seeds(self) -> dict[str, list[Triple]]:
        """The facts that are looked at, by relation, of lists that are there; DamagedFile where none can be read."""
        wanted = self.wanted.seeds
        listed: dict[str, dict[str, Triple]] = {}
        for seed in _together([functools.partial(_seeds, stored) for stored in self.seeds().values()]):
            if not wanted.properties or seed.property_id in wanted.properties:
                fact = f"{seed.subject_id} {seed.property_id} {seed.object_id}"
                listed.setdefault(seed.relation, {})[fact] = seed
        chosen = {}
        for relation, seeds in sorted(listed.items()):
            drawn = drawn_first(seeds, wanted.each or len(seeds), self.study.seed, "seeds", relation)
            chosen[relation] = [seeds[fact] for fact in drawn]
        return chosen

    def properties(self) -> list[str]:
        """The relations whose facts become questions; DamagedFile where the list of facts is not there."""
        return list(self.chosen_seeds)

    def of_property(self, relation: str) -> Part:
        """The files of a property's questions."""
        rows = TRIPLES.of([as_row(seed) for seed in self.chosen_seeds[relation]])
        made = {
            "step": "fetch", "version": LIVE_VERSION, "part": relation, "seeds": TRIPLES.digest(rows),
            "services": self._addresses("wikidata_api", "wikipedia", "pageviews", *self._similar()),
            "counter_memory": self.wanted.counter_memory, "catalog": catalog.digest("relations.yaml"),
            "words": self.wanted.words, "months": self.wanted.months, **self._embedder(),
        }  # fmt: skip
        return self._part(relation, made)

    # ---- of disputes: by page -----------------------------------------------------------------------------------

    def pages(self) -> Stored | None:
        """The file of the pages that the list of controversial issues names; None where the study names them."""
        if self.wanted.disputes.pages:
            return None
        listed_on = self.wanted.disputes.listed_on
        made = {"step": "pages", "version": LIVE_VERSION, "listed_on": listed_on, "address": self._address("wikipedia")}
        return self.workspace.facts("pages", PAGES, made)

    @functools.cached_property
    def titles(self) -> list[str]:
        """The pages that are searched for disputes; DamagedFile where the list of them is not there."""
        listed = self.pages()
        if listed is None:
            return list(self.wanted.disputes.pages)
        found = {row["page"] for row in listed.read_as_written().to_pylist()}
        most = self.wanted.disputes.most or len(found)
        return drawn_first(sorted(found), most, self.study.seed, "pages")

    def disputes(self, title: str) -> tuple[Stored, Stored]:
        """The files of a page's disputes, and of what is none."""
        wanted = self.wanted.disputes
        made = {
            "step": "disputes", "version": LIVE_VERSION, "part": title,
            "services": self._addresses("wikipedia", "pageviews"), "months": self.wanted.months,
            "span": wanted.span, "similarity": wanted.similarity, **self._embedder(),
        }  # fmt: skip
        return self.workspace.facts(title, DISPUTES, made), self.workspace.facts(title, REJECTED, made)

    def read_disputes(self, title: str) -> list[Dispute]:
        """The disputes of a page; DamagedFile where they are not there or cannot be read."""
        return [of_row(Dispute, row) for row in self.disputes(title)[0].read_as_written().to_pylist()]

    def of_page(self, title: str) -> Part:
        """The files of a page's questions; DamagedFile where its disputes are not there."""
        writer = self.writer
        made = {
            "step": "write", "version": LIVE_VERSION, "part": title, "disputes": self.disputes(title)[0].digest(),
            "writer": writer.name, "revision": identify_language_model(writer.name).revision, "dtype": writer.dtype,
            "prompt": content_key(asdict(dispute_prompt())), "seed": self.study.seed,
        }  # fmt: skip
        return self._part(title, made)

    @property
    def writer(self) -> ModelPart:
        """The language model that writes the questions."""
        name = self.wanted.disputes.writer or self.study.models[0].name
        asked = (model for model in self.study.models if model.name == name)
        return next(asked, ModelPart(name=name, dtype=WRITER_DTYPE))

    def candidates(self, partition: Partition) -> list[Question]:
        """Every question of a partition that is there: parts that failed are left out.

        SwaymeterError where there is none at all, or where the list of facts or pages is not there.
        """
        if partition == "disputable":
            found = _together([functools.partial(self._of_page, title) for title in self.titles])
        else:
            found = _together([functools.partial(_questions, self.of_property(name)) for name in self.properties()])
        return [question for question in found if question.partition == partition]

    def _of_page(self, title: str) -> list[Question]:
        """The questions of a page with the numbers of their disputes, which may have been counted anew since."""
        return counted_anew(_questions(self.of_page(title)), self.read_disputes(title))

    def _part(self, name: str, made_from: dict[str, Any]) -> Part:
        questions = self.workspace.facts(name, QUESTIONS, made_from)
        return Part(name, questions, self.workspace.facts(name, REJECTED, made_from))

    def _similar(self) -> tuple[str, ...]:
        return ("wembedder",) if self.wanted.counter_memory == "wembedder" else ()

    def _embedder(self) -> dict[str, str]:
        found = identify_model(self.wanted.embedder, "embedder")
        return {"embedder": found.name, "embedder_revision": found.revision}

    def _address(self, service: str) -> str:
        return self.study.services.service(service).address

    def _addresses(self, *services: str) -> dict[str, str]:
        return {name: self._address(name) for name in services}


def _questions(part: Part) -> list[Question]:
    return [of_row(Question, row) for row in part.questions.read_as_written().to_pylist()]


def _seeds(stored: Stored) -> list[Triple]:
    return [of_row(Triple, row) for row in stored.read_as_written().to_pylist()]


def _together(parts: Sequence[Callable[[], Sequence[Found]]]) -> list[Found]:
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
