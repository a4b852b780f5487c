"""The parts of a study file that say which facts are asked about, and what is refused there."""

from typing import Any

import pytest
from pydantic import ValidationError

from data import catalog
from flows.study.facts import FactsPart, ServicesPart


def facts(**said: Any) -> FactsPart:
    return FactsPart.model_validate(said)


def test_all_relations_are_those_that_the_source_has() -> None:
    assert facts(source="yago", relations="all").relations == catalog.relations_of_yago()
    of_sample = facts(source="sample", relations="all").relations
    assert set(of_sample) == {fact.relation for fact in catalog.facts()}


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"relations": ["capital", "capital"]}, "named twice"),
        ({"relations": "capital"}, "expected a list of relations, or `all`"),
        ({"relations": ["capital"], "real_entities": 0, "invented_entities": 0}, "nobody to ask about"),
        ({"dump": ["facts.nt"]}, "`dump` is for source yago"),
        ({"choice": "degree"}, "choice degree needs a graph"),
        ({"source": "yago", "relations": ["father"]}, "relation father is none of YAGO's"),
        ({"source": "yago", "pairs": 3, "real_entities": 4}, "fewer than the 4 real_entities"),
        ({"invented": "model"}, "`invented_model`"),
        ({"invented_model": "m"}, "`invented_model`"),
        ({"names_not_in": ["dbpedia"]}, "yago"),
        ({"source": "dbpedia"}, "sample"),
    ],
)
def test_what_cannot_be_is_refused_by_its_name(said: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        facts(**said)


def test_a_service_has_its_defaults_and_what_the_study_says_otherwise() -> None:
    services = ServicesPart.model_validate({"yago": {"address": "http://127.0.0.1/query", "max_minutes": 5}})
    yago = services.service("yago")
    assert (yago.name, yago.address, yago.max_minutes, yago.max_concurrency) == ("YAGO", "http://127.0.0.1/query", 5, 1)
    assert services.service("wikidata").address.startswith("https://")


def test_whoever_runs_it_is_the_contact_where_the_study_names_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWAYMETER_CONTACT", "me@example.org")
    assert ServicesPart().asked_by == "me@example.org"
    assert ServicesPart(contact="you@example.org").asked_by == "you@example.org"
    monkeypatch.delenv("SWAYMETER_CONTACT")
    assert ServicesPart().asked_by is None


@pytest.mark.parametrize(
    "said",
    [
        {"yago": {"address": "file:///etc/passwd"}},
        {"yago": {"address": "http://a b"}},
        {"yago": {"max_concurrency": 0}},
        {"yago": {"requests_per_minute": 0}},
        {"yago": {"tries": 100}},
        {"dbpedia": {}},
    ],
)
def test_services_that_cannot_be_are_refused(said: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ServicesPart.model_validate(said)
