"""The names of invented entities: what they depend on, and that none of them exists in the graphs of the study."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data import catalog
from swaymeter.data.errors import InputError, ServiceError
from swaymeter.data.invented import invented_names
from swaymeter.data.sources.access import Access
from swaymeter.data.sources.http.services import SERVICES
from swaymeter.data.sources.registry import FACT_SOURCES
from swaymeter.data.sources.source import FactsOptions
from swaymeter.tasks.contexts.invented_names import SPARE, fetch_invented_names, invented_names_key
from tests.data.sources.servers.faults import unused_address

LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"


@pytest.fixture
def access(tmp_path: Path) -> Access:
    return Access(tmp_path / "downloads", contact="tests@example.org")


def facts(**given: Any) -> FactsOptions:
    content = {"source": "yago", "relations": ["capital"], "invented": "names", "invented_entities": 3, **given}
    return FACT_SOURCES[content["source"]].options.model_validate(content)


def graph_of(folder: Path, *names: str) -> str:
    """A dump in which these names are somebody's."""
    lines = [f'<http://a.example/{number}> {LABEL} "{name}"@en .\n' for number, name in enumerate(names)]
    file = folder / "graph.nt"
    file.write_text("".join(lines), encoding="utf-8")
    return str(file)


def test_names_depend_on_maker_count_and_graphs(access: Access) -> None:
    before = invented_names_key(facts(), "country", 0, access)
    for options in (
        facts(invented="catalog"),
        facts(invented_entities=9),
        facts(absent_from=["yago"]),
        facts(invented="model", invented_model="smollm2-135m-instruct"),
    ):
        assert invented_names_key(options, "country", 0, access) != before
    assert invented_names_key(facts(), "country", 1, access) != before
    assert invented_names_key(facts(), "city", 0, access) != before
    assert invented_names_key(facts(pairs=11), "country", 0, access) == before
    options = facts(source="sample", invented="catalog")  # listed names depend on the list alone
    assert invented_names_key(options, "country", 0, access) == invented_names_key(options, "country", 5, access)


def test_existing_names_are_replaced(access: Access, tmp_path: Path) -> None:
    known = invented_names("country", 3 + SPARE, seed=0)
    options = facts(dump=[graph_of(tmp_path, *known[:20])])
    names, addresses = fetch_invented_names(options, "country", 0, access)
    assert len(names) >= 3 + SPARE
    assert names[:3] == known[20:23]
    assert not set(names) & set(known[:20])
    assert addresses == ["file:graph.nt"]
    names, addresses = fetch_invented_names(facts(absent_from=[]), "country", 0, access)  # not looked up
    assert (names, addresses) == (known, [])


def test_listed_names_are_as_many_as_remain(access: Access, tmp_path: Path) -> None:
    listed = catalog.invented_entities("country")
    options = facts(invented="catalog", dump=[graph_of(tmp_path, *listed[1:])])
    assert fetch_invented_names(options, "country", 0, access)[0] == [listed[0]]
    options = facts(invented="catalog", dump=[graph_of(tmp_path, *listed)])
    with pytest.raises(InputError, match="class country: every invented name exists"):
        fetch_invented_names(options, "country", 0, access)


def test_an_unreachable_graph_comes_with_advice(access: Access) -> None:
    elsewhere = {"yago": replace(SERVICES["yago"], address=unused_address())}
    with pytest.raises(ServiceError, match=r"cannot be reached.*`absent_from: \[\]` under `facts`"):
        fetch_invented_names(facts(), "country", 0, replace(access, services=elsewhere))
