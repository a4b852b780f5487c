"""What a graph may hold and how a service may answer, and what becomes of the facts."""

import logging
from dataclasses import replace
from pathlib import Path

import pytest

from swaymeter.data.errors import InputError, ServiceError
from swaymeter.data.sources.graph import entities as yago_entities
from swaymeter.data.sources.graph import yago
from swaymeter.data.sources.graph.dump import Dump
from swaymeter.data.sources.graph.literals import plain
from swaymeter.data.sources.graph.sparql import Endpoint, Literal, Row, Uri
from tests.data.sources.graph.small_graphs import ALL, Changed, by_subject, graph, said
from tests.data.sources.graph.turtle import YAGO
from tests.data.sources.graph.yago_graph import relation_named
from tests.data.sources.graph.yago_nasty import NASTY

CAPITAL = relation_named("capital")


def test_names_come_through_whatever_they_hold(endpoint: Endpoint) -> None:
    authors = {fact.object for fact in by_subject(endpoint, "author").values()}
    assert {plain(name) for name in NASTY.values()} <= authors
    asked = by_subject(endpoint, "reverseAuthor")
    assert {plain(name) for name in NASTY.values()} <= set(asked)
    assert asked["Line Break Tab"].object == "Line Break Tab and 2"


@pytest.mark.parametrize(
    ("relation", "facts", "asked", "rejected"),
    [
        ("capital", 40, 41, {yago.OWN_NAME: 1}), ("location", 72, 78, {yago.NO_NAME: 5, yago.NAME_TAKEN: 1}),
        ("elevation", 22, 23, {yago.NO_VALUE: 1}), ("reverseDirector", 30, 76, {yago.NO_ENTITY: 1}),
    ],
)  # fmt: skip
def test_what_makes_no_fact_is_dropped_and_counted(
    relation: str, facts: int, asked: int, rejected: dict[str, int], dump: Dump, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="swaymeter.data.sources.graph.yago"):
        fetched = yago.facts(dump, relation_named(relation), pairs=ALL, seed=1)
    assert len(fetched.facts) == facts
    assert fetched.rejected == rejected
    assert fetched.requested == asked
    (line,) = caplog.messages
    assert line.startswith(f"relation {relation}: {facts} facts of {fetched.requested} pairs; rejected: ")
    assert all(f"{reason} ({count})" in line for reason, count in rejected.items())


@pytest.mark.parametrize("seed", range(2))
def test_truths_of_a_namesake_are_not_false(seed: int, tmp_path: Path) -> None:
    store = graph(
        tmp_path,
        """
        yago:N1 rdfs:label "Newtown"@en ; schema:location yago:Wales , yago:Unnamed .
        yago:N2 rdfs:label "Newtown"@en ; schema:location yago:Connecticut , yago:England .
        yago:N3 rdfs:label "Newtown"@en , "Newtown"@mul ; schema:location yago:Unnamed , yago:N4 .
        yago:N4 rdfs:label "Newtown"@en .
        yago:O rdfs:label "Oldtown"@en ; schema:location yago:Ohio .
        yago:Wales rdfs:label "Wales"@en . yago:England rdfs:label "England"@en . yago:Ohio rdfs:label "Ohio"@en .
        yago:Connecticut rdfs:label "Connecticut"@en .
        """,
    )
    facts = by_subject(store, "location", seed=seed)
    newtown = facts["Newtown"]
    assert {newtown.object, *newtown.other_objects} == {"Wales", "Connecticut", "England", "Newtown"}
    assert newtown.object not in newtown.other_objects
    assert newtown.subject_relation_degree == 2
    assert facts["Oldtown"].other_objects == ()


def test_of_two_english_names_the_first_is_the_name(tmp_path: Path) -> None:
    store = graph(
        tmp_path,
        """
        yago:A rdfs:label "B"@en , "A"@en , "0"@de ; schema:memberOf yago:P .
        yago:P rdfs:label "The P Party"@en , "  "@en , "Party P"@en , "A"@mul .
        yago:M rdfs:label "M"@mul ; schema:memberOf yago:P .
        """,
    )
    facts = by_subject(store, "memberOf")
    assert facts["A"].object == "Party P"
    assert facts["M"].object == "Party P"


@pytest.mark.parametrize("batch", [1, 100])
def test_an_instance_known_by_class_is_called_by_it(
    batch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yago, "BATCH", batch)
    store = graph(
        tmp_path,
        """
        yago:A rdfs:label "A"@en ; schema:award yago:Honour_generic_instance , yago:As_Prize_1 .
        yago:B rdfs:label "B"@en ; schema:award yago:As_Prize_2 .
        yago:Honour_generic_instance a yago:Honour . yago:Honour rdfs:label "honour of the realm"@en .
        yago:As_Prize_1 a yago:Prize ; rdfs:label "Generic instance"@en . yago:Prize rdfs:label "prize"@en .
        yago:As_Prize_2 a yago:Unnamed ; rdfs:label "Generic instance"@en .
        """,
    )
    fetched = yago.facts(store, relation_named("award"), pairs=ALL, seed=1)
    (fact,) = fetched.facts
    assert {fact.object, *fact.other_objects} == {"honour of the realm", "prize"}
    assert fetched.rejected == {yago.NO_ANSWER: 1}


def test_an_iri_that_no_query_can_name_is_rejected(tmp_path: Path) -> None:
    store = graph(tmp_path, 'yago:A rdfs:label "A"@en ; yago:capital yago:B . yago:B rdfs:label "B"@en .')
    hostile = Uri("http://a.example/> } SELECT")

    def add(query: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        if "MD5" not in query:
            return rows
        key = Literal("0" * 32)
        return ({"s": hostile, "o": Uri(YAGO + "B"), "k": key}, {"s": Uri(YAGO + "C"), "o": hostile, "k": key}, *rows)

    fetched = yago.facts(Changed(store, add), CAPITAL, pairs=ALL, seed=1)
    assert [fact.subject for fact in fetched.facts] == ["A"]
    assert fetched.rejected == {yago.NOT_AN_IRI: 2}


def test_an_entity_of_very_many_objects_has_them_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    films = "".join(f'yago:F{n} rdfs:label "Film {n}"@en ; schema:director yago:P{n % 3} .\n' for n in range(90))
    store = graph(tmp_path, films + "".join(f'yago:P{n} rdfs:label "Person {n}"@en .\n' for n in range(3)))
    whole = yago.facts(store, relation_named("reverseDirector"), pairs=3, seed=1).facts
    monkeypatch.setattr(yago_entities, "MOST_ROWS", 8)
    counted = Changed(store, lambda query, rows: rows)
    parts = yago.facts(counted, relation_named("reverseDirector"), pairs=3, seed=1).facts
    assert said(parts) == said(whole)
    assert {len(fact.other_objects) for fact in whole} == {29}
    assert sum("STRSTARTS" in query for query in counted.queries) >= 3 * 16


def test_a_relation_unknown_to_yago_is_named(dump: Dump) -> None:
    with pytest.raises(InputError, match="relation capital: YAGO has no predicate"):
        yago.facts(dump, replace(CAPITAL, yago=()), pairs=5, seed=1)
    with pytest.raises(InputError, match=r"relation capital: file:yago\.ttl holds no fact of http://a\.example/none"):
        yago.facts(dump, replace(CAPITAL, yago=("http://a.example/none",)), pairs=5, seed=1)


@pytest.mark.parametrize("lost", ["k", "s", "o", "e", "v", "n"])
def test_a_row_without_what_was_asked_for_is_an_error(lost: str, dump: Dump) -> None:
    def lose(query: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        return tuple({name: term for name, term in row.items() if name != lost} for row in rows)

    with pytest.raises(ServiceError, match=rf"without (its MD5|\?{lost})"):
        yago.facts(Changed(dump, lose), CAPITAL, pairs=5, seed=1)


def test_a_count_that_is_none_is_an_error(dump: Dump) -> None:
    def spoil(query: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        return tuple({**row, "n": Literal("-1")} if "n" in row else row for row in rows)

    with pytest.raises(ServiceError, match="where a count was requested"):
        yago.facts(Changed(dump, spoil), CAPITAL, pairs=5, seed=1)
