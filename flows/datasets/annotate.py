"""Sheets of questions that people judge, and the state of their judgements."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from swaymeter.data.errors import SwaymeterError, UnknownName, UsageError
from swaymeter.data.records import Partition, Question
from swaymeter.data.sources.judgements import annotator_name, write_judgements
from swaymeter.flows.stages.contents import Contents
from swaymeter.tasks.contexts.judged_questions import (
    Opinions,
    accepted_questions,
    context_rows,
    open_contexts,
    open_questions,
    opinions,
    question_rows,
    with_kinds,
)
from swaymeter.tasks.statistics.agreement import agreement_of_annotators


@dataclass(frozen=True)
class Sheet:
    """A sheet of questions for an annotator.

    Attributes:
        questions: Number of its questions.
        missing: Partitions that cannot be read, each with the reason, and names of unfinished steps that fetch
            questions.
    """

    questions: int
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class AnnotationStatus:
    """The state of the judgements.

    Attributes:
        questions: Number of questions.
        choices: Number of each choice by annotator, such as {"anna": {"accept": 3}}.
        agreement: Rows of `AnnotatorAgreement`, one for each field of judgements that at least two people judged.
        outcome: Number of accepted questions, and of rejected questions by reason.
        open_conflicts: Number of conflicts of two people that a third person has to decide.
        problems: Judgements that do not count, with file, row and reason.
        missing: As in `Sheet`.
    """

    questions: int
    choices: Mapping[str, Mapping[str, int]]
    agreement: Sequence[Mapping[str, Any]]
    outcome: Mapping[str, int]
    open_conflicts: int
    problems: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def export(
    contents: Contents, file: Path, annotator: str, *, conflicts: bool = False, partitions: Sequence[str] = ()
) -> Sheet:
    """Write a sheet for an annotator: the questions and contexts that this person has not judged yet.

    With `conflicts`, the sheet has the questions that two other people judged differently.

    Raises:
        UsageError: The file exists, or nothing is left to judge.
        InputError: A text fits into no cell.
    """
    all_partitions = _partitions(contents)
    for partition in partitions:
        if partition not in all_partitions:
            raise UnknownName("partition", partition, all_partitions)
    selected = [partition for partition in all_partitions if not partitions or partition in partitions]
    questions, missing = _questions(contents, selected)
    judgements = contents.plan.judgements
    name = annotator_name(annotator, judgements)
    all_opinions = opinions(questions, judgements)
    # Of a user's own questions, people judge only the contexts.
    fetched_questions = [question for question in questions if not question.is_own]
    chosen = open_questions(fetched_questions, all_opinions, name, conflicts_only=conflicts)
    rows = [*question_rows(chosen, name, all_opinions if conflicts else None)]
    if not conflicts:
        contexts = open_contexts(questions, [row for row in judgements if row.annotator == name])
        rows += [row for question, context in contexts for row in context_rows(question, context, name)]
    if not rows:
        item = "conflict" if conflicts else "question"
        fetched = "fetched " if missing else ""
        raise UsageError(f"no {fetched}{item} is left for {name} to judge; see `swaymeter annotate status`")
    write_judgements(file, rows)
    return Sheet(len({row["question_id"] for row in rows}), missing)


def annotation_status(contents: Contents) -> AnnotationStatus:
    """Return the number of judgements of each annotator, their agreement, and the outcome."""
    questions, missing = _questions(contents, _partitions(contents))
    judgements = contents.plan.judgements
    questions, problems = with_kinds(questions, judgements)
    all_opinions = opinions(questions, judgements)
    accepted = accepted_questions(questions, all_opinions)
    # A judgement names a question by ID or, for a user's own question, by text.
    identities = {identity for question in questions for identity in (question.question_id, question.question)}
    unused = [
        f"{row.location}: {row.problem or 'no question has this ID'}"
        for row in judgements
        if row.problem or row.question_id not in identities
    ]
    reasons = Counter(row.reason for row in accepted.rejected)
    return AnnotationStatus(
        questions=len({question.question_id for question in questions}),
        choices=_choices(all_opinions),
        agreement=agreement_of_annotators(map(asdict, judgements)),
        outcome={"accepted": len(accepted.questions), **dict(sorted(reasons.items()))},
        open_conflicts=sum(
            all_opinions.is_conflict(question_id) and all_opinions.third(question_id) is None
            for question_id in all_opinions.by_question
        ),
        problems=(*unused, *problems, *all_opinions.problems),
        missing=missing,
    )


def _choices(all_opinions: Opinions) -> dict[str, Counter[str]]:
    choices: dict[str, Counter[str]] = {}
    for opinions_of_question in all_opinions.by_question.values():
        for opinion in opinions_of_question:
            choices.setdefault(opinion.annotator, Counter())[opinion.choice] += 1
    return dict(sorted(choices.items()))


def _partitions(contents: Contents) -> list[Partition]:
    partitions = list(contents.partitions)
    if not partitions:
        raise UsageError(f"the study {contents.study.name} has no questions, so there is nothing to annotate")
    return partitions


def _questions(contents: Contents, partitions: Sequence[Partition]) -> tuple[list[Question], tuple[str, ...]]:
    """Return the fetched questions of partitions, and texts about missing questions as in `Sheet.missing`."""
    questions, errors = list[Question](), dict[Partition, SwaymeterError]()
    for partition in partitions:
        try:
            questions += contents.candidates(partition)
        except SwaymeterError as error:
            errors[partition] = error
    if errors and not questions:
        raise next(iter(errors.values()))
    unread = (f"partition {partition}: {error}" for partition, error in errors.items())
    return questions, (*unread, *contents.unfinished_steps([name for name in partitions if name not in errors]))
