"""A dataset: facts and questions fetched at a time, wherever they lie, and the version that tells it from others."""

import functools
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data.dataset.files import newest_files
from data.dataset.questions import is_published, published_questions, questions_of_workspace
from data.errors import InputError
from data.records import Fact, Question, of_row
from data.records.table import Table
from data.records.tables import FACTS, QUESTIONS
from data.sources.graph.qec import read_qec
from data.storage.keys import content_key

VERSION_LENGTH = 16
_EXPECTED = "name a workspace with fetched facts or questions, a folder of DynamicQA's CSV files, or a yago_qec.json"


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
        root = Path(path)
        if os.path.isdir(root) and is_published(root):
            read = published_questions(root)
            dataset = cls(root, (), read.warnings, read.questions)
        elif os.path.isdir(root):
            facts, warnings = _facts_of_workspace(root)
            read = questions_of_workspace(root)
            dataset = cls(root, facts, warnings + read.warnings, read.questions)
        elif os.path.isfile(root):
            qec = read_qec(root)
            dataset = cls(root, tuple(fact for facts in qec.facts.values() for fact in facts), qec.warnings)
        else:
            raise InputError(f"{root} is not there; {_EXPECTED}")
        if not dataset.facts and not dataset.questions:
            raise InputError("; ".join((f"{root} holds no facts and no questions", *dataset.warnings, _EXPECTED)))
        return dataset

    @functools.cached_property
    def version(self) -> str:
        """A digest of what facts and questions say.

        It is the same whatever their order, and whenever they were fetched from where. How often a fact was edited or a
        page read is not in it.
        """
        digests = {
            table.name: table.digest(table.of(sorted((_in_order(row, table) for row in rows), key=_counting(table))))
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


def _facts_of_workspace(root: Path) -> tuple[tuple[Fact, ...], tuple[str, ...]]:
    newest = newest_files(root, FACTS)
    return tuple(of_row(Fact, row) for row in newest.rows()), newest.warnings


def _in_order(row: Fact | Question, table: Table) -> dict[str, Any]:
    values = {column.name: getattr(row, column.name) for column in table.columns}
    return {name: sorted(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _counting(table: Table) -> Callable[[Mapping[str, Any]], str]:
    names = [column.name for column in table.columns if column.counts]

    def counted_values(row: Mapping[str, Any]) -> str:
        return json.dumps([row[name] for name in names])

    return counted_values
