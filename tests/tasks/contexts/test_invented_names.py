"""Names of invented entities: the inputs of their key, their absence from graphs, and their likeness to real names.

If invented names were longer or oddly spelled, an effect of spelling could be taken for an effect of unfamiliarity.
Unknown names have at least two tokens, and well-known names of countries, cities and languages have one token. The
means may therefore differ by one token.
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


def facts_options(**changes: Any) -> FactsOptions:
    content = {"source": "yago", "relations": ["capital"], "invented": "names", "invented_entities": 3, **changes}
    return FACT_SOURCES[content["source"]].options.model_validate(content)


def write_graph(folder: Path, *names: str) -> str:
    """Write a dump of a graph with these names, and return its path."""
    lines = [f'<http://a.example/{number}> {LABEL} "{name}"@en .\n' for number, name in enumerate(names)]
    file = folder / "graph.nt"
    file.write_text("".join(lines), encoding="utf-8")
    return str(file)


def test_key_of_names_depends_on_their_inputs(access: Access) -> None:
    key = invented_names_key(facts_options(), "country", 0, access)
    for options in (
        facts_options(invented="catalog"),
        facts_options(invented_entities=9),
        facts_options(absent_from=["yago"]),
        facts_options(invented="model", invented_model="smollm2-135m-instruct"),
    ):
        assert invented_names_key(options, "country", 0, access) != key
    assert invented_names_key(facts_options(), "country", 1, access) != key
    assert invented_names_key(facts_options(), "city", 0, access) != key
    assert invented_names_key(facts_options(pairs=11), "country", 0, access) == key
    options = facts_options(source="sample", invented="catalog")  # listed names do not depend on the seed
    assert invented_names_key(options, "country", 0, access) == invented_names_key(options, "country", 5, access)


def test_existing_names_are_replaced(access: Access, tmp_path: Path) -> None:
    candidates = invented_names("country", 3 + SPARE, seed=0)
    options = facts_options(dump=[write_graph(tmp_path, *candidates[:20])])
    names, addresses = fetch_invented_names(options, "country", 0, access)
    assert len(names) >= 3 + SPARE
    assert names[:3] == candidates[20:23]
    assert not set(names) & set(candidates[:20])
    assert addresses == ["file:graph.nt"]
    # Without a graph, names are not checked.
    names, addresses = fetch_invented_names(facts_options(absent_from=[]), "country", 0, access)
    assert (names, addresses) == (candidates, [])


def test_existing_listed_names_are_left_out(access: Access, tmp_path: Path) -> None:
    listed = catalog.invented_entities("country")
    options = facts_options(invented="catalog", dump=[write_graph(tmp_path, *listed[1:])])
    assert fetch_invented_names(options, "country", 0, access)[0] == [listed[0]]
    options = facts_options(invented="catalog", dump=[write_graph(tmp_path, *listed)])
    with pytest.raises(InputError, match=r"class country: every invented name is .*; set `invented: names`"):
        fetch_invented_names(options, "country", 0, access)


def test_error_of_unreachable_graph_gives_advice(access: Access) -> None:
    services = {"yago": replace(SERVICES["yago"], address=unused_address())}
    with pytest.raises(ServiceError, match=r"cannot be reached.*`absent_from: \[\]` under `facts`"):
        fetch_invented_names(facts_options(), "country", 0, replace(access, services=services))


TOLERANCES: dict[str, tuple[float, Callable[[str], float]]] = {
    "words": (0.4, lambda name: len(name.split())),
    "share of words with a capital": (0.15, lambda name: mean(word[0].isupper() for word in name.split())),
    "names with accents": (0.05, lambda name: not name.isascii()),
    "characters": (3.5, len),
}
"""The largest difference between the means of invented and real names, and the value of a name, by trait."""


def _real() -> dict[str, list[str]]:
    """Return the distinct names of subjects and objects by class, without classes of fewer than 12 names."""
    names_by_class: dict[str, set[str]] = {}
    for fact in catalog.facts():
        relation = catalog.relation(fact.relation)
        names_by_class.setdefault(relation.subject_class, set()).add(fact.subject)
        names_by_class.setdefault(relation.object_class, set()).add(fact.object)
    return {
        name: sorted(names_by_class[name]) for name in catalog.ENTITY_CLASSES if len(names_by_class.get(name, ())) >= 12
    }


REAL = _real()


def listed_and_composed(entity_class: str) -> tuple[Sequence[str], Sequence[str]]:
    return catalog.invented_entities(entity_class), invented_names(entity_class, 200, seed=0)


@pytest.mark.parametrize("entity_class", REAL)
def test_invented_names_look_like_real_ones(entity_class: str) -> None:
    for names in listed_and_composed(entity_class):
        for trait, (tolerance, value) in TOLERANCES.items():
            assert mean(map(value, names)) == pytest.approx(mean(map(value, REAL[entity_class])), abs=tolerance), trait


def test_invented_names_have_tokens_like_real_ones(smollm2: LanguageModel) -> None:
    def tokens(name: str) -> int:
        return len(smollm2.tokenizer(f" {name}", add_special_tokens=False)["input_ids"])

    assert len(REAL) == 13
    for entity_class, real in REAL.items():
        for names in listed_and_composed(entity_class):
            assert min(map(tokens, names)) > 1  # a single token is a word that the model knows
            assert mean(map(tokens, names)) == pytest.approx(mean(map(tokens, real)), abs=1.0), entity_class


def test_invented_countries_have_names_of_one_word() -> None:
    for names in listed_and_composed("country"):
        assert all(name.isalpha() for name in names)  # such names need no article
