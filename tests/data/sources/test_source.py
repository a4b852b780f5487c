"""What the sources of facts and questions declare: what their rows depend on, and how they are fetched."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data import catalog
from swaymeter.data.errors import InputError, ServiceError
from swaymeter.data.records import PARTITIONS, SLOT, RelationName
from swaymeter.data.sources import sample
from swaymeter.data.sources.access import Access
from swaymeter.data.sources.http.services import SERVICES
from swaymeter.data.sources.registry import FACT_SOURCES, QUESTION_SOURCES
from swaymeter.data.storage.keys import content_key
from tests.data.sources.servers.faults import unused_address

YAGO = {"source": "yago", "relations": ["capital"], "pairs": 10, "invented": "names"}
SAMPLE = {"source": "sample", "relations": ["capital"]}
TRIPLE = "<http://a.example/s> <http://a.example/p> <http://a.example/o> .\n"


@dataclass(frozen=True)
class Request:
    """A source's options and what it is asked with."""

    options: dict[str, Any]
    access: Access
    relation: str = "capital"
    seed: int = 0

    def key(self) -> str:
        """The digest of what the facts depend on."""
        source = FACT_SOURCES[self.options["source"]]
        options = source.options.model_validate(self.options)
        return content_key(dict(source.key(options, self.relation, self.seed, self.access)))


@pytest.fixture
def access(tmp_path: Path) -> Access:
    return Access(tmp_path / "downloads", contact="tests@example.org")


def at(access: Access, service: str, address: str) -> Access:
    return replace(access, services={service: replace(SERVICES[service], address=address)})


def test_facts_of_a_graph_depend_on_graph_draw_and_seed(access: Access) -> None:
    before = Request(YAGO, access)
    others = [
        replace(before, options=YAGO | {"pairs": 11}),
        replace(before, options=YAGO | {"citation": "mine"}),
        replace(before, seed=1),
        replace(before, relation="birthPlace"),
        replace(before, access=at(access, "yago", "http://127.0.0.1:7878/query")),
        replace(before, options=SAMPLE),
    ]
    assert len({request.key() for request in (before, *others)}) == 1 + len(others)


def test_facts_depend_on_nothing_else(access: Access) -> None:
    polite = replace(access, contact="a@example.org", cache=Path("elsewhere"), offline=True)
    assert Request(YAGO, polite).key() == Request(YAGO, access).key()
    assert Request(YAGO | {"real_entities": 9, "choice": "degree"}, access).key() == Request(YAGO, access).key()
    assert Request(SAMPLE, access, seed=1).key() == Request(SAMPLE, access).key()


def test_a_dump_is_known_by_what_it_holds(access: Access, tmp_path: Path) -> None:
    dump, copy = tmp_path / "facts.nt", tmp_path / "copy.nt"
    dump.write_text(TRIPLE)
    copy.write_text(TRIPLE)
    before = Request(YAGO | {"dump": [str(dump)]}, access).key()
    assert Request(YAGO | {"dump": [str(copy)]}, access).key() == before
    dump.write_text(TRIPLE.replace("/o>", "/other>"))
    assert Request(YAGO | {"dump": [str(dump)]}, access).key() != before
    with pytest.raises(InputError, match=r"gone\.nt cannot be read"):
        Request(YAGO | {"dump": [str(tmp_path / "gone.nt")]}, access).key()


@pytest.mark.parametrize(
    ("options", "address", "names"),
    [
        (YAGO, None, ["yago", "wikidata"]), (YAGO, "http://127.0.0.1/query", ["yago"]),
        (YAGO | {"dump": ["facts.nt"]}, None, ["yago"]), (YAGO | {"absent_from": []}, None, []), (SAMPLE, None, []),
        (SAMPLE | {"absent_from": ["wikidata"]}, None, ["wikidata"]),
    ],
)  # fmt: skip
def test_invented_names_are_looked_up_where_it_suits(
    options: dict[str, Any], address: str | None, names: list[str], access: Access
) -> None:
    source = FACT_SOURCES[options["source"]]
    asked = at(access, "yago", address) if address else access
    assert [graph.name for graph in source.graphs(source.options.model_validate(options), asked)] == names


def test_an_unreachable_service_comes_with_an_alternative(access: Access) -> None:
    source = FACT_SOURCES["yago"]
    options = source.options.model_validate(YAGO)
    with pytest.raises(ServiceError, match=r"cannot be reached.*`source: sample`.*`dump`.*`absent_from: \[\]`"):
        source.fetch(options, "capital", 0, at(access, "yago", unused_address()))


def test_a_dump_without_a_relation_advises_no_dump(access: Access, tmp_path: Path) -> None:
    (tmp_path / "facts.nt").write_text(TRIPLE)
    source = FACT_SOURCES["yago"]
    options = source.options.model_validate(YAGO | {"dump": [str(tmp_path / "facts.nt")]})
    with pytest.raises(InputError, match="holds no fact") as raised:
        source.fetch(options, "capital", 0, access)
    assert "`dump`" not in str(raised.value)


def test_published_questions_are_known_by_their_file_or_address(access: Access, tmp_path: Path) -> None:
    source = QUESTION_SOURCES["dynamicqa"]
    assert source.key is not None
    assert source.fetch is not None
    file = tmp_path / "Static_final.csv"
    keys = []
    for content in ("one", "two"):
        file.write_text(content)
        keys.append(source.key(source.options(source="dynamicqa", folder=str(tmp_path)), "static", access))
    downloaded = source.options(source="dynamicqa")
    keys.append(source.key(downloaded, "static", access))
    keys.append(source.key(downloaded, "static", at(access, "dynamicqa", "http://127.0.0.1/mirror")))
    assert len({content_key(dict(key)) for key in keys}) == 4
    with pytest.raises(ServiceError, match=r"Static_final\.csv .* offline.*; name a `folder`"):
        source.fetch(downloaded, "static", replace(access, offline=True))


def test_the_sample_has_facts_with_sources_and_filled_contexts() -> None:
    facts = sample.facts("capital")
    assert len(facts) == len(catalog.facts("capital")) > 0
    assert all(fact.source for fact in facts)
    assert {(type(fact.relation), fact.relation, fact.licence) for fact in facts} == {
        (RelationName, "capital", sample.LICENCE)
    }
    for question in (one for partition in PARTITIONS for one in sample.questions(partition)):
        assert question.object in question.original_context
        assert question.replacement in question.counter_memory_context
        assert SLOT not in question.original_context + question.counter_memory_context
