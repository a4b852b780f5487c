from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import krippendorff
import numpy as np
import pytest

from swaymeter.data import reasons
from swaymeter.data.errors import DamagedFile, UsageError
from swaymeter.data.records import ANNOTATION_CHOICES, Annotation, AnnotationChoice, as_row
from swaymeter.data.records.tables import ANNOTATIONS
from swaymeter.data.storage.workspace import Workspace
from swaymeter.tasks.contexts.annotation.judging import (
    agreement,
    annotator_name,
    decide,
    for_annotator,
    judgements,
    read_annotations,
)
from tests.data.a_dataset import changed
from tests.tasks.contexts.annotation.judged import a_question, says

ONE, TWO = a_question(1), a_question(2)


@pytest.mark.parametrize("choice", ["discard", "misinformation", "incomplete"])
def test_two_who_refuse_reject_with_their_reason(choice: AnnotationChoice) -> None:
    annotations = [says(ONE, name, choice, note="x" if name == "ada" else None) for name in ("ada", "ben")]
    rejected = decide([ONE], annotations).rejected[0]
    assert rejected.reason == f"annotators_{choice}"
    assert rejected.reason in reasons.REASONS
    assert rejected.detail == f"ada: {choice} (x); ben: {choice}"
    assert (rejected.part, rejected.subject, rejected.object) == ("P19", ONE.subject, "Vienna")
    assert rejected.revisions == (7,)


ADA, BEN = says(ONE, "ada", "accept"), says(ONE, "ben", "accept", at=1)
AGAINST = says(ONE, "ben", "discard", at=1)


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ([ADA, BEN], "accepted"),
        ([], reasons.NOT_ANNOTATED),
        ([ADA], reasons.NOT_ANNOTATED),
        ([ADA, says(TWO, "ben", "accept")], reasons.NOT_ANNOTATED),
        ([ADA, AGAINST], reasons.ANNOTATORS_DISAGREE),
        ([ADA, AGAINST, says(ONE, "cem", "accept", at=2)], "accepted"),
        ([ADA, AGAINST, says(ONE, "cem", "incomplete", at=2)], reasons.ANNOTATORS_INCOMPLETE),
        ([ADA, BEN, says(ONE, "cem", "discard", at=2)], "accepted"),  # nothing is left to decide
        ([ADA, AGAINST, says(ONE, "cem", "accept", at=2), says(ONE, "dia", "discard", at=3)], "accepted"),
        ([says(ONE, "ada", "discard"), BEN, says(ONE, "ada", "accept", at=2)], "accepted"),  # the newest counts
    ],
)
def test_outcomes_of_judgements(annotations: list[Annotation], expected: str) -> None:
    for in_any_order in (annotations, annotations[::-1]):
        decided = decide([ONE], in_any_order)
        assert len(decided.questions) + len(decided.rejected) == 1
        assert [row.reason for row in decided.rejected] == [expected] * (expected != "accepted")
        assert decided.questions == [ONE] * (expected == "accepted")


def test_two_changes_agree_only_in_the_same_words() -> None:
    same = [says(ONE, name, "change", question="Which city was he born in?") for name in ("ada", "ben")]
    assert [one.question for one in decide([ONE], same).questions] == ["Which city was he born in?"]
    other = replace(same[1], question="What city was he born in?")
    assert decide([ONE], [same[0], other]).rejected[0].reason == reasons.ANNOTATORS_DISAGREE
    third = says(ONE, "cem", "change", at=2, question="Where to?")
    assert decide([ONE], [same[0], other, third]).questions[0].question == "Where to?"


def test_who_revises_late_stays_one_of_the_first_two() -> None:
    annotations = [
        says(ONE, "ada", "discard"), says(ONE, "ben", "accept", at=1), says(ONE, "cem", "incomplete", at=2),
        says(ONE, "ada", "misinformation", at=3),
    ]  # fmt: skip
    found = next(iter(judgements(annotations).values()))
    assert [one.annotator for one in found.independent] == ["ada", "ben"]
    assert found.third is not None
    assert found.third.annotator == "cem"
    assert decide([ONE], annotations).rejected[0].reason == reasons.ANNOTATORS_INCOMPLETE


def test_what_was_judged_with_other_texts_is_judged_anew() -> None:
    annotations = [says(ONE, name, "accept") for name in ("ada", "ben")]
    anew = changed(ONE, original_context="Wittgenstein came from Vienna.")
    rejected = decide([anew], annotations).rejected[0]
    assert rejected.reason == reasons.NOT_ANNOTATED
    assert rejected.detail == "judged with other texts, before it was rebuilt"
    assert for_annotator([anew], annotations, "ada") == [anew]
    spaced = replace(ONE, subject="Somebody", question=ONE.question.replace(" ", "\r\n "))
    assert decide([spaced], annotations).questions == [spaced]


def test_an_annotator_gets_what_they_have_not_judged() -> None:
    annotations = [says(ONE, "ada", "accept"), says(TWO, "ada", "accept"), says(TWO, "ben", "accept", at=1)]
    assert for_annotator([ONE, TWO], annotations, "ada") == []
    assert for_annotator([ONE, TWO], annotations, "ben") == [ONE]
    assert for_annotator([ONE, TWO], annotations, "cem") == [ONE]
    assert for_annotator([ONE, TWO], [], "cem") == [ONE, TWO]


def test_conflicts_go_to_an_uninvolved_annotator() -> None:
    annotations = [says(ONE, "ada", "accept"), says(ONE, "ben", "discard", at=1), says(TWO, "ada", "accept")]
    assert for_annotator([ONE, TWO], annotations, "ben", conflicts_only=True) == []
    assert for_annotator([ONE, TWO], annotations, "cem", conflicts_only=True) == [ONE]
    decided = [*annotations, says(ONE, "cem", "accept", at=2)]
    assert for_annotator([ONE, TWO], decided, "dia", conflicts_only=True) == []


@pytest.mark.parametrize(("name", "plain"), [("ada", "ada"), (" Cem  Byron ", "Cem Byron"), ("Zoe\u0308", "Zo\u00eb")])
def test_a_name_has_one_way_of_writing(name: str, plain: str) -> None:
    assert annotator_name(name, [ADA]) == plain


@pytest.mark.parametrize("name", ["", "  ", "a\u202eb", "a\x07", "Ada"])
def test_invisible_and_confusable_names_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"is not a valid name of an annotator|the annotator 'ada' exists already"):
        annotator_name(name, [ADA])


def test_annotations_are_read_from_every_file_the_earliest_first(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    annotations = [says(ONE, "ada", choice, at=number) for number, choice in enumerate(ANNOTATION_CHOICES)]
    for number, one in reversed(list(enumerate(annotations))):
        workspace.table(("annotations",), "ada", ANNOTATIONS, {"number": number}).write(ANNOTATIONS.of([as_row(one)]))
    assert read_annotations(workspace) == annotations
    assert read_annotations(Workspace(tmp_path / "empty")) == []


def test_a_damaged_file_is_named_and_never_removed(tmp_path: Path) -> None:
    artifact = Workspace(tmp_path).table(("annotations",), "ada", ANNOTATIONS, {"number": 1})
    path = artifact.write(ANNOTATIONS.of([as_row(says(ONE, "ada", "accept"))]))
    for damaged in (b"", path.read_bytes()[:-9]):
        path.write_bytes(damaged)
        with pytest.raises(DamagedFile, match=r"ada-\w+-\w+\.parquet holds annotations .*restore it from a copy") as e:
            read_annotations(Workspace(tmp_path))
        assert "remove it" not in str(e.value)
        assert path.read_bytes() == damaged


QUESTIONS = [a_question(number) for number in range(1, 9)]
CHOICES: dict[str, list[AnnotationChoice | None]] = {
    "ada": ["accept", "accept", "change", "discard", "accept", "misinformation", "incomplete", None],
    "ben": ["accept", "discard", "change", "discard", "accept", "incomplete", None, "accept"],
    "cem": [None, "discard", None, None, None, "misinformation", "incomplete", "accept"],
}


def judged(*questions: str) -> list[Annotation]:
    """Of each question its judgements, the earliest first: an annotator's initial, and their choice's."""
    names, choices = {"a": "ada", "b": "ben", "c": "cem"}, {choice[0]: choice for choice in ANNOTATION_CHOICES}
    return [
        says(question, names[judgement[0]], choices[judgement[1]], at=minute)
        for question, judgements in zip(QUESTIONS, questions, strict=False)
        for minute, judgement in enumerate(judgements.split())
    ]


def test_alpha_is_over_the_first_two_annotators() -> None:
    annotations = [
        says(question, name, choice, at=place)
        for place, (name, chosen) in enumerate(CHOICES.items())
        for question, choice in zip(QUESTIONS, chosen, strict=True)
        if choice
    ]
    first_two = [list(chosen) for chosen in CHOICES.values()]
    for place in (1, 5):  # here cem came third, and decides
        first_two[2][place] = None
    table = [[np.nan if one is None else ANNOTATION_CHOICES.index(one) for one in chosen] for chosen in first_two]
    found = agreement(annotations)
    assert found.alpha == krippendorff.alpha(reliability_data=table, level_of_measurement="nominal")
    assert (found.units, found.annotators, found.undefined) == (8, ("ada", "ben", "cem"), None)
    assert found.counts["cem"] == {"discard": 1, "misinformation": 1, "incomplete": 1, "accept": 1}


@pytest.mark.parametrize(
    ("questions", "alpha"),
    [
        # One pair in four differs; of 8 values 5 are a, 3 are d: D_o = 2/8, D_e = 2*5*3 / (8*7), 1 - (1/4) / (30/56).
        (("aa ba", "aa ba", "aa bd", "ad bd"), Fraction(8, 15)),
        (("aa ba", "ad bd", "ac bc"), 1),
        # D_o = 2/4, D_e = 2*1*3 / (4*3); late revisions of either do not count
        (("ad ba", "ad bd"), 0),
        (("ad ba aa", "ad bd"), 0),
        (("ad ba bd", "ad bd"), 0),
        (("ad aa ba", "ad bd"), 1),  # of early revisions the last counts
        (("aa ba cd ad", "ad bd"), 1),  # a third annotator does not
    ],
)
def test_alpha_by_hand(questions: tuple[str, ...], alpha: Fraction) -> None:
    found = agreement(judged(*questions))
    assert found.alpha == pytest.approx(float(alpha), abs=1e-12)
    assert (found.units, found.annotators) == (len(questions), ("ada", "ben"))


@pytest.mark.parametrize(
    ("questions", "units", "undefined"),
    [
        (["aa ba"] * 8, 8, "all annotators always chose accept, so"),
        ([], 0, "no question has been judged by two annotators"),
        (["aa", "bd"], 0, "no question has been judged"),
    ],
)
def test_undefined_agreement_says_why(questions: list[str], units: int, undefined: str) -> None:
    found = agreement(judged(*questions))
    assert (found.alpha, found.units) == (None, units)
    assert (found.undefined or "").startswith(undefined)
