import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
import requests

from data.errors import WorkspaceError
from data.sources.http.cache import HttpCache, Kept, key_of

WHEN = datetime(2026, 11, 21, 12, 0, 0, 123456, tzinfo=UTC)


def request(address: str = "http://127.0.0.1/", *, accept: str = "application/json", **other: str) -> str:
    return key_of(requests.Request("POST", address, headers={"Accept": accept}, data=other).prepare())


def test_a_key_is_of_what_is_asked_and_not_of_who_asks() -> None:
    mine = requests.Request("GET", "http://127.0.0.1/?q=1", headers={"Accept": "a", "User-Agent": "me"}).prepare()
    yours = requests.Request("GET", "http://127.0.0.1/?q=1", headers={"Accept": "a", "User-Agent": "you"}).prepare()
    assert key_of(mine) == key_of(yours)
    assert request(q="1") == request(q="1")
    different = [request(), request(q="1"), request(q="2"), request(q="1", accept="b"), request("http://127.0.0.1/x")]
    assert len(set(different)) == len(different)


BODIES = [b"{}", b"", b'["\xc3\xa5 \xf0\x9f\x99\x82"]\r\n\x00', b"\xef\xbb\xbf[1]", b"x" * 10**6]


@pytest.mark.parametrize("body", BODIES)
def test_what_is_kept_comes_back_as_it_was(body: bytes, tmp_path: Path) -> None:
    kept = Kept(404, body, WHEN)
    with closing(HttpCache(tmp_path / "a.sqlite")) as cache:
        cache.put("k", kept, "http://127.0.0.1/")
        assert cache.get("k") == kept
    with closing(HttpCache(tmp_path / "a.sqlite")) as cache:
        assert cache.get("k") == kept
        assert cache.get("other") is None


def test_a_time_of_another_zone_is_kept_as_the_same_moment(tmp_path: Path) -> None:
    elsewhere = WHEN.astimezone(timezone(timedelta(hours=5)))
    with closing(HttpCache(tmp_path / "a.sqlite")) as cache:
        cache.put("k", Kept(200, b"[]", elsewhere), "http://127.0.0.1/")
        found = cache.get("k")
    assert found is not None
    assert (found.retrieved_at, found.retrieved_at.tzinfo) == (WHEN, UTC)


def test_the_later_answer_takes_the_place_of_the_sooner(tmp_path: Path) -> None:
    with closing(HttpCache(tmp_path / "a.sqlite")) as cache:
        cache.put("k", Kept(200, b"[1]", WHEN), "http://127.0.0.1/")
        cache.put("k", Kept(200, b"[2]", WHEN + timedelta(seconds=1)), "http://127.0.0.1/")
        found = cache.get("k")
    assert found is not None
    assert found.body == b"[2]"


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    with closing(HttpCache(tmp_path / "a.sqlite")) as cache:
        cache.put("k", Kept(200, b"[1]", WHEN), "http://127.0.0.1/")
        with cache._kept.responses.connection() as database:
            database.execute("PRAGMA max_page_count = 10")
        with pytest.raises(WorkspaceError, match="is the disk full"):
            cache.put("k", Kept(200, b"x" * 10**6, WHEN + timedelta(seconds=1)), "http://127.0.0.1/")
        found = cache.get("k")
        assert found is not None
        assert found.body == b"[1]"


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WorkspaceError, match=r"a\.sqlite cannot be used"):
        HttpCache(tmp_path / "file" / "a.sqlite")
    monkeypatch.setattr(os, "access", lambda place, mode: False)
    with pytest.raises(WorkspaceError, match="cannot be written"):
        HttpCache(tmp_path / "a.sqlite")


def test_threads_and_two_caches_on_one_file_lose_nothing(tmp_path: Path) -> None:
    start = threading.Barrier(8)
    with closing(HttpCache(tmp_path / "a.sqlite")) as one, closing(HttpCache(tmp_path / "a.sqlite")) as other:

        def write(writer: int) -> None:
            start.wait()
            for number in range(5):
                (one if writer % 2 else other).put(
                    f"{writer}{number}", Kept(200, f"[{writer}, {number}]".encode(), WHEN), "http://127.0.0.1/"
                )

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(write, range(8)))
        for writer in range(8):
            for number in range(5):
                assert one.get(f"{writer}{number}") == Kept(200, f"[{writer}, {number}]".encode(), WHEN)
