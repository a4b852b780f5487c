"""Annotators' judgements, and the questions that they accept: those that two accept or change in the same way.

The first two annotators whose sheets are imported judge a question independently: equal judgements decide, otherwise a
third does. A judgement is about the texts that were shown, and the newest of an annotator counts.

Their agreement is Krippendorff's alpha = 1 - D_o / D_e for nominal data: the observed disagreement of the pairs of
judgements of one question over that of all pairs; not the share of equal choices. Only independent judgements count: of
the first annotator of a question, the last before the other's, and of the other, the first.
Source: Krippendorff 2004, Content Analysis, chapter 11; computed by the library krippendorff.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from swaymeter.data import reasons
from swaymeter.data.digests import content_key
from swaymeter.data.errors import DamagedFile, UsageError
from swaymeter.data.records import ANNOTATION_CHOICES, Annotation, Question, of_row
from swaymeter.data.records.tables import ANNOTATIONS
from swaymeter.data.storage.artifact import TableArtifact
from swaymeter.data.storage.files import CHARACTERS, verify
from swaymeter.data.storage.workspace import Workspace
from swaymeter.tasks.contexts.annotation.cells import plain
from swaymeter.tasks.contexts.annotation.changed import change
from swaymeter.tasks.contexts.questions import BuiltQuestions, rejected_question

INDEPENDENT = 2

_REASONS = {
    "discard": reasons.ANNOTATORS_DISCARD,
    "misinformation": reasons.ANNOTATORS_MISINFORMATION,
    "incomplete": reasons.ANNOTATORS_INCOMPLETE,
}

Shown = tuple[str, str]
"""What a judgement is about: a question's id, and the digest of the texts that were shown."""


@dataclass(frozen=True)
class Judgement:
    """The judgements of a question: the first two, independent of each other, and the third."""

    independent: tuple[Annotation, ...] = ()
    third: Annotation | None = None

    @property
    def annotations(self) -> tuple[Annotation, ...]:
        """All of them."""
        return (*self.independent, self.third) if self.third else self.independent

    @property
    def is_conflict(self) -> bool:
        """Whether two have judged differently."""
        return len(self.independent) == INDEPENDENT and len(set(map(decision, self.independent))) > 1

    @property
    def decided(self) -> Annotation | None:
        """The deciding judgement; None where fewer than two have judged, or two disagree and no third has."""
        if len(self.independent) < INDEPENDENT:
            return None
        return self.third if self.is_conflict else self.independent[0]


def shown_texts(question: Question) -> dict[str, str]:
    """The texts that an annotator is shown, by the column of the sheet."""
    return {
        "context": question.original_context,
        "question": question.question,
        "answer": question.object,
        "other answer": question.replacement,
    }


def texts_digest(texts: Mapping[str, str]) -> str:
    """The digest of shown texts; changes by spreadsheet programs do not count."""
    return content_key({name: plain(text) for name, text in texts.items()})[:16]


def shown(question: Question) -> Shown:
    """The question's id and the digest of its texts."""
    return question.question_id, texts_digest(shown_texts(question))


def decision(annotation: Annotation) -> tuple[str | None, ...]:
    """What must be equal in two equal judgements: the choice and, of a change, its texts."""
    return (annotation.choice, *changed_texts(annotation))


def changed_texts(annotation: Annotation) -> tuple[str | None, ...]:
    """The new question, answer, other answer and context."""
    return annotation.question, annotation.object, annotation.replacement, annotation.context


def imported(file: Path) -> TableArtifact:
    """The file of one import; DamagedFile where it cannot be read: it holds people's work and must not be removed."""
    try:
        name = file.stem[: -2 * (CHARACTERS + 1)]
        artifact = TableArtifact(file.parent, name, ANNOTATIONS, verify(file)["made_from"])
        artifact.read()
    except (DamagedFile, KeyError, TypeError) as error:
        raise DamagedFile(
            f"{file} holds annotations and cannot be read; restore it from a copy, or move it away and import "
            "its sheet again"
        ) from error
    return artifact


def read_annotations(workspace: Workspace) -> list[Annotation]:
    """Every annotation imported into the workspace, the earliest first; DamagedFile names a file that is damaged."""
    rows = [row for file in workspace.annotation_files() for row in imported(file).read().to_pylist()]
    return sorted((of_row(Annotation, row) for row in rows), key=lambda annotation: annotation.imported_at)


def in_order(annotations: Iterable[Annotation]) -> dict[Shown, list[Annotation]]:
    """All judgements of each question, the earliest first, with an annotator's later changes."""
    by_question: dict[Shown, list[Annotation]] = {}
    for annotation in sorted(annotations, key=lambda annotation: (annotation.imported_at, annotation.annotator)):
        by_question.setdefault((annotation.question_id, annotation.texts), []).append(annotation)
    return by_question


def newest(annotations: Iterable[Annotation]) -> dict[Shown, dict[str, Annotation]]:
    """Each annotator's last judgement of each question, in the order of their first judgements."""
    by_question = in_order(annotations).items()
    return {about: {annotation.annotator: annotation for annotation in judged} for about, judged in by_question}


def judgements(annotations: Iterable[Annotation]) -> dict[Shown, Judgement]:
    """The judgements of each question: the first two annotators, and the third; further annotators do not count."""
    judged = {}
    for about, by_annotator in newest(annotations).items():
        first = tuple(by_annotator.values())
        judged[about] = Judgement(first[:INDEPENDENT], first[INDEPENDENT] if len(first) > INDEPENDENT else None)
    return judged


def decide(questions: Sequence[Question], annotations: Iterable[Annotation]) -> BuiltQuestions:
    """The accepted questions, with the texts that annotators changed, and the rejected ones, duplicates included."""
    judged = judgements(annotations)
    judged_before = {question_id for question_id, _ in judged}
    seen: set[Shown] = set()
    decided = BuiltQuestions([], [])
    for question in questions:
        about = shown(question)
        if about in seen:
            decided.rejected.append(rejected_question(question, reasons.DOUBLED))
            continue
        seen.add(about)
        judgement = judged.get(about, Judgement())
        holds = judgement.decided
        if holds is None:
            reason = reasons.ANNOTATORS_DISAGREE if judgement.is_conflict else reasons.NOT_ANNOTATED
            outdated = not judgement.independent and question.question_id in judged_before
            detail = "judged with other texts, before it was rebuilt" if outdated else _summary(judgement)
            decided.rejected.append(rejected_question(question, reason, detail))
        elif holds.choice in _REASONS:
            decided.rejected.append(rejected_question(question, _REASONS[holds.choice], _summary(judgement)))
        else:
            decided.questions.append(change(question, *changed_texts(holds)))
    return decided


def for_annotator(
    questions: Sequence[Question], annotations: Iterable[Annotation], annotator: str, *, conflicts_only: bool = False
) -> list[Question]:
    """The questions still to be judged by an annotator, each once; conflicts_only: those that a third must decide."""
    judged = judgements(annotations)
    chosen = []
    for about, question in {shown(question): question for question in questions}.items():
        judgement = judged.get(about, Judgement())
        open_conflict = judgement.is_conflict and judgement.third is None
        is_open = open_conflict if conflicts_only else len(judgement.independent) < INDEPENDENT
        if is_open and annotator not in {annotation.annotator for annotation in judgement.annotations}:
            chosen.append(question)
    return chosen


def annotator_name(name: str, annotations: Iterable[Annotation]) -> str:
    """The name without needless spaces; UsageError where it is empty, or nearly that of another annotator."""
    plain = " ".join(unicodedata.normalize("NFC", name).split())
    if not plain or not plain.isprintable():
        raise UsageError(
            f"{name!r} is not a valid name of an annotator; give a name with letters, such as --annotator ada"
        )
    for known in {annotation.annotator for annotation in annotations}:
        if known != plain and known.casefold() == plain.casefold():
            raise UsageError(
                f"the annotator {known!r} exists already; write the name in the same way, or use another name"
            )
    return plain


def _summary(judgement: Judgement) -> str | None:
    notes = [(one, f" ({one.note})" if one.note else "") for one in judgement.annotations]
    return "; ".join(f"{one.annotator}: {one.choice}{note}" for one, note in notes) or None


@dataclass(frozen=True)
class Agreement:
    """How far the two independent annotators of each question agree; alpha: None, and why in `undefined`.

    units: questions with two judgements; annotators: of these; counts: everybody's newest choices.
    """

    alpha: float | None
    units: int
    annotators: tuple[str, ...]
    counts: Mapping[str, Mapping[str, int]]
    undefined: str | None = None


def agreement(annotations: Iterable[Annotation]) -> Agreement:
    """The agreement of the two independent annotators of each question; a third, who decides, is not in it."""
    annotations = list(annotations)
    pairs = []
    for judged_in_order in in_order(annotations).values():
        # The first annotator's last judgement before another's, and that one; none where only one annotator judged.
        pairs += [pair for pair in pairwise(judged_in_order) if pair[0].annotator != pair[1].annotator][:1]
    annotators = tuple(sorted({annotation.annotator for pair in pairs for annotation in pair}))
    latest = [annotation for judged in newest(annotations).values() for annotation in judged.values()]
    counts = {
        name: Counter[str](annotation.choice for annotation in latest if annotation.annotator == name)
        for name in sorted({annotation.annotator for annotation in latest})
    }
    choices = {annotation.choice for pair in pairs for annotation in pair}
    if not pairs:
        return Agreement(None, 0, annotators, counts, "no question has been judged by two annotators")
    if len(choices) == 1:
        undefined = f"all annotators always chose {choices.pop()}, so chance agreement is not defined"
        return Agreement(None, len(pairs), annotators, counts, undefined)
    table = np.full((len(annotators), len(pairs)), np.nan)
    for unit, pair in enumerate(pairs):
        for annotation in pair:
            table[annotators.index(annotation.annotator), unit] = ANNOTATION_CHOICES.index(annotation.choice)
    import krippendorff

    alpha = float(krippendorff.alpha(reliability_data=table, level_of_measurement="nominal"))
    return Agreement(alpha, len(pairs), annotators, counts)
