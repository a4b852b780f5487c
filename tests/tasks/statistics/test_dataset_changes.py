from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.dataset.dataset import Dataset
from swaymeter.data.dataset.snapshot import DatasetChanges, FieldChange
from swaymeter.data.records import Fact, Question, WikidataId
from swaymeter.data.records.tables import QUESTIONS
from swaymeter.tasks.statistics.changes import FIELDS, QUESTION_FIELDS, dataset_changes
from tests.data.a_dataset import KENYA, NORWAY, PERU, changed, disputed, fact, iri, question

OSLO = question(partition="static", edits=1)
LIMA = question(
    subject="Peru", subject_id=WikidataId("Q419"), object="Lima", object_id=WikidataId("Q2868"), question_id="a2"
)
GULF = disputed()
Counts = dict[str, tuple[int, int, int, int]]


def of(*rows: Fact | Question) -> Dataset:
    facts = tuple(row for row in rows if isinstance(row, Fact))
    return Dataset(Path("somewhere"), facts, (), tuple(row for row in rows if isinstance(row, Question)))


def counts(found: DatasetChanges) -> Counts:
    """By relation: how many rows were added, gone, changed, and how many are the same."""
    relations = (*found.relations, *found.questions)
    return {one.relation: (len(one.added), len(one.gone), len(one.changed), one.same) for one in relations}


def changes(old: Fact | Question, new: Fact | Question, *others: Fact | Question) -> tuple[FieldChange, ...]:
    """What changed in a row, among others that did not."""
    found = dataset_changes(of(*others, old), of(new, *others))
    (relation,) = found.relations or found.questions
    assert (relation.added, relation.gone, relation.same) == ((), (), len(others))
    (changed,) = relation.changed
    assert (changed.old, changed.new) == (old, new)
    return changed.changes


def without_iris(one: Fact, **said: Any) -> Fact:
    return replace(one, subject_uri=None, object_uri=None, **said)


def test_a_dataset_does_not_differ_from_itself() -> None:
    later = {"retrieved_at": "2027-01-01T00:00:00+00:00", "address": "x"}
    facts = [replace(one, **later) for one in (KENYA, NORWAY, PERU)]
    questions = [replace(one, **later, item_revision=77, page_revision=78) for one in (GULF, LIMA, OSLO)]
    found = dataset_changes(of(NORWAY, PERU, KENYA), of(*facts))
    assert (found.differs, counts(found), found.not_compared) == (False, {"capital": (0, 0, 0, 3)}, ())
    found = dataset_changes(of(OSLO, LIMA, GULF), of(*questions))
    assert (found.differs, found.relations) == (False, ())
    assert counts(found) == {"capital": (0, 0, 0, 2), "disputable": (0, 0, 0, 1)}


def test_facts_of_other_subjects_are_added_or_gone() -> None:
    found = dataset_changes(of(NORWAY, PERU), of(PERU, KENYA))
    assert found.differs
    (capital,) = found.relations
    assert (capital.added, capital.gone, capital.changed, capital.same) == ((KENYA,), (NORWAY,), (), 1)
    assert capital.differs


def test_a_relation_may_be_added_or_gone_whole() -> None:
    father = fact("Ada Lovelace", "Lord Byron", "father")
    assert counts(dataset_changes(of(NORWAY, father), of(NORWAY))) == {"capital": (0, 0, 0, 1), "father": (0, 1, 0, 0)}
    assert counts(dataset_changes(of(NORWAY), of(NORWAY, father))) == {"capital": (0, 0, 0, 1), "father": (1, 0, 0, 0)}
    assert [one.differs for one in dataset_changes(of(NORWAY, father), of(NORWAY)).relations] == [False, True]


@pytest.mark.parametrize(
    "said",
    [
        {"object": "Bergen", "object_uri": iri("Bergen")},
        {"object_uri": iri("Oslo, Minnesota")},
        {"subject": "Noreg"},
        {"other_objects": ("Bergen", "Tromsø")},
        *({field: value} for field in FIELDS if field.endswith("degree") for value in (977, None)),
    ],
)
def test_what_a_fact_says_otherwise_is_a_change(said: dict[str, Any]) -> None:
    assert changes(NORWAY, replace(NORWAY, **said), KENYA) == tuple(
        FieldChange(field, getattr(NORWAY, field), value) for field, value in said.items()
    )


def test_the_order_of_further_objects_is_no_difference() -> None:
    two, turned = (replace(NORWAY, other_objects=names) for names in (("Bergen", "Tromsø"), ("Tromsø", "Bergen")))
    assert not dataset_changes(of(two), of(turned)).differs
    assert changes(NORWAY, turned, KENYA) == (FieldChange("other_objects", (), ("Bergen", "Tromsø")),)


def test_the_source_is_no_difference_of_facts() -> None:
    found = dataset_changes(of(NORWAY), of(replace(NORWAY, source="another", licence="another", id_source="x")))
    assert not found.differs
    assert found.old.version != found.new.version


def test_what_only_one_dataset_says_is_not_compared() -> None:
    sample = [without_iris(one, subject_degree=None, subject_id="Q1") for one in (NORWAY, PERU)]
    for found in (dataset_changes(of(NORWAY, PERU), of(*sample)), dataset_changes(of(*sample), of(NORWAY, PERU))):
        assert found.not_compared == ("subject_id", "subject_uri", "object_uri", "subject_degree")
        assert counts(found) == {"capital": (0, 0, 0, 2)}


def test_without_iris_subjects_are_known_by_name() -> None:
    found = dataset_changes(of(without_iris(NORWAY), without_iris(PERU)), of(NORWAY, KENYA))
    (capital,) = found.relations
    assert ([one.subject for one in capital.added], [one.subject for one in capital.gone]) == (["Kenya"], ["Peru"])


def test_a_subject_without_iri_is_known_by_name() -> None:
    left, come = (replace(PERU, subject_uri=None, object=name) for name in ("Lima", "Cusco"))
    kenya = replace(KENYA, subject_uri=None, object="Cusco", object_uri=PERU.object_uri)
    found = dataset_changes(of(NORWAY, left, kenya), of(NORWAY, come, kenya))
    assert [change.changes for change in found.relations[0].changed] == [(FieldChange("object", "Lima", "Cusco"),)]


def test_namesakes_are_told_apart_by_their_iris() -> None:
    maine = replace(NORWAY, subject_uri=iri("Norway, Maine"), object="none")
    found = dataset_changes(of(NORWAY, maine), of(maine))
    assert (found.relations[0].gone, found.relations[0].same) == ((NORWAY,), 1)


def test_several_facts_of_a_subject_are_matched() -> None:
    oslo, bergen, tromsø = (without_iris(NORWAY, object=name) for name in ("Oslo", "Bergen", "Tromsø"))
    assert counts(dataset_changes(of(oslo, bergen), of(bergen))) == {"capital": (0, 1, 0, 1)}
    assert dataset_changes(of(oslo, bergen), of(bergen)).relations[0].gone == (oslo,)
    larger = replace(bergen, subject_degree=7)
    found = dataset_changes(of(oslo, bergen), of(larger, tromsø)).relations[0]
    assert {(one.old.object, one.new.object) for one in found.changed} == {("Bergen", "Bergen"), ("Oslo", "Tromsø")}
    found = dataset_changes(of(oslo, tromsø), of(bergen, replace(oslo, subject_degree=7))).relations[0]
    assert {(one.old.object, one.new.object) for one in found.changed} == {("Oslo", "Oslo"), ("Tromsø", "Bergen")}
    assert counts(dataset_changes(of(oslo, oslo), of(oslo))) == {"capital": (0, 1, 0, 1)}
    alike = dataset_changes(of(bergen, larger), of(larger)).relations[0]
    assert (alike.gone, alike.changed, alike.same) == ((bergen,), (), 1)


def test_a_renamed_object_is_known_by_its_iri() -> None:
    oslo, tromsø, bergen, renamed = (
        replace(NORWAY, subject_uri=None, object=name, object_uri=iri(other))
        for name, other in (("Oslo", "Oslo"), ("Tromsø", "Tromsø"), ("Bergen", "Bergen"), ("Christiania", "Oslo"))
    )
    found = dataset_changes(of(oslo, tromsø), of(bergen, renamed)).relations[0]
    assert {(one.old.object, one.new.object) for one in found.changed} == {
        ("Oslo", "Christiania"),
        ("Tromsø", "Bergen"),
    }


def test_what_is_told_is_in_order_of_names() -> None:
    found = dataset_changes(of(PERU, KENYA, NORWAY), of(*(replace(one, object="x") for one in (PERU, KENYA, NORWAY))))
    assert [one.new.subject for one in found.relations[0].changed] == ["Kenya", "Norway", "Peru"]
    father = fact("Ada Lovelace", "Lord Byron", "father")
    new = dataset_changes(of(father), of(PERU, KENYA, NORWAY, father))
    assert [one.relation for one in new.relations] == ["capital", "father"]
    assert [one.subject for one in new.relations[0].added] == ["Kenya", "Norway", "Peru"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("partition", "temporal"),
        ("edits", 9),
        ("subject_popularity", 1.5),
        ("object_popularity", None),
        ("original_context", "Oslo."),
        ("counter_memory_context", "Lima."),
        ("question", "Which seat has Norway?"),
        ("answers", ("Oslo",)),
        ("replacement", "Bergen"),
        ("hidden_edits", 5),
        ("page", "Kingdom of Norway"),
        ("object", "Christiania"),
        ("subject", "Kingdom of Norway"),
        ("object_id", WikidataId("Q1")),
        ("property", "seat"),
    ],
)
def test_what_a_question_says_is_compared(field: str, value: Any) -> None:
    new = changed(OSLO, **{field: value})
    found = changes(OSLO, new, LIMA, replace(LIMA, page="Peru", subject_id=WikidataId("Q1001")))
    old = getattr(OSLO, field)
    both = (tuple(sorted(old)), tuple(sorted(value))) if isinstance(value, tuple) else (old, value)
    assert found == (FieldChange(field, *both),)


@pytest.mark.parametrize(
    "field",
    sorted({column.name for column in QUESTIONS.columns} - {*QUESTION_FIELDS, "relation", "contexts"}),
)
def test_provenance_is_not_a_difference(field: str) -> None:
    value: Any = (3,) if isinstance(getattr(OSLO, field), tuple) else 0.5 if field == "replacement_quality" else "x"
    assert not dataset_changes(of(OSLO), of(changed(OSLO, **{field: value}))).differs


def test_subject_is_known_by_id_else_by_name() -> None:
    renamed = replace(OSLO, subject="Noreg")
    assert changes(OSLO, renamed) == (FieldChange("subject", "Norway", "Noreg"),)
    nameless = replace(OSLO, subject_id=None, property_id=None)
    found = dataset_changes(of(nameless), of(OSLO))
    assert counts(found) == {"capital": (0, 0, 0, 1)}
    assert found.questions_not_compared == ("subject_id", "property_id")
    assert counts(dataset_changes(of(nameless), of(renamed))) == {"capital": (1, 1, 0, 0)}


def test_several_answers_of_a_subject_are_matched() -> None:
    bergen = replace(OSLO, object="Bergen", object_id=WikidataId("Q26793"))
    tromsø = replace(OSLO, object="Tromsø", object_id=WikidataId("Q26087"))
    more = replace(bergen, edits=5)
    assert counts(dataset_changes(of(OSLO, bergen), of(bergen))) == {"capital": (0, 1, 0, 1)}
    found = dataset_changes(of(OSLO, bergen), of(more, tromsø)).questions[0]
    assert {(one.old.object, one.new.object) for one in found.changed} == {("Bergen", "Bergen"), ("Oslo", "Tromsø")}


def test_a_dispute_is_known_by_page_and_answers() -> None:
    turned = changed(
        GULF,
        object="Peru",
        replacement="Iran",
        answers=("Peru",),
        edits=8,
        original_context=GULF.counter_memory_context,
        counter_memory_context=GULF.original_context,
    )
    assert counts(dataset_changes(of(replace(GULF, page=None)), of(GULF))) == {"disputable": (0, 0, 0, 1)}
    fields = [change.field for change in changes(GULF, turned, replace(GULF, page="Red Sea", subject="Red Sea"))]
    assert fields == [
        "object",
        "answers",
        "replacement",
        "original_context",
        "counter_memory_context",
        "edits",
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (OSLO, replace(OSLO, property_id=WikidataId("P1376"))),
        (GULF, replace(GULF, object="Iraq", replacement="Oman")),
    ],
    ids=["property", "dispute"],
)
def test_another_property_or_dispute_is_another_question(old: Question, new: Question) -> None:
    assert counts(dataset_changes(of(old), of(new))) == {old.relation: (1, 1, 0, 0)}


def test_disputes_of_equal_answers_differ_by_sentence() -> None:
    one = changed(GULF, original_context="Iran again.", question="What then?")
    found = dataset_changes(of(GULF, one), of(replace(one, edits=7), GULF))
    assert counts(found) == {"disputable": (0, 0, 1, 1)}
    assert found.questions[0].changed[0].old == one


def test_a_dataset_without_questions_adds_or_loses_all() -> None:
    found = dataset_changes(of(NORWAY), of(NORWAY, GULF))
    assert found.differs
    assert counts(found) == {"capital": (0, 0, 0, 1), "disputable": (1, 0, 0, 0)}
    assert found.questions_not_compared == ()
