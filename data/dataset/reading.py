"""What is read into a dataset: a workspace, a folder of DynamicQA's published CSV files, or a yago_qec.json."""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from data.errors import InputError
from data.records import PARTITIONS, Dispute, Fact, Partition, Question, of_row
from data.records.table import Table
from data.records.tables import DISPUTES, FACTS, QUESTIONS
from data.sources import dynamicqa
from data.sources.graph.qec import read_qec
from data.storage.files import read_parquet, verify

_EXPECTED = "name a workspace with fetched facts or questions, a folder of DynamicQA's CSV files, or a yago_qec.json"


class Rows(NamedTuple):
    """Facts and questions, and what a reader should know of how they were read."""

    facts: tuple[Fact, ...] = ()
    questions: tuple[Question, ...] = ()
    warnings: tuple[str, ...] = ()


def read(root: Path) -> Rows:
    """The facts and questions at a path; errors as those of `Dataset.of`."""
    if os.path.isdir(root):
        published = [partition for partition in PARTITIONS if (root / dynamicqa.FILES[partition]).exists()]
        rows = _published(root, published) if published else _of_workspace(root)
    elif os.path.isfile(root):
        qec = read_qec(root)
        rows = Rows(tuple(fact for facts in qec.facts.values() for fact in facts), (), qec.warnings)
    else:
        raise InputError(f"{root} is not there; {_EXPECTED}")
    if not rows.facts and not rows.questions:
        raise InputError("; ".join((f"{root} holds no facts and no questions", *rows.warnings, _EXPECTED)))
    return rows


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


def _published(folder: Path, partitions: list[Partition]) -> Rows:
    questions = tuple(question for name in partitions for question in dynamicqa.questions(folder, name))
    missing = [file for partition, file in dynamicqa.FILES.items() if partition not in partitions]
    return Rows((), questions, (f"{folder}: there is no {' and no '.join(missing)}",) if missing else ())


def _of_workspace(root: Path) -> Rows:
    (facts, of_facts), (questions, of_questions), (disputes, _) = (
        _newest_rows(root, table) for table in (FACTS, QUESTIONS, DISPUTES)
    )
    counted = with_current_counts(
        (of_row(Question, row) for row in questions), (of_row(Dispute, row) for row in disputes)
    )
    return Rows(tuple(of_row(Fact, row) for row in facts), tuple(counted), (*of_facts, *of_questions))


def _newest_rows(root: Path, table: Table) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of a table in the newest file of each part, and a warning where a part has several files.

    A part is what a step fetched: the facts of a relation, the questions of a partition, a property or a page.
    DamagedFile where a file cannot be read, InputError where it does not tell its part.
    """
    by_part: dict[tuple[str, ...], list[tuple[str, Path]]] = {}
    for path in sorted((root / "facts").glob("*.parquet")):
        metadata = verify(path)
        if metadata.get("table") != table.name:
            continue
        try:
            part = (*metadata["made_from"]["subject"], *metadata["made_from"]["step"])
            by_part.setdefault(tuple(map(str, part)), []).append((metadata["made_at"], path))
        except (KeyError, TypeError):
            raise InputError(f"{path} does not tell what it holds; remove it and fetch again") from None
    rows: list[dict[str, Any]] = []
    warnings = []
    for part, files in sorted(by_part.items()):
        _, newest = max(files)
        rows += read_parquet(newest)[0].to_pylist()
        if len(files) > 1:
            subject = " ".join(filter(None, part[:2]))
            count = f"{len(files)} files of {table.name}"
            warnings.append(f"{root}: {subject} has {count}; the newest counts, {newest.name}")
    return rows, warnings
