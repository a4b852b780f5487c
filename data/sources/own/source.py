"""The source `file`: questions, answers and contexts of one's own."""

import logging
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from data.errors import InputError
from data.records import Partition
from data.sources.access import Access
from data.sources.own.files import read_file
from data.sources.own.named_file import OwnFile
from data.sources.own.rows import COLUMNS, ReadQuestions, lines, questions_of, rows_not_usable
from data.sources.source import FetchedQuestions, QuestionsOptions, QuestionSource
from data.storage.keys import file_digest

log = logging.getLogger(__name__)

VERSION = 2


class OwnQuestions(QuestionsOptions, OwnFile):
    """Questions of one's own, with contexts, in a file."""

    cases: ClassVar[int | None] = None

    source: Literal["file"] = "file"
    """Questions of one's own, with contexts, in a file."""
    columns: dict[str, str] = Field(default_factory=dict)
    """What columns are called in the file, where it is not as in docs/own-data.md, such as `answer: gold`."""
    partitions: tuple[Partition, ...] = ("own",)
    """Own questions have groups in place of partitions; leave it out."""
    per_partition: int | None = Field(default=None, ge=1)
    """Questions that are drawn by the study's seed; null for all."""
    annotated: Literal[False] = False
    """Own questions are not annotated here; leave it out."""

    @field_validator("partitions")
    @classmethod
    def _no_partitions(cls, partitions: tuple[Partition, ...]) -> tuple[Partition, ...]:
        if partitions != ("own",):
            raise ValueError("own questions have groups in place of partitions; leave `partitions` out")
        return partitions

    @field_validator("columns")
    @classmethod
    def _known_columns(cls, columns: dict[str, str]) -> dict[str, str]:
        if unknown := sorted(columns.keys() - set(COLUMNS)):
            raise ValueError(f"{unknown[0]} is not one of the columns that can be renamed: {', '.join(COLUMNS)}")
        if len(set(columns.values())) < len(columns):
            raise ValueError("two columns have one name in the file; name each once")
        return columns


def _key(options: OwnQuestions, partition: Partition, access: Access) -> Mapping[str, Any]:
    return {
        "source": "file", "version": VERSION, "digest": file_digest(options.path, "questions.file"),
        "format": options.path.suffix.lower(), "columns": options.columns, "origin": list(options.origin),
    }  # fmt: skip


def _fetch(options: OwnQuestions, partition: Partition, access: Access) -> FetchedQuestions:
    read, problem = read_questions(options)
    if problem:
        log.warning(problem)
    return FetchedQuestions(read.questions, read.rejected)


def read_questions(options: OwnQuestions) -> tuple[ReadQuestions, str]:
    """The questions of the file, and what is wrong with rows that cannot be used; InputError where none can."""
    rows = read_file(options.path, options.columns.get("question", "question"))
    names = {str(name) for row in rows for name in row.cells}
    if rows and (absent := sorted(set(options.columns.values()) - names)):
        raise InputError(f"{options.path} has no column {absent[0]}, which `columns` names; it has {', '.join(names)}")
    read = questions_of(rows, options.origin, options.columns)
    problem = rows_not_usable(options.path, list(lines(read.rejected)), len(rows)) if read.rejected else ""
    if not read.questions:
        raise InputError(problem or f"{options.path} has no rows; write questions below the header")
    return read, problem


OWN_QUESTIONS = QuestionSource("file", OwnQuestions, key=_key, fetch=_fetch)
