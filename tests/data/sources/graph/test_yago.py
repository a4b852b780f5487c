"""Facts and pairs of a graph: names, degrees and rejected pairs, and slow, wrong and truncated responses."""

import json
import logging
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from swaymeter.data import catalog
from swaymeter.data.errors import InputError, ServiceError, ServiceTimeout
from swaymeter.data.records import Fact
from swaymeter.data.sources.graph import entities as yago_entities
from swaymeter.data.sources.graph import yago
from swaymeter.data.sources.graph.dump import Dump, shared_dump
from swaymeter.data.sources.graph.literals import plain
from swaymeter.data.sources.graph.pairs import MAX_DIGITS, Pair, sampled_pairs
from swaymeter.data.sources.graph.sparql import Endpoint, Literal, Row, Rows, SparqlStore, Uri
from tests.data.dataset_samples import YAGO
from tests.data.sources.graph.sparql_server import answer_query, endpoint_at
from tests.data.sources.graph.yago_graph import GRAPH, NASTY_NAMES, RELATIONS, Changed, graph
from tests.data.sources.servers.faults import ServedRequest, ServedResponse, serving

CAPITAL = catalog.relation("capital")
ALL_PAIRS = 10_000
"""More pairs than any graph of the tests has."""


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Dump:
    """Return the graph in the embedded store."""
    return shared_dump([GRAPH], tmp_path_factory.mktemp("graphs"))


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[Endpoint]:
    """Yield an endpoint that queries a server of the graph, with an empty cache."""
    with serving(play=answer_query) as server, endpoint_at(server.address, tmp_path) as endpoint:
        yield endpoint


def facts_by_subject(store: SparqlStore, relation: str, *, seed: int = 1) -> dict[str, Fact]:
    return {
        fact.subject: fact for fact in yago.facts(store, catalog.relation(relation), pairs=ALL_PAIRS, seed=seed).facts
    }


def without_source(facts: list[Fact]) -> list[Fact]:
    return [replace(fact, address=None, query=None, retrieved_at=None) for fact in facts]


@pytest.mark.parametrize("relation", RELATIONS)
def test_server_and_dump_give_same_facts(relation: str, endpoint: Endpoint, dump: Dump) -> None:
    queried = yago.facts(endpoint, catalog.relation(relation), pairs=15, seed=7)
    loaded = yago.facts(dump, catalog.relation(relation), pairs=15, seed=7)
    assert without_source(queried.facts) == without_source(loaded.facts)
    assert (queried.examined, queried.rejected) == (loaded.examined, loaded.rejected)
    assert len(queried.facts) == 15
    assert {fact.relation for fact in queried.facts} == {relation}
    assert {fact.address for fact in queried.facts} == {endpoint.address}
    assert {fact.address for fact in loaded.facts} == {"file:yago.ttl"}


def test_degrees_count_triples_that_entity_is_part_of(tmp_path: Path) -> None:
    store = graph(
        tmp_path,
        """
        yago:Norway yago:capital yago:Oslo ; rdfs:label "Norway"@en , "Norge"@no ; owl:sameAs wd:Q20 .
        yago:Oslo rdfs:label "Oslo"@en ; schema:location yago:Norway .
        yago:Bolivia rdfs:label "Bolivia"@en ; yago:capital yago:Sucre , yago:La_Paz .
        yago:Sucre rdfs:label "Sucre"@en .
        yago:La_Paz rdfs:label "La Paz"@en ; schema:about yago:La_Paz , yago:Bolivia .
    """,
    )
    facts = facts_by_subject(store, "capital")
    norway, bolivia = facts["Norway"], facts["Bolivia"]
    assert (norway.subject_degree, norway.subject_relation_degree) == (5, 1)
    assert (norway.object_degree, norway.object_relation_degree) == (3, 1)
    assert (bolivia.subject_degree, bolivia.subject_relation_degree) == (4, 2)
    degrees = {"Sucre": (2, 1), "La Paz": (4, 1)}  # the triple of La Paz about itself counts once
    assert (bolivia.object_degree, bolivia.object_relation_degree) == degrees[bolivia.object]
    assert {bolivia.object, *bolivia.other_objects} == {"Sucre", "La Paz"}
    assert (norway.subject_uri, norway.object_uri) == (YAGO + "Norway", YAGO + "Oslo")
    assert (norway.subject_id, norway.object_id, norway.id_source) == ("Q20", None, "yago")
    assert (bolivia.subject_id, bolivia.id_source) == (None, None)
    assert {fact.source for fact in facts.values()} == {"YAGO"}
    assert {fact.licence for fact in facts.values()} == {"CC BY 4.0"}


def test_relation_degree_counts_the_side_of_the_fact(tmp_path: Path) -> None:
    store = graph(
        tmp_path,
        """
        yago:A rdfs:label "A"@en ; schema:spouse yago:A , yago:B .
        yago:B rdfs:label "B"@en ; schema:spouse yago:A ; schema:children yago:A .
    """,
    )
    facts = facts_by_subject(store, "spouse")
    assert (facts["A"].object, facts["A"].other_objects) == ("B", ("A",))
    assert (facts["A"].subject_degree, facts["A"].subject_relation_degree) == (5, 2)
    assert (facts["B"].subject_degree, facts["B"].subject_relation_degree) == (4, 1)
    assert (facts["B"].object, facts["B"].object_degree, facts["B"].object_relation_degree) == ("A", 5, 2)


def test_a_predicate_of_two_names_is_one_relation(tmp_path: Path) -> None:
    store = graph(
        tmp_path,
        """
        yago:Finland rdfs:label "Finland"@en ; schema:officialLanguage yago:Fi ;
            yago:officialLanguage yago:Fi , yago:Sv .
        yago:Fi rdfs:label "Finnish"@en . yago:Sv rdfs:label "Swedish"@en .
    """,
    )
    finland = facts_by_subject(store, "officialLanguage")["Finland"]
    assert {finland.object, *finland.other_objects} == {"Finnish", "Swedish"}
    assert finland.subject_relation_degree == 3
    assert finland.object_relation_degree == {"Finnish": 2, "Swedish": 1}[finland.object]


def test_a_reversed_relation_asks_about_the_object(dump: Dump) -> None:
    ada = facts_by_subject(dump, "reverseDirector")["Ada Quillfeather"]
    films = {ada.object, *ada.other_objects}
    assert films == {
        "The Amber Lantern (film)",
        "The Amber Cartographer (film)",
        f"Starring {NASTY_NAMES['quotes']}",
    }
    assert all(facts_by_subject(dump, "director")[film].object == "Ada Quillfeather" for film in films)
    assert ada.subject_uri == YAGO + "Ada_Quillfeather"
    assert ada.subject_relation_degree == 3
    assert ada.object_relation_degree == 1


def test_a_literal_value_has_no_iri_or_degree(dump: Dump) -> None:
    everest = facts_by_subject(dump, "elevation")["Mount Everest"]
    assert everest.object == "8849 metres"
    assert (everest.object_uri, everest.object_id) == (None, None)
    assert (everest.object_degree, everest.object_relation_degree) == (None, None)
    assert everest.subject_degree == 4


def test_only_names_in_the_graph_are_returned(endpoint: Endpoint) -> None:
    names = [*NASTY_NAMES.values(), "Norway", "Land of Oslo", "Mul Quillfeather", "Ohne englischen Namen", ""]
    assert yago.names_in_graph(endpoint, [*names, "norway", "Nowhere"]) == set(names)
    assert yago.names_in_graph(endpoint, []) == set()


def test_predicates_are_listed_with_classes_of_their_subjects(tmp_path: Path) -> None:
    store = graph(
        tmp_path,
        """
        yago:A a schema:Person , yago:Singer ; schema:spouse yago:B , yago:C .
        yago:B a schema:Person ; schema:spouse yago:A .
    """,
    )
    predicates = {predicate.iri: predicate for predicate in yago.predicates(store)}
    spouse = predicates["http://schema.org/spouse"]
    assert (spouse.triples, spouse.subject_classes) == (3, ("http://schema.org/Person", YAGO + "Singer"))
    assert [predicate.triples for predicate in predicates.values()] == [3, 3]


def test_nasty_names_are_cleaned_and_kept(endpoint: Endpoint) -> None:
    authors = {fact.object for fact in facts_by_subject(endpoint, "author").values()}
    assert {plain(name) for name in NASTY_NAMES.values()} <= authors
    facts = facts_by_subject(endpoint, "reverseAuthor")
    assert {plain(name) for name in NASTY_NAMES.values()} <= set(facts)
    assert facts["Line Break Tab"].object == "Line Break Tab and 2"


@pytest.mark.parametrize(
    ("relation", "facts", "examined", "rejected"),
    [
        ("capital", 40, 41, {yago.OWN_NAME: 1}),
        ("location", 42, 48, {yago.NO_NAME: 5, yago.NAME_TAKEN: 1}),
        ("elevation", 22, 23, {yago.NO_VALUE: 1}),
        ("reverseDirector", 30, 76, {yago.NO_ENTITY: 1}),
    ],
)
def test_rejected_pairs_are_counted_by_reason(
    relation: str, facts: int, examined: int, rejected: dict[str, int], dump: Dump, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="swaymeter.data.sources.graph.yago"):
        fetched = yago.facts(dump, catalog.relation(relation), pairs=ALL_PAIRS, seed=1)
    assert len(fetched.facts) == facts
    assert fetched.rejected == rejected
    assert fetched.examined == examined
    (line,) = caplog.messages
    assert line.startswith(f"relation {relation}: {facts} facts of {fetched.examined} pairs; rejected: ")
    assert all(f"{reason} ({count})" in line for reason, count in rejected.items())


@pytest.mark.parametrize("seed", range(2))
def test_objects_of_a_namesake_are_true_answers(seed: int, tmp_path: Path) -> None:
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
    facts = facts_by_subject(store, "location", seed=seed)
    newtown = facts["Newtown"]
    assert {newtown.object, *newtown.other_objects} == {"Wales", "Connecticut", "England", "Newtown"}
    assert newtown.object not in newtown.other_objects
    assert newtown.subject_relation_degree == 2
    assert facts["Oldtown"].other_objects == ()


def test_alphabetically_first_english_name_is_used(tmp_path: Path) -> None:
    store = graph(
        tmp_path,
        """
        yago:A rdfs:label "B"@en , "A"@en , "0"@de ; schema:memberOf yago:P .
        yago:P rdfs:label "The P Party"@en , "  "@en , "Party P"@en , "A"@mul .
        yago:M rdfs:label "M"@mul ; schema:memberOf yago:P .
    """,
    )
    facts = facts_by_subject(store, "memberOf")
    assert facts["A"].object == "Party P"
    assert facts["M"].object == "Party P"


@pytest.mark.parametrize("batch", [1, 100])
def test_a_generic_instance_has_its_class_name(batch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    fetched = yago.facts(store, catalog.relation("award"), pairs=ALL_PAIRS, seed=1)
    (fact,) = fetched.facts
    assert {fact.object, *fact.other_objects} == {"honour of the realm", "prize"}
    assert fetched.rejected == {yago.NO_ANSWER: 1}


def test_an_iri_unfit_for_sparql_is_rejected(tmp_path: Path) -> None:
    store = graph(tmp_path, 'yago:A rdfs:label "A"@en ; yago:capital yago:B . yago:B rdfs:label "B"@en .')
    hostile = Uri("http://a.example/> } SELECT")

    def add(query: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        if "MD5" not in query:  # another query than that for pairs
            return rows
        key = Literal("0" * 32)
        return ({"s": hostile, "o": Uri(YAGO + "B"), "k": key}, {"s": Uri(YAGO + "C"), "o": hostile, "k": key}, *rows)

    fetched = yago.facts(Changed(store, add), CAPITAL, pairs=ALL_PAIRS, seed=1)
    assert [fact.subject for fact in fetched.facts] == ["A"]
    assert fetched.rejected == {yago.INVALID_IRI: 2}


def test_an_entity_has_all_of_its_objects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    films = "".join(f'yago:F{n} rdfs:label "Film {n}"@en ; schema:director yago:P{n % 3} .\n' for n in range(90))
    store = graph(tmp_path, films + "".join(f'yago:P{n} rdfs:label "Person {n}"@en .\n' for n in range(3)))
    whole = yago.facts(store, catalog.relation("reverseDirector"), pairs=3, seed=1).facts
    monkeypatch.setattr(yago_entities, "MAX_ROWS", 8)
    recorded = Changed(store, lambda query, rows: rows)
    parts = yago.facts(recorded, catalog.relation("reverseDirector"), pairs=3, seed=1).facts
    assert without_source(parts) == without_source(whole)
    assert {len(fact.other_objects) for fact in whole} == {29}
    # the query for each of the 3 people is split by the 16 hexadecimal digits
    assert sum("STRSTARTS" in query for query in recorded.queries) >= 3 * 16


def test_a_relation_unknown_to_yago_is_named(dump: Dump) -> None:
    with pytest.raises(InputError, match="relation capital: YAGO has no predicate"):
        yago.facts(dump, replace(CAPITAL, yago=()), pairs=5, seed=1)
    with pytest.raises(
        InputError, match=r"relation capital: file:yago\.ttl has no usable fact of http://a\.example/none"
    ):
        yago.facts(dump, replace(CAPITAL, yago=("http://a.example/none",)), pairs=5, seed=1)


@pytest.mark.parametrize("missing", ["k", "s", "o", "e", "v", "n"])  # variables of the queries
def test_a_row_without_a_variable_is_an_error(missing: str, dump: Dump) -> None:
    def remove(query: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        return tuple({name: term for name, term in row.items() if name != missing} for row in rows)

    with pytest.raises(ServiceError, match=rf"without (a subject, object or MD5|the variable \?{missing})"):
        yago.facts(Changed(dump, remove), CAPITAL, pairs=5, seed=1)


def test_an_invalid_count_is_an_error(dump: Dump) -> None:
    def spoil(query: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        return tuple({**row, "n": Literal("-1")} if "n" in row else row for row in rows)

    with pytest.raises(ServiceError, match="instead of a count"):
        yago.facts(Changed(dump, spoil), CAPITAL, pairs=5, seed=1)


@pytest.mark.parametrize(("relation", "max_rows"), [("reverseDirector", 9), ("birthDate", 40)])
def test_truncated_responses_change_only_the_number_of_requests(
    relation: str, max_rows: int, dump: Dump, tmp_path: Path
) -> None:
    whole = yago.facts(dump, catalog.relation(relation), pairs=30, seed=3)
    truncated: list[ServedRequest] = []

    def play(request: ServedRequest) -> ServedResponse:
        """Truncate a long response, like a service that runs out of time."""
        response = answer_query(request)
        if len(json.loads(response.body)["results"]["bindings"]) <= max_rows:
            return response
        truncated.append(request)
        return replace(response, body=response.body[: len(response.body) // 2])

    with serving(play=play) as server, endpoint_at(server.address, tmp_path) as endpoint:
        from_parts = yago.facts(endpoint, catalog.relation(relation), pairs=30, seed=3)
    assert truncated
    assert without_source(from_parts.facts) == without_source(whole.facts)
    assert (from_parts.examined, from_parts.rejected) == (whole.examined, whole.rejected)


@pytest.mark.parametrize("page", [3, 50])
def test_page_size_changes_neither_pairs_nor_order(page: int, dump: Dump) -> None:
    pairs = [(pair.key, pair.subject, pair.object) for pair in pairs_of(dump, page)]
    assert pairs == [(pair.key, pair.subject, pair.object) for pair in pairs_of(dump, 1_000)]
    assert [key for key, _, _ in pairs] == sorted(key for key, _, _ in pairs)
    assert len(pairs) == len(set(pairs)) == 150


def pairs_of(dump: Dump, page: int) -> list[Pair]:
    return list(sampled_pairs(dump, catalog.relation("birthDate").yago, seed=5, page=page, english_only=True))


def test_pairs_of_one_key_survive_page_ends(tmp_path: Path) -> None:
    values = '"1879" , "1879"@en , "1879"^^xsd:gYear , "1879"^^xsd:integer , "1879"@en-GB'
    store = graph(tmp_path, f"yago:A schema:birthDate {values} .\nyago:B schema:birthDate {values} .\n")
    pairs = list(sampled_pairs(store, catalog.relation("birthDate").yago, seed=5, page=2, english_only=True))
    assert len({(pair.subject, pair.object) for pair in pairs}) == len(pairs) == 10
    assert len({pair.key for pair in pairs}) == 2


@pytest.mark.parametrize(("ignored", "clause"), [("FILTER", r"FILTER\(.*\)"), ("LIMIT", r"LIMIT \d+")])
def test_pages_that_do_not_advance_are_an_error(ignored: str, clause: str, dump: Dump) -> None:
    class Ignoring:
        address = "https://cache.example/sparql"

        def select(self, query: str) -> Rows:
            return replace(dump.select(re.sub(clause, "", query)), address=self.address)

    pairs = sampled_pairs(Ignoring(), catalog.relation("birthDate").yago, seed=5, page=3)
    with pytest.raises(ServiceError, match=rf"^https://cache\.example/sparql .* outside the query's {ignored}"):
        list(islice(pairs, 1_000))


def test_a_service_that_slows_down_loses_no_pair(dump: Dump) -> None:
    def slow_until_split(query: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        is_later_page, has_two_digits = "?k >" in query, re.search(r'STRSTARTS\(\?k, "..', query)
        if is_later_page and not has_two_digits:
            raise ServiceTimeout("YAGO needs too long")
        return rows

    slow = Changed(dump, slow_until_split)
    keys = [pair.key for pair in sampled_pairs(slow, catalog.relation("award").yago, seed=5, page=40)]
    assert keys == [pair.key for pair in sampled_pairs(dump, catalog.relation("award").yago, seed=5, page=ALL_PAIRS)]


def test_another_seed_draws_another_sample(dump: Dump) -> None:
    samples = {
        seed: [fact.subject for fact in yago.facts(dump, catalog.relation("award"), pairs=20, seed=seed).facts]
        for seed in (1, 2, -3)
    }
    assert len(set(map(tuple, samples.values()))) == 3
    assert len(set().union(*samples.values())) > 30
    more = yago.facts(dump, catalog.relation("award"), pairs=60, seed=2).facts  # begins with the smaller sample
    assert samples[2] == [fact.subject for fact in more[:20]]


def test_an_always_slow_service_is_given_up(dump: Dump) -> None:
    def too_slow(query: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        raise ServiceTimeout("YAGO needs too long")

    store = Changed(dump, too_slow)
    with pytest.raises(ServiceTimeout, match="YAGO needs too long"):
        yago.facts(store, catalog.relation("capital"), pairs=100, seed=1)
    assert len(store.queries) == 1 + 1 + MAX_DIGITS  # the count, the first page, and longer and longer prefixes
    limits = [int(limit) for query in store.queries for limit in re.findall(r"LIMIT (\d+)", query)]
    assert limits == [200, 100, 50, 25]  # each timeout halves the page
