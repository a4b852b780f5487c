from dataclasses import replace
from typing import Any

import pytest

from swaymeter.data import catalog
from swaymeter.data.errors import InputError
from swaymeter.data.records import RelationName
from swaymeter.data.sources import sample
from swaymeter.tasks.contexts.sentences import Entity, choose_entities, objects

CAPITAL = RelationName("capital")
FACTS = sample.facts("capital")
NAMES = catalog.invented_entities("country")


def choose(real: int, invented: int, seed: int = 0, **other: Any) -> list[Entity]:
    facts, names = other.pop("facts", FACTS), other.pop("names", NAMES)
    return choose_entities(CAPITAL, facts, names, real=real, invented=invented, seed=seed, **other)


def test_real_entities_come_from_facts_and_invented_ones_from_names() -> None:
    entities = choose(5, 6)
    assert [entity.invented for entity in entities] == [False] * 5 + [True] * 6
    assert len({entity.name for entity in entities}) == 11
    by_subject = {fact.subject: fact for fact in FACTS}
    for entity in entities[:5]:
        fact = by_subject[entity.name]
        assert (entity.object, entity.wikidata_id) == (fact.object, fact.subject_id)
    for entity in entities[5:]:
        assert (entity.name in NAMES, entity.object in objects(FACTS), entity.wikidata_id) == (True, True, None)
    assert len({entity.object for entity in entities[5:]}) > 1


def test_the_choice_hangs_on_the_seed_alone() -> None:
    chosen = choose(4, 4, seed=1)
    assert choose(4, 4, seed=1, facts=FACTS[::-1]) == chosen
    assert choose(4, 4, seed=2) != chosen


def test_more_entities_keep_those_that_were_there() -> None:
    few, many = choose(2, 2), choose(4, 5)
    assert few == [*many[:2], *many[4:6]]


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"real": 10_000, "invented": 0}, r"relation capital: 10000 real entities .* the facts have \d+"),
        ({"real": 0, "invented": 10_000}, r"relation capital: 10000 invented .* \d+ names are .*`invented: names`"),
        ({"real": 0, "invented": 1, "names": [FACTS[0].subject]}, "0 names are available"),  # a real name
        ({"real": 3, "invented": 0, "choice": "degree"}, "by degree, and the source has no degrees"),
        ({"real": 0, "invented": 1, "facts": FACTS[:1]}, "relation capital: the facts have 1 different objects"),
        ({"real": 0, "invented": 1, "facts": []}, "relation capital: the facts have 0 different objects"),
    ],
)
def test_impossible_requests_are_refused(request_: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        choose(**request_)


def test_entities_of_a_graph_have_degrees() -> None:
    facts = [
        replace(fact, subject_degree=n, subject_relation_degree=1, other_objects=("Lima",))
        for n, fact in enumerate(FACTS)
    ]
    *real, invented = choose(3, 1, facts=facts)
    degree = {fact.subject: fact.subject_degree for fact in facts}
    for entity in real:
        assert (entity.degree, entity.relation_degree) == (degree[entity.name], 1)
        assert entity.other_objects == ("Lima",)
    assert (invented.degree, invented.relation_degree) == (0, 0)
    for seed in (0, 1):
        best_known = choose(3, 0, seed, facts=facts, choice="degree")
        assert [entity.name for entity in best_known] == [fact.subject for fact in facts[::-1][:3]]
