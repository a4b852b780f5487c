import logging
import os
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from swaymeter.data.errors import ServiceError, WorkspaceError
from swaymeter.data.sources.http.answer import Reply
from swaymeter.data.sources.http.cache import HttpCache

WHEN = datetime(2026, 11, 21, 12, 0, 0, 123456, tzinfo=UTC)
ADDRESS = "http://127.0.0.1/"


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[HttpCache]:
    with closing(HttpCache(tmp_path / "a.sqlite")) as cache:
        yield cache


BODIES = [b"", b'["\xc3\xa5 \xf0\x9f\x99\x82"]\r\n\x00', b"x" * 10**6]


@pytest.mark.parametrize("body", BODIES, ids=lambda body: repr(body[:8]))
def test_a_response_is_read_as_it_was_cached(body: bytes, cache: HttpCache, tmp_path: Path) -> None:
    elsewhere = WHEN.astimezone(timezone(timedelta(hours=5)))
    cache.put("k", Reply(404, body, elsewhere), ADDRESS)
    with closing(HttpCache(tmp_path / "a.sqlite")) as again:
        for one in (cache, again):
            found = one.get("k")
            assert found == Reply(404, body, WHEN)
            assert found.retrieved_at.tzinfo == UTC
        assert again.get("other") is None


def test_a_full_disk_is_an_error(cache: HttpCache) -> None:
    cache.put("k", Reply(200, b"[1]", WHEN), ADDRESS)
    cache._database.execute("PRAGMA max_page_count = 10")
    with pytest.raises(WorkspaceError, match=r"a\.sqlite cannot be used: .*full"):
        cache.put("k", Reply(200, b"x" * 10**6, WHEN), ADDRESS)
    assert cache.get("k") == Reply(200, b"[1]", WHEN)


def test_an_unwritable_place_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WorkspaceError, match=r"a\.sqlite cannot be used"):
        HttpCache(tmp_path / "file" / "a.sqlite")
    monkeypatch.setattr(os, "access", lambda place, mode: False)
    with pytest.raises(WorkspaceError, match="cannot be written"):
        HttpCache(tmp_path / "a.sqlite")


@pytest.mark.parametrize("part", ["status", "retrieved_at", "address", "body", "sha256"])
def test_a_flipped_bit_of_a_response_is_noticed(
    part: str, cache: HttpCache, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    cache.put("k", Reply(200, b'{"capital": "Oslo"}', WHEN), ADDRESS)
    with closing(sqlite3.connect(tmp_path / "a.sqlite", isolation_level=None)) as database:
        ((sound,),) = database.execute("SELECT value FROM cached_responses")
        start = sound.index(f'"{part}"'.encode())
        for place in range(start, min(start + len(part) + 12, len(sound))):
            damaged = sound[:place] + bytes([sound[place] ^ 1 << place % 8]) + sound[place + 1 :]
            database.execute("UPDATE cached_responses SET value = ?", (damaged,))
            caplog.clear()
            assert cache.get("k") is None
            assert "is damaged" in caplog.text


def test_a_flipped_bit_anywhere_never_changes_a_response(cache: HttpCache, tmp_path: Path) -> None:
    response = Reply(200, b'{"capital": "Oslo"}', WHEN)
    for number in range(3):
        cache.put(f"key{number}", response, ADDRESS)
    cache.close()
    sound, damaged = (tmp_path / "a.sqlite").read_bytes(), tmp_path / "damaged.sqlite"
    for place in [*range(0, 100, 3), *range(100, len(sound), 97)]:
        damaged.write_bytes(sound[:place] + bytes([sound[place] ^ 1 << place % 8]) + sound[place + 1 :])
        try:
            with closing(HttpCache(damaged)) as other:
                assert all(other.get(f"key{number}") in (response, None) for number in range(3))
        except WorkspaceError:
            pass


def test_closing_while_threads_use_it_refuses_the_rest(cache: HttpCache) -> None:
    response = Reply(200, b"x" * 1000, WHEN)
    used = threading.Barrier(5)

    def use(worker: int) -> str:
        cache.put(f"{worker}", response, ADDRESS)
        used.wait()
        try:
            for number in range(10_000):
                cache.put(f"{worker}", response, ADDRESS)
                assert cache.get(f"{worker}") == response, number
        except ServiceError as error:
            return str(error)
        return "never refused"

    with ThreadPoolExecutor(4) as pool:
        workers = [pool.submit(use, worker) for worker in range(4)]
        used.wait()
        cache.close()
        assert all("are closed; open a new session" in worker.result() for worker in workers)
    cache.close()
