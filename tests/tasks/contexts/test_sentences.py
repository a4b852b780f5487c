from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from swaymeter.data import catalog
from swaymeter.data.catalog import Sentence
from swaymeter.data.errors import InputError
from swaymeter.data.records import Context, ContextKind, RelationName, WikidataId, is_relevant
from swaymeter.data.sources import sample
from swaymeter.data.sources.source import Group, LabelledEntity
from swaymeter.tasks.contexts.sentences import (
    Entity,
    choose_entities,
    labelled_contexts,
    labelled_queries,
    objects,
    write_contexts,
    write_queries,
)

REAL, INVENTED = False, True
"""Values of Entity.invented."""
PER_KIND: dict[ContextKind, int] = {"base": 2, "assertive": 3, "negation": 2}
CAPITAL = catalog.relation("capital")
POOL = objects(sample.facts("capital"))
NAMES = catalog.invented_entities("country")
ENTITIES = choose_entities(RelationName("capital"), sample.facts("capital"), NAMES, real=4, invented=3, seed=0)
CONTEXTS = write_contexts(CAPITAL, ENTITIES, POOL, per_kind=PER_KIND, seed=0)


def stated_objects(contexts: Sequence[Context]) -> set[str]:
    return {context.object for context in contexts}


def test_every_entity_has_contexts_of_each_kind() -> None:
    counts = Counter((context.entity, context.kind) for context in CONTEXTS)
    assert counts == {(entity.name, kind): count for entity in ENTITIES for kind, count in PER_KIND.items()}
    assert len({context.context_id for context in CONTEXTS}) == len(CONTEXTS)
    for entity in ENTITIES:
        for kind, count in PER_KIND.items():
            contexts = [context for context in CONTEXTS if (context.entity, context.kind) == (entity.name, kind)]
            assert len(stated_objects(contexts)) == count
            assert [context.object == entity.object for context in contexts] == [
                kind == "negation" and number == 0 for number in range(count)
            ]


@pytest.mark.parametrize("name", sorted({fact.relation for fact in catalog.facts()}))
def test_base_and_assertive_contexts_conflict_with_the_facts(name: str) -> None:
    relation, facts = catalog.relation(name), sample.facts(name)
    names = catalog.invented_entities(relation.subject_class)
    entities = choose_entities(RelationName(name), facts, names, real=4, invented=4, seed=0)
    true_objects = {entity.name: entity.object for entity in entities}
    contexts = write_contexts(relation, entities, objects(facts), per_kind={"base": 2, "assertive": 2}, seed=0)
    assert len(contexts) == 32  # four contexts of each of eight entities
    assert all(context.object != true_objects[context.entity] for context in contexts)


DATES = ["14 March 1879", "1879", "March 1879", "14 March 1880", "4 March 1879", "879"]


@pytest.mark.parametrize(
    ("relation", "entity", "pool", "count", "expected"),
    [
        (
            "capital",
            Entity("Norway", REAL, "Oslo", other_objects=("Lima", "Rome")),
            ["Bern", "Lima", "Oslo", "Rome"],
            1,
            {"Bern"},
        ),
        ("birthDate", Entity("Einstein", REAL, "14 March 1879"), DATES, 3, {"14 March 1880", "4 March 1879", "879"}),
        ("birthDate", Entity("Ada", REAL, "1879"), DATES, 2, {"14 March 1880", "879"}),  # other dates in 1879 are true
    ],
)
def test_true_objects_are_never_stated(
    relation: str, entity: Entity, pool: list[str], count: int, expected: set[str]
) -> None:
    contexts = write_contexts(catalog.relation(relation), [entity], pool, per_kind={"base": count}, seed=0)
    assert stated_objects(contexts) == expected
    with pytest.raises(InputError, match=rf"relation {relation}: base .* an object that is false of {entity.name}"):
        write_contexts(catalog.relation(relation), [entity], [entity.object], per_kind={"base": 1}, seed=0)


def test_false_objects_repeat_in_the_next_template() -> None:
    relation = catalog.relation("gender")
    ann, pool = Entity("Ann", REAL, "female"), ["agender", "female", "male", "non-binary"]
    contexts = write_contexts(relation, [ann], pool, per_kind={"base": 20, "negation": 20}, seed=0)
    assert len({context.context_id for context in contexts}) == 40
    assert contexts[:3] == write_contexts(relation, [ann], pool, per_kind={"base": 3}, seed=0)
    base, negation = ([context.object for context in contexts if context.kind == kind] for kind in ("base", "negation"))
    assert base == (base[:3] * 7)[:20]
    assert negation == ["female", *(negation[1:4] * 7)[:19]]
    assert stated_objects(contexts[:20]) == {"agender", "male", "non-binary"}
    assert len({context.text for context in contexts[:6]}) == 6  # three objects in two templates
    assert [context.text for context in contexts[6:12]] == [context.text for context in contexts[:6]]


def test_context_is_a_line_with_entity_and_object() -> None:
    for context in CONTEXTS:
        assert context.text.endswith("\n")
        assert context.text.count("\n") == 1
        assert context.entity in context.text
        assert context.object in context.text


def test_contexts_depend_only_on_seed_and_entity() -> None:
    reordered = write_contexts(CAPITAL, ENTITIES[::-1], POOL, per_kind=PER_KIND, seed=0)
    assert {context.context_id: context for context in reordered} == {
        context.context_id: context for context in CONTEXTS
    }
    alone = write_contexts(CAPITAL, ENTITIES[2:3], POOL, per_kind=PER_KIND, seed=0)
    assert alone == [context for context in CONTEXTS if context.entity == ENTITIES[2].name]
    assert write_contexts(CAPITAL, ENTITIES, POOL, per_kind=PER_KIND, seed=1) != CONTEXTS
    more = write_contexts(CAPITAL, ENTITIES, POOL, per_kind=dict.fromkeys(PER_KIND, 5), seed=0)
    assert set(CONTEXTS) < set(more)


NORWAY = Entity("Norway", REAL, "Oslo", WikidataId("Q20"))
OSTREMIA = Entity("Ostremia", INVENTED, "Lima")
QUERIES = write_queries(CAPITAL, [NORWAY, OSTREMIA])


def test_every_entity_has_queries_in_four_forms() -> None:
    assert len({query.query_id for query in QUERIES}) == 8
    forms = [(query.entity, query.query_type, query.form) for query in QUERIES]
    forms_of_entity = [("open", 1), ("open", 2), ("closed", 1), ("closed", 2)]
    assert forms == [(name, *form) for name in ("Norway", "Ostremia") for form in forms_of_entity]
    templates = (*catalog.relation("capital").open, *catalog.relation("capital").closed)
    filled = [form.replace("{entity}", "Norway").replace("{answer}", "Oslo") for form in templates]
    assert [query.text for query in QUERIES[:4]] == filled
    for query in QUERIES:
        assert (query.answer in query.text) == (query.query_type == "closed")
    assert {(query.entity_id, query.invented, query.answer) for query in QUERIES[:4]} == {("Q20", False, "Oslo")}
    assert {(query.entity_id, query.invented, query.answer) for query in QUERIES[4:]} == {(None, True, "Lima")}


def test_a_name_with_braces_is_not_filled_again() -> None:
    (first, *_) = write_queries(CAPITAL, [Entity("{answer}", INVENTED, "Lima")])
    assert "{answer}" in first.text
    assert "Lima" not in first.text


PAIR = RelationName("pair")
POTTER = LabelledEntity(("Harry Potter", "Draco"), "enemy", "film")
MILAN = LabelledEntity(("Milan", "AC Milan"), "enemy")
BRACES = LabelledEntity(("{entity2}", "Harry Potter"), "friend")
GROUP = Group(
    (POTTER, MILAN, BRACES),
    ("{entity1} and {entity2} are",),
    ("Q: Does {entity2} like {entity1}?\nA:",),
    (Sentence(text="{entity2} met {entity1}.", label="neutral", strength=0), Sentence(text="Nobody met.")),
)


def test_queries_have_both_names_and_the_label() -> None:
    queries = labelled_queries(PAIR, GROUP)
    assert [(query.query_type, query.text) for query in queries if query.entity == "Milan and AC Milan"] == [
        ("open", "Milan and AC Milan are"),
        ("closed", "Q: Does AC Milan like Milan?\nA:"),
    ]
    assert queries[4].text == "{entity2} and Harry Potter are"
    assert [(query.label, query.type, query.answer) for query in queries[::2]] == [
        ("enemy", "film", ""),
        ("enemy", None, ""),
        ("friend", None, ""),
    ]
    assert len({query.query_id for query in queries}) == 6


def test_contexts_are_about_each_pair_or_about_nobody() -> None:
    contexts = labelled_contexts(PAIR, GROUP)
    assert [context.text for context in contexts] == [
        "Draco met Harry Potter.\n",
        "AC Milan met Milan.\n",
        "Harry Potter met {entity2}.\n",
        "Nobody met.\n",
    ]
    assert [(context.label, context.strength, context.template) for context in contexts[::3]] == [
        ("neutral", 0, "{entity2} met {entity1}."),
        (None, None, "Nobody met."),
    ]
    assert len(contexts) == GROUP.context_count


def test_context_is_relevant_only_to_its_pair() -> None:
    queries, contexts = labelled_queries(PAIR, GROUP), labelled_contexts(PAIR, GROUP)
    relevant = [{query.entity for query in queries if is_relevant(context, query)} for context in contexts]
    assert relevant == [{POTTER.name}, {MILAN.name}, {BRACES.name}, set()]


FACTS = sample.facts("capital")


def choose(real: int, invented: int, seed: int = 0, **options: Any) -> list[Entity]:
    facts, names = options.pop("facts", FACTS), options.pop("names", NAMES)
    return choose_entities(RelationName("capital"), facts, names, real=real, invented=invented, seed=seed, **options)


def test_entities_come_from_facts_and_names() -> None:
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


def test_choice_depends_only_on_the_seed() -> None:
    chosen = choose(4, 4, seed=1)
    assert choose(4, 4, seed=1, facts=FACTS[::-1]) == chosen
    assert choose(4, 4, seed=2) != chosen


def test_larger_choice_contains_the_smaller_choice() -> None:
    few, many = choose(2, 2), choose(4, 5)
    assert few == [*many[:2], *many[4:6]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"real": 10_000, "invented": 0}, r"relation capital: 10000 real entities .* the facts have only \d+"),
        ({"real": 0, "invented": 10_000}, r"relation capital: 10000 invented .* \d+ names are .*`invented: names`"),
        ({"real": 0, "invented": 1, "names": [FACTS[0].subject]}, "0 names are available"),  # the name of a real entity
        ({"real": 3, "invented": 0, "choice": "degree"}, "the source has no degrees to choose entities by"),
        ({"real": 0, "invented": 1, "facts": FACTS[:1]}, "at least 2 different objects, but the facts have only 1;"),
        ({"real": 0, "invented": 1, "facts": []}, "at least 2 different objects, but the facts have only 0;"),
    ],
)
def test_impossible_choices_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        choose(**options)


def test_entities_of_a_graph_have_degrees() -> None:
    facts = [
        replace(fact, subject_degree=number, subject_relation_degree=1, other_objects=("Lima",))
        for number, fact in enumerate(FACTS)
    ]
    *real, invented = choose(3, 1, facts=facts)
    degrees = {fact.subject: fact.subject_degree for fact in facts}
    for entity in real:
        assert (entity.degree, entity.relation_degree) == (degrees[entity.name], 1)
        assert entity.other_objects == ("Lima",)
    assert (invented.degree, invented.relation_degree) == (0, 0)
    for seed in (0, 1):
        best_known = choose(3, 0, seed, facts=facts, choice="degree")
        assert [entity.name for entity in best_known] == [fact.subject for fact in facts[::-1][:3]]
