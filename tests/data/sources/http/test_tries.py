import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from swaymeter.data.errors import ServiceBudget, ServiceError, ServiceTimeout
from swaymeter.data.sources.http.session import Service, Session
from tests.data.sources.servers.faults import Say, says, serving
from tests.data.sources.sessions import CONTACT, Clock, Open


@pytest.mark.parametrize("status", [429, 502])
def test_what_may_pass_is_asked_again(status: int, opened: Open, clock: Clock) -> None:
    with serving(Say(b"busy", status=status), Say(b"busy", status=status), says([1])) as server:
        session = opened(server)
        assert session.ask({}).content == [1]
        assert session._limits.sent == len(server.asked) == 3
    assert len(clock.slept) == 2
    assert 0.5 <= clock.slept[0] < clock.slept[1] <= 1.5


@pytest.mark.parametrize(("status", "kind"), [(429, ServiceBudget), (503, ServiceError), (504, ServiceTimeout)])
def test_what_does_not_pass_is_an_error_after_all_tries(status: int, kind: type[ServiceError], opened: Open) -> None:
    with serving(Say(b"busy", status=status)) as server:
        with pytest.raises(ServiceError, match=rf"YAGO \(http.*answers {status} .* after 3 tries") as raised:
            opened(server, tries=3).ask({})
        assert raised.type is kind
    assert len(server.asked) == 3


@pytest.mark.parametrize("as_date", [False, True])
def test_a_retry_after_is_waited_for(
    as_date: bool, opened: Open, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    with serving(Say(status=503, headers={"Retry-After": date if as_date else "30"}), says([1])) as server:
        opened(server).ask({})
    (slept,) = clock.slept
    assert 25 < slept <= 30
    assert "YAGO requires a pause of" in caplog.text


@pytest.mark.parametrize("said", ["soon", "-5", "9" * 5000, "Fri, 99 Foo 2026 99:99:99 GMT", "0"])
def test_a_time_to_wait_that_is_none_is_left_alone(said: str, opened: Open, clock: Clock) -> None:
    with serving(Say(status=503, headers={"Retry-After": said}), says([1])) as server:
        assert opened(server).ask({}).content == [1]
    assert len(clock.slept) == 1
    assert clock.slept[0] < 2


def test_while_a_service_asks_for_a_pause_nobody_sends(tmp_path: Path) -> None:
    with serving(Say(status=429, headers={"Retry-After": "1"}), says([1])) as server:
        service = Service("YAGO", server.address, requests_per_minute=60_000, max_concurrency=2)
        with closing(Session(service, contact=CONTACT, cache=tmp_path)) as session, ThreadPoolExecutor(1) as pool:
            refused = pool.submit(session.ask, {"q": "1"})
            server.waits_for(1)
            time.sleep(0.1)
            session.ask({"q": "2"})
            refused.result()
    assert all(later.at - server.asked[0].at >= 1.0 for later in server.asked[1:])
    assert len(server.asked) == 3


def test_a_wait_longer_than_the_run_may_take_ends_it(opened: Open, clock: Clock) -> None:
    with serving(Say(status=503, headers={"Retry-After": "7200"})) as server:
        session = opened(server, max_minutes=60)
        for _ in range(2):
            with pytest.raises(ServiceBudget, match=r"a pause of 7[12]\d\d s, and this run has 3[56]\d\d s left"):
                session.ask({})
    assert len(server.asked) == 1
    assert clock.slept == []


@pytest.mark.parametrize("say", [Say(drop=True), Say(reset=True)])
def test_a_dropped_connection_is_tried_again(say: Say, opened: Open) -> None:
    with serving(say, say, says([1])) as server:
        assert opened(server).ask({}).content == [1]
    told = r"dropped the connection \(.*\), after 4 tries"
    with serving(say) as server, pytest.raises(ServiceError, match=told) as raised:
        opened(server).ask({"q": "2"})
    assert raised.type is ServiceError
    assert len(server.asked) == 4


# What needs too long


CUT = [b'{"rows": [1, 2', b'[{"a": "Z\xc3', b"", b'{"rows": [1, Query deadline is expired.\n at java.lang']


@pytest.mark.parametrize("body", CUT)
def test_json_cut_short_is_a_timeout_at_once(body: bytes, opened: Open) -> None:
    with serving(Say(body, chunked=bool(body))) as server:
        session = opened(server)
        for _ in range(2):
            with pytest.raises(ServiceTimeout, match=r"JSON cut short after .* ask for less"):
                session.ask({})
    assert len(server.asked) == 2


def test_a_server_error_that_says_timeout_is_one(opened: Open) -> None:
    said = b"SPARQL-QUERY: SELECT ... java.util.concurrent.TimeoutException at com.example"
    with serving(Say(said, status=500), Say(b"Internal error", status=500)) as server:
        session = opened(server)
        with pytest.raises(ServiceTimeout, match=r"500 Internal Server Error.*ask for less"):
            session.ask({})
        with pytest.raises(ServiceError, match="500 Internal Server Error: 'Internal error'") as raised:
            session.ask({})
        assert raised.type is ServiceError


@pytest.mark.parametrize("chunked", [False, True])
def test_an_answer_that_breaks_off_is_asked_for_once_more(chunked: bool, opened: Open) -> None:
    half = Say(b"[" + b"1, " * 1000 + b"1]", sent=100, chunked=chunked)
    with serving(half, says([1])) as server:
        assert opened(server).ask({}).content == [1]
    with serving(half) as server, pytest.raises(ServiceTimeout, match="broke off in its answer, after 2 tries"):
        opened(server).ask({"q": "2"})
    assert len(server.asked) == 2


def test_silence_is_a_timeout_after_one_more_try(opened: Open) -> None:
    with serving(Say(delay_s=10)) as server, pytest.raises(ServiceTimeout, match=r"silent for 0\.3 s, after 2 tries"):
        opened(server, timeout_s=0.3).ask({})
    assert len(server.asked) == 2


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
ENDLESS = {
    "status line": Say(raw=b"HTTP/1.1 200 O", endless=b"K"),
    "header": Say(raw=b"HTTP/1.1 200 OK\r\nX-Long: ", endless=b"x"),
    "100 Continue": Say(endless=b"HTTP/1.1 100 Continue\r\n\r\n"),
    "body": Say(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n[", endless=b" "),
    "chunk extension": Say(raw=CHUNKED + b"1;", endless=b"x"),
    "trailers": Say(raw=CHUNKED + b"2\r\n[]\r\n0\r\n", endless=b"X-Late: 1\r\n"),
}


@pytest.mark.parametrize("part", ENDLESS)
def test_a_response_that_never_ends_is_a_timeout(part: str, opened: Open) -> None:
    began = time.monotonic()
    with serving(replace(ENDLESS[part], pause_s=0.01)) as server:
        with pytest.raises(ServiceTimeout, match=r"still sends after 0\.5 s, after 2 tries"):
            opened(server, timeout_s=0.25).ask({})
        assert time.monotonic() - began < 8
    assert len(server.asked) == 2


@pytest.mark.parametrize("said", [b'{"exception": "Operation timed out."}', b"the operation was cancelled"])
def test_a_query_out_of_time_is_not_tried_again(said: bytes, opened: Open, clock: Clock) -> None:
    ran_out = pytest.raises(ServiceTimeout, match=r"answers 429 .*: the query ran out of time; ask for less")
    with serving(Say(said, status=429), says([1])) as server, ran_out:
        opened(server).ask({})
    assert len(server.asked) == 1
    assert clock.slept == []
