"""The effect of people's judgements on questions: kinds of contexts, and accepted, corrected or rejected questions.

The first two annotators judge a question independently. Equal choices decide, if their corrections are equal, too;
otherwise a third person decides. A judgement counts only for the text that the annotator saw. If a rebuilt question has
other texts, the judgement is outdated.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from swaymeter.data import reasons
from swaymeter.data.reasons import REASONS
from swaymeter.data.records import OwnKind, Question, QuestionContext
from swaymeter.data.records.judgements import Judgement, same_words
from swaymeter.tasks.contexts.corrections import correct
from swaymeter.tasks.contexts.questions import BuiltQuestions, rejected_question

INDEPENDENT = 2
"""Number of annotators that judge each question independently."""
CORRECTIONS = ("question", "answer", "replacement", "text")
_REASONS = {
    "discard": reasons.ANNOTATORS_DISCARD,
    "misinformation": reasons.ANNOTATORS_MISINFORMATION,
    "incomplete": reasons.ANNOTATORS_INCOMPLETE,
}


@dataclass(frozen=True)
class Opinion:
    """The opinion of one annotator on a question: a choice with its corrections.

    Attributes:
        annotator: name of the annotator.
        choice: the choice.
        corrections: the new texts by field; empty unless the choice is change.
        note: the reason; may be empty.
    """

    annotator: str
    choice: str
    corrections: Mapping[str, str] = field(default_factory=dict)
    note: str = ""


@dataclass
class Opinions:
    """Opinions on questions, and judgements that do not count.

    Attributes:
        by_question: opinions on each question in the order of the files, by id.
        outdated: ids of questions that were judged with other texts.
        problems: sentences on judgements that do not count, with file and row.
    """

    by_question: dict[str, list[Opinion]] = field(default_factory=lambda: defaultdict(list))
    outdated: set[str] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)

    def independent(self, question_id: str) -> list[Opinion]:
        """Return the opinions of the first two annotators of a question."""
        return self.by_question.get(question_id, [])[:INDEPENDENT]

    def third(self, question_id: str) -> Opinion | None:
        """Return the opinion of the third annotator, who decides conflicts."""
        return next(iter(self.by_question.get(question_id, [])[INDEPENDENT:]), None)

    def is_conflict(self, question_id: str) -> bool:
        """Return True if the first two annotators differ."""
        first = self.independent(question_id)
        return len(first) == INDEPENDENT and _content(first[0]) != _content(first[1])

    def decided(self, question_id: str) -> Opinion | None:
        """Return the opinion that decides; None for fewer than two opinions, or for an undecided conflict."""
        first = self.independent(question_id)
        if len(first) < INDEPENDENT:
            return None
        return self.third(question_id) if self.is_conflict(question_id) else first[0]

    def summary(self, question_id: str) -> str | None:
        """Return the choice of each annotator; None without an opinion."""
        opinions = self.by_question.get(question_id, [])[: INDEPENDENT + 1]
        notes = (f" ({opinion.note})" if opinion.note else "" for opinion in opinions)
        choices = (
            f"{opinion.annotator}: {opinion.choice}{note}" for opinion, note in zip(opinions, notes, strict=True)
        )
        return "; ".join(choices) or None


def opinions(questions: Iterable[Question], judgements: Iterable[Judgement]) -> Opinions:
    """Return the opinions of annotators on these questions; judgements of other questions have no effect."""
    by_id = {question.question_id: question for question in questions}
    rows: dict[tuple[str, str], list[Judgement]] = defaultdict(list)
    for judgement in judgements:
        if judgement.problem is None and judgement.question_id in by_id and _is_about(judgement):
            rows[judgement.question_id, judgement.annotator].append(judgement)
    opinions_by_question = Opinions()
    for (question_id, _), rows_of_annotator in rows.items():
        _add(opinions_by_question, by_id[question_id], rows_of_annotator)
    return opinions_by_question


def accepted_questions(questions: Sequence[Question], opinions: Opinions) -> BuiltQuestions:
    """Return the accepted questions, with corrections, and the rejected ones, duplicates included."""
    decided, seen = BuiltQuestions([], []), set[str]()
    for question in questions:
        name = question.question_id
        holds = opinions.decided(name)
        if name in seen:
            decided.rejected.append(rejected_question(question, reasons.DOUBLED))
        elif holds is None:
            reason = reasons.ANNOTATORS_DISAGREE if opinions.is_conflict(name) else reasons.NOT_ANNOTATED
            is_outdated = name in opinions.outdated and not opinions.independent(name)
            detail = "judged with other texts, before it was rebuilt" if is_outdated else opinions.summary(name)
            decided.rejected.append(rejected_question(question, reason, detail))
        elif holds.choice in _REASONS:
            decided.rejected.append(rejected_question(question, _REASONS[holds.choice], opinions.summary(name)))
        else:
            decided.questions.append(correct(question, holds.corrections))
        seen.add(name)
    return decided


def open_questions(
    questions: Iterable[Question], opinions: Opinions, annotator: str, *, conflicts_only: bool = False
) -> list[Question]:
    """Return the questions without a judgement of an annotator, each once.

    Args:
        questions: the questions.
        opinions: the opinions on them.
        annotator: the name of the annotator.
        conflicts_only: True returns only conflicts that a third person must decide.
    """
    chosen = []
    for name, question in {question.question_id: question for question in questions}.items():
        open_conflict = opinions.is_conflict(name) and opinions.third(name) is None
        is_open = open_conflict if conflicts_only else len(opinions.independent(name)) < INDEPENDENT
        if is_open and annotator not in {opinion.annotator for opinion in opinions.by_question.get(name, ())}:
            chosen.append(question)
    return chosen


def with_kinds(questions: Sequence[Question], judgements: Iterable[Judgement]) -> tuple[list[Question], list[str]]:
    """Return questions of a user's file with people's kinds, and a sentence on each kind that does not count."""
    kinds, answers = dict[tuple[str, str], list[Judgement]](), dict[tuple[str, str], list[Judgement]]()
    for judgement in judgements:
        rows = kinds if judgement.field == "kind" else answers if judgement.field == "answer" else None
        if judgement.problem is None and rows is not None and judgement.context_id:
            rows.setdefault((judgement.question_id, judgement.context_id), []).append(judgement)
    if not kinds:
        return [*questions], []
    judged, problems = list[Question](), list[str]()
    for question in questions:
        contexts = []
        for context in question.contexts:
            row, answer = (_judgement_of(question, context, rows) for rows in (kinds, answers))
            problem = _kind_problem(question, row, answer) if row else ""
            if row and problem:
                problems.append(f"{row.location}: {problem}")
            contexts.append(context if row is None or problem else _with_kind(question, context, row, answer))
        judged.append(replace(question, contexts=tuple(contexts)))
    return judged, problems


def open_contexts(
    questions: Iterable[Question], judgements: Iterable[Judgement]
) -> list[tuple[Question, QuestionContext]]:
    """Return the contexts of users' files that have a kind neither in the file nor in these judgements."""
    kinds: dict[tuple[str, str], list[Judgement]] = defaultdict(list)
    for row in judgements:
        if row.field == "kind" and row.problem is None:
            kinds[row.question_id, row.context_id].append(row)
    pairs = ((question, context) for question in questions if question.is_own for context in question.contexts)
    return [pair for pair in pairs if pair[1].condition == "unknown" and _judgement_of(*pair, kinds) is None]


def context_rows(question: Question, context: QuestionContext, annotator: str) -> Iterator[dict[str, str]]:
    """Yield the empty rows of a sheet for the judgement of a context: its kind, and the answer that it states."""
    for name in ("kind", "answer"):
        yield {
            "question_id": question.question_id,
            "context_id": context.context_id,
            "field": name,
            "judged": context.text or "",
            "annotator": annotator,
            "question": question.question,
        }


def question_rows(
    questions: Iterable[Question], annotator: str, opinions: Opinions | None = None
) -> Iterator[dict[str, str]]:
    """Yield the empty rows of a sheet for the judgement of questions: the choice, and each text to correct.

    Args:
        questions: questions from live sources.
        annotator: the name of the annotator.
        opinions: opinions that a third person sees, without names; None hides all opinions.
    """
    for question in questions:
        about = {"question_id": question.question_id, "annotator": annotator}
        others = "\n".join(map(_description, opinions.independent(question.question_id))) if opinions else ""
        yield about | {"field": "choice", "judged": shown_text(question), **({"others": others} if opinions else {})}
        for name, text in texts(question).items():
            yield about | {"field": name, "judged": text, "context_id": "original" if name == "text" else ""}


def texts(question: Question) -> dict[str, str]:
    """Return the texts of a question that can be corrected, by field."""
    originals = (question.question, question.object, question.replacement, question.original_context)
    return dict(zip(CORRECTIONS, originals, strict=True))


def shown_text(question: Question) -> str:
    """Return the text that an annotator judges: context, question and both answers."""
    return "\n".join(
        f"{title}: {texts(question)[name]}"
        for title, name in (
            ("Context", "text"),
            ("Question", "question"),
            ("Answer", "answer"),
            ("Replacement", "replacement"),
        )
    )


def _is_about(judgement: Judgement) -> bool:
    """Return True if a judgement is a choice or a correction of a question."""
    return judgement.field == "choice" or (
        judgement.field in CORRECTIONS and judgement.context_id == ("original" if judgement.field == "text" else "")
    )


def _add(opinions: Opinions, question: Question, rows: Sequence[Judgement]) -> None:
    """Add one annotator's opinion on a question, or its problem."""
    judged = {"choice": shown_text(question), **texts(question)}
    current = [row for row in rows if not row.judged.strip() or same_words(row.judged) == same_words(judged[row.field])]
    choice = next((row for row in current if row.field == "choice"), None)
    if choice is None or len(current) < len(rows):
        opinions.outdated.add(question.question_id)
        row = next((row for row in rows if row not in current), rows[0])
        problem = "a correction needs the choice change" if row in current else "the question has other texts now"
        opinions.problems.append(f"{row.location}: {problem}")
        return
    new = {row.field: _normalised(row) for row in current if row.field != "choice"}
    changed = {name: text for name, text in new.items() if text.split() != judged[name].split()}
    problems = []
    if choice.value != "change" and new:
        problems.append(f"the choice is {choice.value}, and {next(iter(new))} is corrected; choose change")
    elif choice.value == "change" and not changed:
        problems.append("the choice is change, and no correction differs from the text; write one")
    elif choice.value == "change":
        flags = [flag for flag in correct(question, changed).flags if flag not in question.flags]
        problems += [f"the choice is change, and then: {REASONS.get(flag, flag)}" for flag in flags]
    if problems:
        opinions.problems += [f"{choice.location}: {problem}" for problem in problems]
    else:
        opinion = Opinion(choice.annotator, choice.value, changed, choice.note)
        opinions.by_question[question.question_id].append(opinion)


def _normalised(row: Judgement) -> str:
    return row.value.strip() if row.field == "text" else " ".join(row.value.split())


def _content(opinion: Opinion) -> tuple[str, dict[str, str]]:
    """Return the choice and the corrections, which are equal in equal opinions."""
    return opinion.choice, dict(opinion.corrections)


def _description(opinion: Opinion) -> str:
    """Return an opinion without the name of the annotator."""
    changes = "".join(f"; {name}: {text}" for name, text in opinion.corrections.items())
    return f"{opinion.choice}{changes}{f' ({opinion.note})' if opinion.note else ''}"


def _judgement_of(
    question: Question, context: QuestionContext, rows: Mapping[tuple[str, str], Sequence[Judgement]]
) -> Judgement | None:
    """Return the judgement of a context; None if the text has changed since."""
    names = (question.question_id, question.question)
    listed = (row for name in names for row in rows.get((name, context.context_id), ()))
    text = same_words(context.text or "")
    return next((row for row in listed if same_words(row.judged) in ("", text)), None)


def _kind_problem(question: Question, kind: Judgement, answer: Judgement | None) -> str:
    """Return the reason why a context cannot have a kind; empty without a reason."""
    if not question.is_own:
        return "the question is not of an own file, so its contexts keep their kinds"
    if kind.value != "conflicting":
        return ""
    if answer is None or not any(map(str.isalnum, answer.value)):
        return "a conflicting context needs a row `answer` with the answer that it states"
    if answer.value.casefold() in {form.casefold() for form in question.forms}:
        return f"the kind is conflicting, and the context states the right answer {answer.value}; correct one"
    return ""


def _with_kind(
    question: Question, context: QuestionContext, kind: Judgement, answer: Judgement | None
) -> QuestionContext:
    """Return a context of a user's file with another kind and the same id."""
    condition: OwnKind = kind.value  # type: ignore[assignment]  # checked where judgements are read
    stated: tuple[str, ...] = ()
    if condition == "supporting":
        stated = question.forms
    elif condition == "conflicting" and answer:
        stated = (answer.value,)
    passages = tuple(replace(passage, kind=condition, answers=stated) for passage in context.passages)
    return replace(context, condition=condition, answers=stated, passages=passages)
