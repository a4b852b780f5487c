import json
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from swaymeter.data.errors import ServiceError, WorkspaceError
from swaymeter.data.sources.http.cache import HttpCache
from swaymeter.data.sources.http.response import Response
from tests.data.sources.servers.faults import ServedResponse, json_response, serving
from tests.data.sources.sessions import CONTACT, Open

WHEN = datetime(2026, 11, 21, 12, 0, 0, 123456, tzinfo=UTC)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[HttpCache]:
    with closing(HttpCache(tmp_path / "a.sqlite")) as cache:
        yield cache


BODIES = [b"", b'["\xc3\xa5 \xf0\x9f\x99\x82"]\r\n\x00', b"x" * 10**6]


@pytest.mark.parametrize("body", BODIES, ids=lambda body: repr(body[:8]))
def test_a_response_is_read_as_it_was_cached(body: bytes, cache: HttpCache, tmp_path: Path) -> None:
    other_zone = WHEN.astimezone(timezone(timedelta(hours=5)))
    cache.put("k", Response(404, body, other_zone))
    with closing(HttpCache(tmp_path / "a.sqlite")) as again:
        for reader in (cache, again):
            response = reader.get("k")
            assert response == Response(404, body, WHEN)
            assert response.retrieved_at.tzinfo == UTC
        assert again.get("other") is None


def test_a_full_disk_is_an_error(cache: HttpCache) -> None:
    cache.put("k", Response(200, b"[1]", WHEN))
    cache._database.execute("PRAGMA max_page_count = 10")
    with pytest.raises(WorkspaceError, match=r"a\.sqlite cannot be used: .*full"):
        cache.put("k", Response(200, b"x" * 10**6, WHEN))
    assert cache.get("k") == Response(200, b"[1]", WHEN)


def test_an_unusable_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WorkspaceError, match=r"a\.sqlite cannot be used"):
        HttpCache(tmp_path / "file" / "a.sqlite")


@pytest.mark.parametrize("part", ["status", "retrieved_at", "body", "sha256"])
def test_a_flipped_bit_of_a_response_is_noticed(
    part: str, cache: HttpCache, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    cache.put("k", Response(200, b'{"capital": "Oslo"}', WHEN))
    with closing(sqlite3.connect(tmp_path / "a.sqlite", isolation_level=None)) as database:
        ((sound,),) = database.execute("SELECT value FROM cached_responses")
        start = sound.index(f'"{part}"'.encode())
        end = min(start + len(part) + 12, len(sound))  # the part's name, and some bytes of its value
        for position in range(start, end):
            damaged = sound[:position] + bytes([sound[position] ^ 1 << position % 8]) + sound[position + 1 :]
            database.execute("UPDATE cached_responses SET value = ?", (damaged,))
            caplog.clear()
            assert cache.get("k") is None
            assert "is damaged" in caplog.text


def test_a_flipped_bit_anywhere_never_changes_a_response(cache: HttpCache, tmp_path: Path) -> None:
    response = Response(200, b'{"capital": "Oslo"}', WHEN)
    for number in range(3):
        cache.put(f"key{number}", response)
    cache.close()
    sound, damaged = (tmp_path / "a.sqlite").read_bytes(), tmp_path / "damaged.sqlite"
    for position in [*range(0, 100, 3), *range(100, len(sound), 97)]:
        damaged.write_bytes(sound[:position] + bytes([sound[position] ^ 1 << position % 8]) + sound[position + 1 :])
        try:
            with closing(HttpCache(damaged)) as other:
                assert all(other.get(f"key{number}") in (response, None) for number in range(3))
        except WorkspaceError:
            pass


def test_closing_refuses_later_requests_of_threads(cache: HttpCache) -> None:
    response = Response(200, b"x" * 1000, WHEN)
    all_have_written = threading.Barrier(5)

    def use(worker: int) -> str:
        cache.put(f"{worker}", response)
        all_have_written.wait()
        try:
            for number in range(10_000):
                cache.put(f"{worker}", response)
                assert cache.get(f"{worker}") == response, number
        except ServiceError as error:
            return str(error)
        return "never refused"

    with ThreadPoolExecutor(4) as pool:
        workers = [pool.submit(use, worker) for worker in range(4)]
        all_have_written.wait()
        cache.close()
        assert all("is closed; open a new session" in worker.result() for worker in workers)
    cache.close()


RERUN = 2
"""Number of a forced rerun. A rerun requests a response again if the number of the response is lower."""


def test_a_cached_response_is_not_requested_again(open_session: Open) -> None:
    with serving(play=lambda request: json_response(dict(request.form))) as server:
        first = open_session(server)
        responses = [first.ask({"q": str(number)}) for number in range(5)]
        first.close()
        later = open_session(server)
        again = [later.ask({"q": str(number)}) for number in range(5)]
        assert later.sent == 0
    assert len(server.received) == 5
    assert [response.content for response in again] == [response.content for response in responses]
    assert [response.retrieved_at for response in again] == [response.retrieved_at for response in responses]
    assert all(response.from_cache for response in again)


def test_different_requests_are_cached_apart(open_session: Open) -> None:
    with serving(
        play=lambda request: json_response([request.method, request.path, request.form, request.headers["accept"]])
    ) as server:
        session = open_session(server)
        requests: list[dict[str, Any]] = [
            {"form": {"q": "1"}},
            {"form": {"q": "2"}},
            {"form": {"q": "1", "r": ""}},
            {"form": {"q": "1"}, "path": "x"},
            {"form": {"q": "1"}, "method": "POST"},
            {"form": {"q": "2"}, "method": "POST"},
            {"form": {"q": "1"}, "accept": "application/sparql-results+json"},
            {"form": {"q": "%31"}},
        ]
        contents = [session.ask(**arguments).content for arguments in requests]
        assert [session.ask(**arguments).content for arguments in requests] == contents
        assert session.ask({"r": "", "q": "1"}).from_cache
    assert len(server.received) == len(requests)
    assert len({json.dumps(content) for content in contents}) == len(requests)


def test_an_expired_response_is_requested_again(open_session: Open) -> None:
    with serving(json_response([1]), json_response([2])) as server:
        assert open_session(server).ask({}).content == [1]
        assert open_session(server, cache_ttl_days=1).ask({}).content == [1]
        time.sleep(0.2)
        ttl_days = 0.15 / 86_400
        assert open_session(server, cache_ttl_days=ttl_days).ask({}).content == [2]
        assert open_session(server, cache_ttl_days=1).ask({}).content == [2]
    assert len(server.received) == 2


@pytest.mark.parametrize("minutes", [-5, 0, 5])
def test_a_forced_request_is_sent_only_once(minutes: int, open_session: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    other_host_clock = SimpleNamespace(now=lambda zone: datetime.now(UTC) + timedelta(minutes=minutes))
    with serving(json_response([1]), json_response([2]), json_response([3])) as server:
        with monkeypatch.context() as patched:
            patched.setattr("swaymeter.data.sources.http.exchange.datetime", other_host_clock)
            open_session(server).ask({})
        fresh = open_session(server, rerun=RERUN)
        assert [fresh.ask({}).content for _ in range(3)] == [[2]] * 3
        with monkeypatch.context() as patched:
            patched.setattr("swaymeter.data.sources.http.exchange.datetime", other_host_clock)
            assert open_session(server, rerun=RERUN + 1).ask({}).content == [3]
        for rerun in (RERUN, RERUN + 1, 0):
            assert open_session(server, rerun=rerun).ask({}).content == [3]
    assert len(server.received) == 3


def test_an_unexpired_response_may_be_refreshed(open_session: Open) -> None:
    with serving(json_response([1]), json_response([2]), json_response([3])) as server:
        session = open_session(server)
        assert session.ask({}, immutable=True).content == [1]
        fresh = session.ask({}, immutable=True, bypass_cache=True)
        assert (fresh.content, fresh.from_cache, session.sent) == ([2], False, 2)
        assert session.ask({}).content == [2]
        assert open_session(server, offline=True).ask({}, bypass_cache=True).content == [2]
    assert len(server.received) == 2


def test_offline_only_unexpired_responses_are_used(open_session: Open) -> None:
    with serving(json_response([1])) as server:
        open_session(server).ask({"q": "1"})
        offline = open_session(server, offline=True, contact=None)
        assert offline.ask({"q": "1"}).content == [1]
        with pytest.raises(ServiceError, match="offline"):
            offline.ask({"q": "2"})
        with pytest.raises(ServiceError, match=r"offline.*younger than 0 days"):
            open_session(server, offline=True, cache_ttl_days=0).ask({"q": "1"})
        with pytest.raises(ServiceError, match="younger than 30 days and newer than the last forced fetch"):
            open_session(server, offline=True, rerun=RERUN).ask({"q": "1"})
    assert len(server.received) == 1


def error_of(content: Any) -> ServiceError | None:
    return ServiceError(content["error"]) if "error" in content else None


BAD_RESPONSES = [
    ServedResponse(status=404),
    ServedResponse(status=503),
    ServedResponse(b"<html>"),
    ServedResponse(b"[1, 2]", sent=2),
    ServedResponse(drop=True),
    json_response({"error": "no"}),
]


@pytest.mark.parametrize("response", BAD_RESPONSES)
def test_bad_responses_are_never_cached(response: ServedResponse, open_session: Open) -> None:
    with serving(response) as server:
        session = open_session(server, tries=2)
        with pytest.raises(ServiceError):
            session.ask({}, error_of=error_of)
        server.play = lambda request: json_response([1])
        assert open_session(server).ask({}, error_of=error_of).content == [1]


def test_the_cache_holds_json_without_contact_and_cookies(open_session: Open, tmp_path: Path) -> None:
    with serving(ServedResponse('{"rows": ["Oslo"]}', headers={"Set-Cookie": "id=secret"})) as server:
        open_session(server).ask({}, method="POST")
    file = tmp_path / "cache" / "yago.sqlite"
    with closing(sqlite3.connect(file)) as database:
        ((value,),) = database.execute("SELECT value FROM cached_responses")
    assert json.loads(json.loads(value)["body"]) == {"rows": ["Oslo"]}
    assert not any(word in file.read_bytes() for word in (CONTACT.encode(), b"secret"))


@pytest.mark.parametrize(
    ("content", "immutable", "options", "requests"),
    [
        ([1], True, {"cache_ttl_days": 0}, 1),
        ([1], True, {"rerun": RERUN}, 1),
        ([1], True, {"offline": True, "cache_ttl_days": 0}, 1),
        ([1], False, {"cache_ttl_days": 0}, 2),
        ({"whole": True}, lambda content: content["whole"], {"cache_ttl_days": 0}, 1),
        ({"whole": False}, lambda content: content["whole"], {"cache_ttl_days": 0}, 2),
    ],
)
def test_an_immutable_response_never_expires(
    content: Any, immutable: Any, options: Any, requests: int, open_session: Open
) -> None:
    with serving(json_response(content)) as server:
        open_session(server).ask({}, immutable=immutable)
        assert open_session(server, **options).ask({}, immutable=immutable).content == content
    assert len(server.received) == requests


@pytest.mark.parametrize(
    "damage",
    [
        lambda sound: b"this is no database, " * 1000,
        lambda sound: sound.replace(b"sqlite_autoindex_cached", b"sqlite_autoindex_c\xe1ched"),  # a flipped bit
    ],
)
def test_a_damaged_cache_is_named(damage: Callable[[bytes], bytes], open_session: Open, tmp_path: Path) -> None:
    file = tmp_path / "cache" / "yago.sqlite"
    with serving(json_response([1])) as server:
        open_session(server).ask({})
        sound = file.read_bytes()
        file.write_bytes(damage(sound))
        assert file.read_bytes() != sound
        with pytest.raises(WorkspaceError, match=r"yago\.sqlite.*remove the file if it is damaged"):
            open_session(server).ask({})
