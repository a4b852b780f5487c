import pytest

from data import catalog
from data.errors import InputError, UnknownName
from data.records import Fact, RelationName
from data.sources import sample
from tasks.contexts.entities import choose_entities, objects

CAPITAL = RelationName("capital")
FACTS = sample.facts("capital")


def test_as_many_real_and_invented_entities_as_asked_for() -> None:
    entities = choose_entities(CAPITAL, FACTS, real=5, invented=3, seed=0)
    assert [entity.invented for entity in entities] == [False] * 5 + [True] * 3
    assert len({entity.name for entity in entities}) == 8


def test_a_real_entity_has_the_object_and_id_of_its_fact() -> None:
    by_subject = {fact.subject: fact for fact in FACTS}
    for entity in choose_entities(CAPITAL, FACTS, real=5, invented=0, seed=0):
        fact = by_subject[entity.name]
        assert (entity.object, entity.wikidata_id) == (fact.object, fact.subject_id)


def test_an_invented_entity_is_of_the_subject_s_class_and_gets_an_object_of_the_facts() -> None:
    names = catalog.invented_entities(catalog.relation("capital").subject_class)
    entities = choose_entities(CAPITAL, FACTS, real=0, invented=6, seed=0)
    for entity in entities:
        assert entity.name in names
        assert entity.object in objects(FACTS)
        assert entity.wikidata_id is None
    assert len({entity.object for entity in entities}) > 1


def test_the_same_seed_chooses_the_same_in_whatever_order_the_facts_come() -> None:
    chosen = choose_entities(CAPITAL, FACTS, real=4, invented=4, seed=1)
    assert choose_entities(CAPITAL, FACTS[::-1], real=4, invented=4, seed=1) == chosen
    assert choose_entities(CAPITAL, FACTS, real=4, invented=4, seed=2) != chosen


def test_more_entities_keep_those_that_were_there() -> None:
    few = choose_entities(CAPITAL, FACTS, real=2, invented=2, seed=1)
    many = choose_entities(CAPITAL, FACTS, real=4, invented=5, seed=1)
    assert few == [*many[:2], *many[4:6]]


@pytest.mark.parametrize(("real", "invented"), [(10_000, 0), (0, 10_000)])
def test_too_few_entities_are_said_with_relation_and_numbers(real: int, invented: int) -> None:
    with pytest.raises(
        InputError, match=r"relation capital: 10000 (real|invented) entities .* (facts|catalog) ha\w+ \d+"
    ):
        choose_entities(CAPITAL, FACTS, real=real, invented=invented, seed=0)


@pytest.mark.parametrize("facts", [FACTS[:1], []])
def test_fewer_than_two_objects_are_refused(facts: list[Fact]) -> None:
    with pytest.raises(InputError, match=r"relation capital: the facts have [01] different objects"):
        choose_entities(CAPITAL, facts, real=0, invented=1, seed=0)


def test_an_unknown_relation_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(UnknownName, match="did you mean 'capital'"):
        choose_entities(RelationName("capitol"), FACTS, real=1, invented=1, seed=0)


def test_objects_are_different_and_sorted() -> None:
    assert objects([*FACTS, *FACTS]) == sorted({fact.object for fact in FACTS})
