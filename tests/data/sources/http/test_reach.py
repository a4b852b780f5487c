import socket
import time
from typing import Any

import pytest

from swaymeter.data.errors import ServiceError
from swaymeter.data.sources.http import exchange
from tests.data.sources.servers.faults import ServedResponse, serving, unused_address
from tests.data.sources.sessions import Clock, Open


@pytest.mark.parametrize(
    "target",
    ["/other", "https://example.org/ask", "//example.org/query", "http://127.0.0.1:1/ask", "http://[x/"],
)
def test_a_redirect_is_refused(target: str, open_session: Open) -> None:
    redirect = ServedResponse(status=302, headers={"Location": target})
    with serving(redirect) as server, pytest.raises(ServiceError, match=r"302 .*redirects to .*new address"):
        open_session(server).ask({})
    assert len(server.received) == 1


def test_an_unreachable_service_fails_after_two_tries(open_session: Open, clock: Clock) -> None:
    session = open_session(unused_address())
    with pytest.raises(ServiceError, match=r"YAGO \(http://127.*cannot be reached: .*refused.*after 2 tries"):
        session.ask({"q": "1"})
    assert len(clock.slept) == 1
    assert session.sent == 2


def test_a_connection_without_reply_fails_in_time(open_session: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "CONNECT_S", 1.0)
    with socket.socket() as listener, socket.socket() as first, socket.socket() as second:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        # Two connections fill the queue of the listener, so that a third connection gets no reply.
        first.connect(listener.getsockname())
        second.setblocking(False)
        second.connect_ex(listener.getsockname())
        start = time.monotonic()
        with pytest.raises(ServiceError, match="cannot be reached"):
            open_session(f"http://127.0.0.1:{listener.getsockname()[1]}/").ask({})
        assert time.monotonic() - start < 4


def test_an_unknown_host_name_is_reported(open_session: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*args: Any, **kwargs: Any) -> Any:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    session = open_session("https://yago.example/sparql/query")
    with pytest.raises(ServiceError, match=r"yago\.example.*cannot be reached: .*Name or service not known"):
        session.ask({})
