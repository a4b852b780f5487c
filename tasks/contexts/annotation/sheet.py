"""The sheet of an annotator: its columns and rows, and how it is read.

Every row has the question's id and the digest of its texts, so that rows may be sorted or removed and an overwritten
text is noticed. All errors of a sheet are reported at once; then nothing is imported.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from swaymeter.data.errors import InputError, UsageError
from swaymeter.data.reasons import REASONS
from swaymeter.data.records import ANNOTATION_CHOICES, Annotation, Question
from swaymeter.tasks.contexts.annotation.cells import SheetColumn, plain
from swaymeter.tasks.contexts.annotation.changed import change
from swaymeter.tasks.contexts.annotation.judging import (
    Judgement,
    Shown,
    changed_texts,
    shown,
    shown_texts,
    texts_digest,
)
from swaymeter.tasks.contexts.annotation.spreadsheet import Sheet, SheetRow

MEANINGS: Mapping[str, str] = {
    "accept": "The question is clear, the context states the answer, and the other answer could stand in its place "
    "and would say something else.",
    "change": "As accept, but for words to correct: write the whole new text into its new column, and leave "
    "the new columns of what stays as it is empty.",
    "discard": "Not correctable: both answers mean the same, neither is what the question asks for, the text is "
    "broken, or nobody would ask this.",
    "misinformation": "The context or an answer is plainly made up or meant to harm: vandalism, a hoax, an insult.",
    "incomplete": "Nobody can tell what is asked, or what the context says, without something that is not there: "
    "who, when, or which one.",
}
"""The five choices and the meaning of each, as in the sheet and the guide."""

GUIDE: Mapping[str, str] = {
    "what you see": "A context, a question that it answers, the answer that the context states, and another answer "
    "that is to take its place. Of disputed texts neither answer need be true.",
    "what you do": "Pick one choice for every question. Do it alone, before you talk to anybody about it. Write "
    "only into the blue columns; the note is for whatever you want to say.",
    **MEANINGS,
    "when you stop": "Save the file as it is, .xlsx or CSV UTF-8. It may be handed in half done, and again later.",
}

KEY, ANNOTATOR, OPINIONS = "key", "annotator", "two others said"
_SHOWN = ("context", "question", "answer", "other answer")
_NEW = ("new question", "new answer", "new other answer", "new context")
COLUMNS = (
    SheetColumn("subject", 20),
    SheetColumn("context", 60),
    SheetColumn("question", 36),
    SheetColumn("answer", 20),
    SheetColumn("other answer", 20),
    SheetColumn("choice", 16, written=True, choices=ANNOTATION_CHOICES),
    SheetColumn("new question", 30, written=True),
    SheetColumn("new answer", 20, written=True),
    SheetColumn("new other answer", 20, written=True),
    SheetColumn("new context", 40, written=True),
    SheetColumn("note", 30, written=True),
    SheetColumn(KEY, hidden=True),
    SheetColumn(ANNOTATOR, hidden=True),
)
COLUMNS_OF_CONFLICTS = (*COLUMNS[:5], SheetColumn(OPINIONS, 40), *COLUMNS[5:])

_KEY = re.compile(r"q-(.+)-([0-9a-f]{16})", re.DOTALL)
_MOST_REPORTED = 20


@dataclass(frozen=True)
class ReadBack:
    """The annotations of a sheet, and the numbers of rows with a note and no choice (unfinished).

    outdated: rows of questions that do not exist with these texts now; others: unknown columns with content.
    """

    annotations: tuple[Annotation, ...]
    unfinished: tuple[int, ...]
    outdated: tuple[int, ...]
    others: tuple[str, ...]


def rows_for(
    questions: Iterable[Question], annotator: str, others: Mapping[Shown, Judgement] | None = None
) -> list[dict[str, str]]:
    """The rows of an annotator's sheet; others: their judgements, shown without names to who decides a conflict."""
    rows = []
    for question in questions:
        question_id, digest = shown(question)
        opinions = others[question_id, digest].independent if others is not None else ()
        rows.append(
            dict.fromkeys((column.name for column in COLUMNS_OF_CONFLICTS), "")
            | {"subject": question.subject, **shown_texts(question), OPINIONS: "\n".join(map(_opinion, opinions))}
            | {KEY: f"q-{question_id}-{digest}", ANNOTATOR: annotator}
        )
    return rows


def read_back(sheet: Sheet, questions: Iterable[Question], annotator: str, *, imported_at: str) -> ReadBack:
    """The annotations of the annotator's sheet, of rows with a choice.

    UsageError where it was written for another annotator or study, InputError with all its errors by row and column.
    """
    current = {shown(question): question for question in questions}
    reader = _SheetReader(current, annotator, sheet.path.name, imported_at)
    for row in sheet.rows:
        reader.read(row)
    if reader.owners:
        names = ", ".join(sorted(reader.owners))
        raise UsageError(
            f"{sheet.path} was written for {names}, not for {annotator}; name {names} with --annotator, or export a "
            f"sheet for {annotator}"
        )
    if reader.problems:
        more = f"; and {len(reader.problems) - _MOST_REPORTED} more" if len(reader.problems) > _MOST_REPORTED else ""
        raise InputError(f"{sheet.path}: {'; '.join(reader.problems[:_MOST_REPORTED])}{more}; nothing was imported")
    if reader.rows_of and not reader.rows_of.keys() & {question_id for question_id, _ in current}:
        raise UsageError(f"{sheet.path} has no question of this study; name the study that it was exported from")
    return ReadBack(tuple(reader.annotations), tuple(reader.unfinished), tuple(reader.outdated), sheet.others)


class _SheetReader:
    """The rows of a sheet that were read so far; questions: those of the study, by id and digest of their texts."""

    def __init__(self, questions: Mapping[Shown, Question], annotator: str, file: str, imported_at: str) -> None:
        self.questions, self.annotator, self.file, self.imported_at = questions, annotator, file, imported_at
        self.annotations: list[Annotation] = []
        self.problems: list[str] = []
        self.unfinished: list[int] = []
        self.outdated: list[int] = []
        self.owners: set[str] = set()
        self.rows_of: dict[str, int] = {}

    def read(self, row: SheetRow) -> None:
        """Reads a row, or reports its errors."""
        key = _KEY.fullmatch(row.cells[KEY].strip())
        if key is None:
            self._report(row, KEY, "is unknown; rows cannot be added, and the hidden columns must stay")
            return
        question_id, digest = key[1], key[2]
        owner = " ".join(row.cells[ANNOTATOR].split())
        if plain(owner) != plain(self.annotator):
            self.owners.add(owner or "nobody")
        elif question_id in self.rows_of:
            self._report(row, KEY, f"is also that of row {self.rows_of[question_id]}; remove one of them")
        elif texts_digest({name: row.cells[name] for name in _SHOWN}) != digest:
            self._report_overwritten(row, question_id, digest)
        else:
            self._judge(row, question_id, digest)
        self.rows_of.setdefault(question_id, row.number)

    def _judge(self, row: SheetRow, question_id: str, digest: str) -> None:
        choice = row.cells["choice"].strip().casefold()
        new = {name: " ".join(row.cells[name].split()) for name in _NEW[:-1]}
        new[_NEW[-1]] = row.cells[_NEW[-1]].strip()
        note = row.cells["note"].strip() or None
        if not choice:
            for name in (name for name, text in new.items() if text):
                self._report(row, "choice", f"is empty, and {name} is filled in; choose change, or empty that cell")
            if note:
                self.unfinished.append(row.number)
            return
        if choice not in ANNOTATION_CHOICES:
            near = get_close_matches(choice, ANNOTATION_CHOICES, n=1, cutoff=0.5)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            *choices, last = ANNOTATION_CHOICES
            problem = f"{_short(row.cells['choice'])} is not a choice{hint}; choose {', '.join(choices)} or {last}"
            self._report(row, "choice", problem)
            return
        question, answer, other_answer, context = (
            new[name] if new[name] and new[name].split() != row.cells[name[4:]].split() else None for name in _NEW
        )
        changed = [name for name in _NEW if new[name]]
        if choice != "change" and changed:
            problem = f"is filled in, and the choice is {choice}; choose change, or empty that cell"
            self._report(row, changed[0], problem)
            return
        if choice == "change" and (question, answer, other_answer, context) == (None, None, None, None):
            self._report(row, "choice", "is change, and no new text differs from the old one; fill one in")
            return
        self.annotations.append(
            Annotation(
                question_id=question_id, texts=digest, annotator=self.annotator,
                choice=next(known for known in ANNOTATION_CHOICES if known == choice), question=question, object=answer,
                replacement=other_answer, context=context, note=note, file=self.file, imported_at=self.imported_at,
            )
        )  # fmt: skip
        now = self.questions.get((question_id, digest))
        if now is None:
            self.outdated.append(row.number)
        elif choice == "change":
            for flag in change(now, question, answer, other_answer, context).flags:
                if flag not in now.flags:
                    self._report(row, "choice", f"is change, and then: {REASONS.get(flag, flag)}")

    def _report_overwritten(self, row: SheetRow, question_id: str, digest: str) -> None:
        now = self.questions.get((question_id, digest))
        if now is None:
            self._report(row, " or ".join(_SHOWN), "was overwritten; restore the old text")
            return
        for name, text in shown_texts(now).items():
            if plain(row.cells[name]) != plain(text):
                problem = f"was overwritten; restore {_short(text)}, and write the change into new {name}"
                self._report(row, name, problem)

    def _report(self, row: SheetRow, column: str, problem: str) -> None:
        self.problems.append(f"row {row.number}, column {column}: {problem}")


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:59]}…")


def _opinion(annotation: Annotation) -> str:
    texts = zip(_NEW, changed_texts(annotation), strict=True)
    changes = "".join(f"; {name}: {text}" for name, text in texts if text is not None)
    return f"{annotation.choice}{changes}{f' ({annotation.note})' if annotation.note else ''}"
