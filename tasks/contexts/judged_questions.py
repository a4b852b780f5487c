"""The effect of people's judgements on questions: kinds of contexts, and accepted, corrected or rejected questions.

The first two annotators judge a question independently. If their choices or corrections differ, a third annotator
decides. A judgement counts only for the text that the annotator saw, so a rebuilt question may need a new judgement.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from swaymeter.data import reasons
from swaymeter.data.reasons import REASONS
from swaymeter.data.records import OwnKind, Question, QuestionContext
from swaymeter.data.records.judgements import Judgement, comparable_text
from swaymeter.tasks.contexts.corrections import correct
from swaymeter.tasks.contexts.questions import BuiltQuestions, rejected_question

INDEPENDENT_ANNOTATORS = 2
"""Number of annotators that judge each question independently."""
CORRECTIONS = ("question", "answer", "replacement", "text")
"""Fields of a question that a judgement can correct; `text` is the original context."""
_REJECTION_REASONS = {
    "discard": reasons.ANNOTATORS_DISCARD,
    "misinformation": reasons.ANNOTATORS_MISINFORMATION,
    "incomplete": reasons.ANNOTATORS_INCOMPLETE,
}
"""The rejection reason of each choice that rejects a question."""


@dataclass(frozen=True)
class Opinion:
    """The opinion of one annotator on a question: a choice with its corrections.

    Attributes:
        annotator: name of the annotator.
        choice: accept, change, discard, misinformation or incomplete.
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
        by_question: by question id, the opinions on the question, in the order of the files.
        without_effect: by question id, the reason why the judgements of the question do not count, such as
            "corrected without a choice".
        problems: sentences on judgements that do not count, with file and row.
    """

    by_question: dict[str, list[Opinion]] = field(default_factory=lambda: defaultdict(list))
    without_effect: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def independent(self, question_id: str) -> list[Opinion]:
        """Return the opinions of the first two annotators of a question."""
        return self.by_question.get(question_id, [])[:INDEPENDENT_ANNOTATORS]

    def third(self, question_id: str) -> Opinion | None:
        """Return the opinion of the third annotator, who decides conflicts."""
        return next(iter(self.by_question.get(question_id, [])[INDEPENDENT_ANNOTATORS:]), None)

    def is_conflict(self, question_id: str) -> bool:
        """Return True if the first two annotators differ in their choices or corrections."""
        first_two = self.independent(question_id)
        return len(first_two) == INDEPENDENT_ANNOTATORS and _content(first_two[0]) != _content(first_two[1])

    def decisive(self, question_id: str) -> Opinion | None:
        """Return the opinion that decides; None for fewer than two opinions, or for an undecided conflict."""
        first_two = self.independent(question_id)
        if len(first_two) < INDEPENDENT_ANNOTATORS:
            return None
        return self.third(question_id) if self.is_conflict(question_id) else first_two[0]

    def summary(self, question_id: str) -> str | None:
        """Return the choices and notes of the first three annotators as a text; None without an opinion."""
        opinions = self.by_question.get(question_id, [])[: INDEPENDENT_ANNOTATORS + 1]
        choices = []
        for opinion in opinions:
            note = f" ({opinion.note})" if opinion.note else ""
            choices.append(f"{opinion.annotator}: {opinion.choice}{note}")
        return "; ".join(choices) or None


def opinions(questions: Iterable[Question], judgements: Iterable[Judgement]) -> Opinions:
    """Return the opinions of annotators on these questions; judgements of other questions have no effect."""
    by_id = {question.question_id: question for question in questions}
    by_annotator: dict[tuple[str, str], list[Judgement]] = defaultdict(list)
    for judgement in judgements:
        if judgement.problem is None and judgement.question_id in by_id and _judges_question(judgement):
            by_annotator[judgement.question_id, judgement.annotator].append(judgement)
    all_opinions = Opinions()
    for (question_id, _), judgements_of_annotator in by_annotator.items():
        _add(all_opinions, by_id[question_id], judgements_of_annotator)
    return all_opinions


def accepted_questions(questions: Sequence[Question], opinions: Opinions) -> BuiltQuestions:
    """Return the accepted questions, corrected, and the rejected questions; a repeated question is rejected."""
    built, seen = BuiltQuestions([], []), set[str]()
    for question in questions:
        question_id = question.question_id
        opinion = opinions.decisive(question_id)
        if question_id in seen:
            built.rejected.append(rejected_question(question, reasons.DOUBLED))
        elif opinion is None:
            reason = reasons.ANNOTATORS_DISAGREE if opinions.is_conflict(question_id) else reasons.NOT_ANNOTATED
            detail = opinions.summary(question_id)
            if question_id in opinions.without_effect and not opinions.independent(question_id):
                detail = opinions.without_effect[question_id]
            built.rejected.append(rejected_question(question, reason, detail))
        elif opinion.choice in _REJECTION_REASONS:
            detail = opinions.summary(question_id)
            built.rejected.append(rejected_question(question, _REJECTION_REASONS[opinion.choice], detail))
        else:
            built.questions.append(correct(question, opinion.corrections))
        seen.add(question_id)
    return built


def open_questions(
    questions: Iterable[Question], opinions: Opinions, annotator: str, *, conflicts_only: bool = False
) -> list[Question]:
    """Return the questions that need a judgement and that the annotator has not judged, each once.

    Args:
        questions: the questions.
        opinions: the opinions on the questions.
        annotator: the name of the annotator.
        conflicts_only: True returns only conflicts that a third person must decide.
    """
    chosen = []
    by_id = {question.question_id: question for question in questions}
    for question_id, question in by_id.items():
        if conflicts_only:
            is_open = opinions.is_conflict(question_id) and opinions.third(question_id) is None
        else:
            is_open = len(opinions.independent(question_id)) < INDEPENDENT_ANNOTATORS
        annotators = {opinion.annotator for opinion in opinions.by_question.get(question_id, ())}
        if is_open and annotator not in annotators:
            chosen.append(question)
    return chosen


def with_kinds(questions: Sequence[Question], judgements: Iterable[Judgement]) -> tuple[list[Question], list[str]]:
    """Return questions whose contexts have the kinds that people judged, and a sentence on each refused kind."""
    kinds, answers = dict[tuple[str, str], list[Judgement]](), dict[tuple[str, str], list[Judgement]]()
    by_field = {"kind": kinds, "answer": answers}
    for judgement in judgements:
        if judgement.field in by_field and judgement.problem is None and judgement.context_id:
            key = judgement.question_id, judgement.context_id
            by_field[judgement.field].setdefault(key, []).append(judgement)
    if not kinds:
        return [*questions], []
    with_judged_kinds, problems = list[Question](), list[str]()
    for question in questions:
        contexts = []
        for context in question.contexts:
            kind = _judgement_of(question, context, kinds)
            answer = _judgement_of(question, context, answers)
            if kind is None:
                contexts.append(context)
            elif problem := _kind_problem(question, kind, answer):
                problems.append(f"{kind.location}: {problem}")
                contexts.append(context)
            else:
                contexts.append(_with_kind(question, context, kind, answer))
        with_judged_kinds.append(replace(question, contexts=tuple(contexts)))
    return with_judged_kinds, problems


def open_contexts(
    questions: Iterable[Question], judgements: Iterable[Judgement]
) -> list[tuple[Question, QuestionContext]]:
    """Return the contexts of users' files whose kind is neither in the file nor in these judgements."""
    kinds: dict[tuple[str, str], list[Judgement]] = defaultdict(list)
    for judgement in judgements:
        if judgement.field == "kind" and judgement.problem is None:
            kinds[judgement.question_id, judgement.context_id].append(judgement)
    pairs = ((question, context) for question in questions if question.is_own for context in question.contexts)
    return [pair for pair in pairs if pair[1].condition == "unknown" and _judgement_of(*pair, kinds) is None]


def context_rows(question: Question, context: QuestionContext, annotator: str) -> Iterator[dict[str, str]]:
    """Yield rows of a sheet in which an annotator enters the kind of a context, and its stated answer."""
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
    """Yield rows of a sheet in which an annotator enters the choice and the corrected texts of each question.

    Args:
        questions: questions from live sources.
        annotator: the name of the annotator.
        opinions: opinions that a third person sees, without names; None hides all opinions.
    """
    for question in questions:
        about = {"question_id": question.question_id, "annotator": annotator}
        choice = {"field": "choice", "judged": shown_text(question)}
        if opinions:
            choice["others"] = "\n".join(map(_description, opinions.independent(question.question_id)))
        yield about | choice
        for name, text in texts(question).items():
            yield about | {"field": name, "judged": text, "context_id": "original" if name == "text" else ""}


def texts(question: Question) -> dict[str, str]:
    """Return the texts of a question that can be corrected, by field."""
    current = (question.question, question.object, question.replacement, question.original_context)
    return dict(zip(CORRECTIONS, current, strict=True))


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


def _judges_question(judgement: Judgement) -> bool:
    if judgement.field == "text":
        return judgement.context_id == "original"
    return judgement.field == "choice" or (judgement.field in CORRECTIONS and judgement.context_id == "")


def _add(opinions: Opinions, question: Question, judgements: Sequence[Judgement]) -> None:
    """Add the opinion that the judgements of one annotator give on a question, or the problems of these judgements."""
    current_texts = {"choice": shown_text(question), **texts(question)}
    outdated = [
        judgement
        for judgement in judgements
        if judgement.judged.strip()
        and comparable_text(judgement.judged) != comparable_text(current_texts[judgement.field])
    ]
    if outdated:
        opinions.without_effect[question.question_id] = "judged before its texts changed"
        opinions.problems.append(
            f"{outdated[0].location}: the question has changed since this judgement; judge it again"
        )
        return
    choice = next((judgement for judgement in judgements if judgement.field == "choice"), None)
    if choice is None:
        opinions.without_effect.setdefault(question.question_id, "corrected without a choice")
        missing = "a correction without a choice; add a row with the field choice and the value change"
        opinions.problems.append(f"{judgements[0].location}: {missing}")
        return
    corrections = {
        judgement.field: _clean_correction(judgement) for judgement in judgements if judgement.field != "choice"
    }
    changed = {name: text for name, text in corrections.items() if text.split() != current_texts[name].split()}
    problems = []
    if choice.value != "change" and corrections:
        name = next(iter(corrections))
        problems.append(f"the choice is {choice.value}, but {name} has a correction; choose change, or remove the row")
    elif choice.value == "change" and not changed:
        problems.append("the choice is change, but no correction changes a text; correct a text, or choose accept")
    elif choice.value == "change":
        flags = [flag for flag in correct(question, changed).flags if flag not in question.flags]
        problems += [f"correct the question again. {REASONS.get(flag, flag)}" for flag in flags]
    if problems:
        opinions.problems += [f"{choice.location}: {problem}" for problem in problems]
    else:
        opinion = Opinion(choice.annotator, choice.value, changed, choice.note)
        opinions.by_question[question.question_id].append(opinion)


def _clean_correction(judgement: Judgement) -> str:
    return judgement.value.strip() if judgement.field == "text" else " ".join(judgement.value.split())


def _content(opinion: Opinion) -> tuple[str, dict[str, str]]:
    return opinion.choice, dict(opinion.corrections)


def _description(opinion: Opinion) -> str:
    """Return an opinion as a text without the name of the annotator."""
    changes = "".join(f"; {name}: {text}" for name, text in opinion.corrections.items())
    return f"{opinion.choice}{changes}{f' ({opinion.note})' if opinion.note else ''}"


def _judgement_of(
    question: Question, context: QuestionContext, judgements: Mapping[tuple[str, str], Sequence[Judgement]]
) -> Judgement | None:
    """Return the judgement of a context; None without a judgement, or if people judged another text of the context."""
    ids = (question.question_id, question.question)  # the `question_id` of a judgement may be the question's text
    candidates = (
        judgement for question_id in ids for judgement in judgements.get((question_id, context.context_id), ())
    )
    text = comparable_text(context.text or "")
    return next((judgement for judgement in candidates if comparable_text(judgement.judged) in ("", text)), None)


def _kind_problem(question: Question, kind: Judgement, answer: Judgement | None) -> str:
    """Return the reason why a context cannot have the judged kind; empty without a reason."""
    if not question.is_own:
        return "only a context of your own file can get another kind; remove this row"
    if kind.value != "conflicting":
        return ""
    if answer is None or not any(map(str.isalnum, answer.value)):
        return "a conflicting context needs the answer that the context states; add a row with the field answer"
    if answer.value.casefold() in {form.casefold() for form in question.forms}:
        return f"the kind is conflicting, but {answer.value} is the right answer; correct the kind or the answer"
    return ""


def _with_kind(
    question: Question, context: QuestionContext, kind: Judgement, answer: Judgement | None
) -> QuestionContext:
    condition: OwnKind = kind.value  # type: ignore[assignment]  # checked where judgements are read
    stated: tuple[str, ...] = ()
    if condition == "supporting":
        stated = question.forms
    elif condition == "conflicting" and answer:
        stated = (answer.value,)
    passages = tuple(replace(passage, kind=condition, answers=stated) for passage in context.passages)
    return replace(context, condition=condition, answers=stated, passages=passages)
