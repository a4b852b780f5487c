"""What annotators say of questions, and which questions go on: those that two accept or change in the same way.

Two annotators judge a question without knowing of each other: the first two whose sheets are imported. Where they say
the same, a change in the same words, that holds; where not, a third decides. A judgement is about the texts that were
shown: a question that was built anew with others is judged anew. Of one annotator's judgements the newest counts; the
earlier ones stay where they are.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from data import reasons
from data.errors import DamagedFile, UsageError
from data.records import Annotation, Question, Rejected, of_row
from data.records.tables import ANNOTATIONS
from data.storage.artifact import TableArtifact
from data.storage.files import CHARACTERS, verify
from data.storage.keys import content_key
from data.storage.workspace import Workspace
from tasks.contexts.annotation.cells import plain
from tasks.contexts.annotation.changed import change
from tasks.contexts.questions import not_asked

INDEPENDENT = 2
DIGEST_LENGTH = 16

_REASONS = {
    "discard": reasons.ANNOTATORS_DISCARD,
    "misinformation": reasons.ANNOTATORS_MISINFORMATION,
    "incomplete": reasons.ANNOTATORS_INCOMPLETE,
}

Shown = tuple[str, str]
"""What a judgement is about: a question's id, and the digest of the texts that were shown."""


@dataclass(frozen=True)
class Judgement:
    """What annotators say of one question: the two first, independent of each other, and the third who came after."""

    independent: tuple[Annotation, ...]
    third: Annotation | None = None

    @property
    def is_conflict(self) -> bool:
        """Whether two have judged and do not say the same."""
        return len(self.independent) == INDEPENDENT and decision(self.independent[0]) != decision(self.independent[1])

    @property
    def decided(self) -> Annotation | None:
        """What holds; None where fewer than two have judged, or two disagree and no third has."""
        if len(self.independent) < INDEPENDENT:
            return None
        return self.third if self.is_conflict else self.independent[0]

    @property
    def annotators(self) -> frozenset[str]:
        """Whoever has judged the question."""
        return frozenset(one.annotator for one in (*self.independent, self.third) if one)


@dataclass(frozen=True)
class Decided:
    """The questions that go on, changed where annotators changed them, and those that do not, with the reason."""

    accepted: tuple[Question, ...]
    rejected: tuple[Rejected, ...]


def texts_digest(context: str, question: str, answer: str, other_answer: str) -> str:
    """The digest of the texts that an annotator is shown; what spreadsheet programs change does not count."""
    shown = {"context": context, "question": question, "answer": answer, "other answer": other_answer}
    return content_key({name: plain(text) for name, text in shown.items()})[:DIGEST_LENGTH]


def shown(question: Question) -> Shown:
    """What a judgement of the question is about."""
    texts = (question.original_context, question.question, question.object, question.replacement)
    return question.question_id, texts_digest(*texts)


def decision(annotation: Annotation) -> tuple[str | None, ...]:
    """What two annotators must have in common to say the same: the choice and, of a change, its texts."""
    return (annotation.choice, *changed_texts(annotation))


def changed_texts(annotation: Annotation) -> tuple[str | None, ...]:
    """The new question, answer, other answer and context."""
    return annotation.question, annotation.object, annotation.replacement, annotation.context


def imported(file: Path) -> TableArtifact:
    """The file of one import; DamagedFile where it cannot be read: it is people's work and not to be removed."""
    try:
        name = file.stem[: -2 * (CHARACTERS + 1)]
        artifact = TableArtifact(file.parent, name, ANNOTATIONS, verify(file)["made_from"])
        artifact.read()
    except (DamagedFile, KeyError, TypeError) as error:
        raise DamagedFile(
            f"{file} holds annotations and cannot be read; bring it back from a copy, or move it away and import "
            "the sheet again that it came from"
        ) from error
    return artifact


def read_annotations(workspace: Workspace) -> list[Annotation]:
    """Every annotation imported into the workspace, the earliest first; DamagedFile names what cannot be read."""
    rows = [row for file in workspace.annotation_files() for row in imported(file).read().to_pylist()]
    return sorted((of_row(Annotation, row) for row in rows), key=lambda one: one.imported_at)


def in_order(annotations: Iterable[Annotation]) -> dict[Shown, list[Annotation]]:
    """What was said of each question, the earliest first, with what somebody said otherwise later."""
    found: dict[Shown, list[Annotation]] = {}
    for one in sorted(annotations, key=lambda one: (one.imported_at, one.annotator)):
        found.setdefault((one.question_id, one.texts), []).append(one)
    return found


def newest(annotations: Iterable[Annotation]) -> dict[Shown, dict[str, Annotation]]:
    """What each annotator said last of each question, in the order in which they first said something of it."""
    return {about: {one.annotator: one for one in said} for about, said in in_order(annotations).items()}


def judgements(annotations: Iterable[Annotation]) -> dict[Shown, Judgement]:
    """What annotators say of each question; who judges it after two others is the third, whoever comes later nobody."""
    found = {}
    for about, by_annotator in newest(annotations).items():
        said = list(by_annotator.values())
        third = said[INDEPENDENT] if len(said) > INDEPENDENT else None
        found[about] = Judgement(tuple(said[:INDEPENDENT]), third)
    return found


def decide(questions: Sequence[Question], annotations: Iterable[Annotation]) -> Decided:
    """Which questions go on by what annotators say of them as they are now; one that is there twice goes on once.

    Two titles of a page lead to the same questions.
    A changed question has its new texts, the other answer in its counter-memory context, and its flags anew.
    """
    found = judgements(annotations)
    judged_before = {question_id for question_id, _ in found}
    seen: set[Shown] = set()
    accepted, rejected = [], []
    for question in questions:
        about = shown(question)
        if about in seen:
            rejected.append(not_asked(question, reasons.DOUBLED))
            continue
        seen.add(about)
        judgement = found.get(about, Judgement(()))
        holds = judgement.decided
        if holds is None:
            reason = reasons.ANNOTATORS_DISAGREE if judgement.is_conflict else reasons.NOT_ANNOTATED
            outdated = not judgement.independent and question.question_id in judged_before
            detail = "judged with other texts, before it was built anew" if outdated else _said(judgement)
            rejected.append(not_asked(question, reason, detail))
        elif holds.choice in _REASONS:
            rejected.append(not_asked(question, _REASONS[holds.choice], _said(judgement)))
        else:
            accepted.append(change(question, *changed_texts(holds)))
    return Decided(tuple(accepted), tuple(rejected))


def for_annotator(
    questions: Sequence[Question], annotations: Iterable[Annotation], annotator: str, *, conflicts_only: bool = False
) -> list[Question]:
    """The questions that an annotator has still to judge, each once: of fewer than two judgements, none of them theirs.

    conflicts_only: those that two others disagree about, and that no third has decided.
    """
    found = judgements(annotations)
    chosen = []
    for about, question in {shown(question): question for question in questions}.items():
        judgement = found.get(about, Judgement(()))
        open_conflict = judgement.is_conflict and judgement.third is None
        wanted = open_conflict if conflicts_only else len(judgement.independent) < INDEPENDENT
        if wanted and annotator not in judgement.annotators:
            chosen.append(question)
    return chosen


def annotator_name(name: str, annotations: Iterable[Annotation]) -> str:
    """The name without needless spaces; UsageError where it is empty, or nearly that of another annotator.

    One person under two spellings would count as two who agree.
    """
    plain = _plain(name)
    if not plain or not plain.isprintable():
        raise UsageError(f"{name!r} is not a name of an annotator; give one with letters, such as --annotator ada")
    for known in {one.annotator for one in annotations}:
        if known != plain and known.casefold() == plain.casefold():
            raise UsageError(
                f"there is an annotator {known!r} already; write the name in the same way, or another name"
            )
    return plain


def counts_by_annotator(annotations: Iterable[Annotation]) -> Mapping[str, Mapping[str, int]]:
    """How often each annotator made each choice, counting the newest alone."""
    counts: dict[str, dict[str, int]] = {}
    for said in newest(annotations).values():
        for one in said.values():
            of_one = counts.setdefault(one.annotator, {})
            of_one[one.choice] = of_one.get(one.choice, 0) + 1
    return {name: counts[name] for name in sorted(counts)}


def _plain(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).split())


def _said(judgement: Judgement) -> str | None:
    said = [one for one in (*judgement.independent, judgement.third) if one]
    return "; ".join(f"{one.annotator}: {one.choice}{f' ({one.note})' if one.note else ''}" for one in said) or None
