import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.errors import ServiceBudget, ServiceError
from swaymeter.data.sources.http.session import Service, Session
from tests.data.sources.servers.faults import Say, says, serving
from tests.data.sources.sessions import CONTACT, Clock, Open


def test_never_more_are_in_flight_than_the_service_allows(opened: Open) -> None:
    with serving(play=lambda asked: says([asked.form["q"]], delay_s=0.02)) as server:
        session = opened(server, max_concurrency=2)
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda number: session.ask({"q": str(number)}).content, range(24)))
    assert answers == [[str(number)] for number in range(24)]
    assert server.most_at_once == 2


def test_requests_come_no_faster_than_the_service_allows(opened: Open) -> None:
    with serving(says([1])) as server:
        session = opened(server, requests_per_minute=600, max_concurrency=4)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda number: session.ask({"q": str(number)}), range(12)))
    times = [asked.at for asked in server.asked]
    assert times[-1] - times[0] > 1.0


def test_tries_again_count_as_requests(opened: Open) -> None:
    with serving(Say(status=503)) as server:
        session = opened(server, max_requests=2)
        with pytest.raises(ServiceBudget, match=r"has spent its 2 requests.*raise `max_requests`"):
            session.ask({})
    assert len(server.asked) == 2


def test_repeated_requests_count_though_they_are_cached(opened: Open) -> None:
    with serving(says([1])) as server:
        session = opened(server, max_requests=3)
        for _ in range(3):
            session.ask({})
        with pytest.raises(ServiceBudget, match="has spent its 3 requests"):
            session.ask({})
        resumed = opened(server, max_requests=1)
        assert resumed.ask({}).from_cache
        assert resumed._limits.sent == resumed._limits.repeated == 0
    assert len(server.asked) == 1


def test_a_service_that_refuses_every_request_is_left_alone(opened: Open) -> None:
    with serving(says([0]), Say(b"slow down", status=429)) as server:
        session = opened(server)
        session.ask({"q": "0"})
        for number in range(1, 5):
            with pytest.raises(
                ServiceBudget, match=r"YAGO.*429 .*refuses requests for now, after 4 tries; run again later"
            ):
                session.ask({"q": str(number)})
        assert session.ask({"q": "0"}).from_cache
    assert len(server.asked) == 5


def test_a_run_takes_no_more_minutes_than_its_budget(opened: Open, clock: Clock) -> None:
    with serving(says([1])) as server:
        session = opened(server, max_minutes=5)
        clock.sleep(1000)
        session.ask({"q": "1"})
        clock.sleep(301)
        with pytest.raises(ServiceBudget, match="has spent its 5 minutes"):
            session.ask({"q": "2"})
    assert len(server.asked) == 1


@pytest.mark.parametrize("sleeping", [False, True])
def test_an_interrupt_goes_through(sleeping: bool, tmp_path: Path) -> None:
    def interrupted(said: object) -> None:
        raise KeyboardInterrupt

    with serving(Say(status=503) if sleeping else says([0]), says([1])) as server:
        service = Service("YAGO", server.address, requests_per_minute=60_000)
        with closing(Session(service, contact=CONTACT, cache=tmp_path, sleep=interrupted)) as session:
            with pytest.raises(KeyboardInterrupt):
                session.ask({}, error_of=interrupted)
            assert session.ask({}).content == [1]


def test_closing_ends_all_waiting(tmp_path: Path) -> None:
    with serving(Say(status=503, headers={"Retry-After": "60"})) as server:
        service = Service("YAGO", server.address, requests_per_minute=60_000)
        with ThreadPoolExecutor(2) as pool, closing(Session(service, contact=CONTACT, cache=tmp_path)) as session:
            waiting: list[Any] = [pool.submit(session.ask, {"q": str(number)}) for number in range(2)]
            server.waits_for(1)
            time.sleep(0.2)
            session.close()
            for wait in waiting:
                with pytest.raises(ServiceError, match="the session is closed"):
                    wait.result(timeout=5)
