"""Verdicts by hand in place of the rule's: which answers they change, and what then became of the greedy ones.

A verdict holds for the answers of its words to its question and context; `scoring.followed` has the outcomes. Where the
answer without a context was judged, too, what it states with a context follows from that: the original answer is that
of a supporting context; the answer of "a conflicting context" is that of the question's only one, or else of the one
that the rule finds.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from swaymeter.data.records import ALONE, CONFLICTING, SUPPORTING, Question, QuestionContext
from swaymeter.data.records.verdicts import VerdictByHand, same_words
from swaymeter.tasks.measures.measure import Row
from swaymeter.tasks.measures.whose_answer import decision_on
from swaymeter.tasks.scoring.followed import TAKES_CONTEXT, Verdict, outcome

_KEY = ("model", "dtype", "relation", "question_id", "context_id", "sample")


def corrected(
    questions: Sequence[Question], answers: Iterable[Row], stated: Iterable[Row], verdicts: Sequence[VerdictByHand]
) -> Iterator[Row]:
    """The answers whose verdict or outcome is another, or was judged by a person; rows of corrected_answers.

    Args:
        questions: Of one relation.
        answers: Stored answers to them, of any models, also sampled ones.
        stated: What the rule says of each, rows of whose_answer.
        verdicts: By hand, of any questions.
    """
    of_question = _by_question(questions, verdicts)
    rules = {tuple(row[name] for name in _KEY): row for row in stated}
    given: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in answers:
        if row["question_id"] in of_question:
            given[row["model"], row["dtype"], row["question_id"]].append(row)
    by_id = {question.question_id: question for question in questions}
    for (_, _, name), rows in given.items():
        yield from _of_question(by_id[name], rows, rules, of_question[name])


def _by_question(
    questions: Sequence[Question], verdicts: Sequence[VerdictByHand]
) -> Mapping[str, Sequence[VerdictByHand]]:
    """The verdicts on each question by its id, those that name a model or a sample first."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for question in questions:
        by_name[question.question].append(question.question_id)
    found: dict[str, list[VerdictByHand]] = defaultdict(list)
    known = {question.question_id for question in questions}
    for verdict in sorted(verdicts, key=lambda one: (one.sample == "", one.model == "")):
        for name in [verdict.question] if verdict.question in known else by_name[verdict.question]:
            found[name].append(verdict)
    return found


def _of_question(
    question: Question, rows: Sequence[Row], rules: Mapping[tuple[object, ...], Row], verdicts: Sequence[VerdictByHand]
) -> Iterator[Row]:
    """The corrected answers of one model to a question."""
    greedy = next((row for row in rows if row["context_id"] == ALONE.context_id and row["sample"] is None), None)
    alone = _of_answer(greedy, verdicts) if greedy else None
    cases = {case.context_id: case for case in question.cases}
    for row in rows:
        rule, case = rules.get(tuple(row[name] for name in _KEY)), cases.get(row["context_id"])
        if rule is None or case is None:
            continue
        hand = _of_answer(row, verdicts)
        verdict = _verdict(hand, case) if hand else rule["verdict"]
        moved = rule["outcome"]
        if moved and greedy and (hand or alone):
            without = decision_on(question, case, greedy["text"]).verdict
            if alone:
                without = _alone_in(question, case, _verdict(alone, ALONE), without)
            moved = outcome(greedy["text"], row["text"], without, verdict)
        if hand is None and moved == rule["outcome"]:
            continue
        yield {
            **{name: row[name] for name in _KEY}, "row": hand and hand.row, "who": hand and hand.who,
            "verdict": verdict, "reason": None if hand else rule["reason"],
            "outcome": moved,
        }  # fmt: skip


def _of_answer(row: Row, verdicts: Sequence[VerdictByHand]) -> VerdictByHand | None:
    """The verdict on an answer, None where the rule's counts."""
    sample = "greedy" if row["sample"] is None else str(row["sample"])
    names = {"", row["model"], f"{row['model']} ({row['dtype']})"}
    of_words = (
        one
        for one in verdicts
        if one.context == row["context_id"] and one.model in names and one.sample in ("", sample)
    )
    words = same_words(row["text"])
    return next((one for one in of_words if same_words(one.answer) == words), None)


def _alone_in(question: Question, case: QuestionContext, alone: Verdict, rule: Verdict) -> Verdict:
    """What the answer without a context states where this context's answer is looked for."""
    if case.condition in SUPPORTING:
        return "context" if alone in ("original", "both") else "neither"
    if alone not in TAKES_CONTEXT or rule in TAKES_CONTEXT:
        return alone
    conflicting = [one for one in question.contexts if one.condition in CONFLICTING]
    return alone if conflicting == [case] else rule


def _verdict(hand: VerdictByHand, case: QuestionContext) -> Verdict:
    """What a person says, as the rule would: with a supporting context the original answer is the context's."""
    verdict: Verdict = hand.verdict  # type: ignore[assignment]  # checked where the file is read
    return "context" if case.condition in SUPPORTING and verdict in ("original", "both") else verdict
