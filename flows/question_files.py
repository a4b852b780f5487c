"""The files that a study's questions come from: bundled or published ones by partition, live ones in parts."""

import functools
from dataclasses import dataclass
from pathlib import Path

from data import catalog
from data.records import Partition, Question, of_row
from data.records.tables import QUESTIONS
from data.sources import dynamicqa
from data.sources.dynamicqa.rules import with_flags_across
from data.sources.source import QuestionsOptions
from data.storage.keys import file_digest
from data.storage.workspace import Stored, Workspace
from flows.live_files import LiveFiles
from flows.live_works import LiveWorks
from flows.study.study import Study

QUESTIONS_VERSION = 4


@dataclass(frozen=True)
class QuestionFiles:
    """The files of a study's questions."""

    study: Study
    workspace: Workspace

    @property
    def live(self) -> LiveFiles | None:
        """The files of live questions; None where they are bundled or published."""
        return self._live if self.wanted.source == "wikidata" else None

    @functools.cached_property
    def _live(self) -> LiveFiles:
        return LiveFiles(self.study, self.workspace)

    @property
    def wanted(self) -> QuestionsOptions:
        """What the study says of its questions."""
        assert self.study.questions is not None
        return self.study.questions

    def folder(self) -> Path | None:
        """Where the published CSV files lie, or are brought to; None where the questions are not the published ones."""
        if self.wanted.source != "dynamicqa":
            return None
        named = getattr(self.wanted, "folder", None)
        return Path(named).expanduser() if named else self.workspace.root / "downloads" / "dynamicqa"

    def published(self, partition: Partition) -> Stored:
        """The file of a partition that is bundled or published; MissingFile where its CSV is not there yet."""
        folder = self.folder()
        digest = (
            catalog.questions_digest(partition) if folder is None else file_digest(folder / dynamicqa.FILES[partition])
        )
        made_from = {
            "step": "fetch", "version": QUESTIONS_VERSION, "partition": partition,
            "source": "dynamicqa" if folder else "sample", "digest": digest,
            "relations": "" if folder is None else catalog.property_names_digest(),
        }  # fmt: skip
        return self.workspace.facts(partition, QUESTIONS, made_from)

    def candidates(self, partition: Partition) -> list[Question]:
        """Every question of a partition that is there, each once; of live ones, as far as their parts are there.

        SwaymeterError where none is fetched, or can be read. Two titles of a page lead to the same questions.
        """
        if self.live:
            once = {question.question_id: question for question in self.live.candidates(partition)}
            return with_flags_across(list(once.values()))
        return [of_row(Question, row) for row in self.published(partition).read_as_written().to_pylist()]

    def not_there(self) -> list[str]:
        """The pieces of work whose live questions are missing, by name."""
        return [name for name, is_done in LiveWorks(self.live).works() if not is_done] if self.live else []
