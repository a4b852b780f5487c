"""The source `file`: users' questions with contexts; and the base of all sources that read files of questions."""

import functools
import logging
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import Field, PrivateAttr, field_validator

from swaymeter.data import reasons
from swaymeter.data.digests import digest_of_named_file
from swaymeter.data.errors import InputError
from swaymeter.data.records import Condition, Partition, Passage, Question, QuestionContext, Rejected
from swaymeter.data.sources.access import Access
from swaymeter.data.sources.layouts.reader import ROWS_OF_LAYOUTS, convert_rows, recognise_layout
from swaymeter.data.sources.own.columns import QUESTIONS, check_columns, check_replies, checked_map
from swaymeter.data.sources.own.files import FileRow, FileRows, is_csv, read_rows
from swaymeter.data.sources.own.lists import none_where_empty
from swaymeter.data.sources.own.named_file import Origin, OwnFile, unusable_rows_message, wrong_rows
from swaymeter.data.sources.own.passages import PassagesPart, conditions_in, split_by_sets, with_set_contexts
from swaymeter.data.sources.own.rows import FileQuestions, questions_of
from swaymeter.data.sources.source import FetchedQuestions, QuestionsOptions, QuestionSource

log = logging.getLogger(__name__)

VERSION = 8
NEUTRAL_TEXT = "..."
"""The text of a neutral context."""


class QuestionFile(QuestionsOptions, OwnFile):
    """A file of questions with contexts; the questions have groups in place of partitions."""

    prompts_per_question: ClassVar[int | None] = None

    neutral: bool = False
    """Add a neutral context without content to questions with an irrelevant context. The share of answers that a
    neutral context leaves unchanged is the baseline for the share that an irrelevant context leaves unchanged."""
    passages: PassagesPart | None = None
    """Combine the contexts of a question, as passages, into contexts of several passages (docs/retrieval.md); null:
    each passage is a context."""
    partitions: tuple[Partition, ...] = ("own",)
    """These questions have groups in place of partitions; leave this key out."""
    per_partition: int | None = Field(default=None, ge=1)
    """Number of questions, drawn by the study's seed; null for all."""
    annotated: Literal[False] = False
    """These questions have no annotation; leave this key out."""

    @field_validator("partitions")
    @classmethod
    def _no_partitions(cls, partitions: tuple[Partition, ...]) -> tuple[Partition, ...]:
        if partitions != ("own",):
            raise ValueError("own questions have groups in place of partitions; leave `partitions` out")
        return partitions

    @property
    def depends_on(self) -> dict[str, Any]:
        """The inputs of the questions' key besides the file, as JSON values."""
        return {"origin": list(self.origin)}

    @property
    def draw_options(self) -> dict[str, Any]:
        """The options that change only the contexts of drawn questions, not the fetched rows, as JSON values."""
        passages = {"passages": self.passages.model_dump(mode="json")} if self.passages else {}
        return passages | ({"neutral": True} if self.neutral else {})

    def usable_in_sets(self, file_questions: FileQuestions) -> FileQuestions:
        """Reject questions that can fill no evidence set, and drop passages that no set uses.

        `arrange` builds the contexts of the sets after the draw, because a study may draw few of many questions.
        """
        return _split_by_sets(file_questions, self.passages) if self.passages else file_questions

    def askable(self, questions: Sequence[Question]) -> FetchedQuestions:
        """Return the questions that can be drawn, and the rejected questions; InputError if none can be drawn."""
        file_questions = self.usable_in_sets(FileQuestions([*questions], []))
        if message := file_questions.about_sets():
            log.warning("%s: %s", self.path, message)
        if file_questions.rejected:
            count = len(file_questions.rejected)
            problem = (
                f"{count} of {len(questions)} questions have too few passages for each of the sets "
                f"under questions.passages.sets ({', '.join(self.passages.sets if self.passages else ())})"
            )
            if not file_questions.questions:
                raise InputError(f"{self.path}: {problem}; name other sets, or correct the kinds of the passages")
            log.warning("%s: %s; these questions are in the table `rejected` of the database", self.path, problem)
        return FetchedQuestions(file_questions.questions, file_questions.rejected)

    def arrange(self, questions: Sequence[Question]) -> Sequence[Question]:
        """Return the drawn questions with a context for each evidence set and order; `neutral` adds a context."""
        arranged = with_set_contexts(questions, self.passages) if self.passages else questions
        return [*map(_with_neutral, arranged)] if self.neutral else arranged

    def conditions_of(self, questions: Sequence[Question]) -> set[Condition]:
        """Return the conditions of the contexts that a study makes of these questions."""
        if not self.passages:
            return {context.condition for question in self.arrange(questions) for context in question.contexts}
        conditions = conditions_in(questions, self.passages)
        return conditions | {"neutral"} if self.neutral and "irrelevant" in conditions else conditions


class OwnQuestions(QuestionFile):
    """Your own questions, with contexts, in a file."""

    source: Literal["file"] = "file"
    """Your own questions, with contexts, in a file."""
    columns: dict[str, str] = Field(default_factory=dict)
    """The names of columns in the file, or paths into nested cells, if they differ from docs/own-data.md. Examples are
    `answer: gold` and `answer: answers[*].text`."""
    _reply_columns: tuple[str, ...] = PrivateAttr(())

    @field_validator("columns")
    @classmethod
    def _check_columns(cls, columns: dict[str, str]) -> dict[str, str]:
        return checked_map(columns.items())

    @property
    def reply_columns(self) -> tuple[str, ...]:
        """The columns of recorded replies; the study's models name these columns."""
        return self._reply_columns

    def set_reply_columns(self, columns: Iterable[str]) -> None:
        """Set the columns from which recorded replies are read with the questions."""
        self._reply_columns = tuple(dict.fromkeys(columns))


def _key(options: OwnQuestions, partition: Partition, access: Access) -> Mapping[str, Any]:
    return {
        "source": "file",
        "version": VERSION,
        "digest": digest_of_named_file(options.path, "questions.file"),
        "columns": options.columns,
        **options.depends_on,
        **({"replies": options.reply_columns} if options.reply_columns else {}),
    }


def _fetch(options: OwnQuestions, partition: Partition, access: Access) -> FetchedQuestions:
    return checked_questions(options.path, read_questions(options), options.columns)


def checked_questions(
    path: Path, file_questions: FileQuestions, columns: Mapping[str, str] = MappingProxyType({})
) -> FetchedQuestions:
    """Return the questions of a file; warn of unusable rows and of contexts without a kind.

    Args:
        path: The file.
        file_questions: The questions of the file.
        columns: Names of the file's columns, by Swaymeter's names.

    Raises:
        InputError: No row can be used.
    """
    if file_questions.layout:
        log.info("%s: read in the layout of %s", path, file_questions.layout)
    if problem := unusable_message(path, file_questions):
        log.warning("%s; all these rows are in the table `rejected` of the database", problem)
    options = [f"--map={ours}={theirs}" for ours, theirs in columns.items()]
    if message := file_questions.about_kinds(shlex.join([str(path), *options])):
        log.warning("%s: %s", path, message)
    if not file_questions.questions:
        raise InputError(problem)
    return FetchedQuestions(file_questions.questions, file_questions.rejected)


def read_questions(options: OwnQuestions) -> FileQuestions:
    """Return the questions of the file; InputError if it cannot be read, has no rows, or lacks a column."""
    try:
        status = options.path.stat()
    except OSError:
        file_state = 0, 0  # `_read_questions` raises an error with the reason
    else:
        file_state = status.st_mtime_ns, status.st_size
    columns = tuple(options.columns.items())
    return _read_questions(options.path, file_state, columns, options.origin, options.reply_columns)


@functools.lru_cache(maxsize=2)
def _read_questions(
    path: Path,
    file_state: tuple[int, int],
    columns: tuple[tuple[str, str], ...],
    origin: Origin,
    reply_columns: tuple[str, ...],
) -> FileQuestions:
    """Read a file of questions, cached by `file_state`: the file's time of change (ns) and size.

    The check, plan and fetch of a study read the same file.
    """
    rows, layout = question_rows(path, dict(columns), reply_columns)
    file_questions = questions_of(rows, origin, dict(columns), reply_columns=reply_columns)._replace(layout=layout)
    if not (file_questions.questions or file_questions.rejected):
        raise InputError(f"{path} has no questions; add questions to the file")
    for column, recorded in file_questions.replies.items():
        if recorded and all(reply is None for reply in recorded.values()):
            raise InputError(f"{path} has no reply in the column {column}; name a column with replies")
    return file_questions


def _split_by_sets(file_questions: FileQuestions, passages: PassagesPart) -> FileQuestions:
    split = split_by_sets(file_questions.questions, passages)
    rejected = [
        Rejected(
            partition="own",
            relation=question.relation,
            part=question.question_id,
            subject=question.question[:200],
            reason=reasons.ROW_NOT_USABLE,
            source=question.source,
            licence=question.licence,
            detail=f"passages: the question has too few passages for each of the sets {', '.join(passages.sets)}",
        )
        for question in split.without_set
    ]
    return file_questions._replace(
        questions=split.questions, rejected=[*file_questions.rejected, *rejected], lacking=split.lacking
    )


def _with_neutral(question: Question) -> Question:
    conditions = {context.condition for context in question.contexts}
    ids = {context.context_id for context in question.contexts}
    if "irrelevant" not in conditions or "neutral" in conditions | ids:
        return question
    neutral = QuestionContext("neutral", "neutral", (Passage(NEUTRAL_TEXT),))
    return replace(question, contexts=(*question.contexts, neutral))


class OwnRows(NamedTuple):
    """The rows of a file, and its recognised layout; empty for a file with the columns of docs/own-data.md."""

    rows: list[FileRow]
    layout: str = ""


def question_rows(file: Path, columns: Mapping[str, str], reply_columns: Sequence[str] = ()) -> OwnRows:
    """Return the rows of a file of questions; without `columns`, a nested layout such as HotpotQA's is recognised.

    Args:
        file: The file.
        columns: Names of the file's columns, or paths, by Swaymeter's names.
        reply_columns: Required columns of recorded replies.

    Raises:
        InputError: The file cannot be read, has no rows, or lacks a column.
    """
    content = read_rows(file, {*QUESTIONS, *ROWS_OF_LAYOUTS, columns.get("question", "question").lower()})
    match = None if columns else recognise_layout(content)
    if match is None and content.columns:
        check_columns(file, content, columns, reply_columns)
    else:
        check_replies(file, content, reply_columns)
    if reply_columns and is_csv(file):
        content = _with_none_for_empty(content, reply_columns)
    if match:
        layout = f"{match.layout.title}, {match.form.name}"
        rows = convert_rows(match.form, content.rows)
        if reply_columns and match.form.rows:
            raise InputError(
                f"{file} has the layout of {layout}, whose rows have several questions; write a row for each question"
            )
        return OwnRows(_with_replies(rows, content.rows, reply_columns), layout)
    if not content.rows:
        raise InputError(f"{file} has no rows; write questions below the header")
    return OwnRows(content.rows)


def _with_none_for_empty(content: FileRows, reply_columns: Sequence[str]) -> FileRows:
    """Return the rows with None for an empty reply: in CSV, an empty cell means a missing reply."""
    rows = []
    for row in content.rows:
        cells = {name: none_where_empty(cell) if name in reply_columns else cell for name, cell in row.cells.items()}
        rows.append(row._replace(cells=cells))
    return content._replace(rows=rows)


def _with_replies(
    rows: Sequence[FileRow], original_rows: Sequence[FileRow], reply_columns: Sequence[str]
) -> list[FileRow]:
    if not reply_columns:
        return [*rows]
    rows_with_replies = []
    for row, original_row in zip(rows, original_rows, strict=True):
        recorded = {name: original_row.cells[name] for name in reply_columns if name in original_row.cells}
        rows_with_replies.append(row._replace(cells={**row.cells, **recorded}))
    return rows_with_replies


def unusable_message(file: Path, file_questions: FileQuestions) -> str:
    """Return the message about unusable rows, a missing column first; empty without unusable rows."""
    wrong = unusable_rows_message(file, wrong_rows(file_questions.rejected), file_questions.rows)
    if not wrong:
        return ""
    missing_kinds = [f"no context of kind {kind} can be used" for kind in file_questions.unusable.kinds]
    return "; ".join(filter(None, [file_questions.unusable.advice, *missing_kinds, wrong]))


OWN_QUESTIONS = QuestionSource("file", OwnQuestions, key=_key, fetch=_fetch)
