"""Verdicts of people and of a judge in place of the rule's, and the outcomes that follow.

A person's verdict comes before a judge's, and a judge's before the rule's; a judge decides only what the rule cannot. A
person's verdict holds for the answers of its words to its question and context; `scoring.followed` has the outcomes. A
verdict on the answer without a context moves outcomes with contexts, too: the original answer is that of a supporting
context; the answer of "a conflicting context" is that of the only one, or else of the one that the rule finds.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from swaymeter.data.records import ALONE, CONFLICTING, SUPPORTING, Question, QuestionContext
from swaymeter.data.records.judgements import Judgement, same_words
from swaymeter.tasks.measures.measure import Row
from swaymeter.tasks.measures.whose_answer import decision_on
from swaymeter.tasks.scoring.followed import TAKES_CONTEXT, DecidedBy, Decision, Verdict, outcome

_KEY = ("model", "dtype", "relation", "question_id", "context_id", "sample")


_NOBODY = {"decider": None, "judgement": None}


class _Decided(NamedTuple):
    """A verdict of a person or a judge.

    Attributes:
        verdict: The verdict.
        decided_by: person or judge.
        decider: The name of the person or of the judge.
        judgement: The number of a person's judgement; None for a judge.
    """

    verdict: Verdict
    decided_by: DecidedBy
    decider: str
    judgement: int | None = None


def decided(
    questions: Sequence[Question],
    answers: Iterable[Row],
    stated: Iterable[Row],
    judged: Iterable[Row] = (),
    verdicts: Sequence[Judgement] = (),
) -> Iterator[Row]:
    """Yield the answers that a person or a judge decides, or whose outcome follows from one; rows of decided_answers.

    Args:
        questions: The questions of one relation.
        answers: Stored answers to them, of any models, also sampled ones.
        stated: The rule's verdicts, rows of whose_answer.
        judged: The judge's verdicts, rows of judged_answers.
        verdicts: People's verdicts, on any questions.
    """
    by_question = _by_question(questions, verdicts)
    rules = {tuple(row[name] for name in _KEY): row for row in stated}
    judges = {
        tuple(row[name] for name in _KEY): _Decided(row["verdict"], "judge", row["judge"])
        for row in judged
        if row["verdict"] and row["rule"] is None
    }
    concerned = {*by_question, *(key[_KEY.index("question_id")] for key in judges)}
    given: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in answers:
        if row["question_id"] in concerned:
            given[row["model"], row["dtype"], row["question_id"]].append(row)
    by_id = {question.question_id: question for question in questions}
    for (_, _, name), rows in given.items():
        yield from _of_question(by_id[name], rows, rules, judges, by_question.get(name, ()))


def _by_question(
    questions: Sequence[Question], verdicts: Sequence[Judgement]
) -> Mapping[str, Sequence[Judgement]]:
    """The verdicts on each question by its id, those that name a model or a sample first."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for question in questions:
        by_name[question.question].append(question.question_id)
    by_id: dict[str, list[Judgement]] = defaultdict(list)
    ids = {question.question_id for question in questions}
    for verdict in sorted(verdicts, key=lambda one: (one.sample == "", one.variant == "")):
        for name in [verdict.question_id] if verdict.question_id in ids else by_name[verdict.question_id]:
            by_id[name].append(verdict)
    return by_id


def _of_question(
    question: Question,
    rows: Sequence[Row],
    rules: Mapping[tuple[object, ...], Row],
    judges: Mapping[tuple[object, ...], _Decided],
    verdicts: Sequence[Judgement],
) -> Iterator[Row]:
    """The decided answers of one model to a question."""
    cases = {case.context_id: case for case in question.cases}

    def decision(row: Row) -> _Decided | None:
        hand, case = _judgement_of(row, verdicts), cases.get(row["context_id"])
        if hand and case:
            return _Decided(_with_context(hand, case), "person", hand.annotator, hand.number)
        return judges.get(tuple(row[name] for name in _KEY))

    greedy = next((row for row in rows if row["context_id"] == ALONE.context_id and row["sample"] is None), None)
    alone = decision(greedy) if greedy else None
    for row in rows:
        rule, case = rules.get(tuple(row[name] for name in _KEY)), cases.get(row["context_id"])
        if rule is None or case is None:
            continue
        one, moved = decision(row), rule["outcome"]
        verdict = one.verdict if one else rule["verdict"]
        if moved and greedy and (one or alone):
            without = decision_on(question, case, greedy["text"])
            before = _alone_in(question, case, alone, without) if alone else without.verdict
            moved = outcome(greedy["text"], row["text"], before, verdict)
        if one is None and moved == rule["outcome"]:
            continue
        columns: dict[str, Any] = (
            {**one._asdict(), "reason": None} if one
            else {**{name: rule[name] for name in ("verdict", "decided_by", "reason")}, **_NOBODY}
        )  # fmt: skip
        yield {**{name: row[name] for name in _KEY}, **columns, "outcome": moved}


def _judgement_of(row: Row, verdicts: Sequence[Judgement]) -> Judgement | None:
    """The person's verdict on an answer; None if there is none."""
    sample = "greedy" if row["sample"] is None else str(row["sample"])
    names = {"", row["model"], f"{row['model']} ({row['dtype']})"}
    of_words = (
        one
        for one in verdicts
        if one.context_id == row["context_id"] and one.variant in names and one.sample in ("", sample)
    )
    words = same_words(row["text"])
    return next((one for one in of_words if same_words(one.judged) == words), None)


def _alone_in(question: Question, case: QuestionContext, alone: _Decided, rule: Decision) -> Verdict:
    """The verdict on the answer without a context, by the sides of a question with a context."""
    if alone.decided_by == "judge" and rule.is_decided:
        return rule.verdict
    if case.condition in SUPPORTING:
        return "context" if alone.verdict in ("original", "both") else "neither"
    if alone.verdict not in TAKES_CONTEXT or rule.verdict in TAKES_CONTEXT:
        return alone.verdict
    conflicting = [one for one in question.contexts if one.condition in CONFLICTING]
    return alone.verdict if conflicting == [case] else rule.verdict


def _with_context(hand: Judgement, case: QuestionContext) -> Verdict:
    """A person's verdict as the rule would say it: with a supporting context the original answer is the context's."""
    verdict: Verdict = hand.value  # type: ignore[assignment]  # checked where the file is read
    return "context" if case.condition in SUPPORTING and verdict in ("original", "both") else verdict
