"""A digest of a part of the catalog follows that part and no other."""

from collections.abc import Callable

import pytest

from data import catalog
from data.catalog import reading
from tests.data.catalog.conftest import Serve

Digests = dict[str, str]
ENDS, ENDS_OTHERWISE = 'The capital of {entity} is"', 'The capital city of {entity} is"'
FACTS = [f"capital,Testland {number},,Testville {number},,,test" for number in range(3)]


def of_relations() -> Digests:
    return {name: catalog.relation_digest(name) for name in catalog.relations()}


def of_facts() -> Digests:
    return {name: catalog.facts_digest(name) for name in catalog.relations()}


def of_questions() -> Digests:
    return {partition: catalog.questions_digest(partition) for partition in catalog.PARTITIONS}


def of_names() -> Digests:
    return {"names": catalog.property_names_digest()}


def edited(filename: str, old: str, new: str) -> str:
    text = reading.content(filename).decode()
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    ("filename", "old", "new", "digests", "changed"),
    [
        ("relations.yaml", ENDS, ENDS_OTHERWISE, of_relations, {"capital"}),
        ("relations.yaml", "wikidata: P36\n", "wikidata: P1376\n", of_relations, {"capital"}),
        ("relations.yaml", "\nrelations:", "\n# a comment\nrelations:", of_relations, set()),
        ("relations.yaml", "wikidata: P36\n", "wikidata: P1376\n", of_names, {"names"}),
        ("relations.yaml", ENDS, ENDS_OTHERWISE, of_names, set()),
        ("facts.csv", "\ncapital,", "\n" + "\n".join([*FACTS, "capital,"]), of_facts, {"capital"}),
        ("facts.csv", "\ncapital,Azerbaijan", "\ncapital,Another Azerbaijan", of_facts, {"capital"}),
        ("facts.csv", "# Real facts", "# Facts", of_facts, set()),
        ("questions.csv", "\nstatic,director,", "\nstatic,author,", of_questions, {"static"}),
    ],
)  # fmt: skip
def test_digest_follows_its_own_part(
    serve: Serve, filename: str, old: str, new: str, digests: Callable[[], Digests], changed: set[str]
) -> None:
    before = digests()
    serve(filename, edited(filename, old, new))
    after = digests()
    assert {name for name in before if before[name] != after[name]} == changed


def test_digests_of_different_relations_differ() -> None:
    assert len(set(of_relations().values())) == len(catalog.relations())
