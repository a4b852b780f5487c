from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from swaymeter.data.errors import ServiceBudget, ServiceError
from swaymeter.data.sources.dynamicqa.published import downloaded, questions
from swaymeter.data.sources.http.services import SERVICES
from swaymeter.data.sources.http.session import Session
from tests.data.sources.dynamicqa.small_dynamicqa import ROW, write
from tests.data.sources.http.asking import Clock
from tests.data.sources.servers.faults import FaultServer, Say, gzipped, serving


@contextmanager
def session(folder: Path, where: FaultServer | str, *, offline: bool = False) -> Iterator[Session]:
    """A session that asks there, and waits for nothing."""
    address = where if isinstance(where, str) else where.address
    service = replace(SERVICES["dynamicqa"], address=address, requests_per_minute=60_000, timeout_s=5)
    clock = Clock()
    cache = folder / "cache"
    with closing(
        Session(service, contact=None, cache=cache, offline=offline, now=clock.now, sleep=clock.sleep)
    ) as opened:
        yield opened


@pytest.fixture
def content(tmp_path: Path) -> bytes:
    (tmp_path / "published").mkdir()
    return write(tmp_path / "published", "static", {**ROW, "subj": "Å, Norway"}).read_bytes()


def test_a_file_is_downloaded_once_without_a_contact(tmp_path: Path, content: bytes) -> None:
    with serving(gzipped(content)) as server:
        for _ in range(2):
            with session(tmp_path, server) as opened:
                assert downloaded("static", opened) == questions(tmp_path / "published", "static")
        assert [asked.path for asked in server.asked] == ["/ask/Static_final.csv"]
        assert server.asked[0].headers["user-agent"].startswith("swaymeter/")


def test_a_changed_byte_of_a_download_is_never_read(tmp_path: Path, content: bytes) -> None:
    with serving(Say(content)) as server:
        with session(tmp_path, server) as opened:
            sound = downloaded("static", opened)
        (cache,) = (tmp_path / "cache").iterdir()
        stored = cache.read_bytes()
        assert stored.count(b"Norway")
        cache.write_bytes(stored.replace(b"Norway", b"Norwax"))
        with session(tmp_path, server) as opened:
            assert downloaded("static", opened) == sound
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    "body",
    [b"<html>welcome</html>", b"", b"id,subj\r\n", b"\xff\xfe", b'{"message": "Not Found"}'],
    ids=["a page", "nothing", "another table", "no text", "JSON"],
)
def test_another_file_is_not_cached(body: bytes, tmp_path: Path, content: bytes) -> None:
    with serving(Say(body), Say(content)) as server, session(tmp_path, server) as opened:
        with pytest.raises(ServiceError, match=r"Static_final\.csv of the published DynamicQA could not be fetched"):
            downloaded("static", opened)
        assert downloaded("static", opened) == questions(tmp_path / "published", "static")


def test_a_failed_download_says_what_to_do(tmp_path: Path) -> None:
    with serving(Say(status=404)) as server, session(tmp_path, server) as opened, pytest.raises(ServiceError) as raised:
        downloaded("static", opened)
    said = str(raised.value)
    assert "Static_final.csv" in said
    assert server.address in said
    assert said.endswith("name a `folder` with its CSV files under `questions`, or use source: sample")
    assert "\n" not in said


def test_a_budget_that_is_spent_stays_one(tmp_path: Path) -> None:
    with serving(Say(status=429)) as server, session(tmp_path, server) as opened, pytest.raises(ServiceBudget):
        downloaded("static", opened)
