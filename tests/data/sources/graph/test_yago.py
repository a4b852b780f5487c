from pathlib import Path

import pytest

from swaymeter.data.sources.graph import yago
from swaymeter.data.sources.graph.dump import Dump
from swaymeter.data.sources.graph.source import predicates
from swaymeter.data.sources.graph.sparql import Endpoint
from tests.data.sources.graph.small_graphs import by_subject, graph, said
from tests.data.sources.graph.turtle import YAGO
from tests.data.sources.graph.yago_graph import RELATIONS, relation_named
from tests.data.sources.graph.yago_nasty import NASTY


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_server_and_a_dump_give_the_same_facts(relation: str, endpoint: Endpoint, dump: Dump) -> None:
    asked = yago.facts(endpoint, relation_named(relation), pairs=15, seed=7)
    loaded = yago.facts(dump, relation_named(relation), pairs=15, seed=7)
    assert said(asked.facts) == said(loaded.facts)
    assert (asked.requested, asked.rejected) == (loaded.requested, loaded.rejected)
    assert len(asked.facts) == 15
    assert {fact.relation for fact in asked.facts} == {relation}
    assert {fact.address for fact in asked.facts} == {endpoint.address}
    assert {fact.address for fact in loaded.facts} == {"file:yago.ttl"}


def test_degrees_count_the_triples_that_an_entity_is_part_of(tmp_path: Path) -> None:
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
    facts = by_subject(store, "capital")
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
    facts = by_subject(store, "spouse")
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
    finland = by_subject(store, "officialLanguage")["Finland"]
    assert {finland.object, *finland.other_objects} == {"Finnish", "Swedish"}
    assert finland.subject_relation_degree == 3
    assert finland.object_relation_degree == {"Finnish": 2, "Swedish": 1}[finland.object]


def test_of_a_reversed_relation_the_object_is_asked_about(dump: Dump) -> None:
    ada = by_subject(dump, "reverseDirector")["Ada Quillfeather"]
    films = {ada.object, *ada.other_objects}
    assert films == {
        "The Amber Lantern (film)", "The Amber Cartographer (film)", f"Starring {NASTY['quotes']}",
    }  # fmt: skip
    assert all(by_subject(dump, "director")[film].object == "Ada Quillfeather" for film in films)
    assert ada.subject_uri == YAGO + "Ada_Quillfeather"
    assert ada.subject_relation_degree == 3
    assert ada.object_relation_degree == 1


def test_a_literal_value_has_no_iri_or_degree(dump: Dump) -> None:
    everest = by_subject(dump, "elevation")["Mount Everest"]
    assert everest.object == "8849 metres"
    assert (everest.object_uri, everest.object_id) == (None, None)
    assert (everest.object_degree, everest.object_relation_degree) == (None, None)
    assert everest.subject_degree == 4


def test_names_of_things_in_the_graph_exist(endpoint: Endpoint) -> None:
    unknown = ["norway", "Nowhere"]
    known = [*NASTY.values(), "Norway", "Land of Oslo", "Mul Quillfeather", "Ohne englischen Namen", ""]
    assert yago.existing(endpoint, [*known, *unknown]) == set(known)
    assert yago.existing(endpoint, []) == set()


def test_predicates_are_listed_with_the_classes_of_their_subjects(tmp_path: Path) -> None:
    store = graph(
        tmp_path,
        """
        yago:A a schema:Person , yago:Singer ; schema:spouse yago:B , yago:C .
        yago:B a schema:Person ; schema:spouse yago:A .
        """,
    )
    found = {predicate.iri: predicate for predicate in predicates(store)}
    spouse = found["http://schema.org/spouse"]
    assert (spouse.triples, spouse.subject_classes) == (3, ("http://schema.org/Person", YAGO + "Singer"))
    assert [predicate.triples for predicate in found.values()] == [3, 3]
