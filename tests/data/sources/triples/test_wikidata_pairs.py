import hashlib

import pytest

from swaymeter.data.errors import InputError, ServiceTimeout
from swaymeter.data.records import Triple, WikidataId
from swaymeter.data.sources.graph.dump import Dump
from swaymeter.data.sources.graph.sparql import Row, SparqlStore
from swaymeter.data.sources.triples import wikidata_pairs
from swaymeter.data.sources.triples.wikidata_pairs import ENTITY, triples_of_property
from tests.data.sources.graph.yago_graph import Changed, graph

OCCUPATION, SPORT, BIRTH_DATE = map(WikidataId, ("P106", "P641", "P569"))
PEOPLE, OCCUPATIONS = range(1, 121), range(1001, 1008)
PREFIXES = "@prefix wdt: <http://www.wikidata.org/prop/direct/> .\n"
ENGLISH, GERMAN = "https://en.wikipedia.org/", "https://de.wikipedia.org/"


def article(item: str, wiki: str = ENGLISH) -> str:
    return f"<{wiki}wiki/{item}> schema:about wd:{item} ; schema:isPartOf <{wiki}> .\n"


def has_article(number: int) -> bool:
    """Return True for two thirds of the people, and for all occupations except the last."""
    return number % 3 != 0 if number in PEOPLE else number != OCCUPATIONS[-1]


def occupations(number: int) -> set[int]:
    """Return the occupations of a person: two for every fourth person, one for the others."""
    return {OCCUPATIONS[number % 7]} | ({OCCUPATIONS[(number + 1) % 7]} if number % 4 == 0 else set())


def people_and_occupations() -> str:
    text = [PREFIXES]
    for number in PEOPLE:
        text += [f"wd:Q{number} wdt:P106 wd:Q{occupation} .\n" for occupation in sorted(occupations(number))]
        text.append(f'wd:Q{number} wdt:P569 "1970-01-01"^^xsd:date .\n')
    text += [article(f"Q{number}", ENGLISH if has_article(number) else GERMAN) for number in (*PEOPLE, *OCCUPATIONS)]
    text.append(
        'wd:P106 rdfs:label "occupation"@en , "Beruf"@de .\n'
        # unusable values: an unknown value, a blank node, a property, a lexeme, the subject, another graph's item
        "wd:Q1 wdt:P641 <http://www.wikidata.org/.well-known/genid/0f> , _:unknown , wd:P106 , wd:L7 , wd:Q1 .\n"
        "wd:L7 wdt:P641 wd:Q2 .\nwd:Q4 wdt:P641 wd:Q5 , <http://other.example/entity/Q7> .\n"
        'wd:P641 rdfs:label "b\\u202e {sport}\\n<b>"@en , "z"@en .\n'
        "wd:Q1 wdt:P460 wd:Q3 . wd:Q3 wdt:P460 wd:Q1 .\n"
    )
    return "".join(text)


@pytest.fixture(scope="module")
def wikidata(tmp_path_factory: pytest.TempPathFactory) -> Dump:
    """Load a small graph with the prefixes of the Query Service."""
    return graph(tmp_path_factory.mktemp("wikidata"), people_and_occupations())


def pairs(triples: list[Triple]) -> list[tuple[str, str]]:
    return [(triple.subject_id, triple.object_id) for triple in triples]


def expected_pairs(seed: int) -> list[tuple[str, str]]:
    """Return the expected sample: pairs of items with articles in the order of their MD5, one for each subject."""

    def key(pair: tuple[str, str]) -> str:
        text = f"{seed} {ENTITY}{pair[0]} {ENTITY}{pair[1]}"
        return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()

    joined = [
        (f"Q{number}", f"Q{occupation}")
        for number in PEOPLE
        for occupation in occupations(number)
        if has_article(number) and has_article(occupation)
    ]
    first: dict[str, tuple[str, str]] = {}
    for pair in sorted(joined, key=key):
        first.setdefault(pair[0], pair)
    return list(first.values())


@pytest.mark.parametrize("seed", [0, 1, -3])
def test_subjects_have_one_fact_in_key_order(seed: int, wikidata: Dump) -> None:
    expected = expected_pairs(seed)
    assert 60 < len(expected) < 80  # 80 people have an article, but the occupations of some of them have none
    assert pairs(triples_of_property(wikidata, OCCUPATION, 1_000, seed=seed)) == expected
    assert pairs(triples_of_property(wikidata, OCCUPATION, 12, seed=seed)) == expected[:12]
    assert pairs(triples_of_property(wikidata, OCCUPATION, 1, seed=seed)) == expected[:1]


def test_values_that_are_no_items_are_left_out(wikidata: Dump) -> None:
    (triple,) = triples_of_property(wikidata, SPORT, 10, seed=1)
    assert (triple.subject_id, triple.object_id, triple.relation) == ("Q4", "Q5", "P641")
    assert triple.property == "b {sport} <b>"


def test_a_property_of_literals_is_refused_early(wikidata: Dump, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wikidata_pairs, "BLOCK", 50)
    store = Changed(wikidata, lambda query, rows: rows)
    with pytest.raises(InputError, match=r"property P569: none of the 50 pairs at .* joins two items"):
        triples_of_property(store, BIRTH_DATE, 10, seed=1)
    assert not any("VALUES" in query for query in store.queries)  # no query for articles


@pytest.mark.parametrize(("property_id", "count"), [("P460", 2), ("P999", 0)])
def test_property_without_pair_of_articles_is_refused(property_id: str, count: int, wikidata: Dump) -> None:
    with pytest.raises(InputError, match=f"property {property_id}: none of the {count} pairs"):
        triples_of_property(wikidata, WikidataId(property_id), 10, seed=1)


def test_the_error_of_a_large_property_gives_advice(wikidata: Dump) -> None:
    def too_slow(query: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        raise ServiceTimeout("Wikidata needs too long")

    store: SparqlStore = Changed(wikidata, too_slow)
    with pytest.raises(ServiceTimeout, match=r"property P106: Wikidata needs too long; .*list its facts in a CSV"):
        triples_of_property(store, OCCUPATION, 10, seed=1)
