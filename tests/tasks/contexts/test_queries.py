from data import catalog
from data.records import RelationName, WikidataId
from tasks.contexts.entities import Entity
from tasks.contexts.queries import write_queries

CAPITAL = RelationName("capital")
NORWAY = Entity("Norway", False, "Oslo", WikidataId("Q20"))
OSTREMIA = Entity("Ostremia", True, "Lima")
QUERIES = write_queries(CAPITAL, [NORWAY, OSTREMIA])


def test_entities_are_asked_about_in_four_forms() -> None:
    forms = [(query.entity, query.query_type, query.form) for query in QUERIES]
    each = [("open", 1), ("open", 2), ("closed", 1), ("closed", 2)]
    assert forms == [(name, *form) for name in ("Norway", "Ostremia") for form in each]
    templates = (*catalog.relation("capital").open, *catalog.relation("capital").closed)
    filled = [form.replace("{entity}", "Norway").replace("{answer}", "Oslo") for form in templates]
    assert [query.text for query in QUERIES[:4]] == filled
    for query in QUERIES:
        assert (query.answer in query.text) == (query.query_type == "closed")
    assert {(query.entity_id, query.invented, query.answer) for query in QUERIES[:4]} == {("Q20", False, "Oslo")}
    assert {(query.entity_id, query.invented, query.answer) for query in QUERIES[4:]} == {(None, True, "Lima")}


def test_ids_are_different_and_do_not_depend_on_order() -> None:
    turned = write_queries(CAPITAL, [OSTREMIA, NORWAY])
    assert len({query.query_id for query in QUERIES}) == 8
    assert {query.query_id: query for query in turned} == {query.query_id: query for query in QUERIES}


def test_a_name_with_braces_is_not_filled_again() -> None:
    (first, *_) = write_queries(CAPITAL, [Entity("{answer}", True, "Lima")])
    assert "{answer}" in first.text
    assert "Lima" not in first.text
