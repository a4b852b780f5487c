"""Digests of parts of the catalog: each depends on its own part alone."""

from collections.abc import Callable

import pytest

from swaymeter.data import catalog
from swaymeter.data.records import PARTITIONS
from tests.data.conftest import Change

# The closing quotation mark excludes longer templates that begin with the same words.
TEMPLATE, OTHER_TEMPLATE = 'The capital of {entity} is"', 'The capital city of {entity} is"'
DIGESTS: dict[str, Callable[[], dict[str, str]]] = {
    "relations": lambda: {name: catalog.relation_digest(name) for name in catalog.relations()},
    "facts": lambda: {name: catalog.facts_digest(name) for name in catalog.relations()},
    "questions": lambda: {partition: catalog.questions_digest(partition) for partition in PARTITIONS},
    "property names": lambda: {"property names": catalog.property_names_digest()},
}


@pytest.mark.parametrize(
    ("filename", "old", "new", "digests", "changed"),
    [
        ("relations.yaml", TEMPLATE, OTHER_TEMPLATE, "relations", {"capital"}),
        ("relations.yaml", "wikidata: P36\n", "wikidata: P1376\n", "relations", {"capital"}),
        ("relations.yaml", "\nrelations:", "\n# a comment\nrelations:", "relations", set()),
        ("relations.yaml", "wikidata: P36\n", "wikidata: P1376\n", "property names", {"property names"}),
        ("relations.yaml", TEMPLATE, OTHER_TEMPLATE, "property names", set()),
        ("facts.csv", "\ncapital,", "\ncapital,Testland,,Testville,,,test\ncapital,", "facts", {"capital"}),
        ("facts.csv", "\ncapital,Azerbaijan", "\ncapital,Another Azerbaijan", "facts", {"capital"}),
        ("facts.csv", "# Real facts", "# Facts", "facts", set()),
        ("questions.csv", "\nstatic,director,", "\nstatic,author,", "questions", {"static"}),
    ],
)
def test_digest_depends_on_its_own_part_alone(
    change: Change, filename: str, old: str, new: str, digests: str, changed: set[str]
) -> None:
    before = DIGESTS[digests]()
    change(filename, old, new)
    after = DIGESTS[digests]()
    assert {name for name in before if before[name] != after[name]} == changed
