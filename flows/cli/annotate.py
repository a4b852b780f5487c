"""What `swaymeter annotate` does: sheets for annotators, what they say brought back, and how it stands.

What people say is the one thing in a workspace that no step can make again. So nothing is ever written over: not a
sheet, whatever is in it, and not an import, of which each has a file of its own.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from data.errors import InputError, SwaymeterError, UnknownName, UsageError, WorkspaceError
from data.records import Annotation, Partition, Question, as_row
from data.records.tables import ANNOTATIONS
from data.sources.http.printable import printable
from data.storage.workspace import Workspace
from flows.plan import Plan
from tasks.contexts.annotation.agreement import Agreement, agreement
from tasks.contexts.annotation.judging import (
    annotator_name,
    changed_texts,
    decide,
    for_annotator,
    judgements,
    newest,
    read_annotations,
    shown,
)
from tasks.contexts.annotation.sheet import COLUMNS, COLUMNS_OF_CONFLICTS, GUIDE, read_back, rows_for
from tasks.contexts.annotation.spreadsheet import read_sheet, too_long, write_sheet

TOLD = 20
"""Of a long list, so many are named."""


@dataclass(frozen=True)
class Exported:
    """How many questions a sheet has, and what it has not.

    too_long: questions with a text that no cell holds. not_there: partitions that cannot be read, with the reason, and
    pieces of work on live questions that are not done.
    """

    questions: int
    too_long: tuple[str, ...] = ()
    not_there: tuple[str, ...] = ()


@dataclass(frozen=True)
class Imported:
    """What an import took and what it did not: new annotations, revised ones, rows that said the same before, and rows.

    unfinished, outdated and others: as `tasks.contexts.annotation.sheet.ReadBack` has them; not_there: as `Exported`
    has it.
    """

    new: int
    revised: int
    known: int
    unfinished: tuple[int, ...]
    outdated: tuple[int, ...]
    others: tuple[str, ...]
    not_there: tuple[str, ...] = ()


@dataclass(frozen=True)
class Standing:
    """How the annotation stands: of how many questions, who chose what, how far two agree, and what comes of it.

    agreement is that of the questions as they are now. outcome: questions by what decides them, accepted or a reason.
    outdated: annotations of texts that no question has any more. not_there: as `Exported` has it.
    """

    questions: int
    agreement: Agreement
    outcome: Mapping[str, int]
    open_conflicts: int
    outdated: int
    not_there: tuple[str, ...] = ()


def export(
    plan: Plan, file: Path, annotator: str, *, conflicts: bool = False, partitions: Sequence[str] = ()
) -> Exported:
    """Writes the sheet of what the annotator has still to judge, of the questions that are there.

    UsageError where the file is there already or nothing is left to judge; UnknownName for a partition that the study
    has not; SwaymeterError where no question is fetched; InputError where no question fits into a sheet.
    """
    annotations = read_annotations(plan.workspace)
    name = annotator_name(annotator, annotations)
    for partition in partitions:
        if partition not in _partitions(plan):
            raise UnknownName("partition", partition, _partitions(plan))
    wanted = [one for one in _partitions(plan) if not partitions or one in partitions]
    questions, not_there = _questions(plan, wanted)
    chosen = for_annotator(questions, annotations, name, conflicts_only=conflicts)
    if not chosen:
        left = "no conflict that two others left" if conflicts else "nothing that two others have not judged"
        fetched = " of what is fetched" if not_there else ""
        raise UsageError(
            f"there is {left}{fetched} for {name} to judge; `swaymeter annotate status` says how it stands"
        )
    columns = COLUMNS_OF_CONFLICTS if conflicts else COLUMNS
    rows = rows_for(chosen, name, judgements(annotations) if conflicts else None)
    long = [too_long(row, columns) for row in rows]
    fitting = [row for row, names in zip(rows, long, strict=True) if not names]
    named = [_too_long(question, names) for question, names in zip(chosen, long, strict=True) if names]
    if not fitting:
        raise InputError(f"no question that is left for {name} fits into a sheet: {'; '.join(named[:TOLD])}")
    write_sheet(file, columns, fitting, GUIDE)
    return Exported(len(fitting), tuple(named), not_there)


def import_(plan: Plan, file: Path, annotator: str, *, revise: bool = False) -> Imported:
    """Takes what an annotator's sheet says into the workspace, all of it or, where something is wrong, nothing.

    UsageError where it says something else than before and `revise` is not given: with it the newer counts, and the
    earlier stays where it is. Other errors are those of `read_sheet` and `read_back`.
    """
    questions, not_there = _questions(plan, _partitions(plan))
    sheet = read_sheet(file, COLUMNS)
    with plan.workspace.conducted():
        earlier = read_annotations(plan.workspace)
        name = annotator_name(annotator, earlier)
        read = read_back(sheet, questions, name, imported_at=_now(earlier))
        before = {about: said[name] for about, said in newest(earlier).items() if name in said}
        new, revised, known = [], [], 0
        for one in read.annotations:
            said = before.get((one.question_id, one.texts))
            if said is None:
                new.append(one)
            elif _content(said) == _content(one):
                known += 1
            else:
                revised.append(one)
        if revised and not revise:
            raise UsageError(_says_otherwise(file, revised, before))
        if new or revised:
            _keep(plan.workspace, name, [*new, *revised])
    return Imported(len(new), len(revised), known, read.unfinished, read.outdated, read.others, not_there)


def standing(plan: Plan) -> Standing:
    """How the annotation of a study's questions stands."""
    annotations = read_annotations(plan.workspace)
    questions, not_there = _questions(plan, _partitions(plan))
    now = {shown(question) for question in questions}
    current = [one for one in annotations if (one.question_id, one.texts) in now]
    decided = decide(questions, current)
    outcome = Counter(one.reason for one in decided.rejected)
    found = judgements(current).values()
    return Standing(
        questions=len(now),
        agreement=agreement(current),
        outcome={"accepted": len(decided.accepted), **dict(sorted(outcome.items()))},
        open_conflicts=sum(one.is_conflict and one.third is None for one in found),
        outdated=sum(len(said) for about, said in newest(annotations).items() if about not in now),
        not_there=not_there,
    )


def _partitions(plan: Plan) -> list[Partition]:
    partitions = plan.partitions()
    if not partitions:
        raise UsageError(f"the study {plan.study.name} asks no questions, so there is nothing to annotate")
    return partitions


def _questions(plan: Plan, partitions: Sequence[Partition]) -> tuple[list[Question], tuple[str, ...]]:
    """The questions that are there, and what is not; what a sheet says of that is kept, too."""
    questions: list[Question] = []
    problems: dict[Partition, SwaymeterError] = {}
    for partition in partitions:
        try:
            questions += plan.question_files.candidates(partition)
        except SwaymeterError as error:
            problems[partition] = error
    if problems and not questions:
        raise next(iter(problems.values()))
    refused = (f"partition {partition}: {error}" for partition, error in problems.items())
    return questions, (*refused, *plan.question_files.not_there())


def _too_long(question: Question, columns: Sequence[str]) -> str:
    return f"{question.question_id} ({printable(question.subject, 60)}): {', '.join(columns)}"


def _now(earlier: Sequence[Annotation]) -> str:
    """The time, later than that of every import before it, also where a clock was set back: the newest counts."""
    now = datetime.now(UTC)
    if earlier:
        now = max(now, datetime.fromisoformat(earlier[-1].imported_at) + timedelta(microseconds=1))
    return now.isoformat(timespec="microseconds")


def _content(annotation: Annotation) -> tuple[str | None, ...]:
    return (annotation.choice, *changed_texts(annotation), annotation.note)


def _says_otherwise(file: Path, revised: Sequence[Annotation], before: Mapping[tuple[str, str], Annotation]) -> str:
    changes = []
    for one in revised[:TOLD]:
        said = before[one.question_id, one.texts]
        other = "with other words" if said.choice == one.choice else f"now {one.choice}"
        changes.append(f"{one.question_id} (was {said.choice} in {said.file}, {other})")
    more = f" and {len(revised) - TOLD} more" if len(revised) > TOLD else ""
    return (
        f"{file} says something else than before of {len(revised)} questions: {', '.join(changes)}{more}; nothing was "
        "taken; with --revise the newer counts, and the earlier is kept"
    )


def _keep(workspace: Workspace, annotator: str, annotations: Sequence[Annotation]) -> None:
    rows = ANNOTATIONS.of([as_row(one) for one in annotations])
    made_from = {
        "step": "annotate",
        "annotator": annotator,
        "imported_at": annotations[0].imported_at,
        "rows": ANNOTATIONS.digest(rows),
    }
    stored = workspace.annotations(annotator, made_from)
    if stored.exists():
        raise WorkspaceError(f"{stored.path} is there already, and no annotations are written over; import once more")
    stored.write(rows)
