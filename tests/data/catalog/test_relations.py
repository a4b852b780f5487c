"""The floors of the relations: what each has, and that the published list is covered."""

import re
from collections import Counter
from pathlib import Path

from data import catalog

RELATIONS = list(catalog.relations().values())
REVERSED = [relation for relation in RELATIONS if relation.reverse]
PUBLISHED = [
    line
    for line in (Path(__file__).parent / "published_predicates.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
OTHER_NAMES = {"http://yago-knowledge.org/resource/director": "groupDirector"}  # director is schema.org's


def texts(relation: catalog.Relation) -> list[str]:
    contexts = [template for templates in relation.contexts.values() for template in templates]
    return [*relation.open, *relation.closed, *contexts]


def says(text: str, word: str) -> bool:
    return re.search(rf"\b{word}\b", text, re.IGNORECASE) is not None


def test_every_published_predicate_has_a_relation() -> None:
    assert len(PUBLISHED) == len(set(PUBLISHED)) == 130
    assert sorted(filter(None, (relation.predicate for relation in RELATIONS))) == sorted(PUBLISHED)


def test_a_relation_of_yago_is_named_after_its_predicate() -> None:
    for relation in RELATIONS:
        if relation.yago:
            local = OTHER_NAMES.get(relation.yago[0], re.split("[/#]", relation.yago[0])[-1])
            assert relation.name == ("reverse" + local[0].upper() + local[1:] if relation.reverse else local)


def test_names_of_yago_begin_as_those_of_yago_do() -> None:
    homes = ("http://schema.org/", "http://yago-knowledge.org/resource/")
    assert all(iri.startswith(homes) for relation in RELATIONS for iri in relation.yago)


def test_a_reversed_relation_turns_the_forward_one_around() -> None:
    for relation in REVERSED:
        (forward,) = [other for other in RELATIONS if not other.reverse and other.yago == relation.yago]
        assert relation.wikidata == forward.wikidata
        assert (relation.subject_class, relation.object_class) == (forward.object_class, forward.subject_class)


def test_wikidata_properties_are_unique_within_a_direction() -> None:
    assert [relation.name for relation in RELATIONS if not relation.wikidata] == ["alternateName"]
    counts = Counter((relation.wikidata, relation.reverse) for relation in RELATIONS)
    assert max(counts.values()) == 1


def test_a_relation_has_two_contexts_of_each_kind() -> None:
    for relation in RELATIONS:
        assert {kind: len(templates) for kind, templates in relation.contexts.items()} == dict.fromkeys(
            catalog.CONTEXT_KINDS, 2
        )


def test_only_negations_deny() -> None:
    for relation in RELATIONS:
        assert all(says(template, "not") for template in relation.contexts["negation"])
        others = [*relation.open, *relation.closed, *relation.contexts["base"], *relation.contexts["assertive"]]
        assert not any(says(template, "not") for template in others)


def test_an_assertion_is_a_base_sentence_that_is_insisted_on() -> None:
    for relation in RELATIONS:
        for base, assertive in zip(relation.contexts["base"], relation.contexts["assertive"], strict=True):
            assert assertive.casefold().endswith(base.casefold())
            assert len(assertive.split()) > len(base.split())


def test_a_negation_is_a_base_sentence_denied() -> None:
    for relation in RELATIONS:
        for base, negation in zip(relation.contexts["base"], relation.contexts["negation"], strict=True):
            assert negation.count("{entity}") == base.count("{entity}")
            kept = [word for word in words(negation) if word not in {"not", "do", "does", "did"}]
            missing = Counter(words(base)) - Counter(kept)
            assert sum(missing.values()) <= 1, (base, negation)  # the verb: lives, does not live
            assert order(negation) == order(base)


def order(template: str) -> bool:
    return template.index("{entity}") < template.index("{answer}")


def words(template: str) -> list[str]:
    return re.findall(r"[\w{}]+", template.casefold())


def test_texts_are_sound_with_names_of_bundled_facts() -> None:
    for relation in RELATIONS:
        articles = re.compile(r"\b(an?|the) (an?|the)\b", re.IGNORECASE)
        for fact in catalog.facts(relation.name):
            for template in texts(relation):
                text = catalog.fill(template, entity=fact.subject, answer=fact.object)
                assert not articles.search(text), text
                assert "  " not in text, text


def test_sentences_begin_with_a_capital_or_a_slot() -> None:
    for relation in RELATIONS:
        for template in texts(relation):
            assert re.match(r"(Q: )?([A-Z]|\{)", template), template


def test_measured_numbers_have_a_unit() -> None:
    units = {relation.name: relation.unit for relation in RELATIONS if relation.unit}
    assert all(unit == unit.strip() and unit.isascii() for unit in units.values())
    assert units["elevation"] == "metres"
