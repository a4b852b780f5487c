"""Sheets for annotators, the import of what they fill in, and how the annotation stands.

Annotations are the one thing in a workspace that no step can make again. So nothing is ever written over: not a
sheet, whatever is in it, and not an import, of which each has a file of its own.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from swaymeter.data.errors import InputError, SwaymeterError, UnknownName, UsageError, printable
from swaymeter.data.records import Annotation, Partition, Question, as_row
from swaymeter.data.records.tables import ANNOTATIONS
from swaymeter.flows.stages.contents import Contents
from swaymeter.tasks.contexts.annotation.judging import (
    Agreement,
    agreement,
    annotator_name,
    decide,
    decision,
    for_annotator,
    judgements,
    newest,
    read_annotations,
    shown,
)
from swaymeter.tasks.contexts.annotation.sheet import COLUMNS, COLUMNS_OF_CONFLICTS, GUIDE, read_back, rows_for
from swaymeter.tasks.contexts.annotation.spreadsheet import read_sheet, too_long, write_sheet

NAMED = 20  # questions that an error names


@dataclass(frozen=True)
class ExportedSheet:
    """How many questions a sheet has, and what it lacks.

    too_long: with a text that no cell holds. missing: partitions that cannot be read, with the reason, and steps of
    live questions that are not done.
    """

    questions: int
    too_long: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Imported:
    """How many annotations are new, revised or known already; the rest as in `ReadBack` and `ExportedSheet`."""

    new: int
    revised: int
    known: int
    unfinished: tuple[int, ...]
    outdated: tuple[int, ...]
    others: tuple[str, ...]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Standing:
    """How the annotation stands: the agreement about the questions as they are now, and the outcome.

    outcome: questions by what decides them, accepted or a rejection reason. outdated: annotations of texts that no
    question has any more. missing: that of `ExportedSheet`.
    """

    questions: int
    agreement: Agreement
    outcome: Mapping[str, int]
    open_conflicts: int
    outdated: int
    missing: tuple[str, ...] = ()


def export(
    contents: Contents, file: Path, annotator: str, *, conflicts: bool = False, partitions: Sequence[str] = ()
) -> ExportedSheet:
    """Write the sheet of the questions that the annotator has still to judge, or of the conflicts of two others.

    UsageError where the file exists, or nothing is left to judge; InputError where no question fits into a sheet.
    """
    annotations = read_annotations(contents.workspace)
    name = annotator_name(annotator, annotations)
    known = _partitions(contents)
    for partition in partitions:
        if partition not in known:
            raise UnknownName("partition", partition, known)
    questions, missing = _questions(contents, [row for row in known if not partitions or row in partitions])
    chosen = for_annotator(questions, annotations, name, conflicts_only=conflicts)
    if not chosen:
        what = "no conflict" if conflicts else "no question"
        fetched = " of those that are fetched" if missing else ""
        raise UsageError(f"{what}{fetched} is left for {name} to judge; see `swaymeter annotate status`")
    columns = COLUMNS_OF_CONFLICTS if conflicts else COLUMNS
    rows = rows_for(chosen, name, judgements(annotations) if conflicts else None)
    fitting, others = [], []
    for question, row in zip(chosen, rows, strict=True):
        if long := too_long(row, columns):
            others.append(f"{question.question_id} ({printable(question.subject, 60)}): {', '.join(long)}")
        else:
            fitting.append(row)
    if not fitting:
        raise InputError(f"no question that is left for {name} fits into a sheet: {'; '.join(others[:NAMED])}")
    write_sheet(file, columns, fitting, GUIDE)
    return ExportedSheet(len(fitting), tuple(others), missing)


def import_(contents: Contents, file: Path, annotator: str, *, revise: bool = False) -> Imported:
    """Import an annotator's sheet, all of it or, where something is wrong, nothing.

    UsageError where a judgement differs from an earlier one, without `revise`; with it the newer counts, both are kept.
    """
    questions, missing = _questions(contents, _partitions(contents))
    sheet = read_sheet(file, COLUMNS)
    with contents.workspace.lock():
        imported = read_annotations(contents.workspace)
        name = annotator_name(annotator, imported)
        now = _later_than(imported)
        read = read_back(sheet, questions, name, imported_at=now)
        earlier = {about: judged[name] for about, judged in newest(imported).items() if name in judged}
        known = [row for row in read.annotations if (row.question_id, row.texts) in earlier]
        new = [row for row in read.annotations if (row.question_id, row.texts) not in earlier]
        words = {row: (*decision(row), row.note) for row in (*known, *earlier.values())}
        revised = [row for row in known if words[row] != words[earlier[row.question_id, row.texts]]]
        if revised and not revise:
            raise UsageError(_differences(file, revised, earlier))
        if new or revised:
            rows = ANNOTATIONS.of([as_row(row) for row in (*new, *revised)])
            made_from = {"step": "annotate", "annotator": name, "imported_at": now, "rows": ANNOTATIONS.digest(rows)}
            contents.workspace.table(("annotations",), name, ANNOTATIONS, made_from).write(rows)
    same = len(known) - len(revised)
    return Imported(len(new), len(revised), same, read.unfinished, read.outdated, read.others, missing)


def standing(contents: Contents) -> Standing:
    annotations = read_annotations(contents.workspace)
    questions, missing = _questions(contents, _partitions(contents))
    texts = {shown(question) for question in questions}
    current = [row for row in annotations if (row.question_id, row.texts) in texts]
    decided = decide(questions, current)
    reasons = Counter(row.reason for row in decided.rejected)
    return Standing(
        questions=len(texts),
        agreement=agreement(current),
        outcome={"accepted": len(decided.questions), **dict(sorted(reasons.items()))},
        open_conflicts=sum(row.is_conflict and row.third is None for row in judgements(current).values()),
        outdated=sum(len(rows) for about, rows in newest(annotations).items() if about not in texts),
        missing=missing,
    )


def _partitions(contents: Contents) -> list[Partition]:
    partitions = list(contents.partitions)
    if not partitions:
        raise UsageError(f"the study {contents.study.name} has no questions, so there is nothing to annotate")
    return partitions


def _questions(contents: Contents, partitions: Sequence[Partition]) -> tuple[list[Question], tuple[str, ...]]:
    questions, errors = list[Question](), dict[Partition, SwaymeterError]()
    for partition in partitions:
        try:
            questions += contents.candidates(partition)
        except SwaymeterError as error:
            errors[partition] = error
    if errors and not questions:
        raise next(iter(errors.values()))
    unread = (f"partition {partition}: {error}" for partition, error in errors.items())
    return questions, (*unread, *contents.missing([name for name in partitions if name not in errors]))


def _later_than(imported: Sequence[Annotation]) -> str:
    """The time, later than that of every earlier import, also where a clock was set back: the newest counts."""
    now = datetime.now(UTC)
    if imported:
        now = max(now, datetime.fromisoformat(imported[-1].imported_at) + timedelta(microseconds=1))
    return now.isoformat(timespec="microseconds")


def _differences(file: Path, revised: Sequence[Annotation], earlier: Mapping[tuple[str, str], Annotation]) -> str:
    changes = []
    for row in revised[:NAMED]:
        before = earlier[row.question_id, row.texts]
        now = "with other words" if before.choice == row.choice else f"now {row.choice}"
        changes.append(f"{row.question_id} (was {before.choice} in {before.file}, {now})")
    more = f" and {len(revised) - NAMED} more" if len(revised) > NAMED else ""
    return (
        f"{file} differs from earlier sheets in {len(revised)} questions: {', '.join(changes)}{more}; nothing was "
        "imported; with --revise the newer judgement counts, and the earlier is kept"
    )
