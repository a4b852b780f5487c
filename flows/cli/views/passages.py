"""Ask an annotator in the terminal for missing kinds of contexts; each judgement is stored at once."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from swaymeter.data.errors import InputError, UsageError
from swaymeter.data.records import OWN_KINDS, Question, QuestionContext
from swaymeter.data.records.judgements import Judgement
from swaymeter.data.sources.judgements import annotator_name, read_judgements, write_judgements
from swaymeter.data.sources.own.source import OwnQuestions, read_questions, unusable_message
from swaymeter.tasks.contexts.judged_questions import open_contexts, with_kinds

KINDS = {name: kind for kind in OWN_KINDS for name in (kind[0], kind)}
"""Kinds of contexts by what an annotator types: s or supporting, and so on."""
KIND_PROMPT = "s supporting, c conflicting, i irrelevant, n neutral, u unknown; Enter skip, b back, q quit: "
ANSWER_PROMPT = "the answer that the passage states (Enter: back to the kind): "
MAX_SHOWN = 5000
"""Limit of the printed characters of a passage."""


@dataclass
class Annotation:
    """The contexts that an annotator judges, and all judgements of the target file, old and new."""

    annotator: str
    target: Path
    contexts: list[tuple[Question, QuestionContext]]
    judgements: list[Judgement] = field(default_factory=list)

    def add(self, question: Question, context: QuestionContext, **values: str) -> None:
        """Store the kind and the answer of a context, in place of this annotator's earlier judgements of the context.

        Raises:
            InputError: The context cannot have this kind.
        """
        ids = (question.question_id, context.context_id)
        rows = [
            Judgement(0, self.target.name, 0, *ids, name, context.text or "", value, self.annotator)
            for name, value in values.items()
        ]
        _, problems = with_kinds([question], rows)
        if problems:
            raise InputError(problems[0].partition(": ")[2])  # without file and row: the judgement is not stored yet
        others = [
            row
            for row in self.judgements
            if (row.question_id, row.context_id, row.annotator) != (*ids, self.annotator)
            or row.field not in ("kind", "answer")
        ]
        self.judgements = [*others, *rows]
        write_judgements(self.target, self.judgements, new=False)


def annotation_of(
    file: Path, to: Path | None, columns: Mapping[str, str], annotator: str, *, everything: bool
) -> Annotation:
    """Return the annotation of a file of questions: contexts without a kind or, with `everything`, all contexts.

    Raises:
        UsageError: No row of the file can be used.
    """
    target = to or file.with_name(f"{file.stem}-judgements.csv")
    try:
        read = read_questions(OwnQuestions(file=str(file), columns=dict(columns)))
        judgements = [*read_judgements([target])] if target.exists() else []
    except InputError as error:
        raise UsageError(str(error)) from None
    if not read.questions:
        raise UsageError(unusable_message(file, read))
    name = annotator_name(annotator, judgements)
    mine = [row for row in judgements if row.annotator == name]
    pairs = [(question, context) for question in with_kinds(read.questions, mine)[0] for context in question.contexts]
    return Annotation(name, target, pairs if everything else open_contexts(read.questions, mine), judgements)


def ask(annotation: Annotation, show: Callable[[str], None], read: Callable[[str], str]) -> None:
    """Ask about each context, until the last context or until the annotator quits.

    Args:
        annotation: The contexts and their judgements.
        show: Prints a line.
        read: Prints a prompt and returns the typed text; EOFError at the end of the input.
    """
    position = 0
    while position < len(annotation.contexts):
        question, context = annotation.contexts[position]
        for line in _lines(question, context, f"{position + 1} of {len(annotation.contexts)}"):
            show(line)
        try:
            reply = read(KIND_PROMPT).strip().lower()
            if kind := KINDS.get(reply):
                answer = read(ANSWER_PROMPT).strip() if kind == "conflicting" else ""
                annotation.add(question, context, kind=kind, **({"answer": answer} if answer else {}))
        except EOFError:
            return
        except InputError as error:
            show(f"not stored: {error}")
            continue
        if reply in ("q", "quit"):
            return
        if reply in ("b", "back"):
            position = max(position - 1, 0)
        elif kind or reply in ("", "skip"):
            position += 1


def _lines(question: Question, context: QuestionContext, heading: str) -> Iterator[str]:
    yield f"\n{heading} · {question.question_id}, {context.context_id}"
    yield f"question  {question.question}"
    yield f"answer    {'; '.join(question.forms)}"
    yield f"passage   {(context.text or '')[:MAX_SHOWN]}"
    if context.condition != "unknown":
        yield f"so far    {'; '.join((context.condition, *context.answers[:1]))}"
