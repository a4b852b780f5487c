"""What a relation must say of itself: a file that breaks a rule is refused with the relation and the key."""

import pytest

from data import catalog
from tests.data.catalog.broken_relation import CAPITAL, MISSING, SOUND, assert_refused, changed, file
from tests.data.catalog.conftest import Serve

LEADER = ["http://schema.org/leader", "http://yago-knowledge.org/resource/leader"]
GENDER = "http://schema.org/gender"


def test_a_sound_relation_is_read_as_it_stands(serve: Serve) -> None:
    serve("relations.yaml", file(capital=SOUND))
    (relation,) = catalog.relations().values()
    assert (relation.name, relation.wikidata, relation.yago) == ("capital", "P36", (CAPITAL,))
    assert (relation.subject_class, relation.object_class) == ("country", "city")
    assert (relation.reverse, relation.unit, relation.predicate) == (False, None, CAPITAL)
    assert list(relation.open) == SOUND["open"]
    assert list(relation.closed) == SOUND["closed"]
    assert {kind: list(texts) for kind, texts in relation.contexts.items()} == SOUND["contexts"]


def test_a_reversed_relation_shares_its_predicate(serve: Serve) -> None:
    serve("relations.yaml", file(capital=SOUND, reverseCapital={**SOUND, "reverse": True}))
    forward, reverse = catalog.relations().values()
    assert (forward.reverse, reverse.reverse) == (False, True)
    assert forward.yago == reverse.yago
    assert reverse.predicate == "reverse-" + CAPITAL


def test_the_first_of_several_names_is_the_predicate(serve: Serve) -> None:
    serve("relations.yaml", file(leader={**SOUND, "yago": LEADER}, father={**SOUND, "yago": None, "wikidata": None}))
    leader, father = catalog.relations().values()
    assert (leader.yago, leader.predicate, leader.predicates) == (tuple(LEADER), LEADER[0], tuple(LEADER))
    assert (father.yago, father.predicate, father.predicates, father.wikidata) == ((), None, (), None)
    assert catalog.relations_of_yago() == ("leader",)


def test_an_answer_may_be_a_literal_with_a_unit(serve: Serve) -> None:
    serve("relations.yaml", file(capital={**SOUND, "object_class": "quantity", "unit": "metres"}))
    assert catalog.relation("capital").unit == "metres"


def test_literal_classes_are_the_last_of_the_closed_list() -> None:
    assert catalog.LITERAL_CLASSES == ("date", "number", "quantity", "identifier", "text", "url")
    assert catalog.CLASSES == catalog.ENTITY_CLASSES + catalog.LITERAL_CLASSES
    assert len(set(catalog.CLASSES)) == len(catalog.CLASSES) == 42


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("colour", "red", "is not a known key"),
        ("open", MISSING, "must be a list"),
        ("open", ["Q: What is the capital of {entity}?\nA:"], "must have two forms, not 1"),
        ("closed", [*SOUND["closed"], "Q: Is {answer} in {entity}?\nA:"], "must have two forms, not 3"),
        ("closed", [], "must be a list that is not empty"),
        ("contexts.base", MISSING, "must be a list"),
        ("contexts.base[0]", "  \n", "must be a text that is not empty"),
        ("contexts.doubt", ["{entity} may have {answer}.\n"], "is not a known key"),
        ("contexts", "{entity} has {answer}.\n", "must be a mapping"),
        ("wikidata", "36", "must look like P36"),
        ("wikidata", "Q36", "must look like P36"),
        ("wikidata", 36, "must be a text"),
        ("subject_class", "planet", "must be one of person, .*, not 'planet'"),
        ("subject_class", "date", "must be one of person, .*, not 'date'"),
        ("subject_class", MISSING, "must be a text"),
        ("object_class", "planet", "must be one of person, .*, not 'planet'"),
        ("object_class", MISSING, "must be a text"),
        ("reverse", "yes, please", "must be true or false"),
        ("reverse", True, "begins with reverse"),
        ("unit", "metres", "only a number or quantity has one"),
        ("unit", 5, "must be a text"),
    ],
)
def test_a_malformed_key_is_refused(serve: Serve, key: str, value: object, message: str) -> None:
    assert_refused(serve, file(capital=changed(key, value)), f"relations.capital.{key}", message)


@pytest.mark.parametrize("name", ["capital city", "", "../capital", "capital_city", "7wonders", "a" * 65])
def test_a_name_that_is_no_slug_is_refused(serve: Serve, name: str) -> None:
    assert_refused(serve, file(**{name: SOUND}), f"relations.{name} ", "is not a slug of letters and digits")


def test_a_name_says_the_direction(serve: Serve) -> None:
    assert_refused(serve, file(reverseCapital=SOUND), "relations.reverseCapital.reverse", "begins with reverse")
    serve("relations.yaml", file(reverseProxy={**SOUND, "reverse": True}, reversed=changed("yago", None)))
    assert [relation.reverse for relation in catalog.relations().values()] == [True, False]


def test_what_a_reversed_relation_answers_is_an_entity(serve: Serve) -> None:
    entry = {**SOUND, "reverse": True, "object_class": "date"}
    assert_refused(serve, file(reverseCapital=entry), "relations.reverseCapital.object_class", "is an entity")


def test_a_name_that_a_query_cannot_hold_is_refused(serve: Serve) -> None:
    for sign in ' \n\t<>"{}|\\^`':
        alone = file(capital=changed("yago", CAPITAL + sign))
        assert_refused(serve, alone, "relations.capital.yago", "must be a whole http address")
    for iri in (
        "yago:capital",
        "capital",
        "ftp://yago-knowledge.org/capital",
        "HTTP://yago-knowledge.org/x",
        "http://",
    ):
        listed = file(capital=changed("yago", [CAPITAL, iri]))
        assert_refused(serve, listed, "relations.capital.yago[1]", "must be a whole http address")


@pytest.mark.parametrize("value", [[], [""], 5, {"a": "b"}])
def test_names_that_are_no_texts_are_refused(serve: Serve, value: object) -> None:
    assert_refused(serve, file(capital=changed("yago", value)), "relations.capital.yago", "must be a ")


def test_a_predicate_belongs_to_one_relation_of_a_direction(serve: Serve) -> None:
    other = {**SOUND, "yago": ["http://schema.org/seat", CAPITAL]}
    twice = changed("yago", [CAPITAL, CAPITAL])
    assert_refused(serve, file(capital=SOUND, seat=other), "relations.seat.yago", "is that of capital already")
    assert_refused(serve, file(capital=twice), "relations.capital.yago", "is that of capital already")


def test_other_keys_at_the_top_are_refused(serve: Serve) -> None:
    assert_refused(serve, "left_out: []\n" + file(capital=SOUND), "the top.left_out", "is not a known key")
