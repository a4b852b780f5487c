import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from swaymeter.data.errors import ServiceError, WorkspaceError
from swaymeter.data.sources.http.answer import TransientError
from tests.data.sources.servers.faults import Say, says, serving
from tests.data.sources.sessions import CONTACT, Open

ROOT = Path(__file__).parents[4]
AGAIN = frozenset({"of today"})


def test_a_cached_response_is_not_requested_again(opened: Open) -> None:
    with serving(play=lambda asked: says(dict(asked.form))) as server:
        first = opened(server)
        answers = [first.ask({"q": str(number)}) for number in range(5)]
        first.close()
        later = opened(server)
        again = [later.ask({"q": str(number)}) for number in range(5)]
        assert later._limits.sent == 0
    assert len(server.asked) == 5
    assert [answer.content for answer in again] == [answer.content for answer in answers]
    assert [answer.retrieved_at for answer in again] == [answer.retrieved_at for answer in answers]
    assert all(answer.from_cache for answer in again)


def test_different_requests_are_cached_apart(opened: Open) -> None:
    with serving(play=lambda asked: says([asked.method, asked.path, asked.form, asked.headers["accept"]])) as server:
        session = opened(server)
        asked: list[dict[str, Any]] = [
            {"form": {"q": "1"}}, {"form": {"q": "2"}}, {"form": {"q": "1", "r": ""}},
            {"form": {"q": "1"}, "path": "x"},
            {"form": {"q": "1"}, "method": "POST"}, {"form": {"q": "2"}, "method": "POST"},
            {"form": {"q": "1"}, "accept": "application/sparql-results+json"}, {"form": {"q": "%31"}},
        ]  # fmt: skip
        answers = [session.ask(**how).content for how in asked]
        assert [session.ask(**how).content for how in asked] == answers
        assert session.ask({"r": "", "q": "1"}).from_cache
    assert len(server.asked) == len(asked)
    assert len({json.dumps(answer) for answer in answers}) == len(asked)


def test_an_expired_response_is_requested_again(opened: Open) -> None:
    with serving(says([1]), says([2])) as server:
        assert opened(server).ask({}).content == [1]
        assert opened(server, cache_ttl_days=1).ask({}).content == [1]
        time.sleep(0.2)
        young = 0.15 / 86_400
        assert opened(server, cache_ttl_days=young).ask({}).content == [2]
        assert opened(server, cache_ttl_days=1).ask({}).content == [2]
    assert len(server.asked) == 2


@pytest.mark.parametrize("minutes", [-5, 0, 5])
def test_what_is_asked_for_anew_is_requested_once(minutes: int, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=lambda zone: datetime.now(UTC) + timedelta(minutes=minutes))  # of another host
    with serving(says([1]), says([2]), says([3])) as server:
        with monkeypatch.context() as patched:
            patched.setattr("swaymeter.data.sources.http.exchange.datetime", clock)
            opened(server).ask({})
        fresh = opened(server, reruns=AGAIN)
        assert [fresh.ask({}).content for _ in range(3)] == [[2]] * 3
        with monkeypatch.context() as patched:
            patched.setattr("swaymeter.data.sources.http.exchange.datetime", clock)
            assert opened(server, reruns=frozenset({"of yesterday"})).ask({}).content == [3]
        for reruns in (AGAIN, frozenset({"of yesterday"}), AGAIN | {"of yesterday"}, frozenset()):
            assert opened(server, reruns=frozenset(reruns)).ask({}).content == [3]
    assert len(server.asked) == 3


def test_a_young_response_may_be_refreshed(opened: Open) -> None:
    with serving(says([1]), says([2]), says([3])) as server:
        session = opened(server)
        assert session.ask({}, immutable=True).content == [1]
        fresh = session.ask({}, immutable=True, bypass_cache=True)
        assert (fresh.content, fresh.from_cache, session._limits.sent) == ([2], False, 2)
        assert session.ask({}).content == [2]
        assert opened(server, offline=True).ask({}, bypass_cache=True).content == [2]
    assert len(server.asked) == 2


def test_offline_only_young_cached_responses_are_used(opened: Open) -> None:
    with serving(says([1])) as server:
        opened(server).ask({"q": "1"})
        offline = opened(server, offline=True, contact=None)
        assert offline.ask({"q": "1"}).content == [1]
        with pytest.raises(ServiceError, match="offline"):
            offline.ask({"q": "2"})
        with pytest.raises(ServiceError, match=r"offline.*younger than 0 days"):
            opened(server, offline=True, cache_ttl_days=0).ask({"q": "1"})
        with pytest.raises(ServiceError, match="younger than 30 days and fetched since that was asked for anew"):
            opened(server, offline=True, reruns=AGAIN).ask({"q": "1"})
    assert len(server.asked) == 1


def maxlag(content: Any) -> ServiceError | TransientError | None:
    error = content.get("error") if isinstance(content, dict) else None
    if not error:
        return None
    return TransientError(error["info"]) if error["code"] == "maxlag" else ServiceError(error["info"])


BAD = [
    Say(status=404), Say(status=503), Say(b"<html>"), Say(b"[1, 2]", sent=2), Say(drop=True),
    says({"error": {"code": "other", "info": "no"}}),
]  # fmt: skip


@pytest.mark.parametrize("say", BAD)
def test_bad_responses_are_never_cached(say: Say, opened: Open) -> None:
    with serving(say) as server:
        session = opened(server, tries=2)
        with pytest.raises(ServiceError):
            session.ask({}, error_of=maxlag)
        server.play = lambda asked: says([1])
        assert opened(server).ask({}, error_of=maxlag).content == [1]


def test_a_damaged_cache_is_named(opened: Open, tmp_path: Path) -> None:
    file = tmp_path / "answers" / "yago.sqlite"
    file.parent.mkdir()
    file.write_bytes(b"this is no database, " * 1000)
    with (
        serving(says([1])) as server,
        pytest.raises(WorkspaceError, match=r"yago\.sqlite.*remove the file where it is damaged"),
    ):
        opened(server).ask({})


def test_a_damaged_name_inside_a_cache_is_named(opened: Open, tmp_path: Path) -> None:
    file = tmp_path / "answers" / "yago.sqlite"
    with serving(says([1])) as server:
        opened(server).ask({})
        index = b"sqlite_autoindex_cached"
        assert file.read_bytes().count(index) == 1
        file.write_bytes(file.read_bytes().replace(index, index.replace(b"cac", b"c\xe1c")))
        with pytest.raises(WorkspaceError, match=r"yago\.sqlite.*remove the file where it is damaged"):
            opened(server).ask({})


def test_the_cache_holds_json_without_contact_and_cookies(opened: Open, tmp_path: Path) -> None:
    with serving(says({"rows": ["Oslo"]}, headers={"Set-Cookie": "id=secret"})) as server:
        opened(server).ask({}, method="POST")
    file = tmp_path / "answers" / "yago.sqlite"
    with closing(sqlite3.connect(file)) as database:
        ((value,),) = database.execute("SELECT value FROM cached_responses")
    assert json.loads(json.loads(value)["body"]) == {"rows": ["Oslo"]}
    assert not any(word in file.read_bytes() for word in (CONTACT.encode(), b"secret"))


@pytest.mark.parametrize(
    ("content", "immutable", "other", "again"),
    [
        ([1], True, {"cache_ttl_days": 0}, 1), ([1], True, {"reruns": AGAIN}, 1),
        ([1], True, {"offline": True, "cache_ttl_days": 0}, 1), ([1], False, {"cache_ttl_days": 0}, 2),
        ({"whole": True}, lambda content: content["whole"], {"cache_ttl_days": 0}, 1),
        ({"whole": False}, lambda content: content["whole"], {"cache_ttl_days": 0}, 2),
    ],
)  # fmt: skip
def test_an_immutable_response_stays(content: Any, immutable: Any, other: Any, again: int, opened: Open) -> None:
    with serving(says(content)) as server:
        opened(server).ask({}, immutable=immutable)
        assert opened(server, **other).ask({}, immutable=immutable).content == content
    assert len(server.asked) == again


ASKS = """
import sys
from contextlib import closing
from pathlib import Path
from swaymeter.data.sources.http.session import Service, Session
service = Service("YAGO", sys.argv[1], requests_per_minute=60_000)
with closing(Session(service, contact="tests@example.org", cache=Path(sys.argv[2]))) as session:
    for number in range(6):
        print(session.ask({"q": str(number)}, method="POST").content, flush=True)
"""


def test_a_killed_run_is_resumed(tmp_path: Path) -> None:
    held = threading.Event()
    killed_at = iter((2, 4))
    holds = {next(killed_at)}

    def play(asked: Any) -> Say:
        number = int(asked.form["q"])
        return says([number], hold=held) if number in holds else says([number])

    command = [sys.executable, "-c", ASKS]
    with serving(play=play) as server:
        for arrived in (3, 6):
            run = subprocess.Popen([*command, server.address, str(tmp_path)], cwd=ROOT, stdout=subprocess.DEVNULL)
            server.waits_for(arrived, 60)
            os.kill(run.pid, signal.SIGKILL)
            assert run.wait() == -signal.SIGKILL
            holds.clear()
            holds.update(killed_at)
        done = subprocess.run(
            [*command, server.address, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
        )
        held.set()
    assert done.stdout.split() == [f"[{number}]" for number in range(6)]
    assert [asked.form["q"] for asked in server.asked] == ["0", "1", "2", "2", "3", "4", "4", "5"]
