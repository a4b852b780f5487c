import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.client import HTTPResponse
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from swaymeter.data.errors import ServiceBudget, ServiceError, ServiceTimeout
from swaymeter.data.sources.http import exchange
from swaymeter.data.sources.http.session import Service, Session, close_sessions, shared_session
from tests.data.sources.servers.faults import FaultServer, ServedResponse, json_response, serving
from tests.data.sources.sessions import CONTACT, Clock, Open


def test_requests_in_flight_do_not_exceed_the_limit(open_session: Open) -> None:
    with serving(play=lambda request: json_response([request.form["q"]], delay_s=0.02)) as server:
        session = open_session(server, max_concurrency=2)
        with ThreadPoolExecutor(4) as pool:
            contents = list(pool.map(lambda number: session.ask({"q": str(number)}).content, range(24)))
    assert contents == [[str(number)] for number in range(24)]
    assert server.most_at_once == 2


def test_all_requests_in_flight_keep_their_connections(open_session: Open, caplog: pytest.LogCaptureFixture) -> None:
    all_have_arrived = Event()
    with serving(json_response([1], hold=all_have_arrived)) as server, ThreadPoolExecutor(16) as pool:
        session = open_session(server, max_concurrency=16)
        responses = pool.map(lambda number: session.ask({"q": str(number)}), range(48))
        try:
            server.wait_for_requests(16)
        finally:
            all_have_arrived.set()
        assert len(list(responses)) == 48
    assert "pool is full" not in caplog.text


def test_requests_do_not_exceed_the_rate_limit(open_session: Open) -> None:
    with serving(json_response([1])) as server:
        session = open_session(server, requests_per_minute=600, max_concurrency=4)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda number: session.ask({"q": str(number)}), range(12)))
    times = [request.at for request in server.received]
    assert times[-1] - times[0] > 1.0  # 11 pauses of 0.1 s, less a tolerance


def test_retries_count_as_requests(open_session: Open) -> None:
    with serving(ServedResponse(status=503)) as server:
        session = open_session(server, max_requests=2)
        with pytest.raises(ServiceBudget, match=r"has sent 2 requests, the limit.*raise `max_requests`"):
            session.ask({})
    assert len(server.received) == 2


@pytest.mark.parametrize("while_sleeping", [False, True])
def test_an_interrupt_is_not_caught(while_sleeping: bool, tmp_path: Path) -> None:
    def interrupt(value: object) -> None:  # gets the content of a response, or the seconds of a sleep
        raise KeyboardInterrupt

    with serving(ServedResponse(status=503) if while_sleeping else json_response([0]), json_response([1])) as server:
        service = Service("YAGO", server.address, requests_per_minute=60_000)
        with closing(Session(service, contact=CONTACT, cache=tmp_path, sleep=interrupt)) as session:
            with pytest.raises(KeyboardInterrupt):
                session.ask({}, error_of=interrupt)
            assert session.ask({}).content == [1]


def test_closing_ends_the_waits_of_threads(tmp_path: Path) -> None:
    with serving(ServedResponse(status=503, headers={"Retry-After": "60"})) as server:
        service = Service("YAGO", server.address, requests_per_minute=60_000)
        with ThreadPoolExecutor(2) as pool, closing(Session(service, contact=CONTACT, cache=tmp_path)) as session:
            requests: list[Any] = [pool.submit(session.ask, {"q": str(number)}) for number in range(2)]
            server.wait_for_requests(1)
            time.sleep(0.2)
            session.close()
            for request in requests:
                with pytest.raises(ServiceError, match="the session is closed"):
                    request.result(timeout=5)


def test_closing_ends_a_request_in_flight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    endless = ServedResponse(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", endless=b" ", pause_s=0.5)
    with serving(endless) as server:
        service = Service("YAGO", server.address, requests_per_minute=60_000, timeout_s=10.0)
        with closing(Session(service, contact=CONTACT, cache=tmp_path)) as session:

            def response_after_closing(*arguments: Any, **keywords: Any) -> HTTPResponse:
                session.close()
                return HTTPResponse(*arguments, **keywords)

            monkeypatch.setattr(exchange, "HTTPResponse", response_after_closing)
            began = time.monotonic()
            with pytest.raises(ServiceError, match="the session is closed"):
                session.ask({})
    assert time.monotonic() - began < 10.0


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with serving(json_response([1])) as server:
        yield server
    close_sessions()


def session_of(server: FaultServer, cache: Path, *, requests_per_minute: int = 60_000, **options: Any) -> Session:
    service = Service("YAGO", server.address, requests_per_minute=requests_per_minute)
    return shared_session(service, contact=CONTACT, cache=cache, **options)


def test_equal_arguments_share_one_session(server: FaultServer, tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        sessions = set(pool.map(lambda _: session_of(server, tmp_path), range(32)))
    assert len(sessions) == 1
    different = [
        session_of(server, tmp_path / "other"),
        session_of(server, tmp_path, offline=True),
        session_of(server, tmp_path, rerun=1),
        session_of(server, tmp_path, requests_per_minute=6_000),
    ]
    assert len({*sessions, *different}) == 5


@pytest.mark.parametrize("close", [close_sessions, None])
def test_a_closed_session_is_opened_anew(close: Any, server: FaultServer, tmp_path: Path) -> None:
    first = session_of(server, tmp_path)
    (close or first.close)()
    assert first.is_closed
    with pytest.raises(ServiceError, match="closed"):
        first.ask({})
    assert session_of(server, tmp_path).ask({}).content == [1]


def test_sessions_of_an_address_share_its_rate_limit(server: FaultServer, tmp_path: Path) -> None:
    sessions = [session_of(server, tmp_path / str(number), requests_per_minute=1_200) for number in range(2)]
    sessions.append(session_of(server, tmp_path, rerun=1, requests_per_minute=1_200))
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda session: [session.ask({"q": str(number)}) for number in range(4)], sessions))
    times = sorted(request.at for request in server.received)
    assert len(times) == 12
    # 11 pauses of 0.05 s, less a tolerance of 10%; three separate limits would take a third of this time
    assert times[-1] - times[0] > 11 * 0.05 * 0.9


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_opens_its_own_session(server: FaultServer, tmp_path: Path) -> None:
    session = session_of(server, tmp_path)
    child = os.fork()
    if child == 0:
        os._exit(session_of(server, tmp_path) is session)
    assert os.waitpid(child, 0)[1] == 0
    assert session_of(server, tmp_path) is session


@pytest.mark.parametrize("status", [429, 502])
def test_a_transient_error_is_retried(status: int, open_session: Open, clock: Clock) -> None:
    with serving(
        ServedResponse(b"busy", status=status), ServedResponse(b"busy", status=status), json_response([1])
    ) as server:
        session = open_session(server)
        assert session.ask({}).content == [1]
        assert session.sent == len(server.received) == 3
    assert len(clock.slept) == 2
    assert 0.5 <= clock.slept[0] < clock.slept[1] <= 1.5


@pytest.mark.parametrize(("status", "kind"), [(429, ServiceBudget), (503, ServiceError), (504, ServiceTimeout)])
def test_a_lasting_error_is_raised_after_all_retries(status: int, kind: type[ServiceError], open_session: Open) -> None:
    with serving(ServedResponse(b"busy", status=status)) as server:
        with pytest.raises(ServiceError, match=rf"YAGO \(http.*answers {status} .* after 3 tries") as raised:
            open_session(server, tries=3).ask({})
        assert raised.type is kind
    assert len(server.received) == 3


@pytest.mark.parametrize("as_date", [False, True])
def test_a_session_waits_for_retry_after(
    as_date: bool, open_session: Open, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    with serving(
        ServedResponse(status=503, headers={"Retry-After": date if as_date else "30"}), json_response([1])
    ) as server:
        open_session(server).ask({})
    (slept,) = clock.slept
    assert 25 < slept <= 30
    assert "YAGO requires a pause of" in caplog.text


@pytest.mark.parametrize("retry_after", ["soon", "-5", "9" * 5000, "Fri, 99 Foo 2026 99:99:99 GMT", "0"])
def test_an_invalid_retry_after_is_ignored(retry_after: str, open_session: Open, clock: Clock) -> None:
    with serving(ServedResponse(status=503, headers={"Retry-After": retry_after}), json_response([1])) as server:
        assert open_session(server).ask({}).content == [1]
    assert len(clock.slept) == 1
    assert clock.slept[0] < 2


def test_no_request_is_sent_during_a_pause(tmp_path: Path) -> None:
    with serving(ServedResponse(status=429, headers={"Retry-After": "1"}), json_response([1])) as server:
        service = Service("YAGO", server.address, requests_per_minute=60_000, max_concurrency=2)
        with closing(Session(service, contact=CONTACT, cache=tmp_path)) as session, ThreadPoolExecutor(1) as pool:
            paused = pool.submit(session.ask, {"q": "1"})
            server.wait_for_requests(1)
            time.sleep(0.1)
            session.ask({"q": "2"})
            paused.result()
    assert all(later.at - server.received[0].at >= 1.0 for later in server.received[1:])
    assert len(server.received) == 3


def test_a_pause_of_hours_is_an_error(open_session: Open, clock: Clock) -> None:
    with serving(ServedResponse(status=503, headers={"Retry-After": "7200"})) as server:
        session = open_session(server)
        for _ in range(2):
            with pytest.raises(ServiceBudget, match=r"a pause of 7200 s, longer than the 3600 s"):
                session.ask({})
    assert len(server.received) == 1
    assert clock.slept == []


@pytest.mark.parametrize("response", [ServedResponse(drop=True), ServedResponse(reset=True)])
def test_a_dropped_connection_is_tried_again(response: ServedResponse, open_session: Open) -> None:
    with serving(response, response, json_response([1])) as server:
        assert open_session(server).ask({}).content == [1]
    message = r"dropped the connection \(.*\), after 4 tries"
    with serving(response) as server, pytest.raises(ServiceError, match=message) as raised:
        open_session(server).ask({"q": "2"})
    assert raised.type is ServiceError
    assert len(server.received) == 4


CUT = [b'{"rows": [1, 2', b'[{"a": "Z\xc3', b"", b'{"rows": [1, Query deadline is expired.\n at java.lang']


@pytest.mark.parametrize("body", CUT)
def test_json_cut_short_is_a_timeout_at_once(body: bytes, open_session: Open) -> None:
    with serving(ServedResponse(body, chunked=bool(body))) as server:
        session = open_session(server)
        for _ in range(2):
            with pytest.raises(ServiceTimeout, match=r"JSON cut short after .* choose fewer entities"):
                session.ask({})
    assert len(server.received) == 2


def test_a_server_error_about_timeouts_is_a_timeout(open_session: Open) -> None:
    body = b"SPARQL-QUERY: SELECT ... java.util.concurrent.TimeoutException at com.example"
    with serving(ServedResponse(body, status=500), ServedResponse(b"Internal error", status=500)) as server:
        session = open_session(server)
        with pytest.raises(ServiceTimeout, match=r"500 Internal Server Error.*choose fewer entities or pairs"):
            session.ask({})
        with pytest.raises(ServiceError, match="500 Internal Server Error: 'Internal error'") as raised:
            session.ask({})
        assert raised.type is ServiceError


@pytest.mark.parametrize("chunked", [False, True])
def test_a_broken_response_is_requested_once_more(chunked: bool, open_session: Open) -> None:
    partial = ServedResponse(b"[" + b"1, " * 1000 + b"1]", sent=100, chunked=chunked)
    with serving(partial, json_response([1])) as server:
        assert open_session(server).ask({}).content == [1]
    with serving(partial) as server, pytest.raises(ServiceTimeout, match=r"ends too early.*after 2 tries"):
        open_session(server).ask({"q": "2"})
    assert len(server.received) == 2


def test_silence_is_a_timeout_after_one_more_try(open_session: Open) -> None:
    with (
        serving(ServedResponse(delay_s=10)) as server,
        pytest.raises(ServiceTimeout, match=r"silent for 0\.3 s.*after 2 tries"),
    ):
        open_session(server, timeout_s=0.3).ask({})
    assert len(server.received) == 2


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
ENDLESS = {
    "status line": ServedResponse(raw=b"HTTP/1.1 200 O", endless=b"K"),
    "header": ServedResponse(raw=b"HTTP/1.1 200 OK\r\nX-Long: ", endless=b"x"),
    "100 Continue": ServedResponse(endless=b"HTTP/1.1 100 Continue\r\n\r\n"),
    "body": ServedResponse(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n[", endless=b" "),
    "chunk extension": ServedResponse(raw=CHUNKED + b"1;", endless=b"x"),
    "trailers": ServedResponse(raw=CHUNKED + b"2\r\n[]\r\n0\r\n", endless=b"X-Late: 1\r\n"),
}


@pytest.mark.parametrize("part", ENDLESS)
def test_a_response_that_never_ends_is_a_timeout(part: str, open_session: Open) -> None:
    start = time.monotonic()
    with serving(replace(ENDLESS[part], pause_s=0.01)) as server:
        with pytest.raises(ServiceTimeout, match=r"still sends after 0\.5 s, after 2 tries"):
            open_session(server, timeout_s=0.25).ask({})
        assert time.monotonic() - start < 8
    assert len(server.received) == 2
