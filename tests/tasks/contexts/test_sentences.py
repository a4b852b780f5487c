from collections import Counter

import pytest

from data import catalog
from data.errors import InputError
from data.records import ContextKind, RelationName
from data.sources import sample
from tasks.contexts.entities import Entity, choose_entities, objects
from tasks.contexts.sentences import write_contexts

PER_KIND: dict[ContextKind, int] = {"base": 2, "assertive": 3, "negation": 2}
CAPITAL = RelationName("capital")
POOL = objects(sample.facts("capital"))
NAMES = catalog.invented_entities("country")
ENTITIES = choose_entities(CAPITAL, sample.facts("capital"), NAMES, real=4, invented=3, seed=0)
CONTEXTS = write_contexts(CAPITAL, ENTITIES, POOL, per_kind=PER_KIND, seed=0)
OBJECT = {entity.name: entity.object for entity in ENTITIES}


def test_every_entity_has_its_number_of_contexts_of_each_kind() -> None:
    counts = Counter((context.entity, context.kind) for context in CONTEXTS)
    assert counts == {(entity.name, kind): count for entity in ENTITIES for kind, count in PER_KIND.items()}


@pytest.mark.parametrize("name", sorted({fact.relation for fact in catalog.facts()}))
def test_every_base_and_assertive_context_conflicts_with_what_is_true(name: str) -> None:
    relation, facts = RelationName(name), sample.facts(name)
    names = catalog.invented_entities(catalog.relation(name).subject_class)
    entities = choose_entities(relation, facts, names, real=4, invented=4, seed=0)
    own = {entity.name: entity.object for entity in entities}
    contexts = write_contexts(relation, entities, objects(facts), per_kind={"base": 2, "assertive": 2}, seed=0)
    assert len(contexts) == 32
    assert all(context.object != own[context.entity] for context in contexts)


def test_what_else_is_true_is_never_stated() -> None:
    norway = Entity("Norway", False, "Oslo", other_objects=("Lima", "Rome"))
    contexts = write_contexts(CAPITAL, [norway], ["Bern", "Lima", "Oslo", "Rome"], per_kind={"base": 1}, seed=0)
    assert [context.object for context in contexts] == ["Bern"]
    with pytest.raises(InputError, match="the facts have 1 other objects"):
        write_contexts(CAPITAL, [norway], ["Bern", "Lima", "Oslo", "Rome"], per_kind={"base": 2}, seed=0)


def test_a_less_precise_date_is_true_too() -> None:
    born = RelationName("birthDate")
    pool = ["14 March 1879", "1879", "March 1879", "14 March 1880", "4 March 1879", "879"]
    einstein = Entity("Albert Einstein", False, "14 March 1879")
    contexts = write_contexts(born, [einstein], pool, per_kind={"base": 3}, seed=0)
    assert {context.object for context in contexts} == {"14 March 1880", "4 March 1879", "879"}
    only_the_year = write_contexts(born, [Entity("Ada", False, "1879")], pool, per_kind={"base": 2}, seed=0)
    assert {context.object for context in only_the_year} == {"14 March 1880", "879"}


def test_the_first_negation_denies_what_is_true() -> None:
    for name, own in OBJECT.items():
        denied = [context.object for context in CONTEXTS if context.entity == name and context.kind == "negation"]
        assert denied[0] == own
        assert denied[1] != own


def test_contexts_of_a_kind_state_different_objects() -> None:
    for name in OBJECT:
        for kind, count in PER_KIND.items():
            stated = {context.object for context in CONTEXTS if (context.entity, context.kind) == (name, kind)}
            assert len(stated) == count


def test_every_context_is_a_line_that_names_entity_and_object() -> None:
    for context in CONTEXTS:
        assert context.text.endswith("\n")
        assert context.text.count("\n") == 1
        assert context.entity in context.text
        assert context.object in context.text


def test_no_two_contexts_have_the_same_id() -> None:
    assert len({context.context_id for context in CONTEXTS}) == len(CONTEXTS)


def test_contexts_do_not_depend_on_other_entities() -> None:
    turned = write_contexts(CAPITAL, ENTITIES[::-1], POOL, per_kind=PER_KIND, seed=0)
    alone = write_contexts(CAPITAL, ENTITIES[2:3], POOL, per_kind=PER_KIND, seed=0)
    assert {context.context_id: context for context in turned} == {one.context_id: one for one in CONTEXTS}
    assert alone == [context for context in CONTEXTS if context.entity == ENTITIES[2].name]


def test_more_contexts_keep_those_that_were_there() -> None:
    more = write_contexts(CAPITAL, ENTITIES, POOL, per_kind=dict.fromkeys(PER_KIND, 5), seed=0)
    assert set(CONTEXTS) < set(more)


def test_another_seed_writes_other_contexts() -> None:
    assert write_contexts(CAPITAL, ENTITIES, POOL, per_kind=PER_KIND, seed=0) == CONTEXTS
    assert write_contexts(CAPITAL, ENTITIES, POOL, per_kind=PER_KIND, seed=1) != CONTEXTS


def test_a_kind_of_which_there_are_none_is_not_written() -> None:
    contexts = write_contexts(CAPITAL, ENTITIES, POOL, per_kind={"base": 0, "negation": 1}, seed=0)
    assert {context.kind for context in contexts} == {"negation"}


def test_too_few_objects_are_said_with_relation_kind_and_numbers() -> None:
    own = ENTITIES[0].object
    pool = [own, *[name for name in POOL if name != own][:2]]
    with pytest.raises(InputError, match=r"relation capital: 3 assertive contexts an entity .* 2 other objects"):
        write_contexts(CAPITAL, ENTITIES[:1], pool, per_kind=PER_KIND, seed=0)
