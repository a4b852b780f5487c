"""The source `file`: questions, answers and contexts of one's own; and what every source of such questions has."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from swaymeter.data import reasons
from swaymeter.data.digests import file_digest
from swaymeter.data.errors import InputError
from swaymeter.data.records import Partition, Passage, Question, QuestionContext, Rejected
from swaymeter.data.sources.access import Access
from swaymeter.data.sources.own.columns import QUESTIONS, check_columns, checked_map
from swaymeter.data.sources.own.files import FileRow, read_rows
from swaymeter.data.sources.own.named_file import OwnFile, rows_not_usable, wrong_rows
from swaymeter.data.sources.own.passages import PassagesPart, in_sets
from swaymeter.data.sources.own.rows import ReadQuestions, questions_of
from swaymeter.data.sources.source import FetchedQuestions, QuestionsOptions, QuestionSource

log = logging.getLogger(__name__)

VERSION = 4
NOTHING = "..."
"""The text of a neutral context."""


class AskedFile(QuestionsOptions, OwnFile):
    """A file of questions with contexts, in groups in place of partitions."""

    cases: ClassVar[int | None] = None

    baseline: bool = False
    """Whether questions with an irrelevant context are also asked with a neutral one, which says nothing: how often an
    answer stays then is the baseline of how often it stays with an irrelevant one."""
    passages: PassagesPart | None = None
    """Whether the contexts of a question are passages, of which contexts of several are made (docs/retrieval.md);
    null: each is a context."""
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

    @property
    def depends_on(self) -> dict[str, Any]:
        """What the questions depend on beside the rows of the file, as JSON values."""
        passages = self.passages and self.passages.model_dump(mode="json")
        return {"origin": list(self.origin), "baseline": self.baseline, "passages": passages}

    def asked(self, rows: Iterable[FileRow], columns: Mapping[str, str] = MappingProxyType({})) -> ReadQuestions:
        """The questions of rows as the study asks them; columns: the rows' own names of columns, by ours."""
        read = questions_of(rows, self.origin, columns)
        if self.passages:
            read = _in_sets(read, self.passages)
        return read._replace(questions=[*map(_with_neutral, read.questions)]) if self.baseline else read


class OwnQuestions(AskedFile):
    """Questions of one's own, with contexts, in a file."""

    source: Literal["file"] = "file"
    """Questions of one's own, with contexts, in a file."""
    columns: dict[str, str] = Field(default_factory=dict)
    """What columns are called in the file, where it is not as in docs/own-data.md, such as `answer: gold`."""

    @field_validator("columns")
    @classmethod
    def _known_columns(cls, columns: dict[str, str]) -> dict[str, str]:
        return checked_map(columns.items())


def _key(options: OwnQuestions, partition: Partition, access: Access) -> Mapping[str, Any]:
    return {
        "source": "file", "version": VERSION, "digest": file_digest(options.path, "questions.file"),
        "columns": options.columns, **options.depends_on,
    }  # fmt: skip


def _fetch(options: OwnQuestions, partition: Partition, access: Access) -> FetchedQuestions:
    return fetched(options.path, read_questions(options))


def fetched(path: Path, read: ReadQuestions) -> FetchedQuestions:
    """What a source gives of the questions that were read, with a warning of rows that are not used.

    InputError where no row can be used.
    """
    if problem := not_usable(path, read):
        log.warning("%s; each of them is in the table `rejected` of the database", problem)
    if kinds := read.about_kinds(str(path)):
        log.warning("%s: %s", path, kinds)
    if sets := read.about_sets():
        log.warning("%s: %s", path, sets)
    if not read.questions:
        raise InputError(problem)
    return FetchedQuestions(read.questions, read.rejected)


def read_questions(options: OwnQuestions) -> ReadQuestions:
    """The questions of the file; InputError where it cannot be read, has no rows, or lacks a column."""
    return options.asked(rows_to_ask(options.path, options.columns), options.columns)


def _in_sets(read: ReadQuestions, passages: PassagesPart) -> ReadQuestions:
    """The questions with contexts of several passages; one that has none of the sets is rejected."""
    made = in_sets(read.questions, passages)
    without = [
        Rejected(
            partition="own", relation=question.relation, part=question.question_id, subject=question.question[:200],
            reason=reasons.ROW_NOT_USABLE, source=question.source, licence=question.licence,
            detail=f"passages: it has too few for every one of the sets {', '.join(passages.sets)}",
        )
        for question in made.without_any
    ]  # fmt: skip
    return read._replace(questions=made.questions, rejected=[*read.rejected, *without], lacking=made.lacking)


def _with_neutral(question: Question) -> Question:
    """The question, which has a neutral context, too, where it has an irrelevant one and no neutral one."""
    there = {name for context in question.contexts for name in (context.condition, context.context_id)}
    if all(context.condition != "irrelevant" for context in question.contexts) or "neutral" in there:
        return question
    neutral = QuestionContext("neutral", "neutral", (Passage(NOTHING),))
    return replace(question, contexts=(*question.contexts, neutral))


def rows_to_ask(file: Path, columns: Mapping[str, str]) -> list[FileRow]:
    """The rows of a file whose columns are called as `columns` says; InputError as of `read_questions`."""
    content = read_rows(file, {*QUESTIONS, columns.get("question", "question").lower()})
    if content.columns:
        check_columns(file, content, columns)
    if not content.rows:
        raise InputError(f"{file} has no rows; write questions below the header")
    return content.rows


def not_usable(file: Path, read: ReadQuestions) -> str:
    """What is wrong with rows that cannot be used; empty where all can be."""
    return rows_not_usable(file, wrong_rows(read.rejected), len(read.questions) + len(read.rejected))


OWN_QUESTIONS = QuestionSource("file", OwnQuestions, key=_key, fetch=_fetch)
