from dataclasses import replace

import pytest

from data import catalog
from data.errors import InputError
from data.records import Fact, RelationName
from data.sources import sample
from tasks.contexts.entities import choose_entities, objects

CAPITAL = RelationName("capital")
FACTS = sample.facts("capital")
NAMES = catalog.invented_entities("country")


def test_as_many_real_and_invented_entities_as_asked_for() -> None:
    entities = choose_entities(CAPITAL, FACTS, NAMES, real=5, invented=3, seed=0)
    assert [entity.invented for entity in entities] == [False] * 5 + [True] * 3
    assert len({entity.name for entity in entities}) == 8


def test_a_real_entity_has_object_and_id() -> None:
    by_subject = {fact.subject: fact for fact in FACTS}
    for entity in choose_entities(CAPITAL, FACTS, NAMES, real=5, invented=0, seed=0):
        fact = by_subject[entity.name]
        assert (entity.object, entity.wikidata_id) == (fact.object, fact.subject_id)


def test_an_invented_entity_gets_an_object() -> None:
    entities = choose_entities(CAPITAL, FACTS, NAMES, real=0, invented=6, seed=0)
    for entity in entities:
        assert entity.name in NAMES
        assert entity.object in objects(FACTS)
        assert entity.wikidata_id is None
    assert len({entity.object for entity in entities}) > 1


def test_the_same_seed_chooses_the_same_entities() -> None:
    chosen = choose_entities(CAPITAL, FACTS, NAMES, real=4, invented=4, seed=1)
    assert choose_entities(CAPITAL, FACTS[::-1], NAMES, real=4, invented=4, seed=1) == chosen
    assert choose_entities(CAPITAL, FACTS, NAMES, real=4, invented=4, seed=2) != chosen


def test_more_entities_keep_those_that_were_there() -> None:
    few = choose_entities(CAPITAL, FACTS, NAMES, real=2, invented=2, seed=1)
    many = choose_entities(CAPITAL, FACTS, NAMES, real=4, invented=5, seed=1)
    assert few == [*many[:2], *many[4:6]]


def test_too_few_facts_are_said_with_relation_and_numbers() -> None:
    with pytest.raises(InputError, match=r"relation capital: 10000 real entities .* the facts have \d+"):
        choose_entities(CAPITAL, FACTS, NAMES, real=10_000, invented=0, seed=0)


def test_too_few_names_are_said_with_what_to_do() -> None:
    with pytest.raises(
        InputError, match=r"relation capital: 10000 invented .* \d+ names are available; .*`invented: names`"
    ):
        choose_entities(CAPITAL, FACTS, NAMES, real=0, invented=10_000, seed=0)


def test_a_real_name_is_not_an_invented_one() -> None:
    real = FACTS[0].subject
    with pytest.raises(InputError, match="0 names are available"):
        choose_entities(CAPITAL, FACTS, [real], real=0, invented=1, seed=0)


def test_entities_of_a_graph_have_degrees() -> None:
    facts = [
        replace(fact, subject_degree=n, subject_relation_degree=1, other_objects=("Lima",))
        for n, fact in enumerate(FACTS)
    ]
    *real, invented = choose_entities(CAPITAL, facts, NAMES, real=3, invented=1, seed=0)
    degree = {fact.subject: fact.subject_degree for fact in facts}
    assert [(one.degree, one.relation_degree, one.other_objects) for one in real] == [
        (degree[one.name], 1, ("Lima",)) for one in real
    ]
    assert (invented.degree, invented.relation_degree) == (0, 0)


def test_the_best_known_entities_are_chosen_by_degree() -> None:
    facts = [replace(fact, subject_degree=n) for n, fact in enumerate(FACTS)]
    for seed in (0, 1):
        chosen = choose_entities(CAPITAL, facts, NAMES, real=3, invented=0, seed=seed, choice="degree")
        assert [one.name for one in chosen] == [fact.subject for fact in facts[::-1][:3]]


def test_a_choice_by_degree_needs_degrees() -> None:
    with pytest.raises(InputError, match="by degree, and the source has no degrees"):
        choose_entities(CAPITAL, FACTS, NAMES, real=3, invented=0, seed=0, choice="degree")


@pytest.mark.parametrize("facts", [FACTS[:1], []])
def test_fewer_than_two_objects_are_refused(facts: list[Fact]) -> None:
    with pytest.raises(InputError, match=r"relation capital: the facts have [01] different objects"):
        choose_entities(CAPITAL, facts, NAMES, real=0, invented=1, seed=0)


def test_objects_are_different_and_sorted() -> None:
    assert objects([*FACTS, *FACTS]) == sorted({fact.object for fact in FACTS})
