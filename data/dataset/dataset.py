"""A dataset: facts and questions fetched at a time, wherever they lie, and the version that tells it from others."""

import functools
import json
from dataclasses import dataclass
from pathlib import Path

from data.dataset.reading import read
from data.records import Fact, Question
from data.records.table import Table
from data.records.tables import FACTS, QUESTIONS
from data.storage.keys import content_key

VERSION_LENGTH = 16


@dataclass(frozen=True)
class Dataset:
    """The facts and questions of a workspace, of a folder of DynamicQA's CSV files, or of a yago_qec.json.

    Attributes:
        warnings: What a reader should know of how they were read.
    """

    path: Path
    facts: tuple[Fact, ...]
    warnings: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()

    @classmethod
    def of(cls, path: str | Path) -> "Dataset":
        """The dataset at a path; InputError where there is none, DamagedFile where a file of it cannot be read.

        Of a workspace all facts and questions count, whichever studies fetched them. Where a relation, or a part of the
        questions, has several files, made from other settings, the newest counts.
        """
        return cls(Path(path), **read(Path(path))._asdict())

    @functools.cached_property
    def version(self) -> str:
        """A digest of what facts and questions say.

        It is the same whatever their order, and whenever they were fetched from where. How often a fact was edited or a
        page read is not in it.
        """
        digests = {
            table.name: _digest(table, rows)
            for table, rows in ((FACTS, self.facts), (QUESTIONS, self.questions))
            if rows
        }
        return (digests["facts"] if digests.keys() == {"facts"} else content_key(digests))[:VERSION_LENGTH]

    @property
    def relations(self) -> tuple[str, ...]:
        """The names of the relations that it has facts of."""
        return tuple(sorted({fact.relation for fact in self.facts}))

    @property
    def question_relations(self) -> tuple[str, ...]:
        """The names of the relations that it has questions of."""
        return tuple(sorted({question.relation for question in self.questions}))

    @property
    def sources(self) -> tuple[str, ...]:
        """Where its facts and questions come from."""
        return tuple(sorted({row.source for row in self._rows}))

    @property
    def retrieved(self) -> tuple[str, str] | None:
        """When the first and the last of it was fetched (UTC, ISO 8601); None where nothing says it."""
        times = [row.retrieved_at for row in self._rows if row.retrieved_at]
        return (min(times), max(times)) if times else None

    @property
    def _rows(self) -> tuple[Fact | Question, ...]:
        return (*self.facts, *self.questions)


def _digest(table: Table, records: tuple[Fact, ...] | tuple[Question, ...]) -> str:
    """The digest of the records, each with its lists sorted, in the order of what counts."""
    rows = []
    for record in records:
        values = {column.name: getattr(record, column.name) for column in table.columns}
        rows.append({name: sorted(value) if isinstance(value, tuple) else value for name, value in values.items()})
    counting = [column.name for column in table.columns if column.counts]
    return table.digest(table.of(sorted(rows, key=lambda row: json.dumps([row[name] for name in counting]))))
