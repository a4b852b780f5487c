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
    newest = newest_files(root, QUESTIONS)
    questions = [of_row(Question, row) for row in newest.rows()]
    disputes = [of_row(Dispute, row) for row in newest_files(root, DISPUTES).rows()]
    return ReadQuestions(tuple(with_current_counts(questions, disputes)), newest.warnings)


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


def with_current_counts(questions: Iterable[Question], disputes: Iterable[Dispute]) -> list[Question]:
    """The questions with the numbers of their disputes, which may have been counted again since they were written."""
    counted = {
        (dispute.page, dispute.object, dispute.replacement, dispute.context, dispute.countered()): dispute
        for dispute in disputes
    }
    updated = []
    for question in questions:
        texts = (question.object, question.replacement, question.original_context, question.counter_memory_context)
        dispute = counted.get((question.page or "", *texts))
        updated.append(question if dispute is None else _counted(question, dispute))
    return updated


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
