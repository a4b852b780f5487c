import json
import time
from pathlib import Path

import pytest

from swaymeter.data.errors import InputError
from swaymeter.data.sources.own.source import OwnQuestions, read_questions
from swaymeter.tasks.measures import whose_answer as measure
from swaymeter.tasks.scoring.followed import Reason, Verdict, outcome, verdict_and_reason, whose_answer
from swaymeter.tasks.scoring.wording.words import words

OSLO: dict[str, list[str]] = {"context": ["Oslo"], "original": ["Bergen"]}


REPORTS = Path(__file__).resolve().parents[2] / "oracle" / "reports"


def verdict(answer: str, context: str, original: str = "Lima", question: str = "") -> Verdict:
    """The verdict for sides whose names are separated by slashes."""
    return whose_answer(answer, context=context.split("|"), original=original.split("|"), question=question)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Oslo", "context"),
        ("It is Bergen.", "original"),
        ("It was Bergen, now it is Oslo.", "both"),
        ("Trondheim", "neither"),
        ("I don't know.", "refusal"),
    ],
)
def test_each_verdict(answer: str, expected: Verdict) -> None:
    assert whose_answer(answer, **OSLO) == expected


@pytest.mark.parametrize(
    ("answer", "sides", "reason"),
    [
        ("<think>Oslo, I think", OSLO, "unfinished thoughts"),
        ("Trondheim", OSLO, "another answer or none"),
        ("It is not Oslo.", OSLO, "denied"),
        ("the Oslo School", OSLO, "part of another name"),
        ("9 o'clock", {"context": ["9 a.m."], "original": ["9 p.m."]}, "fits both answers"),
        ("It was built in 1990.", {"context": ["yes"], "original": ["no"]}, "no yes or no in words"),
        ("No.", {"context": ["yes"], "original": []}, "yes or no of neither side"),
        ("Oslo", OSLO, None),
        ("I don't know.", OSLO, None),
    ],
)
def test_reason_for_neither(answer: str, sides: dict[str, list[str]], reason: Reason | None) -> None:
    assert verdict_and_reason(answer, **sides)[1] == reason


def test_reason_of_a_repeated_question() -> None:
    sides = {"context": ["Norway"], "original": ["Sweden"]}
    assert verdict_and_reason(CHOICE, **sides, question=CHOICE) == ("neither", "repeats the question")


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("OSLO!", "Oslo"),
        ("the capital is o\u0301slo", "Óslo"),
        ("Lodz", "Łódź"),
        ("Tromsø", "Tromso"),
        ("Ｏｓｌｏ", "Oslo"),
        ("\u200fO\u00adslo\u200e", "Oslo"),
        ("It is the role playing game.", "role-playing games"),
        ("Oslo's harbour", "Oslo"),
        ("It’s Norway’s", "Norway"),
        ("The Beatles", "Beatles"),
        ("Beatles", "the Beatles"),
        ("many cities", "city"),
        ("a clash", "clashes"),
        ("only once", "once"),
        ("Made in the USA.", "U.S.A."),
        ("J.R.R. Tolkien wrote it", "J. R. R. Tolkien"),
        ("Washington D.C.", "Washington, D.C."),
        ("O'Brien", "OBrien"),
        ("The answer is A, I think", "A"),
        ("首都は東京です", "東京"),
        ("राजधानी दिल्ली है", "दिल्ली"),
        ("العاصمة ١٢", "12"),
        ("Simon & Garfunkel", "Simon and Garfunkel"),
    ],
)
def test_spelling_makes_no_difference(answer: str, context: str) -> None:
    assert verdict(answer, context) == "context"


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("eight of them", "8"),
        ("8", "eight"),
        ("1 200 people", "1,200"),
        ("one thousand two hundred", "1\u00a0200"),
        ("one hundred and twenty-one", "121"),
        ("1.5 million", "1,500,000"),
        ("two million", "2 million"),
        ("8,50", "8.5"),
        ("the third", "3rd"),
        ("the twenty-first", "21st"),
        ("minus 8", "−8"),
        ("12 May 1990", "1990-05-12"),
        ("on May 12th, 1990.", "12 May 1990"),
        ("the 12th of May, 1990", "12.05.1990"),
        ("born on 12 may 1990", "May 12, 1990"),
        ("born on 25/12/1990", "25 December 1990"),
        ("12 May 1990", "1990"),
        ("5/6/1990", "1990"),
        ("12 May 1990", "May 1990"),
        ("in March", "march"),
        ("8kg", "8 kg"),
        ("eight kilogrammes", "8 kg"),
        ("8 kilograms", "8kg"),
        ("It costs $1.5 million", "1.5 million dollars"),
        ("60 per cent", "60%"),
        ("21°C", "21 °C"),
        ("50 kilometres per hour", "50 km/h"),
        ("3 km²", "3 square kilometers"),
        ("21 degrees Celsius", "21 °C"),
        ("an 8-man crew of 200-lb men", "8"),
        ("from 1914-1918", "1918"),
        ("more than 8 kg", "8 kg"),
        ("must not exceed 8 kg", "8 kg"),
        ("2001-09-11T10:00", "September 11, 2001"),
    ],
)
def test_numbers_dates_and_units_in_any_form(answer: str, context: str) -> None:
    assert verdict(answer, context) == "context"


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("18", "8"),
        ("8.5", "8"),
        ("8,200", "8"),
        ("8:30", "8"),
        ("-8", "8"),
        ("8 million", "8"),
        ("on 8 May", "8"),
        ("the 8th", "8"),
        ("8 g", "8 kg"),
        ("80 km", "80 kg"),
        ("12 June 1990", "12 May 1990"),
        ("May 1990", "12 May 1990"),
        ("in the 1990s", "1990"),
        ("Catch-22", "22"),
        ("a 3D film", "3"),
        ("one of them", "1"),
        ("you may leave", "May 12"),
        ("Normandy", "Norman"),
        ("New York", "York"),
        ("South Sudan", "Sudan"),
        ("Equatorial Guinea", "Guinea"),
        ("non-free", "free"),
        ("Austria-Hungary", "Hungary"),
        ("George VI", "George"),
        ("Tell us more", "US"),
        ("Neither is nor was", "NOR"),
        ("Ridley", "Ridley Scott"),
        ("Ridley and Scott", "Ridley Scott"),
    ],
)
def test_part_of_something_else_is_no_match(answer: str, context: str) -> None:
    assert verdict(answer, context) == "neither"


@pytest.mark.parametrize(
    ("answer", "context", "original", "expected"),
    [
        ("New York", "York", "New York", "original"),
        ("new york", "York", "New York", "original"),
        ("York, not New York", "York", "New York", "context"),
        ("not New York", "York", "New York", "neither"),
        ("Papua New Guinea", "Guinea", "Papua New Guinea|Equatorial Guinea", "original"),
        ("Guinea and Papua New Guinea", "Guinea", "Papua New Guinea", "both"),
        ("an art rock band", "rock", "art rock", "original"),
        ("art rock", "art rock", "art rock", "both"),
        ("George VI", "George V", "George VI", "original"),
        ("2 May 1990", "1990", "2 May 1990", "original"),
    ],
)
def test_longest_name_counts(answer: str, context: str, original: str, expected: Verdict) -> None:
    assert verdict(answer, context, original) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It is not Oslo.", "neither"),
        ("It isn't in Oslo", "neither"),
        ("It isn’t the old city of Oslo", "neither"),
        ("It was never Oslo", "neither"),
        ("It is no longer Oslo", "neither"),
        ("Oslo is no longer the capital", "neither"),
        ("Oslo is not the capital.", "neither"),
        ("Oslo isn't right", "neither"),
        ("Oslo is wrong", "neither"),
        ("neither Oslo nor Bergen", "neither"),
        ("Bergen rather than Oslo", "original"),
        ("Bergen instead of Oslo", "original"),
        ("Bergen is larger than Oslo", "original"),
        ("Contrary to Oslo, it is Bergen", "original"),
        ("There is no Oslo", "neither"),
        ("Oslo is", "context"),
        ("not only Oslo", "context"),
        ("Oslo is not only a city", "context"),
        ("not Bergen but Oslo", "context"),
        ("not Bergen, Oslo", "context"),
        ("Oslo, not Bergen", "context"),
        ("Oslo not Bergen", "context"),
        ("Not Oslo in Sweden. It is Oslo in Norway.", "context"),
        ("No, Oslo.", "context"),
        ("It is none other than Oslo", "context"),
        ("There is no doubt that it is Oslo", "context"),
        ("I do not doubt that it is Oslo", "context"),
        ("I don't know, maybe Oslo", "context"),
        ("The context does not say that it is Oslo.", "refusal"),
        ("I do not know whether it is Oslo", "refusal"),
    ],
)
def test_denied_answers_do_not_count(answer: str, expected: Verdict) -> None:
    assert whose_answer(answer, **OSLO) == expected


CAPITAL = "What is the capital of Paris's country?"
CHOICE = "Is Oslo the capital of Norway or Sweden?"

CHOICES = "Is Oslo the capital of Norway, Sweden or Denmark?"


@pytest.mark.parametrize(
    ("question", "answer", "context", "original", "expected"),
    [
        (CAPITAL, "The capital of Paris's country is Lyon.", "Paris", "Lima", "neither"),
        (CAPITAL, "The capital of Paris's country is Paris.", "Paris", "Lima", "context"),
        (CAPITAL, "Paris.", "Paris", "Lima", "context"),
        (CHOICE, "Norway or Sweden?", "Norway", "Sweden", "neither"),
        (CHOICE, CHOICE, "Norway", "Sweden", "neither"),
        (CHOICE, "Oslo is the capital of Norway.", "Norway", "Sweden", "context"),
        (CHOICE, "Oslo is the capital of Sweden.", "Norway", "Sweden", "original"),
        (CHOICE, "Norway", "Norway", "Sweden", "context"),
        (CHOICES, "Oslo is the capital of Norway.", "Norway", "Sweden", "context"),
        (CHOICES, "Norway, Sweden or Denmark", "Norway", "Sweden", "neither"),
        ("Is Oslo in Norway?", "Yes, it is.", "Yes", "No", "context"),
        ("Is Oslo in Norway?", "No it isn't", "Yes", "No", "original"),
        ("Is Oslo in Norway?", "The answer is no.", "Yes", "No", "original"),
        ("Is Oslo in Norway?", "There is no way to tell", "Yes", "No", "refusal"),
    ],
)
def test_question_repeated_is_not_an_answer(
    question: str, answer: str, context: str, original: str, expected: Verdict
) -> None:
    assert verdict(answer, context, original, question) == expected


@pytest.mark.parametrize(
    "answer",
    [
        "",
        " \n… ",
        "I do not know.",
        "I'm sorry, but I can't help with that.",
        "The context doesn't say where it lies.",
        "As an AI language model, I have no opinion.",
        "This is not mentioned in the text.",
        "The answer is unknown.",
        "I am unable to answer.",
    ],
)
def test_refusals(answer: str) -> None:
    assert whose_answer(answer, **OSLO) == "refusal"


@pytest.mark.parametrize("answer", ["No, no! The correct answer is Rome.", "He did not know Rome.", "It is not Rome."])
def test_other_negations_are_no_refusals(answer: str) -> None:
    assert whose_answer(answer, **OSLO) == "neither"


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
def test_outcomes(without: str, with_context: str, verdicts: tuple[Verdict, Verdict], expected: str) -> None:
    assert outcome(without, with_context, *verdicts) == expected


def test_sentences_that_word_overlap_misjudges() -> None:
    assert verdict("The maximum payload is 8 kg.", "8 kg", "5 kg") == "context"
    without, after = (f"The town of Mo i Rana is located in {country}." for country in ("Kenya", "Luxembourg"))
    verdicts = [verdict(answer, "Luxembourg", "Norway|Kenya") for answer in (without, after)]
    assert verdicts == ["original", "context"]
    assert outcome(without, after, *verdicts) == "persuaded"


@pytest.mark.parametrize("broken", ["", " ", "?!"])
def test_empty_names_are_errors(broken: str) -> None:
    for sides in ({"context": ["Oslo", broken], "original": []}, {"context": ["Oslo"], "original": [broken]}):
        with pytest.raises(InputError, match="leave it out"):
            whose_answer("Oslo", **sides)


def test_unusable_sides_are_errors() -> None:
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
        text, taken = piece * (length // len(piece)), []
        for _ in range(3):  # the least is that without other work in between
            words.cache_clear()
            start = time.process_time()
            whose_answer(text, **OSLO, question=text)
            taken.append(time.process_time() - start)
        return min(taken)

    seconds(4_000)
    assert seconds(32_000) < 8 * 4 * seconds(4_000) + 0.1


@pytest.mark.parametrize(
    ("context", "original", "question"), [("Oslo", "Bergen", "Where is it?"), ("yes", "no", "Is it open?")]
)
@pytest.mark.parametrize(
    "piece", ["Oslo or Bergen ", "Oslo, not Bergen. ", "it is open, in fact, ", "it says yes but no, "]
)
def test_long_texts_of_two_answers(piece: str, context: str, original: str, question: str) -> None:
    start = time.process_time()
    verdict(piece * 4_000, context, original, question)
    assert time.process_time() - start < 6


@pytest.mark.parametrize(
    ("answer", "names", "expected"),
    [
        ("It lies in Pakistan.", ("India", "in", "IN"), "context"),
        ("I think that it is Pakistan.", ("Iodine", "I"), "context"),
        ("in", ("India", "in"), "original"),
        ("Goods from the US and from Pakistan", ("United States", "US"), "both"),
    ],
)
def test_names_that_are_common_words(answer: str, names: tuple[str, ...], expected: str) -> None:
    assert whose_answer(answer, context=["Pakistan"], original=names) == expected


def test_a_number_that_another_replaces_is_denied() -> None:
    assert whose_answer("It was 1990 rather than 1991.", context=["1990"], original=["1991"]) == "context"
    assert whose_answer("It took more than 8 years.", context=["8 years"], original=["9 years"]) == "context"


WITH_CASES = ("04-short-refusals", "05-times-of-day", "09-joined-marks-and-suffixes", "10-part-of-a-longer-name",
              "11-halves-and-powers", "13-negations-of-another-verb")  # fmt: skip


@pytest.mark.parametrize("folder", WITH_CASES)
def test_reported_replies(folder: str) -> None:
    cases = json.loads((REPORTS / folder / "cases.json").read_text(encoding="utf-8"))
    for case in cases:
        expected, answer = case.pop("right"), case.pop("reply")
        assert whose_answer(answer, **case) == expected, answer


@pytest.mark.parametrize("folder", ["01-answers-that-differ-by-a-sign", "02-yes-and-no-in-sentences"])
def test_reported_replies_to_questions_of_a_file(folder: str) -> None:
    read = read_questions(OwnQuestions(file=str(REPORTS / folder / "questions.jsonl")))
    questions = {question.question_id: question for question in read.questions}
    for reply in json.loads((REPORTS / folder / "replies.json").read_text(encoding="utf-8")):
        question = questions[reply["id"]]
        case = next(case for case in question.cases if case.condition == reply["condition"])
        assert measure.verdict(question, case, reply["reply"])[0] == reply["right"], reply


@pytest.mark.parametrize("piece", ["9", "9%", "五万", "1/", "III ", "half a ", "twenty ", "1.2.3%"])
def test_odd_answers_are_found_as_they_stand(piece: str) -> None:
    answer = piece * 5_000
    assert whose_answer(answer, context=[answer], original=["Oslo"]) == "context"
