"""Relations of the catalog: they cover the published predicates, and names fill their texts."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from swaymeter.data import catalog
from swaymeter.data.records import CONTEXT_KINDS, ContextKind
from swaymeter.tasks.contexts.sentences import Entity, write_contexts, write_queries

RELATIONS = list(catalog.relations().values())
PUBLISHED = [
    line
    for line in (Path(__file__).parent / "published_predicates.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
# the relation of http://schema.org/director already has the name `director`
RELATION_OF_PREDICATE = {"http://yago-knowledge.org/resource/director": "groupDirector"}
NAMES = {
    "a slot and quotes": '{answer} "quoted"',
    "right to left": "نجيب محفوظ",
    "300 characters": "Llanfair " * 33 + "fin",
    "HTML": "<b>Bold & brash</b>",
}
ANSWERS = ["The Answer", "{entity} or {answer}", "القاهرة", "8849 metres", "x" * 300]


def has_word(text: str, word: str) -> bool:
    return re.search(rf"\b{word}\b", text, re.IGNORECASE) is not None


def words(template: str) -> list[str]:
    return re.findall(r"[\w{}]+", template.casefold())


def filled(template: str, entity: str, answer: str) -> str:
    """Return a template with its slots filled one by one, so that names with braces stay unchanged."""
    pieces = re.split(r"(\{entity\}|\{answer\})", template)
    return "".join({"{entity}": entity, "{answer}": answer}.get(piece, piece) for piece in pieces)


def test_every_published_predicate_has_a_relation() -> None:
    assert len(PUBLISHED) == len(set(PUBLISHED)) == 130
    assert sorted(relation.predicates[0] for relation in RELATIONS if relation.yago) == sorted(PUBLISHED)


def test_relation_of_yago_is_named_after_its_predicate() -> None:
    for relation in RELATIONS:
        if relation.yago:
            name = RELATION_OF_PREDICATE.get(relation.yago[0], re.split("[/#]", relation.yago[0])[-1])
            assert relation.name == ("reverse" + name[0].upper() + name[1:] if relation.reverse else name)
    prefixes = ("http://schema.org/", "http://yago-knowledge.org/resource/")
    assert all(iri.startswith(prefixes) for relation in RELATIONS for iri in relation.yago)


def test_a_reversed_relation_turns_the_forward_one_around() -> None:
    for relation in (candidate for candidate in RELATIONS if candidate.reverse):
        (forward,) = [other for other in RELATIONS if not other.reverse and other.yago == relation.yago]
        assert relation.wikidata == forward.wikidata
        assert (relation.subject_class, relation.object_class) == (forward.object_class, forward.subject_class)


def test_wikidata_properties_are_unique_within_a_direction() -> None:
    assert [relation.name for relation in RELATIONS if not relation.wikidata] == ["alternateName"]
    counts = Counter((relation.wikidata, relation.reverse) for relation in RELATIONS)
    assert max(counts.values()) == 1


def test_only_negations_deny() -> None:
    for relation in RELATIONS:
        assert all(has_word(template, "not") for template in relation.contexts["negation"])
        others = [*relation.open, *relation.closed, *relation.contexts["base"], *relation.contexts["assertive"]]
        assert not any(has_word(template, "not") for template in others)


def test_assertion_and_negation_restate_their_base_sentence() -> None:
    for relation in RELATIONS:
        assert {len(templates) for templates in relation.contexts.values()} == {2}
        for base, assertive, negation in zip(*(relation.contexts[kind] for kind in CONTEXT_KINDS), strict=True):
            assert assertive.casefold().endswith(base.casefold())
            assert len(assertive.split()) > len(base.split())
            remaining = [word for word in words(negation) if word not in {"not", "do", "does", "did"}]
            missing = Counter(words(base)) - Counter(remaining)
            assert sum(missing.values()) <= 1, (base, negation)  # the verb may differ: lives, does not live
            assert re.findall(r"\{\w+\}", base) == re.findall(r"\{\w+\}", negation)


def test_published_form_asserts_and_denies_the_open_query() -> None:
    for relation in RELATIONS:
        published = replace(relation, contexts=catalog.published_form(relation))  # validates the templates, too
        (base,), (assertive,), (negation,) = (published.contexts[kind] for kind in CONTEXT_KINDS)
        assert base == f"{relation.open[1]} {{answer}}.\n"
        assert assertive.casefold() == f"Without any doubt, {base}".casefold()
        remaining = [word for word in words(negation) if word not in {"not", "do", "does", "did"}]
        assert (Counter(words(base)) - Counter(remaining)).keys() <= {"includes", "included"}  # "does not include"
        assert has_word(negation, "not")


def test_published_form_of_other_open_queries() -> None:
    def published_form(open_query: str) -> Mapping[ContextKind, tuple[str, ...]]:
        return catalog.published_form(replace(RELATIONS[0], open=(RELATIONS[0].open[0], open_query)))

    assert published_form("{entity} is governed from")["negation"] == ("{entity} is not governed from {answer}.\n",)
    for open_query in (  # without a form of "be" or "include" in the main clause, the catalog's negation is used
        "{entity} chose",
        "The person who is married to {entity} lives in",
        "The person {entity} is married to lives in",
    ):
        assert published_form(open_query)["negation"] == RELATIONS[0].contexts["negation"][:1]
    assertive = published_form("NASA's head of {entity} is")["assertive"]
    assert assertive == ("Without any doubt, NASA's head of {entity} is {answer}.\n",)  # NASA stays in capitals


def test_texts_are_sound_with_names_of_bundled_facts() -> None:
    for relation in RELATIONS:
        contexts = (template for templates in relation.contexts.values() for template in templates)
        for template in (*relation.open, *relation.closed, *contexts):
            assert re.match(r"(Q: )?([A-Z]|\{)", template), template
            for fact in catalog.facts(relation.name):
                text = catalog.fill(template, entity=fact.subject, answer=fact.object)
                assert not re.search(r"\b(an?|the) (an?|the)\b|  ", text, re.IGNORECASE), text


def test_measured_numbers_have_a_unit() -> None:
    units = {relation.name: relation.unit for relation in RELATIONS if relation.unit}
    assert all(unit == unit.strip() and unit.isascii() for unit in units.values())
    assert units["elevation"] == "metres"


@pytest.mark.parametrize("entity", NAMES.values(), ids=NAMES)
def test_queries_and_contexts_keep_names_unchanged(entity: str) -> None:
    for relation in RELATIONS:
        entities = [Entity(entity, False, ANSWERS[0])]
        assert [(query.query_type, query.form, query.text) for query in write_queries(relation, entities)] == [
            (query_type, form, filled(template, entity, ANSWERS[0]))
            for query_type, templates in (("open", relation.open), ("closed", relation.closed))
            for form, template in enumerate(templates, 1)
        ]
        contexts = write_contexts(relation, entities, ANSWERS, per_kind=dict.fromkeys(CONTEXT_KINDS, 4), seed=0)
        assert len(contexts) == 12
        for context in contexts:
            assert context.text in [
                filled(template, entity, context.object) for template in relation.contexts[context.kind]
            ]
