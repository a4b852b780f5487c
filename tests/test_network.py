import asyncio
import socket
import urllib.request
from collections.abc import Callable
from contextlib import suppress

import pytest

from tests.conftest import is_this_machine, no_other_machine, refused


def datagram() -> None:
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sender:
        sender.connect_ex(("2001:db8::1", 53))


@pytest.mark.parametrize(
    ("reach", "address"),
    [
        (lambda: socket.create_connection(("192.0.2.1", 80)), "192.0.2.1"),
        (lambda: urllib.request.urlopen("http://wiki.example/"), "wiki.example"),
        (lambda: asyncio.run(asyncio.open_connection("wiki.example", 80)), "wiki.example"),
        (datagram, "2001:db8::1"),
    ],
)
def test_another_machine_is_refused_and_named(reach: Callable[[], object], address: str) -> None:
    with suppress(OSError):
        reach()
    assert refused.pop() == address
    assert not refused


def test_a_caught_refusal_still_fails_the_test() -> None:
    fixture = no_other_machine.__wrapped__()  # type: ignore[attr-defined]
    next(fixture)
    with suppress(OSError):
        socket.create_connection(("192.0.2.1", 80))
    with pytest.raises(pytest.fail.Exception, match=r"tried to reach 192\.0\.2\.1"):
        next(fixture)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        (None, True),
        ("", True),
        ("localhost", True),
        (b"127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("0.0.0.0", True),
        ("10.0.0.1", False),
        ("fe80::1%eth0", False),
        ("localhost.example", False),
    ],
)
def test_this_machine_is_recognised_by_its_addresses(host: str | bytes | None, expected: bool) -> None:
    assert is_this_machine(host) is expected


def test_this_machine_can_be_reached() -> None:
    with socket.create_server(("localhost", 0)) as server, socket.create_connection(server.getsockname()) as client:
        assert client.getpeername() == server.getsockname()
