"""Verdicts of people and of a judge in place of the rule's (measure whose_answer), and the outcomes that follow.

A person's verdict precedes a judge's verdict, and a judge's verdict precedes the rule's. A judge decides only replies
that the rule leaves undecided. A person's verdict holds for every reply with the same words to the same question and
context. If the person names a variant or a sample, the reply must also be of this variant or sample. `scoring.followed`
defines the outcomes.

This module is no measure: the stage `aggregate` calls `decided_answers`. The docstring of `data.sources.judgements`
lists the modules that a person's verdict passes through.

An outcome compares the reply after a context with the closed-book reply. So a verdict on the closed-book reply may
change the outcome of every context. On a closed-book reply, "context" means the answer of any conflicting context.
`_verdict_for_context` translates such a verdict for one context, so that "context" means this context's answer:

- A supporting context states the original answer, so "original" and "both" become "context", and every other verdict
  becomes "neither".
- With any other context, "context" and "both" stay if only this context conflicts, or if the rule finds this context's
  answer in the closed-book reply. Otherwise, the rule's verdict replaces "context" and "both". All other verdicts stay.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from swaymeter.data.records import ALONE, CONFLICTING, Question, QuestionContext
from swaymeter.data.records.judgements import Judgement, comparable_text
from swaymeter.tasks.measures.measure import Row
from swaymeter.tasks.measures.whose_answer import decision_on, gives_original
from swaymeter.tasks.scoring.followed import TAKES_CONTEXT, DecidedBy, Decision, Verdict, outcome

_KEY = ("model", "dtype", "relation", "question_id", "context_id", "sample")
COLUMNS_READ = {
    "answers": [*_KEY, "text"],
    "whose_answer": [*_KEY, "verdict", "decided_by", "reason", "outcome"],
    "judged_answers": [*_KEY, "judge", "verdict", "rule"],
}
"""Columns of each table that `decided_answers` reads, in the order of its arguments."""
_NO_DECIDER = {"decider": None, "judgement": None}
"""Columns of a reply that keeps the rule's verdict; only its outcome changed, by a verdict on the closed-book reply."""


class _DecidedVerdict(NamedTuple):
    """A verdict of a person or a judge.

    Attributes:
        decider: The name of the person or of the judge.
        judgement: The number of the person's judgement; None for a judge.
    """

    verdict: Verdict
    decided_by: DecidedBy
    decider: str
    judgement: int | None = None


def usable_verdicts(judgements: Iterable[Judgement]) -> tuple[Judgement, ...]:
    """Return the judgements that are verdicts without a problem; `data.sources.judgements` names the problems."""
    return tuple(row for row in judgements if row.field == "verdict" and row.problem is None)


def decided_answers(
    questions: Sequence[Question],
    answers: Iterable[Row],
    rule_verdicts: Iterable[Row],
    judge_verdicts: Iterable[Row] = (),
    people_verdicts: Sequence[Judgement] = (),
) -> Iterator[Row]:
    """Yield rows of decided_answers: replies that a person or a judge decides, and replies whose outcome changes.

    Args:
        questions: The questions of one relation.
        answers: Stored answers of any models, greedy and sampled.
        rule_verdicts: The rule's verdicts, rows of whose_answer.
        judge_verdicts: The judge's verdicts, rows of judged_answers.
        people_verdicts: People's verdicts, on any questions.
    """
    verdicts_by_question = _by_question(questions, people_verdicts)
    rule_rows = {tuple(row[name] for name in _KEY): row for row in rule_verdicts}
    judge_decisions = {
        tuple(row[name] for name in _KEY): _DecidedVerdict(row["verdict"], "judge", row["judge"])
        for row in judge_verdicts
        if row["verdict"] and row["rule"] is None  # the rule left the reply undecided
    }
    decided_ids = {*verdicts_by_question, *(key[_KEY.index("question_id")] for key in judge_decisions)}
    replies_by_variant: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in answers:
        if row["question_id"] in decided_ids:
            replies_by_variant[row["model"], row["dtype"], row["question_id"]].append(row)
    question_by_id = {question.question_id: question for question in questions}
    for (_, _, question_id), rows in replies_by_variant.items():
        question, verdicts = question_by_id[question_id], verdicts_by_question.get(question_id, ())
        yield from _decided_replies(question, rows, rule_rows, judge_decisions, verdicts)


def _by_question(questions: Sequence[Question], verdicts: Sequence[Judgement]) -> Mapping[str, Sequence[Judgement]]:
    """Return the verdicts by question id, in order of precedence: verdicts on one sample or variant come first."""
    ids_by_text: dict[str, list[str]] = defaultdict(list)
    for question in questions:
        ids_by_text[question.question].append(question.question_id)
    verdicts_by_id: dict[str, list[Judgement]] = defaultdict(list)
    ids = {question.question_id for question in questions}
    for verdict in sorted(verdicts, key=lambda judgement: (judgement.sample == "", judgement.variant == "")):
        name = verdict.question_id  # the id or the text of a question
        for question_id in [name] if name in ids else ids_by_text[name]:
            verdicts_by_id[question_id].append(verdict)
    return verdicts_by_id


def _decided_replies(
    question: Question,
    rows: Sequence[Row],
    rule_rows: Mapping[tuple[object, ...], Row],
    judge_decisions: Mapping[tuple[object, ...], _DecidedVerdict],
    verdicts: Sequence[Judgement],
) -> Iterator[Row]:
    """Yield a row for each decided reply, and each reply with a new outcome, of one variant to one question."""
    cases = {case.context_id: case for case in question.cases}

    def decision(row: Row) -> _DecidedVerdict | None:
        judgement, case = _judgement_of(row, verdicts), cases.get(row["context_id"])
        if judgement and case:
            return _DecidedVerdict(
                _in_terms_of_rule(judgement, question, case), "person", judgement.annotator, judgement.number
            )
        return judge_decisions.get(tuple(row[name] for name in _KEY))

    closed_book_reply = next(
        (row for row in rows if row["context_id"] == ALONE.context_id and row["sample"] is None), None
    )
    closed_book_decision = decision(closed_book_reply) if closed_book_reply else None
    for row in rows:
        rule_row, case = rule_rows.get(tuple(row[name] for name in _KEY)), cases.get(row["context_id"])
        if rule_row is None or case is None:
            continue
        decided, new_outcome = decision(row), rule_row["outcome"]
        verdict = decided.verdict if decided else rule_row["verdict"]
        if new_outcome and closed_book_reply and (decided or closed_book_decision):
            rule_decision = decision_on(question, case, closed_book_reply["text"])
            closed_book_verdict = rule_decision.verdict
            if closed_book_decision:
                closed_book_verdict = _verdict_for_context(question, case, closed_book_decision, rule_decision)
            new_outcome = outcome(closed_book_reply["text"], row["text"], closed_book_verdict, verdict)
        columns: dict[str, Any]
        if decided:
            columns = {**decided._asdict(), "reason": None}
        elif new_outcome != rule_row["outcome"]:
            columns = {**{name: rule_row[name] for name in ("verdict", "decided_by", "reason")}, **_NO_DECIDER}
        else:
            continue
        yield {**{name: row[name] for name in _KEY}, **columns, "outcome": new_outcome}


def _judgement_of(row: Row, verdicts: Sequence[Judgement]) -> Judgement | None:
    sample = "greedy" if row["sample"] is None else str(row["sample"])
    variants = {"", row["model"], f"{row['model']} ({row['dtype']})"}  # "" is for all variants
    words = comparable_text(row["text"])  # without differences that spreadsheet programs make
    for judgement in verdicts:
        is_of_row = judgement.context_id == row["context_id"] and judgement.variant in variants
        if is_of_row and judgement.sample in ("", sample) and comparable_text(judgement.judged) == words:
            return judgement
    return None


def _verdict_for_context(
    question: Question, case: QuestionContext, closed_book_decision: _DecidedVerdict, rule_decision: Decision
) -> Verdict:
    """Return the verdict on the closed-book reply for one context; the module's docstring has the rules.

    Args:
        question: The question.
        case: A context of the question.
        closed_book_decision: A person's or judge's verdict, in which "context" means any conflicting context's answer.
        rule_decision: The rule's decision on the same reply, in which "context" means the answer of this context.
    """
    # A judge decides only what the rule leaves undecided.
    if closed_book_decision.decided_by == "judge" and rule_decision.is_decided:
        return rule_decision.verdict
    if gives_original(question, case):
        return "context" if closed_book_decision.verdict in ("original", "both") else "neither"
    # A verdict that excludes the answers of all conflicting contexts holds for this context, too.
    if closed_book_decision.verdict not in TAKES_CONTEXT:
        return closed_book_decision.verdict
    # The reply states this context's answer if the rule finds the answer, or if no other context conflicts.
    conflicting = [context for context in question.contexts if context.condition in CONFLICTING]
    if rule_decision.verdict in TAKES_CONTEXT or conflicting == [case]:
        return closed_book_decision.verdict
    return rule_decision.verdict


def _in_terms_of_rule(judgement: Judgement, question: Question, case: QuestionContext) -> Verdict:
    """Return a person's verdict in the rule's terms: with a supporting context, the original answer is "context"."""
    verdict: Verdict = judgement.value  # type: ignore[assignment]  # checked where the file is read
    return "context" if gives_original(question, case) and verdict in ("original", "both") else verdict
