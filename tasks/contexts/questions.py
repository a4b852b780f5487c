"""The questions of a study: a seeded draw from each partition, without the rows that cannot be asked."""

import logging
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from swaymeter.data import reasons
from swaymeter.data.errors import InputError
from swaymeter.data.randomness import drawn_first
from swaymeter.data.records import CONFLICTING, Passage, Question, Rejected
from swaymeter.data.sources.slots import CONTEXT_LACKS_ITS_ANSWER, UNASKABLE
from swaymeter.data.wording.words import words
from swaymeter.tasks.scoring.followed import Decision, Verdict, decide

LONGEST = 8
"""Words of an answer that a reply can be expected to repeat."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BuiltQuestions:
    """Questions, and the rejected candidates."""

    questions: list[Question]
    rejected: list[Rejected]


def choose_questions(questions: Sequence[Question], *, count: int | None, seed: int) -> BuiltQuestions:
    """`count` questions of one partition (None: all), without those that cannot be asked; InputError for too few."""
    if not questions:
        raise InputError("no questions to choose from")
    partition = questions[0].partition
    of = "" if questions[0].is_own else f"partition {partition}: "
    askable: dict[str, Question] = {}
    rejected = []
    for question in questions:
        broken = [flag for flag in question.flags if flag in UNASKABLE]
        if broken:
            rejected.append(rejected_question(question, broken[0]))
        elif alike := _alike(question):
            rejected.append(rejected_question(question, reasons.ANSWERS_ALIKE, alike))
        elif question.question_id in askable:
            rejected.append(rejected_question(question, reasons.DOUBLED))
        else:
            askable[question.question_id] = question
    why = _why(rejected)
    if rejected:
        log.warning("%squestions that cannot be asked: %s", of, why)
    if not askable:
        raise InputError(f"{of}no question can be asked: {why}; correct the rows")
    if count is not None and len(askable) < count:
        raise InputError(f"{of}{count} questions are requested, {len(askable)} can be asked")
    drawn = drawn_first(askable, len(askable) if count is None else count, seed, partition)
    return BuiltQuestions(_looked_through([askable[question_id] for question_id in drawn]), rejected)


def _why(rejected: Iterable[Rejected]) -> str:
    """Each reason with how many it has, and what is known of each of them."""
    found: dict[str, list[Rejected]] = {}
    for row in rejected:
        found.setdefault(row.reason, []).append(row)
    said = []
    for reason, rows in found.items():
        known = textwrap.shorten("; ".join(row.detail for row in rows if row.detail), 1000)
        said.append(f"{reasons.REASONS[reason].removesuffix('.')} ({len(rows)}{f': {known}' if known else ''})")
    return "; ".join(said)


def _looked_through(questions: Sequence[Question]) -> list[Question]:
    """The drawn questions, with a flag where a passage lacks its answer; warnings say what seems wrong with them."""
    lacking = [_lacking(question) for question in questions]
    if stated := [context for contexts in lacking for context in contexts]:
        log.warning(
            "%d contexts in which the answer that they are said to state was not found: %s; name the form that stands "
            "there as an alias, or correct the kind",
            len(stated), textwrap.shorten("; ".join(stated), 1000),
        )  # fmt: skip
    if both := [passage for question in questions for passage in _stating_both(question)]:
        log.warning(
            "%d passages state the right answer and that of a conflicting one, too: %s; what an answer follows cannot "
            "be told from them: cut them, or give them the kind unknown",
            len(both), textwrap.shorten("; ".join(both), 1000),
        )  # fmt: skip
    if long := [question.printable_name for question in questions if question.is_own and _is_long(question)]:
        log.warning(
            "%d questions have answers of more than %d words: %s; words decide whose answer a reply states, and long "
            "ones are not repeated; name a judge at measures.judged_answers.judge (audit: --judge)",
            len(long), LONGEST, textwrap.shorten(", ".join(long), 300),
        )  # fmt: skip
    return [
        replace(question, flags=(*question.flags, CONTEXT_LACKS_ITS_ANSWER)) if contexts else question
        for question, contexts in zip(questions, lacking, strict=True)
    ]


def _lacking(question: Question) -> list[str]:
    """The passages of one's own that do not hold the answer that they are said to state; yes and no need not stand."""
    lacking = []
    for place, passage in _passages(question):
        answers = _looked_for(passage.answers)
        if answers and not _states(decide(passage.text, context=answers, original=()), "context"):
            lacking.append(f"{place}: {answers[0]!r}")
    return lacking


def _stating_both(question: Question) -> list[str]:
    """The passages of one's own that state the right answer and that of a conflicting passage."""
    telling = ("supporting", "conflicting")
    passages = [(place, passage) for place, passage in _passages(question) if passage.kind in telling]
    wrong = _looked_for(form for _, passage in passages if passage.kind == "conflicting" for form in passage.answers)
    right = _looked_for(question.forms)
    return [
        f"{place}: {passage.text[:60]!r}"
        for place, passage in passages
        if right and wrong and _states(decide(passage.text, context=wrong, original=right), "both")
    ]


def _states(decision: Decision, verdict: Verdict) -> bool:
    """Return if a passage has a verdict, or names the answers with an unclear stance."""
    return decision.verdict == verdict or decision.reason == "unclear stance"


def _passages(question: Question) -> list[tuple[str, Passage]]:
    """Each passage of one's own question once, and where it stands."""
    found: dict[str, tuple[str, Passage]] = {}
    for case in question.cases if question.is_own else ():
        for passage in case.passages:
            found.setdefault(passage.text, (f"{question.printable_name}, {case.context_id}", passage))
    return list(found.values())


def _looked_for(answers: Iterable[str]) -> list[str]:
    """The answers that have words to look for; yes and no may stand anywhere."""
    return [answer for answer in dict.fromkeys(answers) if words(answer) and answer.casefold() not in ("yes", "no")]


def _is_long(question: Question) -> bool:
    answers = [question.object, *(case.answers[0] for case in question.cases if case.answers)]
    return any(len(words(answer)) > LONGEST for answer in answers)


def _alike(question: Question) -> str:
    """What a conflicting passage of one's own states in the words of the right answer, in another spelling; or ""."""
    right = {words(form): form for form in question.forms if words(form)}
    for case in question.cases if question.is_own else ():
        for answer in case.answers if case.condition in {*CONFLICTING, "mixed"} else ():
            if words(answer) in right:
                place = f"{question.printable_name}, {case.context_id}"
                return f"{place}: {answer!r} is the right answer {right[words(answer)]!r}"
    return ""


def rejected_question(question: Question, reason: str, detail: str | None = None) -> Rejected:
    """The row of a question that is rejected for this reason."""
    return Rejected(
        partition=question.partition, relation=question.relation,
        part=question.property_id or question.page or question.relation, subject=question.subject, reason=reason,
        source=question.source, licence=question.licence, detail=detail, subject_id=question.subject_id,
        property_id=question.property_id, object=question.object, object_id=question.object_id,
        replacement=question.replacement, revisions=question.edit_revisions, retrieved_at=question.retrieved_at,
    )  # fmt: skip
