import pytest

from swaymeter.data.sources.http.services import SERVICES
from swaymeter.flows.config.sections import ServiceOptions, ServicesPart


def test_every_option_is_applied() -> None:
    options = {
        "address": "http://127.0.0.1/query",
        "requests_per_minute": 5,
        "max_concurrency": 2,
        "cache_ttl_days": 1,
        "timeout_s": 3,
        "max_requests": 4,
    }
    assert set(options) == set(ServiceOptions.model_fields)
    before = SERVICES["yago"]
    after = ServicesPart.model_validate({"yago": options}).by_name()["yago"]
    assert sum(getattr(after, name) != value for name, value in vars(before).items()) == len(options)


def test_other_services_keep_their_defaults() -> None:
    services = ServicesPart.model_validate({"yago": {"max_requests": 5}}).by_name()
    assert {name for name, service in services.items() if service != SERVICES[name]} == {"yago"}


def test_the_contact_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWAYMETER_CONTACT", "me@example.org")
    assert ServicesPart().requester == "me@example.org"
    assert ServicesPart(contact="you@example.org").requester == "you@example.org"
    monkeypatch.delenv("SWAYMETER_CONTACT")
    assert ServicesPart().requester is None
