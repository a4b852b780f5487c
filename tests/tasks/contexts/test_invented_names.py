"""The names of invented entities: what they depend on, that none of them exists, and that they look like real ones.

Length and strangeness would else be taken for unfamiliarity. A name that nobody knows has at least two tokens, and the
well-known names of countries, cities and languages one: hence the tolerance of one token in the means.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
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
from swaymeter.tasks.models import LanguageModel
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
    with pytest.raises(InputError, match=r"class country: every invented name is .*; set `invented: names`"):
        fetch_invented_names(options, "country", 0, access)


def test_an_unreachable_graph_comes_with_advice(access: Access) -> None:
    elsewhere = {"yago": replace(SERVICES["yago"], address=unused_address())}
    with pytest.raises(ServiceError, match=r"cannot be reached.*`absent_from: \[\]` under `facts`"):
        fetch_invented_names(facts(), "country", 0, replace(access, services=elsewhere))


TOLERANCES: dict[str, tuple[float, Callable[[str], float]]] = {
    "words": (0.4, lambda name: len(name.split())),
    "share of words with a capital": (0.15, lambda name: mean(word[0].isupper() for word in name.split())),
    "names with accents": (0.05, lambda name: not name.isascii()),
    "characters": (3.5, len),
}
"""How far the mean of invented names of a class may be from that of real ones."""


def _real() -> dict[str, list[str]]:
    """The different names of each class of entities, of subjects and objects; small classes say too little."""
    found: dict[str, set[str]] = {}
    for fact in catalog.facts():
        relation = catalog.relation(fact.relation)
        found.setdefault(relation.subject_class, set()).add(fact.subject)
        found.setdefault(relation.object_class, set()).add(fact.object)
    return {name: sorted(found[name]) for name in catalog.ENTITY_CLASSES if len(found.get(name, ())) >= 12}


REAL = _real()


def invented(entity_class: str) -> tuple[Sequence[str], Sequence[str]]:
    return catalog.invented_entities(entity_class), invented_names(entity_class, 200, seed=0)


@pytest.mark.parametrize("entity_class", REAL)
def test_invented_names_look_like_real_ones(entity_class: str) -> None:
    for names in invented(entity_class):
        for what, (tolerance, value) in TOLERANCES.items():
            assert mean(map(value, names)) == pytest.approx(mean(map(value, REAL[entity_class])), abs=tolerance), what


def test_invented_names_have_tokens_like_real_ones(smollm2: LanguageModel) -> None:
    def tokens(name: str) -> int:
        return len(smollm2.tokenizer(f" {name}", add_special_tokens=False)["input_ids"])

    assert len(REAL) == 13
    for entity_class, real in REAL.items():
        for names in invented(entity_class):
            assert min(map(tokens, names)) > 1  # what is one token is a word that the model knows
            assert mean(map(tokens, names)) == pytest.approx(mean(map(tokens, real)), abs=1.0), entity_class


def test_no_invented_country_needs_an_article() -> None:
    for names in invented("country"):
        assert all(name.isalpha() for name in names)
