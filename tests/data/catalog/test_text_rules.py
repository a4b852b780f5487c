"""What the texts of a relation must keep: one that breaks a rule is refused with the relation and the key."""

import re

import pytest

from data import catalog
from tests.data.catalog.broken_relation import SOUND, assert_refused, changed, file
from tests.data.catalog.conftest import Serve

BASE: str = SOUND["contexts"]["base"][0]


@pytest.mark.parametrize(
    ("cut", "instead", "message"),
    [
        ("Q: ", "", "must begin with 'Q: '"),
        ("?\nA:", "?", r"must end with '\?\\nA:'"),
        ("?\nA:", "?\nA: ", r"must end with '\?\\nA:'"),
        ("{entity}", "Norway", "{entity} once"),
        ("{entity}", "{entity} or {entity}", "{entity} once"),
        ("{entity}", "{entity} or {country}", "no other slot, not .*{country}"),
        ("{entity}", "{entity} {", "no other slot"),
        ("{entity}", "a {entity}", "article directly before a slot"),
        ("{entity}", 'the "{entity}"', "article directly before a slot"),
        ("{entity}", "{entity}'s", "ending directly behind a slot"),
        ("{entity}", "{entity}s", "ending directly behind a slot"),
        ("capital", "a the capital", "two articles in a row"),
        ("capital", "capital ", "without a space too many"),
        ("capital", "capital\n", "must be one line"),
    ],
)
def test_a_question_that_breaks_a_rule_is_refused(serve: Serve, cut: str, instead: str, message: str) -> None:
    for key, form in (("open[0]", SOUND["open"][0]), ("closed[0]", SOUND["closed"][0])):
        broken = file(capital=changed(key, form.replace(cut, instead)))
        assert_refused(serve, broken, f"relations.capital.{key}", message)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("open[0]", SOUND["closed"][0], "must have {entity} once and no other slot, not {answer}, {entity}"),
        ("open[1]", "{answer} is the capital of {entity} and", "must have {entity} once"),
        ("open[1]", "The capital of {entity} is ", "without a space"),
        ("open[1]", "The capital of {entity} is:", "must end with the word before the answer"),
        ("open[1]", "The capital of {entity}", "must end with the word before the answer"),
        ("open[1]", "The capital of {entity} is the", "ends with an article"),
        ("open[1]", "The capital of the {entity} is", "article directly before a slot"),
        ("open[1]", "The capital  of {entity} is", "without a space too many"),
        ("closed[1]", "Q: Does {entity} have a capital?\nA:", "must have {answer} once and {entity} once"),
        ("closed[1]", "Q: Is {answer} a capital?\nA:", "must have {answer} once and {entity} once"),
    ],
)
def test_a_query_with_other_slots_or_another_end_is_refused(serve: Serve, key: str, value: str, message: str) -> None:
    assert_refused(serve, file(capital=changed(key, value)), f"relations.capital.{key}", message)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("{answer} lies in {entity}.", "must end with a newline"),
        ("{answer} lies in {entity}\n", "must end with a full stop and a newline"),
        ("{answer} lies\nin {entity}.\n", "must be one line"),
        (" {answer} lies in {entity}.\n", "without a space too many"),
        ("It lies in {entity}.\n", "must have {answer} once and {entity} once"),
        ("{answer} lies in {entity}, {entity}.\n", "must have {answer} once and {entity} once"),
        ("{answer} lies in {entity} {0}.\n", "no other slot, not .*{0}"),
        ("The {answer} lies in {entity}.\n", "article directly before a slot"),
        ("{answer} lies in an {entity}.\n", "article directly before a slot"),
        ("{answer} is {entity}’s.\n", "ending directly behind a slot"),
        ("{answer} is a the city in {entity}.\n", "two articles in a row"),
    ],
)
def test_a_context_that_breaks_a_rule_is_refused(serve: Serve, value: str, message: str) -> None:
    for kind in catalog.CONTEXT_KINDS:
        key = f"contexts.{kind}[0]"
        assert_refused(serve, file(capital=changed(key, value)), f"relations.capital.{key}", message)


@pytest.mark.parametrize(
    ("key", "value", "at", "same"),
    [
        ("closed[1]", SOUND["closed"][0], "closed[1]", "closed[0]"),
        ("contexts.assertive[0]", BASE, "contexts.assertive[0]", "contexts.base[0]"),
        ("contexts.negation[0]", BASE.replace("The", "the"), "contexts.negation[0]", "contexts.base[0]"),
        ("contexts.base", [BASE, BASE], "contexts.base[1]", "contexts.base[0]"),
    ],
)
def test_two_equal_texts_in_one_relation_are_refused(serve: Serve, key: str, value: object, at: str, same: str) -> None:
    content = file(capital=changed(key, value))
    assert_refused(serve, content, f"relations.capital.{at}", rf"has the same text as {re.escape(same)}:")


def test_names_after_a_class_noun_and_before_punctuation_are_fine(serve: Serve) -> None:
    base = ["In the country {entity}, {answer} is the capital.\n", "{answer}: a capital that {entity} has (perhaps).\n"]
    serve("relations.yaml", file(capital=changed("contexts.base", base)))
    assert catalog.relation("capital").contexts["base"] == tuple(base)
