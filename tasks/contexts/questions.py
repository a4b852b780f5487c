"""Choice of a study's questions: a seeded draw from each partition, after invalid questions are rejected."""

import logging
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from swaymeter.data import reasons
from swaymeter.data.errors import InputError
from swaymeter.data.randomness import drawn_first
from swaymeter.data.records import CONFLICTING, Passage, Question, QuestionContext, Rejected
from swaymeter.data.sources.slots import CONTEXT_LACKS_ITS_ANSWER, UNASKABLE
from swaymeter.data.wording.words import words
from swaymeter.tasks.scoring.followed import decide

MAX_ANSWER_WORDS = 8
"""Most words of an answer without a warning; replies rarely repeat a longer answer word by word."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BuiltQuestions:
    """Questions, and the rejected candidates."""

    questions: list[Question]
    rejected: list[Rejected]


def choose_questions(questions: Sequence[Question], *, count: int | None, seed: int) -> BuiltQuestions:
    """Draw questions of one partition, and reject invalid questions and duplicates.

    Args:
        questions: the questions of one partition.
        count: number of questions; None for all.
        seed: seed of the study.

    Raises:
        InputError: too few questions are valid.
    """
    if not questions:
        raise InputError("there are no questions to choose from; give at least one question")
    partition = questions[0].partition
    prefix = "" if questions[0].is_own else f"partition {partition}: "
    askable: dict[str, Question] = {}
    rejected = []
    for question in questions:
        broken_rules = [flag for flag in question.flags if flag in UNASKABLE]
        if broken_rules:
            rejected.append(rejected_question(question, broken_rules[0]))
        elif detail := _alike_answers(question):
            rejected.append(rejected_question(question, reasons.ANSWERS_ALIKE, detail))
        elif question.question_id in askable:
            rejected.append(rejected_question(question, reasons.DOUBLED))
        else:
            askable[question.question_id] = question
    summary = _summary(rejected)
    if rejected:
        log.warning("%squestions that cannot be asked: %s", prefix, summary)
    if not askable:
        raise InputError(f"{prefix}no question can be asked: {summary}; correct the rows of the source")
    if count is not None and len(askable) < count:
        raise InputError(
            f"{prefix}{count} questions are requested, but only {len(askable)} can be asked; lower "
            "`questions.per_partition`"
        )
    ids = drawn_first(askable, len(askable) if count is None else count, seed, partition)
    return BuiltQuestions(_check_answers([askable[question_id] for question_id in ids]), rejected)


def _summary(rejected: Iterable[Rejected]) -> str:
    """Return a text with each rejection reason, its number of questions, and the details."""
    by_reason: dict[str, list[Rejected]] = {}
    for row in rejected:
        by_reason.setdefault(row.reason, []).append(row)
    phrases = []
    for reason, rows in by_reason.items():
        details = textwrap.shorten("; ".join(row.detail for row in rows if row.detail), 1000)
        phrases.append(f"{reasons.REASONS[reason].removesuffix('.')} ({len(rows)}{f': {details}' if details else ''})")
    return "; ".join(phrases)


def _check_answers(questions: Sequence[Question]) -> list[Question]:
    """Flag questions with a passage that lacks its answer; log such passages, ambiguous passages and long answers."""
    missing_by_question = [_passages_without_answer(question) for question in questions]
    if missing := [description for descriptions in missing_by_question for description in descriptions]:
        log.warning(
            "passages without the answer that the file gives for them (%d): %s; add the passage's form of the answer "
            "as an alias, or correct the passage's kind",
            len(missing),
            textwrap.shorten("; ".join(missing), 1000),
        )
    if ambiguous := [description for question in questions for description in _passages_with_both(question)]:
        log.warning(
            "passages with both the right answer and the answer of a conflicting passage (%d): %s; shorten these "
            "passages, or give them the kind unknown, because a reply to them cannot be attributed to one answer",
            len(ambiguous),
            textwrap.shorten("; ".join(ambiguous), 1000),
        )
    if long := [question.printable_name for question in questions if question.is_own and _is_long(question)]:
        log.warning(
            "questions with answers of more than %d words (%d): %s; replies rarely repeat long answers word by word, "
            "so name a judge at measures.judged_answers.judge (audit: --judge)",
            MAX_ANSWER_WORDS,
            len(long),
            textwrap.shorten(", ".join(long), 300),
        )
    return [
        replace(question, flags=(*question.flags, CONTEXT_LACKS_ITS_ANSWER)) if missing_of_question else question
        for question, missing_of_question in zip(questions, missing_by_question, strict=True)
    ]


def _passages_without_answer(question: Question) -> list[str]:
    """Describe the passages of a user's question that lack their answer; answers "yes" and "no" are ignored."""
    descriptions = []
    for context, passage in _passages(question):
        answers = _answers_with_words(passage.answers)
        if answers and not _mentions(passage.text, answers):
            descriptions.append(f"{_location(question, context)}: {answers[0]!r}")
    return descriptions


def _passages_with_both(question: Question) -> list[str]:
    """Describe the passages of a user's question that state the right answer and a conflicting passage's answer."""
    decisive_kinds = ("supporting", "conflicting")
    passages = [(context, passage) for context, passage in _passages(question) if passage.kind in decisive_kinds]
    wrong = _answers_with_words(
        answer for _, passage in passages if passage.kind == "conflicting" for answer in passage.answers
    )
    right = _answers_with_words(question.forms)

    def has_both(text: str) -> bool:
        decision = decide(text, context=wrong, original=right)
        # The stance is unclear also in some passages with only one of the answers: "until May" for the answer May. So
        # each answer is searched alone.
        if decision.reason == "unclear stance":
            return all(_mentions(text, answers) for answers in (right, wrong))
        return decision.verdict == "both"

    return [
        f"{_location(question, context)}: {passage.text[:60]!r}"
        for context, passage in passages
        if right and wrong and has_both(passage.text)
    ]


def _mentions(passage: str, answers: Sequence[str]) -> bool:
    """Return True if a passage states one of the answers, or mentions it with an unclear stance."""
    decision = decide(passage, context=answers, original=())
    return decision.verdict == "context" or decision.reason == "unclear stance"


def _passages(question: Question) -> list[tuple[QuestionContext, Passage]]:
    """Return each passage of a user's question once, with its context; empty for other questions."""
    if not question.is_own:
        return []
    by_text: dict[str, tuple[QuestionContext, Passage]] = {}
    for context in question.cases:
        for passage in context.passages:
            by_text.setdefault(passage.text, (context, passage))
    return list(by_text.values())


def _location(question: Question, context: QuestionContext) -> str:
    return f"{question.printable_name}, {context.context_id}"


def _answers_with_words(answers: Iterable[str]) -> list[str]:
    """Return each answer that has words, except "yes" and "no", which are common words of passages."""
    return [answer for answer in dict.fromkeys(answers) if words(answer) and answer.casefold() not in ("yes", "no")]


def _is_long(question: Question) -> bool:
    answers = [question.object, *(context.answers[0] for context in question.cases if context.answers)]
    return any(len(words(answer)) > MAX_ANSWER_WORDS for answer in answers)


def _alike_answers(question: Question) -> str:
    """Describe a context's "wrong" answer that only spells the right answer differently; "" without such an answer."""
    if not question.is_own:
        return ""
    right = {words(form): form for form in question.forms if words(form)}
    for context in question.cases:
        if context.condition not in {*CONFLICTING, "mixed"}:
            continue
        for answer in context.answers:
            if words(answer) in right:
                spelling = f"another spelling of the right answer {right[words(answer)]!r}"
                return f"{_location(question, context)}: {answer!r} is {spelling}"
    return ""


def rejected_question(question: Question, reason: str, detail: str | None = None) -> Rejected:
    """Return the row of a rejected question."""
    return Rejected(
        partition=question.partition,
        relation=question.relation,
        part=question.property_id or question.page or question.relation,
        subject=question.subject,
        reason=reason,
        source=question.source,
        licence=question.licence,
        detail=detail,
        subject_id=question.subject_id,
        property_id=question.property_id,
        object=question.object,
        object_id=question.object_id,
        replacement=question.replacement,
        revisions=question.edit_revisions,
        retrieved_at=question.retrieved_at,
    )
