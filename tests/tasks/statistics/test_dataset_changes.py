from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.dataset.dataset import Dataset
from swaymeter.data.dataset.snapshot import DatasetChanges, FieldChange
from swaymeter.data.records import Fact, Question, WikidataId
from swaymeter.data.records.tables import QUESTIONS
from swaymeter.tasks.statistics.changes import FACT_FIELDS, QUESTION_FIELDS, dataset_changes
from tests.data.dataset_samples import KENYA, NORWAY, PERU, changed, disputed, fact, iri, question

# NORWAY, PERU and KENYA are facts; OSLO, LIMA and GULF are questions.
OSLO = question(partition="static", edits=1)
LIMA = question(
    subject="Peru", subject_id=WikidataId("Q419"), object="Lima", object_id=WikidataId("Q2868"), question_id="a2"
)
GULF = disputed()


def dataset(*rows: Fact | Question) -> Dataset:
    facts = tuple(row for row in rows if isinstance(row, Fact))
    return Dataset(Path("somewhere"), facts, (), tuple(row for row in rows if isinstance(row, Question)))


def counts(result: DatasetChanges) -> dict[str, tuple[int, int, int, int]]:
    """Return the numbers of added, removed, changed and equal rows, by relation."""
    groups = (*result.relations, *result.questions)
    return {group.relation: (len(group.added), len(group.gone), len(group.changed), group.same) for group in groups}


def changes(old: Fact | Question, new: Fact | Question, *others: Fact | Question) -> tuple[FieldChange, ...]:
    """Return the changes of a row among unchanged rows."""
    result = dataset_changes(dataset(*others, old), dataset(new, *others))
    (relation,) = result.relations or result.questions
    assert (relation.added, relation.gone, relation.same) == ((), (), len(others))
    (changed,) = relation.changed
    assert (changed.old, changed.new) == (old, new)
    return changed.changes


def without_iris(row: Fact, **values: Any) -> Fact:
    return replace(row, subject_uri=None, object_uri=None, **values)


def test_a_dataset_does_not_differ_from_itself() -> None:
    later = {"retrieved_at": "2027-01-01T00:00:00+00:00", "address": "x"}
    facts = [replace(row, **later) for row in (KENYA, NORWAY, PERU)]
    questions = [replace(row, **later, item_revision=77, page_revision=78) for row in (GULF, LIMA, OSLO)]
    result = dataset_changes(dataset(NORWAY, PERU, KENYA), dataset(*facts))
    assert (result.differs, counts(result), result.not_compared) == (False, {"capital": (0, 0, 0, 3)}, ())
    result = dataset_changes(dataset(OSLO, LIMA, GULF), dataset(*questions))
    assert (result.differs, result.relations) == (False, ())
    assert counts(result) == {"capital": (0, 0, 0, 2), "disputable": (0, 0, 0, 1)}


def test_facts_of_other_subjects_are_added_or_removed() -> None:
    result = dataset_changes(dataset(NORWAY, PERU), dataset(PERU, KENYA))
    assert result.differs
    (capital,) = result.relations
    assert (capital.added, capital.gone, capital.changed, capital.same) == ((KENYA,), (NORWAY,), (), 1)
    assert capital.differs


def test_whole_relations_are_added_or_removed() -> None:
    father = fact("Ada Lovelace", "Lord Byron", "father")
    one, two = dataset(NORWAY), dataset(NORWAY, father)
    assert counts(dataset_changes(two, one)) == {"capital": (0, 0, 0, 1), "father": (0, 1, 0, 0)}
    assert counts(dataset_changes(one, two)) == {"capital": (0, 0, 0, 1), "father": (1, 0, 0, 0)}
    assert [relation.differs for relation in dataset_changes(two, one).relations] == [False, True]


@pytest.mark.parametrize(
    "values",
    [
        {"object": "Bergen", "object_uri": iri("Bergen")},
        {"object_uri": iri("Oslo, Minnesota")},
        {"subject": "Noreg"},
        {"other_objects": ("Bergen", "Tromsø")},
        *({field: value} for field in FACT_FIELDS if field.endswith("degree") for value in (977, None)),
    ],
)
def test_changed_fields_of_a_fact_are_listed(values: dict[str, Any]) -> None:
    assert changes(NORWAY, replace(NORWAY, **values), KENYA) == tuple(
        FieldChange(field, getattr(NORWAY, field), value) for field, value in values.items()
    )


def test_the_order_of_further_objects_is_no_difference() -> None:
    first, second = (replace(NORWAY, other_objects=names) for names in (("Bergen", "Tromsø"), ("Tromsø", "Bergen")))
    assert not dataset_changes(dataset(first), dataset(second)).differs
    assert changes(NORWAY, second, KENYA) == (FieldChange("other_objects", (), ("Bergen", "Tromsø")),)


def test_the_source_of_facts_is_no_difference() -> None:
    other = replace(NORWAY, source="another", licence="another", id_source="x")
    result = dataset_changes(dataset(NORWAY), dataset(other))
    assert not result.differs
    assert result.old.version != result.new.version


def test_fields_of_only_one_dataset_are_not_compared() -> None:
    sample = [without_iris(row, subject_degree=None, subject_id="Q1") for row in (NORWAY, PERU)]
    first, second = dataset(NORWAY, PERU), dataset(*sample)
    for result in (dataset_changes(first, second), dataset_changes(second, first)):
        assert result.not_compared == ("subject_id", "subject_uri", "object_uri", "subject_degree")
        assert counts(result) == {"capital": (0, 0, 0, 2)}


def test_datasets_without_iris_are_matched_by_name() -> None:
    result = dataset_changes(dataset(without_iris(NORWAY), without_iris(PERU)), dataset(NORWAY, KENYA))
    (capital,) = result.relations
    assert ([row.subject for row in capital.added], [row.subject for row in capital.gone]) == (["Kenya"], ["Peru"])


def test_a_subject_without_iri_is_matched_by_name() -> None:
    lima, cusco = (replace(PERU, subject_uri=None, object=name) for name in ("Lima", "Cusco"))
    kenya = replace(KENYA, subject_uri=None, object="Cusco", object_uri=PERU.object_uri)
    result = dataset_changes(dataset(NORWAY, lima, kenya), dataset(NORWAY, cusco, kenya))
    assert [change.changes for change in result.relations[0].changed] == [(FieldChange("object", "Lima", "Cusco"),)]


def test_namesakes_are_distinguished_by_their_iris() -> None:
    maine = replace(NORWAY, subject_uri=iri("Norway, Maine"), object="none")
    result = dataset_changes(dataset(NORWAY, maine), dataset(maine))
    assert (result.relations[0].gone, result.relations[0].same) == ((NORWAY,), 1)


def test_several_facts_of_a_subject_are_matched() -> None:
    oslo, bergen, tromsø = (without_iris(NORWAY, object=name) for name in ("Oslo", "Bergen", "Tromsø"))
    assert counts(dataset_changes(dataset(oslo, bergen), dataset(bergen))) == {"capital": (0, 1, 0, 1)}
    assert dataset_changes(dataset(oslo, bergen), dataset(bergen)).relations[0].gone == (oslo,)
    edited = replace(bergen, subject_degree=7)
    result = dataset_changes(dataset(oslo, bergen), dataset(edited, tromsø)).relations[0]
    assert {(pair.old.object, pair.new.object) for pair in result.changed} == {("Bergen", "Bergen"), ("Oslo", "Tromsø")}
    result = dataset_changes(dataset(oslo, tromsø), dataset(bergen, replace(oslo, subject_degree=7))).relations[0]
    assert {(pair.old.object, pair.new.object) for pair in result.changed} == {("Oslo", "Oslo"), ("Tromsø", "Bergen")}
    assert counts(dataset_changes(dataset(oslo, oslo), dataset(oslo))) == {"capital": (0, 1, 0, 1)}
    result = dataset_changes(dataset(bergen, edited), dataset(edited)).relations[0]
    assert (result.gone, result.changed, result.same) == ((bergen,), (), 1)


def test_a_renamed_object_is_matched_by_its_iri() -> None:
    oslo, tromsø, bergen, renamed = (
        replace(NORWAY, subject_uri=None, object=name, object_uri=iri(iri_name))
        for name, iri_name in (("Oslo", "Oslo"), ("Tromsø", "Tromsø"), ("Bergen", "Bergen"), ("Christiania", "Oslo"))
    )
    result = dataset_changes(dataset(oslo, tromsø), dataset(bergen, renamed)).relations[0]
    assert {(pair.old.object, pair.new.object) for pair in result.changed} == {
        ("Oslo", "Christiania"),
        ("Tromsø", "Bergen"),
    }


def test_changes_are_in_order_of_names() -> None:
    facts = (PERU, KENYA, NORWAY)
    result = dataset_changes(dataset(*facts), dataset(*(replace(row, object="x") for row in facts)))
    assert [pair.new.subject for pair in result.relations[0].changed] == ["Kenya", "Norway", "Peru"]
    father = fact("Ada Lovelace", "Lord Byron", "father")
    new = dataset_changes(dataset(father), dataset(PERU, KENYA, NORWAY, father))
    assert [relation.relation for relation in new.relations] == ["capital", "father"]
    assert [row.subject for row in new.relations[0].added] == ["Kenya", "Norway", "Peru"]


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
def test_changed_fields_of_a_question_are_listed(field: str, value: Any) -> None:
    new = changed(OSLO, **{field: value})
    result = changes(OSLO, new, LIMA, replace(LIMA, page="Peru", subject_id=WikidataId("Q1001")))
    old = getattr(OSLO, field)
    old_and_new = (tuple(sorted(old)), tuple(sorted(value))) if isinstance(value, tuple) else (old, value)
    assert result == (FieldChange(field, *old_and_new),)


@pytest.mark.parametrize(
    "field",
    sorted({column.name for column in QUESTIONS.columns} - {*QUESTION_FIELDS, "relation", "contexts"}),
)
def test_provenance_is_not_a_difference(field: str) -> None:
    value: Any = (3,) if isinstance(getattr(OSLO, field), tuple) else 0.5 if field == "replacement_quality" else "x"
    assert not dataset_changes(dataset(OSLO), dataset(changed(OSLO, **{field: value}))).differs


def test_subject_is_matched_by_id_or_name() -> None:
    renamed = replace(OSLO, subject="Noreg")
    assert changes(OSLO, renamed) == (FieldChange("subject", "Norway", "Noreg"),)
    nameless = replace(OSLO, subject_id=None, property_id=None)
    result = dataset_changes(dataset(nameless), dataset(OSLO))
    assert counts(result) == {"capital": (0, 0, 0, 1)}
    assert result.questions_not_compared == ("subject_id", "property_id")
    assert counts(dataset_changes(dataset(nameless), dataset(renamed))) == {"capital": (1, 1, 0, 0)}


def test_several_answers_of_a_subject_are_matched() -> None:
    bergen = replace(OSLO, object="Bergen", object_id=WikidataId("Q26793"))
    tromsø = replace(OSLO, object="Tromsø", object_id=WikidataId("Q26087"))
    edited = replace(bergen, edits=5)
    assert counts(dataset_changes(dataset(OSLO, bergen), dataset(bergen))) == {"capital": (0, 1, 0, 1)}
    result = dataset_changes(dataset(OSLO, bergen), dataset(edited, tromsø)).questions[0]
    assert {(pair.old.object, pair.new.object) for pair in result.changed} == {("Bergen", "Bergen"), ("Oslo", "Tromsø")}


def test_a_dispute_is_matched_by_page_and_answers() -> None:
    swapped = changed(
        GULF,
        object="Peru",
        replacement="Iran",
        answers=("Peru",),
        edits=8,
        original_context=GULF.counter_memory_context,
        counter_memory_context=GULF.original_context,
    )
    assert counts(dataset_changes(dataset(replace(GULF, page=None)), dataset(GULF))) == {"disputable": (0, 0, 0, 1)}
    fields = [change.field for change in changes(GULF, swapped, replace(GULF, page="Red Sea", subject="Red Sea"))]
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
    assert counts(dataset_changes(dataset(old), dataset(new))) == {old.relation: (1, 1, 0, 0)}


def test_disputes_of_equal_answers_differ_by_sentence() -> None:
    other = changed(GULF, original_context="Iran again.", question="What then?")
    result = dataset_changes(dataset(GULF, other), dataset(replace(other, edits=7), GULF))
    assert counts(result) == {"disputable": (0, 0, 1, 1)}
    assert result.questions[0].changed[0].old == other


def test_questions_of_the_new_dataset_are_added() -> None:
    result = dataset_changes(dataset(NORWAY), dataset(NORWAY, GULF))
    assert result.differs
    assert counts(result) == {"capital": (0, 0, 0, 1), "disputable": (1, 0, 0, 0)}
    assert result.questions_not_compared == ()
