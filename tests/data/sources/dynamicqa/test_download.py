from pathlib import Path

import pytest

from swaymeter.data.errors import ServiceBudget, ServiceError
from swaymeter.data.sources.dynamicqa.published import downloaded, questions
from tests.data.sources.dynamicqa.small_dynamicqa import ROW, write
from tests.data.sources.servers.faults import Say, gzipped
from tests.data.sources.sessions import answering, asking


@pytest.fixture
def content(tmp_path: Path) -> bytes:
    (tmp_path / "published").mkdir()
    return write(tmp_path / "published", "static", {**ROW, "subj": "Å, Norway"}).read_bytes()


def test_a_file_is_downloaded_once(tmp_path: Path, content: bytes) -> None:
    with answering(tmp_path / "cache", gzipped(content)) as (first, server):
        with asking(server.address, tmp_path / "cache") as second:
            for session in (first, second):
                assert downloaded("static", session) == questions(tmp_path / "published", "static")
        assert [asked.path for asked in server.asked] == ["/ask/Static_final.csv"]


def test_a_changed_byte_of_a_download_is_never_read(tmp_path: Path, content: bytes) -> None:
    with answering(tmp_path / "cache", Say(content)) as (first, server):
        sound = downloaded("static", first)
        (cache,) = (tmp_path / "cache").iterdir()
        stored = cache.read_bytes()
        assert stored.count(b"Norway")
        cache.write_bytes(stored.replace(b"Norway", b"Norwax"))
        with asking(server.address, tmp_path / "cache") as second:
            assert downloaded("static", second) == sound
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    "body", [b"<html>welcome</html>", b"", b"id,subj\r\n", b"\xff\xfe", b'{"message": 1}']
)
def test_another_file_is_not_cached(body: bytes, tmp_path: Path, content: bytes) -> None:
    with answering(tmp_path / "cache", Say(body), Say(content)) as (session, _):
        with pytest.raises(ServiceError, match=r"Static_final\.csv of the published DynamicQA could not be fetched"):
            downloaded("static", session)
        assert downloaded("static", session) == questions(tmp_path / "published", "static")


def test_a_failed_download_says_what_to_do(tmp_path: Path) -> None:
    with answering(tmp_path, Say(status=404)) as (session, server), pytest.raises(ServiceError) as raised:
        downloaded("static", session)
    assert str(raised.value).startswith("Static_final.csv of the published DynamicQA could not be fetched")
    assert server.address in str(raised.value)
    assert str(raised.value).endswith("name a `folder` with its CSV files under `questions`, or use source: sample")


def test_a_budget_that_is_spent_stays_one(tmp_path: Path) -> None:
    with answering(tmp_path, Say(status=429)) as (session, _), pytest.raises(ServiceBudget):
        downloaded("static", session)
