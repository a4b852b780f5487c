"""A dataset: fetched facts and questions, and a version that identifies their content."""

import functools
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from swaymeter.data.digests import content_key
from swaymeter.data.errors import InputError
from swaymeter.data.records import PARTITIONS, Dispute, Fact, Question, as_row, from_row
from swaymeter.data.records.table import Table
from swaymeter.data.records.tables import DISPUTES, FACTS, QUESTIONS
from swaymeter.data.sources.dynamicqa import published as dynamicqa
from swaymeter.data.sources.dynamicqa.layout import FILES
from swaymeter.data.sources.graph.qec import read_qec
from swaymeter.data.storage.files import read_parquet, verify

VERSION_LENGTH = 16
_EXPECTED = "name a workspace with fetched facts or questions, a folder of DynamicQA's CSV files, or a yago_qec.json"


@dataclass(frozen=True)
class Dataset:
    """The facts and questions of a workspace, of DynamicQA's CSV files or of a yago_qec.json.

    Attributes:
        path: The folder or file from which the dataset was read.
        warnings: Sentences about missing files, and about files that are not read.
    """

    path: Path
    facts: tuple[Fact, ...]
    warnings: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()

    @staticmethod
    def of(path: str | Path) -> "Dataset":
        """Return the dataset at a path.

        A workspace's dataset has the facts and questions of all its studies. If different settings left several files
        of a relation, or of a part of the questions, only the newest file is read.

        Raises:
            InputError: There is no dataset at the path.
            DamagedFile: A file of the dataset cannot be read.
        """
        return _read(Path(path))

    @functools.cached_property
    def version(self) -> str:
        """The digest of the content of facts and questions; without questions, the digest of the table of facts.

        The digest ignores the order of the rows, and columns without `in_digest` (`data.records.table`), such as times
        of retrieval and numbers of edits and page views.
        """
        rows_by_table = (FACTS, self.facts), (QUESTIONS, self.questions)
        digests = {table.name: _digest(table, rows) for table, rows in rows_by_table if rows}
        has_only_facts = digests.keys() == {"facts"}
        return (digests["facts"] if has_only_facts else content_key(digests))[:VERSION_LENGTH]

    @property
    def relations(self) -> tuple[str, ...]:
        """The names of the relations with facts."""
        return tuple(sorted({fact.relation for fact in self.facts}))

    @property
    def question_relations(self) -> tuple[str, ...]:
        """The names of the relations with questions."""
        return tuple(sorted({question.relation for question in self.questions}))

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources of facts and questions."""
        return tuple(sorted({row.source for row in self._rows}))

    @property
    def retrieved(self) -> tuple[str, str] | None:
        """The times of the first and the last fetch (UTC, ISO 8601); None if no row has a time."""
        times = [row.retrieved_at for row in self._rows if row.retrieved_at]
        return (min(times), max(times)) if times else None

    @property
    def _rows(self) -> tuple[Fact | Question, ...]:
        return (*self.facts, *self.questions)


def _read(root: Path) -> Dataset:
    if os.path.isdir(root):
        partitions = [partition for partition in PARTITIONS if (root / FILES[partition]).exists()]
        missing = [file for partition, file in FILES.items() if partition not in partitions]
        warnings = (f"{root}: there is no {' and no '.join(missing)}",) if missing else ()
        questions = tuple(question for name in partitions for question in dynamicqa.questions(root, name))
        dataset = Dataset(root, (), warnings, questions) if partitions else _workspace_dataset(root)
    elif os.path.isfile(root):
        qec = read_qec(root)
        dataset = Dataset(root, tuple(fact for facts in qec.facts.values() for fact in facts), qec.warnings)
    else:
        raise InputError(f"{root} does not exist; {_EXPECTED}")
    if not dataset.facts and not dataset.questions:
        raise InputError("; ".join((f"{root} holds no facts and no questions", *dataset.warnings, _EXPECTED)))
    return dataset


def with_current_counts(questions: Iterable[Question], disputes: Iterable[Dispute]) -> list[Question]:
    """Return the questions with the edits and page views of their disputes, which may be newer than the questions."""
    by_texts = {
        (dispute.page, dispute.object, dispute.replacement, dispute.context, dispute.counter_memory_context()): dispute
        for dispute in disputes
    }
    updated = []
    for question in questions:
        texts = (question.object, question.replacement, question.original_context, question.counter_memory_context)
        dispute = by_texts.get((question.page or "", *texts))
        if dispute is not None:
            columns = ("edit_revisions", "hidden_edits", "subject_popularity", "page_revision", "retrieved_at")
            current_values = {column: getattr(dispute, column) for column in columns}
            question = replace(question, edits=dispute.reversions, **current_values)
        updated.append(question)
    return updated


def _workspace_dataset(root: Path) -> Dataset:
    facts, fact_warnings = _newest_rows(root, FACTS)
    questions, question_warnings = _newest_rows(root, QUESTIONS)
    disputes, _ = _newest_rows(root, DISPUTES)
    with_counts = with_current_counts(
        (from_row(Question, row) for row in questions), (from_row(Dispute, row) for row in disputes)
    )
    warnings = (*fact_warnings, *question_warnings)
    return Dataset(root, tuple(from_row(Fact, row) for row in facts), warnings, tuple(with_counts))


def _newest_rows(root: Path, table: Table) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the rows of a table in the newest file of each part, and a warning for each part with several files.

    A part is the result of one task: the facts of a relation, or the questions of a partition, a property or a page.
    A file that does not name its part raises InputError.
    """
    # by part: running number, time and path of each file
    by_part: dict[tuple[str, ...], list[tuple[int, str, Path]]] = {}
    for path in sorted((root / "facts").glob("*.parquet")):
        metadata = verify(path)
        if metadata.get("table") != table.name:
            continue
        try:
            part = (*metadata["made_from"]["subject"], *metadata["made_from"]["step"])
            by_part.setdefault(tuple(map(str, part)), []).append((metadata.get("number", 0), metadata["made_at"], path))
        except (KeyError, TypeError):
            raise InputError(
                f"the metadata of {path} does not say when or from what the file was made; remove the file, and run "
                "the study of the workspace with --stage fetch"
            ) from None
    rows: list[dict[str, Any]] = []
    warnings = []
    for part, files in sorted(by_part.items()):
        newest = max(files)[-1]
        rows += read_parquet(newest)[0].to_pylist()
        if len(files) > 1:
            subject = " ".join(filter(None, part[:2]))  # `StepId.subject` and `StepId.part`; stage and product follow
            count = f"{len(files)} files of {table.name}"
            warnings.append(f"{root}: {subject} has {count}; only the newest is read, {newest.name}")
    return rows, warnings


def _digest(table: Table, records: tuple[Fact, ...] | tuple[Question, ...]) -> str:
    """Return the digest of the records, whatever their order and the order of the items in their lists."""
    rows = []
    for record in records:
        row = as_row(record)
        lists = {name: sorted(value, key=_sort_key) for name, value in row.items() if isinstance(value, list)}
        rows.append({**row, **lists})
    digest_columns = [column.name for column in table.columns if column.in_digest]
    return table.digest(table.of(sorted(rows, key=lambda row: json.dumps([row[name] for name in digest_columns]))))


def _sort_key(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict) else value
