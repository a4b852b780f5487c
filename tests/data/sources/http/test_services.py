"""The public services and their limits."""

from urllib.parse import urlsplit

import pytest

from data.sources.http.addresses import check_address, place_in
from data.sources.http.services import SERVICES


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_has_a_safe_address_and_unique_name(name: str) -> None:
    service = SERVICES[name]
    check_address(service.address, service.name)
    assert urlsplit(service.address).scheme == "https"
    assert not service.address.endswith("/")
    assert place_in(service.address, "a/b", service.name) == f"{service.address}/a/b"
    assert [other.name.casefold() for other in SERVICES.values()].count(service.name.casefold()) == 1


@pytest.mark.parametrize("name", ["wikidata_api", "wikipedia", "pageviews"])
def test_wikimedia_is_asked_as_it_wants_to_be(name: str) -> None:
    service = SERVICES[name]
    assert service.max_concurrency <= 3
    assert service.requests_per_minute <= 200
    assert service.contact_needed
