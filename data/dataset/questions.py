"""The questions of a dataset: those that a workspace holds, or a folder of DynamicQA's published CSV files."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow.parquet as pq

from data.dataset.files import newest_files
from data.errors import InputError
from data.records import PARTITIONS, Dispute, Question, of_row
from data.records.table import Table
from data.records.tables import DISPUTES, QUESTIONS
from data.sources import dynamicqa
from data.storage.workspace import Stored


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
    found = newest_files(root, QUESTIONS, _part)
    warnings = list(found.warnings)
    questions: list[Question] = []
    for stored in found.files:
        if _is_of_old(stored, QUESTIONS):
            warnings.append(f"{root}: left out, since an earlier version wrote it: {stored.path.name}; fetch it again")
        else:
            questions += [of_row(Question, row) for row in stored.read_as_written().to_pylist()]
    disputes = [
        of_row(Dispute, row)
        for stored in newest_files(root, DISPUTES, _part).files
        if not _is_of_old(stored, DISPUTES)
        for row in stored.read_as_written().to_pylist()
    ]
    return ReadQuestions(tuple(counted_anew(questions, disputes)), tuple(warnings))


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


def _part(stored: Stored) -> Sequence[str]:
    made_from = stored.made_from
    name = made_from.get("part", made_from.get("partition"))
    if not isinstance(name, str):
        raise InputError(f"{stored.path} does not say which part of the questions it has; remove it and fetch again")
    return name, str(made_from.get("step"))


def _is_of_old(stored: Stored, table: Table) -> bool:
    return not set(table.schema.names) <= set(pq.read_schema(stored.path).names)
