"""Rules of relations; a file that breaks a rule is refused with the relation and the key."""

import copy
import pickle
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from swaymeter.data import catalog
from swaymeter.data.errors import InputError
from tests.data.conftest import SetFile

CAPITAL = "http://yago-knowledge.org/resource/capital"
LEADER = ["http://schema.org/leader", "http://yago-knowledge.org/resource/leader"]
SOUND: dict[str, Any] = {
    "wikidata": "P36",
    "yago": CAPITAL,
    "subject_class": "country",
    "object_class": "city",
    "open": ["Q: What is the capital of {entity}?\nA:", "The capital of {entity} is"],
    "closed": ["Q: Is {answer} the capital of {entity}?\nA:", "Q: Does {entity} have {answer} as its capital?\nA:"],
    "contexts": {
        "base": ["The capital of {entity} is {answer}.\n"],
        "assertive": ["Without any doubt, the capital of {entity} is {answer}.\n"],
        "negation": ["The capital of {entity} is not {answer}.\n"],
    },
}
BASE: str = SOUND["contexts"]["base"][0]
MISSING = object()


def yaml_of(**relations: dict[str, Any]) -> str:
    return yaml.safe_dump({"source": "A test.", "licence": "None.", "relations": relations}, sort_keys=False)


def relation_with(key: str, value: object) -> dict[str, Any]:
    """Return SOUND with another value at a key such as contexts.base[0]; the value MISSING removes the key."""
    entry: Any = copy.deepcopy(SOUND)
    *path, last = [int(step) if step.isdigit() else step for step in key.replace("[", ".").replace("]", "").split(".")]
    inner = entry
    for step in path:
        inner = inner[step]
    if value is MISSING:
        del inner[last]
    else:
        inner[last] = value
    return dict(entry)


def assert_refused(set_file: SetFile, content: str, key: str, reason: str) -> None:
    """Check that a file is refused; the message begins with its name and the key, and matches the reason."""
    set_file("relations.yaml", content)
    with pytest.raises(InputError) as refused:
        catalog.relations()
    assert str(refused.value).startswith(f"relations.yaml: {key}")
    assert re.search(reason.replace("{", r"\{").replace("}", r"\}"), str(refused.value)), refused.value


def test_a_sound_relation_is_read_unchanged(set_file: SetFile) -> None:
    set_file("relations.yaml", yaml_of(capital=SOUND))
    (relation,) = catalog.relations().values()
    assert (relation.name, relation.wikidata, relation.yago) == ("capital", "P36", (CAPITAL,))
    assert (relation.subject_class, relation.object_class) == ("country", "city")
    assert (relation.reverse, relation.unit, relation.predicates) == (False, None, (CAPITAL,))
    assert list(relation.open) == SOUND["open"]
    assert list(relation.closed) == SOUND["closed"]
    assert {kind: list(texts) for kind, texts in relation.contexts.items()} == SOUND["contexts"]


def test_a_reversed_relation_shares_its_predicate(set_file: SetFile) -> None:
    set_file("relations.yaml", yaml_of(capital=SOUND, reverseCapital={**SOUND, "reverse": True}))
    forward, reverse = catalog.relations().values()
    assert (forward.reverse, reverse.reverse) == (False, True)
    assert forward.yago == reverse.yago
    assert reverse.predicates == ("reverse-" + CAPITAL,)


def test_a_relation_may_have_several_predicates_or_none(set_file: SetFile) -> None:
    set_file(
        "relations.yaml", yaml_of(leader={**SOUND, "yago": LEADER}, father={**SOUND, "yago": None, "wikidata": None})
    )
    leader, father = catalog.relations().values()
    assert (leader.yago, leader.predicates) == (tuple(LEADER), tuple(LEADER))
    assert (father.yago, father.predicates, father.wikidata) == ((), (), None)
    assert catalog.relations_of_yago() == ("leader",)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("colour", "red", ""),
        ("open", MISSING, "Field required"),
        ("open", ["Q: What is the capital of {entity}?\nA:"], "Field required"),
        ("closed", [*SOUND["closed"], "Q: Is {answer} in {entity}?\nA:"], "at most 2"),
        ("contexts.base", [], "at least 1"),
        ("contexts", {"base": [BASE]}, "has no sentences of the kind assertive"),
        ("contexts.base[0]", "  \n", "may not be empty"),
        ("contexts.doubt", ["{entity} may have {answer}.\n"], ""),
        ("contexts", "{entity} has {answer}.\n", "dictionary"),
        ("wikidata", "36", "the value is '36'"),
        ("wikidata", "Q36", "the value is 'Q36'"),
        ("wikidata", 36, "valid string"),
        ("subject_class", "planet", "'person', .*the value is 'planet'"),
        ("subject_class", "date", "'person', .*the value is 'date'"),
        ("subject_class", MISSING, "Field required"),
        ("object_class", "planet", "the value is 'planet'"),
        ("yago", [""], "must be an IRI"),
        ("yago", 5, "valid tuple"),
        ("reverse", "yes", "valid boolean"),
        ("unit", 5, "valid string"),
        ("open[0]", SOUND["closed"][0], "must have {entity} once and no other slot; the text has {answer}, {entity}"),
        ("open[1]", "{answer} is the capital of {entity} and", "must have {entity} once"),
        ("open[1]", "The capital of {entity} is ", "must end with a letter or a digit"),
        ("open[1]", "The capital of {entity}", "must end with a letter or a digit"),
        ("open[1]", "The capital of {entity} is the", "must not end with an article"),
        ("open[1]", "The capital of the {entity} is", "article directly before a slot"),
        ("open[1]", "The capital  of {entity} is", "trailing or double spaces"),
        ("closed[1]", "Q: Is {answer} a capital?\nA:", "must have {answer} once and {entity} once"),
        ("contexts.base[0]", "{answer} lies in {entity}.", "must end with a full stop and a newline"),
        ("contexts.base[0]", "{answer} lies in {entity}\n", "must end with a full stop and a newline"),
        ("contexts.base[0]", "{answer} lies\nin {entity}.\n", "must be one line"),
        ("contexts.base[0]", " {answer} lies in {entity}.\n", "trailing or double spaces"),
        ("contexts.assertive[0]", "It lies in {entity}.\n", "must have {answer} once and {entity} once"),
        ("contexts.assertive[0]", "{answer} lies in {entity} {0}.\n", "no other slot; the text has .*{0}"),
        ("contexts.negation[0]", "The {answer} lies in {entity}.\n", "article directly before a slot"),
        ("contexts.negation[0]", "{answer} is {entity}’s.\n", "ending directly after a slot"),
    ],
)
def test_a_malformed_value_is_refused_with_its_key(set_file: SetFile, key: str, value: object, message: str) -> None:
    assert_refused(set_file, yaml_of(capital=relation_with(key, value)), f"relations.capital.{key}", message)


@pytest.mark.parametrize("name", ["capital city", "", "../capital", "capital_city", "7wonders", "a" * 65])
def test_a_name_that_is_no_slug_is_refused(set_file: SetFile, name: str) -> None:
    assert_refused(
        set_file, yaml_of(**{name: SOUND}), f"relations.{name}.name: ", "must have 1 to 64 letters and digits"
    )


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("reverseCapital", {}, "name: must not begin with reverse and a capital letter"),
        ("capital", {"reverse": True}, "name: must begin with reverse and a capital letter"),
        ("reverseCapital", {"reverse": True, "object_class": "date"}, "object_class: must be a class of entities"),
        ("capital", {"unit": "metres"}, "unit: only the object classes `number` and `quantity` may have a unit"),
        ("capital", {"closed": [SOUND["closed"][0]] * 2}, r"closed\[1\] has the same text as closed\[0\]"),
        (
            "capital",
            {"contexts": SOUND["contexts"] | {"negation": [BASE.replace("The", "the")]}},
            r"contexts.negation\[0\] has the same text as contexts.base\[0\]",
        ),
        (
            "capital",
            {"contexts": SOUND["contexts"] | {"base": [BASE, BASE]}},
            r"contexts.base\[1\] has the same text as contexts.base\[0\]",
        ),
    ],
)
def test_keys_that_contradict_each_other_are_refused(
    set_file: SetFile, name: str, changes: dict[str, Any], message: str
) -> None:
    assert_refused(set_file, yaml_of(**{name: SOUND | changes}), f"relations.{name}: ", message)


def test_an_iri_unfit_for_sparql_is_refused(set_file: SetFile) -> None:
    for sign in ' \n\t<>"{}|\\^`':
        assert_refused(
            set_file, yaml_of(capital=relation_with("yago", CAPITAL + sign)), "relations.capital.yago[0]: ", ""
        )
    for iri in ("capital", "ftp://yago-knowledge.org/capital", "HTTP://yago-knowledge.org/x", "http://"):
        assert_refused(
            set_file, yaml_of(capital=relation_with("yago", [CAPITAL, iri])), "relations.capital.yago[1]: ", iri
        )


def test_relations_of_one_direction_share_no_predicate(set_file: SetFile) -> None:
    other = {**SOUND, "yago": ["http://schema.org/seat", CAPITAL]}
    assert_refused(
        set_file, yaml_of(capital=SOUND, seat=other), "relations.seat.yago", "is also a predicate of relation capital"
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Q: ", "", "must begin with 'Q: '"),
        ("?\nA:", "?", r"and end with '\?\\nA:'"),
        ("?\nA:", "?\nA: ", r"and end with '\?\\nA:'"),
        ("{entity}", "Norway", "{entity} once"),
        ("{entity}", "{entity} or {entity}", "{entity} once"),
        ("{entity}", "{entity} or {country}", "no other slot; the text has .*{country}"),
        ("{entity}", "{entity} {", "no other slot"),
        ("{entity}", "a {entity}", "article directly before a slot"),
        ("{entity}", 'the "{entity}"', "article directly before a slot"),
        ("{entity}", "{entity}'s", "ending directly after a slot"),
        ("{entity}", "{entity}s", "ending directly after a slot"),
        ("capital", "a the capital", "two articles in a row"),
        ("capital", "capital ", "trailing or double spaces"),
        ("capital", "capital\n", "must be one line"),
        ("?\nA:", " ?\nA:", "trailing or double spaces"),
    ],
)
def test_a_query_that_breaks_a_rule_is_refused(set_file: SetFile, old: str, new: str, message: str) -> None:
    for key, template in (("open[0]", SOUND["open"][0]), ("closed[0]", SOUND["closed"][0])):
        broken = yaml_of(capital=relation_with(key, template.replace(old, new)))
        assert_refused(set_file, broken, f"relations.capital.{key}", message)


def test_slots_may_follow_nouns_and_precede_punctuation(set_file: SetFile) -> None:
    base = ["In the country {entity}, {answer} is the capital.\n", "{answer}: a capital that {entity} has (perhaps).\n"]
    set_file("relations.yaml", yaml_of(capital=relation_with("contexts.base", base)))
    assert catalog.relation("capital").contexts["base"] == tuple(base)


@pytest.mark.parametrize("name", ["{answer}", "{", "%s", "\\g<1>", "{entity.__class__}"])
def test_fill_leaves_hostile_names_unchanged(name: str) -> None:
    template = "<{entity}|{answer}|{entity}>"
    assert catalog.fill(template, entity=name, answer="Oslo") == f"<{name}|Oslo|{name}>"
    assert catalog.fill(template, entity="Norway", answer=name) == f"<Norway|{name}|Norway>"
    with pytest.raises(InputError, match=r"the slot \{answer\} .* has no value"):
        catalog.fill("Is {answer} the capital of {entity}?", entity="Norway")


def test_own_relations_must_keep_the_same_rules(tmp_path: Path) -> None:
    def read_own(**relations: dict[str, Any]) -> Mapping[str, catalog.Relation]:
        (tmp_path / "mine.yaml").write_text(yaml_of(**relations), encoding="utf-8")
        return catalog.own_relations(tmp_path / "mine.yaml")

    seat = {**SOUND, "yago": None}
    relation = read_own(seat=seat)["seat"]
    assert pickle.loads(pickle.dumps(relation)) == relation
    assert catalog.relation("seat", {"seat": relation}) is relation
    for relations, problem in (
        ({"seat": relation_with("open", [])}, r"relations\.seat\.open"),
        ({"seat": SOUND}, rf"relations\.seat\.yago: {CAPITAL} is also a predicate of relation capital"),
        ({"capital": seat}, r"relations\.capital: the catalog already has a relation capital"),
        (
            {"a": {**seat, "yago": "http://a/b"}, "b": {**seat, "yago": "http://a/b"}},
            r"relations\.b\.yago: .* is also a predicate of relation a;",
        ),
    ):
        with pytest.raises(InputError, match=rf"mine\.yaml: {problem}"):
            read_own(**relations)
