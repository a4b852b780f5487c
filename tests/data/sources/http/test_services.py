"""The public services and their limits."""

from urllib.parse import urlsplit

import pytest

from data.sources.http.request import check_address, place_in
from data.sources.http.services import SERVICES


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_has_a_safe_address_and_unique_name(name: str) -> None:
    service = SERVICES[name]
    check_address(service.address, service.name)
    assert urlsplit(service.address).scheme == "https"
    assert not service.address.endswith("/")
    assert place_in(service.address, "a/b", service.name) == f"{service.address}/a/b"
    assert [other.name.casefold() for other in SERVICES.values()].count(service.name.casefold()) == 1
