from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.dataset.dataset import Dataset
from swaymeter.data.dataset.differences import FIELDS, Change, Difference, difference
from swaymeter.data.records import Fact
from tests.data.a_dataset import KENYA, NORWAY, PERU, fact, iri


def of(*facts: Fact) -> Dataset:
    return Dataset(Path("somewhere"), facts)


def without_iris(one: Fact, **said: Any) -> Fact:
    return replace(one, subject_uri=None, object_uri=None, **said)


def counts(found: Difference) -> dict[str, tuple[int, int, int, int]]:
    """By relation: how many facts were added, gone, changed, and how many are the same."""
    return {one.relation: (len(one.added), len(one.gone), len(one.changed), one.same) for one in found.relations}


def changes(old: Fact, new: Fact) -> tuple[Change, ...]:
    """What changed in a fact, among others that did not."""
    (relation,) = difference(of(KENYA, old), of(KENYA, new)).relations
    assert (relation.added, relation.gone, relation.same) == ((), (), 1)
    (changed,) = relation.changed
    assert (changed.old, changed.new) == (old, new)
    return changed.changes


def test_a_dataset_does_not_differ_from_itself() -> None:
    again = [replace(one, retrieved_at="2027-01-01T00:00:00+00:00", address="x") for one in (KENYA, NORWAY, PERU)]
    found = difference(of(NORWAY, PERU, KENYA), of(*again))
    assert not found.differs
    assert counts(found) == {"capital": (0, 0, 0, 3)}
    assert found.not_compared == ()


def test_facts_of_other_subjects_are_added_or_gone() -> None:
    found = difference(of(NORWAY, PERU), of(PERU, KENYA))
    assert found.differs
    (capital,) = found.relations
    assert (capital.added, capital.gone, capital.changed, capital.same) == ((KENYA,), (NORWAY,), (), 1)
    assert capital.differs


def test_a_relation_may_be_added_or_gone_whole() -> None:
    father = fact("Ada Lovelace", "Lord Byron", "father")
    assert counts(difference(of(NORWAY, father), of(NORWAY))) == {"capital": (0, 0, 0, 1), "father": (0, 1, 0, 0)}
    assert counts(difference(of(NORWAY), of(NORWAY, father))) == {"capital": (0, 0, 0, 1), "father": (1, 0, 0, 0)}
    assert [one.differs for one in difference(of(NORWAY, father), of(NORWAY)).relations] == [False, True]


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
    assert changes(NORWAY, replace(NORWAY, **said)) == tuple(
        Change(field, getattr(NORWAY, field), value) for field, value in said.items()
    )


def test_the_order_of_further_objects_is_no_difference() -> None:
    two, turned = (replace(NORWAY, other_objects=names) for names in (("Bergen", "Tromsø"), ("Tromsø", "Bergen")))
    assert not difference(of(two), of(turned)).differs
    assert changes(NORWAY, turned) == (Change("other_objects", (), ("Bergen", "Tromsø")),)


def test_where_a_fact_comes_from_is_no_difference_of_facts() -> None:
    found = difference(of(NORWAY), of(replace(NORWAY, source="another", licence="another", id_source="x")))
    assert not found.differs
    assert found.old.version != found.new.version


def test_what_only_one_dataset_says_is_not_compared() -> None:
    sample = [without_iris(one, subject_degree=None, subject_id="Q1") for one in (NORWAY, PERU)]
    for found in (difference(of(NORWAY, PERU), of(*sample)), difference(of(*sample), of(NORWAY, PERU))):
        assert found.not_compared == ("subject_id", "subject_uri", "object_uri", "subject_degree")
        assert counts(found) == {"capital": (0, 0, 0, 2)}


def test_without_iris_subjects_are_known_by_name() -> None:
    found = difference(of(without_iris(NORWAY), without_iris(PERU)), of(NORWAY, KENYA))
    (capital,) = found.relations
    assert ([one.subject for one in capital.added], [one.subject for one in capital.gone]) == (["Kenya"], ["Peru"])


def test_a_subject_without_iri_is_known_by_name() -> None:
    left, come = (replace(PERU, subject_uri=None, object=name) for name in ("Lima", "Cusco"))
    kenya = replace(KENYA, subject_uri=None, object="Cusco", object_uri=PERU.object_uri)
    found = difference(of(NORWAY, left, kenya), of(NORWAY, come, kenya))
    assert [change.changes for change in found.relations[0].changed] == [(Change("object", "Lima", "Cusco"),)]


def test_namesakes_are_told_apart_by_their_iris() -> None:
    maine = replace(NORWAY, subject_uri=iri("Norway, Maine"), object="none")
    found = difference(of(NORWAY, maine), of(maine))
    assert (found.relations[0].gone, found.relations[0].same) == ((NORWAY,), 1)


def test_several_facts_of_a_subject_are_matched() -> None:
    oslo, bergen, tromsø = (without_iris(NORWAY, object=name) for name in ("Oslo", "Bergen", "Tromsø"))
    assert counts(difference(of(oslo, bergen), of(bergen))) == {"capital": (0, 1, 0, 1)}
    assert difference(of(oslo, bergen), of(bergen)).relations[0].gone == (oslo,)
    larger = replace(bergen, subject_degree=7)
    found = difference(of(oslo, bergen), of(larger, tromsø)).relations[0]
    assert {(one.old.object, one.new.object) for one in found.changed} == {("Bergen", "Bergen"), ("Oslo", "Tromsø")}
    found = difference(of(oslo, tromsø), of(bergen, replace(oslo, subject_degree=7))).relations[0]
    assert {(one.old.object, one.new.object) for one in found.changed} == {("Oslo", "Oslo"), ("Tromsø", "Bergen")}
    alike = difference(of(bergen, larger), of(larger)).relations[0]
    assert (alike.gone, alike.changed, alike.same) == ((bergen,), (), 1)


def test_a_renamed_object_is_known_by_its_iri() -> None:
    oslo, tromsø, bergen, renamed = (
        replace(NORWAY, subject_uri=None, object=name, object_uri=iri(other))
        for name, other in (("Oslo", "Oslo"), ("Tromsø", "Tromsø"), ("Bergen", "Bergen"), ("Christiania", "Oslo"))
    )
    found = difference(of(oslo, tromsø), of(bergen, renamed)).relations[0]
    assert {(one.old.object, one.new.object) for one in found.changed} == {
        ("Oslo", "Christiania"), ("Tromsø", "Bergen"),
    }  # fmt: skip


def test_a_fact_once_instead_of_twice_is_gone_once() -> None:
    assert counts(difference(of(NORWAY, NORWAY), of(NORWAY))) == {"capital": (0, 1, 0, 1)}


def test_what_is_told_is_in_the_order_of_the_names() -> None:
    found = difference(of(PERU, KENYA, NORWAY), of(*(replace(one, object="x") for one in (PERU, KENYA, NORWAY))))
    assert [one.new.subject for one in found.relations[0].changed] == ["Kenya", "Norway", "Peru"]
    father = fact("Ada Lovelace", "Lord Byron", "father")
    new = difference(of(father), of(PERU, KENYA, NORWAY, father))
    assert [one.relation for one in new.relations] == ["capital", "father"]
    assert [one.subject for one in new.relations[0].added] == ["Kenya", "Norway", "Peru"]
