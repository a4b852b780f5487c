"""Asking in the terminal for the kinds of contexts that have none; a file of JSON lines keeps each reply at once."""

import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from swaymeter.data.errors import InputError, UsageError, WorkspaceError
from swaymeter.data.escaping import terminal
from swaymeter.data.records import OWN_KINDS, OwnKind
from swaymeter.data.sources.own.named_file import Origin, rows_not_usable, wrong_rows
from swaymeter.data.sources.own.one_row import OwnContext, OwnRow, row_of
from swaymeter.data.sources.own.rows import AskedQuestion, asked_questions
from swaymeter.data.sources.own.source import question_rows
from swaymeter.data.storage.writing import write_file

KINDS: Mapping[str, OwnKind] = {name: kind for kind in OWN_KINDS for name in (kind[0], kind)}
KEYS = "s supporting, c conflicting, i irrelevant, n neutral, u unknown; Enter skip, b back, q quit: "
STATED = "the answer that the passage states (Enter: {}): "
BACK = "back to the kind"
ENDING = "-labelled.jsonl"
LONGEST = 5000
"""Characters of a passage that are shown."""


@dataclass
class Labelling:
    """Questions whose contexts are labelled, the file that keeps them, and which contexts are asked about.

    rejected: how many rows of the file cannot be used, and are not kept.
    """

    questions: list[AskedQuestion]
    target: Path
    rejected: int
    open: list[tuple[AskedQuestion, int]]

    def save(self) -> None:
        """Writes all questions, in one step that nothing can divide."""
        rows = (json.dumps(question.as_row(), ensure_ascii=False) for question in self.questions)
        try:
            write_file(self.target, "".join(f"{row}\n" for row in rows))
        except WorkspaceError as error:
            raise UsageError(f"{str(error).partition(';')[0]}; name another file by --to") from None

    @property
    def missing(self) -> int:
        """How many contexts have no kind, and none that follows from their text."""
        return sum(_is_open(question, at) for question in self.questions for at in range(len(question.contexts)))


def labelling(file: Path, to: Path | None, columns: Mapping[str, str], *, everything: bool) -> Labelling:
    """What is asked about a file: the contexts whose kind is neither given nor follows from their text, or all of them.

    Kinds that an earlier call wrote into the target are taken over.

    Raises:
        UsageError: A file cannot be read, or the target would lose rows or is not one of JSON lines.
    """
    target = to or (file if file.name.endswith(ENDING) else file.with_name(f"{file.stem}{ENDING}"))
    if target.suffix != ".jsonl":
        raise UsageError(f"{target}: kinds are written as JSON lines; name a file that ends in .jsonl")
    try:
        questions, rejected = asked_questions(question_rows(file, columns).rows, Origin("", ""), columns)
        is_same = target.exists() and target.samefile(file)
        written = question_rows(target, {}).rows if target.exists() else []
        known, unknown = asked_questions(written, Origin("", ""), {})
    except InputError as error:
        raise UsageError(str(error)) from None
    if not questions:
        raise UsageError(rows_not_usable(file, wrong_rows(rejected), len(rejected)))
    if is_same and rejected:
        raise UsageError(
            f"{file}: rows that cannot be used would be lost; `swaymeter audit` says what is wrong with them"
        )
    kept, there = _contexts(known), _contexts(questions)
    if lost := len(kept.keys() - there.keys()) + len(unknown):
        raise UsageError(
            f"{target}: {lost} of its contexts are not in {file}, and would be lost; name another file by --to"
        )
    kept = {name: context for name, context in kept.items() if context.kind}
    for question in questions:
        names = [(question.row.question, question.row.answer, context.text) for context in question.contexts]
        question.contexts = [kept.get(name, context) for name, context in zip(names, question.contexts, strict=True)]
    places = [(question, at) for question in questions for at in range(len(question.contexts))]
    asked = [place for place in places if everything or _is_open(*place)]
    return Labelling(questions, target, len(rejected), asked)


def _is_open(question: AskedQuestion, number: int) -> bool:
    """Whether a context has no kind, and none that follows from its text."""
    return question.contexts[number].kind is None and question.kinds[number] == "unknown"


def _contexts(questions: Sequence[AskedQuestion]) -> dict[tuple[str, str, str], OwnContext]:
    """The contexts by their questions, answers and texts."""
    pairs = ((question.row, context) for question in questions for context in question.contexts)
    return {(row.question, row.answer, context.text): context for row, context in pairs}


def ask(work: Labelling, show: Callable[[str], None], read: Callable[[str], str]) -> None:
    """Asks about each open context, and keeps each reply; ends where the last one was asked about, or at quit.

    show: prints a text. read: prints a prompt and gives what was typed; EOFError where nothing more can come.
    """
    at = 0
    while at < len(work.open):
        question, number = work.open[at]
        for line in _lines(question, number, f"{at + 1} of {len(work.open)}"):
            show(line)
        try:
            reply = read(KEYS).strip().lower()
            if reply in KINDS:
                _set(question, number, KINDS[reply], read)
                work.save()
        except EOFError:
            return
        except InputError as error:
            show(f"not kept: {error}")
            continue
        if reply in ("q", "quit"):
            return
        if reply in KINDS or reply in ("", "skip"):
            at += 1
        elif reply in ("b", "back"):
            at = max(at - 1, 0)


def _set(question: AskedQuestion, number: int, kind: OwnKind, read: Callable[[str], str]) -> None:
    """Gives a context its kind; InputError where that cannot be, such as a conflicting one that states the answer."""
    before = question.contexts[number]
    cells = {**question.as_row()["contexts"][number], "kind": kind}
    if before.kind == "conflicting":  # what it states is of that kind alone
        cells = {name: value for name, value in cells.items() if name not in ("answer", "aliases")}
    if kind == "conflicting":
        cells["answer"] = read(STATED.format(terminal(before.answer or BACK))) or before.answer
    question.contexts[number] = row_of(OwnContext, cells)
    try:
        row_of(OwnRow, question.as_row())
    except InputError:
        question.contexts[number] = before
        raise


def _lines(question: AskedQuestion, number: int, place: str) -> Iterator[str]:
    """What is shown of a context: its question, the right answer in its forms, the text, and what is known of it."""
    context, forms = question.contexts[number], question.forms
    more = f"\n({len(context.text) - LONGEST:,} more characters)" if len(context.text) > LONGEST else ""
    yield f"\n{place} · {question.place}"
    yield f"question  {question.row.question}"
    yield f"answer    {'; '.join(forms)}"
    yield f"passage   {context.text[:LONGEST]}{more}"
    if (kind := question.kinds[number]) != "unknown" or context.kind or context.answer:
        known = f"{kind}{'' if context.kind else ', by its text'}"
        yield f"so far    {'; '.join(filter(None, (known, context.answer)))}"


def summary(work: Labelling) -> Sequence[str]:
    """What there is now, and what comes next."""
    lost = f"; {work.rejected} rows that cannot be used are not in it" if work.rejected else ""
    if not work.target.exists():
        return ["nothing was written"]
    return [
        f"{work.target}: {len(work.questions)} questions, {work.missing} contexts without a kind{lost}",
        f"next: swaymeter audit {shlex.quote(str(work.target))} --model MODEL",
    ]
