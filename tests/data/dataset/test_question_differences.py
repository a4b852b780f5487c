from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.dataset.dataset import Dataset
from swaymeter.data.dataset.differences import QUESTION_FIELDS, Change, Difference, difference
from swaymeter.data.records import Question, WikidataId
from swaymeter.data.records.tables import QUESTIONS
from tests.data.a_dataset import NORWAY, changed, disputed, question

OSLO = question(partition="static", edits=1)
PERU = question(
    subject="Peru", subject_id=WikidataId("Q419"), object="Lima", object_id=WikidataId("Q2868"), question_id="a2"
)
GULF = disputed()


def of(*questions: Question) -> Dataset:
    return Dataset(Path("somewhere"), (), (), questions)


def counts(found: Difference) -> dict[str, tuple[int, int, int, int]]:
    """By relation: how many questions were added, gone, changed, and how many are the same."""
    return {one.relation: (len(one.added), len(one.gone), len(one.changed), one.same) for one in found.questions}


def changes(old: Question, new: Question, *others: Question) -> tuple[Change, ...]:
    """What changed in a question, among others that did not."""
    (relation,) = difference(of(*others, old), of(new, *others)).questions
    assert (relation.added, relation.gone, relation.same) == ((), (), len(others))
    (changed,) = relation.changed
    assert (changed.old, changed.new) == (old, new)
    return changed.changes


def test_a_dataset_does_not_differ_from_itself() -> None:
    later = {"retrieved_at": "2027-01-01T00:00:00+00:00", "address": "x", "item_revision": 77, "page_revision": 78}
    again = [replace(one, **later) for one in (GULF, PERU, OSLO)]
    found = difference(of(OSLO, PERU, GULF), of(*again))
    assert not found.differs
    assert counts(found) == {"capital": (0, 0, 0, 2), "disputable": (0, 0, 0, 1)}
    assert found.relations == ()


def test_a_fact_may_change_its_partition() -> None:
    assert changes(OSLO, replace(OSLO, partition="temporal", edits=2), PERU) == (
        Change("partition", "static", "temporal"), Change("edits", 1, 2),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("edits", 9), ("subject_popularity", 1.5), ("object_popularity", None), ("original_context", "Oslo."),
        ("counter_memory_context", "Lima."), ("question", "Which seat has Norway?"), ("answers", ("Oslo",)),
        ("replacement", "Bergen"), ("hidden_edits", 5), ("page", "Kingdom of Norway"), ("object", "Christiania"),
        ("subject", "Kingdom of Norway"), ("object_id", WikidataId("Q1")), ("property", "seat"),
    ],
)  # fmt: skip
def test_what_a_question_says_is_compared(field: str, value: Any) -> None:
    new = changed(OSLO, **{field: value})
    found = changes(OSLO, new, PERU, replace(PERU, page="Peru", subject_id=WikidataId("Q1001")))
    old = getattr(OSLO, field)
    both = (tuple(sorted(old)), tuple(sorted(value))) if isinstance(value, tuple) else (old, value)
    assert found == (Change(field, *both),)


@pytest.mark.parametrize(
    "field",
    sorted({column.name for column in QUESTIONS.columns} - {*QUESTION_FIELDS, "relation", "contexts"}),
)  # fmt: skip
def test_provenance_is_not_a_difference(field: str) -> None:
    value: Any = (3,) if isinstance(getattr(OSLO, field), tuple) else 0.5 if field == "replacement_quality" else "x"
    assert not difference(of(OSLO), of(changed(OSLO, **{field: value}))).differs


def test_a_subject_is_known_by_id_else_by_name() -> None:
    renamed = replace(OSLO, subject="Noreg")
    assert changes(OSLO, renamed) == (Change("subject", "Norway", "Noreg"),)
    nameless = replace(OSLO, subject_id=None, property_id=None)
    found = difference(of(nameless), of(OSLO))
    assert counts(found) == {"capital": (0, 0, 0, 1)}
    assert found.questions_not_compared == ("subject_id", "property_id")
    assert counts(difference(of(nameless), of(renamed))) == {"capital": (1, 1, 0, 0)}


def test_several_answers_of_a_subject_are_matched() -> None:
    bergen = replace(OSLO, object="Bergen", object_id=WikidataId("Q26793"))
    tromsø = replace(OSLO, object="Tromsø", object_id=WikidataId("Q26087"))
    more = replace(bergen, edits=5)
    assert counts(difference(of(OSLO, bergen), of(bergen))) == {"capital": (0, 1, 0, 1)}
    found = difference(of(OSLO, bergen), of(more, tromsø)).questions[0]
    assert {(one.old.object, one.new.object) for one in found.changed} == {("Bergen", "Bergen"), ("Oslo", "Tromsø")}


def test_a_dispute_is_known_by_page_and_answers() -> None:
    turned = changed(
        GULF, object="Peru", replacement="Iran", answers=("Peru",), edits=8,
        original_context=GULF.counter_memory_context, counter_memory_context=GULF.original_context,
    )  # fmt: skip
    fields = [change.field for change in changes(GULF, turned, replace(GULF, page="Red Sea", subject="Red Sea"))]
    assert fields == [
        "object", "answers", "replacement", "original_context", "counter_memory_context", "edits",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (OSLO, replace(OSLO, property_id=WikidataId("P1376"))),
        (GULF, replace(GULF, object="Iraq", replacement="Oman")),
    ],
    ids=["property", "dispute"],
)
def test_another_property_or_dispute_is_another_question(old: Question, new: Question) -> None:
    assert counts(difference(of(old), of(new))) == {old.relation: (1, 1, 0, 0)}


def test_disputes_of_equal_answers_differ_by_sentence() -> None:
    one = changed(GULF, original_context="Iran again.", question="What then?")
    found = difference(of(GULF, one), of(replace(one, edits=7), GULF))
    assert counts(found) == {"disputable": (0, 0, 1, 1)}
    assert found.questions[0].changed[0].old == one


def test_the_published_layout_knows_a_page_by_the_subject() -> None:
    assert counts(difference(of(replace(GULF, page=None)), of(GULF))) == {"disputable": (0, 0, 0, 1)}


def test_a_dataset_without_questions_adds_or_loses_all() -> None:
    facts = Dataset(Path("somewhere"), (NORWAY,))
    found = difference(facts, replace(facts, questions=(OSLO, GULF)))
    assert found.differs
    assert counts(found) == {"capital": (1, 0, 0, 0), "disputable": (1, 0, 0, 0)}
    assert found.questions_not_compared == ()
    assert [one.same for one in found.relations] == [1]
