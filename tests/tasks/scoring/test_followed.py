"""Verdicts of the rule on a table of cases, replies of error reports, and the judged replies of benchmarks/judged."""

import json
import time
from pathlib import Path

import pytest

from benchmarks.verdicts import JUDGED, decision, read
from swaymeter.data.errors import InputError
from swaymeter.data.sources.own.source import OwnQuestions, read_questions
from swaymeter.data.wording.words import words
from swaymeter.tasks.measures import whose_answer as measure
from swaymeter.tasks.scoring.followed import Reason, Verdict, decide, outcome, whose_answer

CASES = Path(__file__).with_name("whose_answer_cases.txt")
KINDS = CASES.read_text(encoding="utf-8").split("\n== ")[1:]
REPORTS = Path(__file__).resolve().parents[2] / "oracle" / "reports"
OSLO: dict[str, list[str]] = {"context": ["Oslo"], "original": ["Bergen"]}
YES_OR_NO: dict[str, list[str]] = {"context": ["yes"], "original": ["no"]}
CHOICE = "Is Oslo the capital of Norway or Sweden?"


def is_right(line: str) -> bool:
    """Compare the rule's verdict with the first cell of a line: right | context | original | reply | question."""
    expected, context, original, reply, question = (cell.strip() for cell in f"{line} ".split(" | "))
    sides = {"context": context.split(" / "), "original": original.split(" / ") if original else []}
    verdict, is_decided, _ = decide(reply, **sides, question=question)
    if is_decided:
        return verdict == expected
    return verdict == "neither" and expected == f"({expected.strip('()')})"  # brackets: the rule leaves it undecided


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.partition("\n")[0])
def test_rule_is_right_in_cases_of_each_kind(kind: str) -> None:
    lines = [line for line in kind.splitlines()[1:] if line and not line.startswith("#")]
    assert lines
    assert [line for line in lines if not is_right(line)] == []


@pytest.mark.parametrize(
    ("split", "min_right_share", "wrong_count"),
    [("tuning", 0.97, 0), ("held out", 0.88, 0), ("written after", 0.79, 0), ("blind", 0.76, 4)],
)
def test_rule_is_right_on_most_judged_replies(split: str, min_right_share: float, wrong_count: int) -> None:
    rows = [row for row in read(JUDGED) if row["split"] == split]
    decisions = [(row, decision(row)) for row in rows]
    right_count = sum(rule_decision.verdict == row["judged"] for row, rule_decision in decisions)
    wrong_decisions = [
        rule_decision
        for row, rule_decision in decisions
        if rule_decision.is_decided and rule_decision.verdict != row["judged"]
    ]
    assert right_count >= min_right_share * len(rows)
    assert len(wrong_decisions) == wrong_count


@pytest.mark.parametrize(
    "folder",
    [
        "04-short-refusals",
        "05-times-of-day",
        "09-joined-marks-and-suffixes",
        "10-part-of-a-longer-name",
        "11-halves-and-powers",
        "13-negations-of-another-verb",
        "16-corrected-passage",
        "17-two-sources",
        "18-marked-final-answer",
        "19-thoughts-with-other-marks",
        "26-lists-and-steps",
    ],
)
def test_rule_is_right_on_reported_replies(folder: str) -> None:
    for case in json.loads((REPORTS / folder / "cases.json").read_text(encoding="utf-8")):
        expected, reply = case.pop("right"), case.pop("reply")
        assert whose_answer(reply, **case) == expected, reply


@pytest.mark.parametrize("folder", ["01-answers-that-differ-by-a-sign", "02-yes-and-no-in-sentences"])
def test_measure_is_right_on_reported_replies(folder: str) -> None:
    file = read_questions(OwnQuestions(file=str(REPORTS / folder / "questions.jsonl")))
    questions = {question.question_id: question for question in file.questions}
    for reply in json.loads((REPORTS / folder / "replies.json").read_text(encoding="utf-8")):
        question = questions[reply["id"]]
        case = next(case for case in question.cases if case.condition == reply["condition"])
        assert measure.decision_on(question, case, reply["reply"]).verdict == reply["right"], reply


@pytest.mark.parametrize(
    ("reply", "sides", "question", "reason"),
    [
        ("<think>Oslo, I think", OSLO, "", "unfinished thoughts"),
        ("Trondheim", OSLO, "", "another answer or none"),
        ("It is not Oslo.", OSLO, "", "denied"),
        ("the Oslo School", OSLO, "", "part of another name"),
        ("9 o'clock", {"context": ["9 a.m."], "original": ["9 p.m."]}, "", "fits both answers"),
        ("It was built in 1990.", YES_OR_NO, "", "no yes or no in words"),
        ("No.", {"context": ["yes"], "original": []}, "", "yes or no of neither side"),
        (CHOICE, {"context": ["Norway"], "original": ["Sweden"]}, CHOICE, "repeats the question"),
        ("Oslo", OSLO, "", None),
        (" \n… ", OSLO, "", None),
    ],
)
def test_neither_has_a_reason(reply: str, sides: dict[str, list[str]], question: str, reason: Reason | None) -> None:
    decision = decide(reply, **sides, question=question)
    assert (decision.reason, decision.verdict == "neither") == (reason, reason is not None)


@pytest.mark.parametrize(
    ("without", "with_context", "verdicts", "expected"),
    [
        ("Bergen", "Oslo", ("original", "context"), "persuaded"),
        ("I do not know", "Oslo or Bergen", ("refusal", "both"), "persuaded"),
        ("Oslo", "It is Oslo.", ("context", "context"), "agreed"),
        ("Oslo", "Rome", ("context", "neither"), "other"),
        ("Bergen", "It is Bergen.", ("original", "original"), "stubborn"),
        ("Rome.", "rome", ("neither", "neither"), "stubborn"),
        ("Rome", "Paris", ("neither", "neither"), "other"),
        ("", "", ("refusal", "refusal"), "other"),
    ],
)
def test_outcome_compares_both_replies(
    without: str, with_context: str, verdicts: tuple[Verdict, Verdict], expected: str
) -> None:
    assert outcome(without, with_context, *verdicts) == expected


@pytest.mark.parametrize(
    ("reply", "is_decided"),
    [("Oslo", True), ("I do not know", True), ("<think>Oslo, I think", True), ("Trondheim", False)],
)
def test_replies_are_decided_or_undecided(reply: str, is_decided: bool) -> None:
    assert decide(reply, **OSLO).is_decided == is_decided


@pytest.mark.parametrize("reply", ['{"a":' * 40_000, '{"answer":' + "[" * 900 + '"Oslo"' + "]" * 900 + "}"])
def test_deeply_nested_json_states_nothing(reply: str) -> None:
    assert whose_answer(reply, **OSLO) in ("neither", "refusal")


def test_unusable_sides_are_errors() -> None:
    for broken in ("", "?!"):
        for sides in ({"context": ["Oslo", broken], "original": []}, {"context": ["Oslo"], "original": [broken]}):
            with pytest.raises(InputError, match="leave this answer out"):
                whose_answer("Oslo", **sides)
    with pytest.raises(InputError, match="at least one"):
        whose_answer("Oslo", context=[], original=["Bergen"])
    with pytest.raises(TypeError, match="list of answers"):
        whose_answer("Oslo", context="Oslo", original=[])


@pytest.mark.parametrize(
    "piece",
    ["not Oslo ", "Oslo or ", "1 200 ", "1,", "0", "12 May ", "A.", "a'", "\u0301", "--", "9:0", "1/2 ", "五", "<"],
)
def test_long_texts_take_linear_time(piece: str) -> None:
    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        words.cache_clear()
        start = time.process_time()
        whose_answer(text, **OSLO, question=text)
        return time.process_time() - start

    seconds(4_000)
    # 8 is the ratio of the lengths, and 4 a tolerance. Other processes may disturb a run.
    assert any(seconds(32_000) < 8 * 4 * seconds(4_000) + 0.1 for _ in range(3))


@pytest.mark.parametrize(("sides", "question"), [(OSLO, "Where is it?"), (YES_OR_NO, "Is it open?")])
@pytest.mark.parametrize(
    "piece",
    ["Oslo or Bergen ", "Oslo, not Bergen. ", "it is open, in fact, ", "it says yes but no, ", "the claim that Oslo "],
)
def test_long_texts_with_two_answers_are_fast(piece: str, sides: dict[str, list[str]], question: str) -> None:
    start = time.process_time()
    whose_answer(piece * 4_000, **sides, question=question)
    assert time.process_time() - start < 6


@pytest.mark.parametrize("piece", ["9", "9%", "五万", "1/", "III ", "half a ", "twenty ", "1.2.3%"])
def test_reply_equal_to_a_long_answer_states_it(piece: str) -> None:
    answer = piece * 5_000
    assert whose_answer(answer, context=[answer], original=["Oslo"]) == "context"
