"""The questions of a dataset: those that a workspace holds, or a folder of DynamicQA's published CSV files."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from data.dataset.files import newest_files
from data.records import PARTITIONS, Dispute, Question, of_row
from data.records.tables import DISPUTES, QUESTIONS
from data.sources import dynamicqa


@dataclass(frozen=True)
class ReadQuestions:
    """Questions, and what a reader should know of how they were read."""

    questions: tuple[Question, ...]
    warnings: tuple[str, ...]


def questions_of_workspace(root: Path) -> ReadQuestions:
    """The questions of all studies of a workspace, those of disputes with the numbers that were counted last.

    Where a part (a partition, a property, a page) has several files, made from other settings, the newest counts.
    DamagedFile where a file cannot be read, InputError where one does not say what it is of.
    """
    found = newest_files(root, QUESTIONS)
    questions = [of_row(Question, row) for row in found.rows()]
    disputes = [of_row(Dispute, row) for row in newest_files(root, DISPUTES).rows()]
    return ReadQuestions(tuple(counted_anew(questions, disputes)), found.warnings)


def is_published(folder: Path) -> bool:
    """Whether any of DynamicQA's published files lies in the folder."""
    return any((folder / name).exists() for name in dynamicqa.FILES.values())


def published_questions(folder: Path) -> ReadQuestions:
    """The questions of the published files that lie in the folder; InputError where one breaks the layout."""
    there = [partition for partition in PARTITIONS if (folder / dynamicqa.FILES[partition]).exists()]
    missing = [dynamicqa.FILES[partition] for partition in PARTITIONS if partition not in there]
    questions = [question for partition in there for question in dynamicqa.questions(folder, partition)]
    warnings = (f"{folder}: there is no {' and no '.join(missing)}",) if missing else ()
    return ReadQuestions(tuple(questions), warnings)


def counted_anew(questions: Iterable[Question], disputes: Iterable[Dispute]) -> list[Question]:
    """The questions with the numbers of their disputes, which may have been counted again since they were written."""
    counted = {(one.page, one.object, one.replacement, one.context, one.countered()): one for one in disputes}
    made = []
    for question in questions:
        said = (question.object, question.replacement, question.original_context, question.counter_memory_context)
        found = counted.get((question.page or "", *said))
        made.append(question if found is None else _counted(question, found))
    return made


def _counted(question: Question, dispute: Dispute) -> Question:
    return replace(
        question,
        edits=dispute.reversions,
        edit_revisions=dispute.edit_revisions,
        hidden_edits=dispute.hidden_edits,
        subject_popularity=dispute.subject_popularity,
        page_revision=dispute.page_revision,
        retrieved_at=dispute.retrieved_at,
    )
