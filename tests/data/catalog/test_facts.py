"""The floors of the bundled facts."""

from collections import Counter

from data import catalog

FACTS = catalog.facts()


def test_ten_relations_have_twenty_pairs_with_both_ids() -> None:
    pairs = Counter(fact.relation for fact in FACTS if fact.subject_id and fact.object_id)
    assert sum(count >= 20 for count in pairs.values()) >= 10


def test_a_relation_with_facts_has_ten_different_objects() -> None:
    for name in {fact.relation for fact in FACTS}:
        assert len({fact.object for fact in catalog.facts(name)}) >= 10


def test_ids_of_facts_have_a_source() -> None:
    for fact in FACTS:
        assert bool(fact.id_source) == bool(fact.subject_id or fact.object_id), fact


def test_a_subject_has_one_object_and_a_label_one_subject() -> None:
    assert max(Counter((fact.relation, fact.subject.casefold()) for fact in FACTS).values()) == 1
    assert max(Counter((fact.relation, fact.subject_id) for fact in FACTS if fact.subject_id).values()) == 1


def test_labels_and_ids_are_one_to_one_within_a_relation() -> None:
    objects = {(fact.relation, fact.object, fact.object_id) for fact in FACTS}
    assert len(objects) == len({(relation, label) for relation, label, _ in objects})
    assert len(objects) == len({(relation, identifier) for relation, _, identifier in objects})


def test_no_fact_says_something_of_itself() -> None:
    assert not [fact for fact in FACTS if fact.subject == fact.object or fact.subject_id == fact.object_id]
