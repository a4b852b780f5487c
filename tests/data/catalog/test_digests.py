"""A digest of a part of the catalog follows that part and no other."""

from collections.abc import Callable

import pytest

from swaymeter.data import catalog
from swaymeter.data.records import PARTITIONS
from tests.data.conftest import Change

Digests = dict[str, str]
ENDS, ENDS_OTHERWISE = 'The capital of {entity} is"', 'The capital city of {entity} is"'


def of_relations() -> Digests:
    return {name: catalog.relation_digest(name) for name in catalog.relations()}


def of_facts() -> Digests:
    return {name: catalog.facts_digest(name) for name in catalog.relations()}


def of_questions() -> Digests:
    return {partition: catalog.questions_digest(partition) for partition in PARTITIONS}


def of_names() -> Digests:
    return {"names": catalog.property_names_digest()}


@pytest.mark.parametrize(
    ("filename", "old", "new", "digests", "changed"),
    [
        ("relations.yaml", ENDS, ENDS_OTHERWISE, of_relations, {"capital"}),
        ("relations.yaml", "wikidata: P36\n", "wikidata: P1376\n", of_relations, {"capital"}),
        ("relations.yaml", "\nrelations:", "\n# a comment\nrelations:", of_relations, set()),
        ("relations.yaml", "wikidata: P36\n", "wikidata: P1376\n", of_names, {"names"}),
        ("relations.yaml", ENDS, ENDS_OTHERWISE, of_names, set()),
        ("facts.csv", "\ncapital,", "\ncapital,Testland,,Testville,,,test\ncapital,", of_facts, {"capital"}),
        ("facts.csv", "\ncapital,Azerbaijan", "\ncapital,Another Azerbaijan", of_facts, {"capital"}),
        ("facts.csv", "# Real facts", "# Facts", of_facts, set()),
        ("questions.csv", "\nstatic,director,", "\nstatic,author,", of_questions, {"static"}),
    ],
)  # fmt: skip
def test_digest_follows_its_own_part(
    change: Change, filename: str, old: str, new: str, digests: Callable[[], Digests], changed: set[str]
) -> None:
    before = digests()
    change(filename, old, new)
    after = digests()
    assert {name for name in before if before[name] != after[name]} == changed
