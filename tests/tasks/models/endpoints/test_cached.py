"""What a server answered, and what a probe found, serves runs without a network; and is of one server's weights."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.errors import ServiceError
from swaymeter.data.sources.http.session import close_sessions
from swaymeter.tasks.models.endpoints.client import Client
from swaymeter.tasks.models.endpoints.endpoint import Endpoint
from swaymeter.tasks.models.endpoints.model import ServedModel, load_served
from swaymeter.tasks.models.pretrained import forget_models
from tests.tasks.models.endpoints.made_up import made_up

QUESTION = [{"role": "user", "content": "Where is Oslo?"}]


def texts(model: ServedModel, question: Any = QUESTION) -> list[str]:
    letters = model.tokenizer.apply_chat_template(question, chat_template=model.tokenizer.chat_template)
    (answers,) = model.sample_answers([letters], [("q", "none")], samples=3)
    return [answer.text for answer in (*answers.samples, answers.greedy)]


def test_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "a key of this test")
    with made_up("no log-probabilities", "one answer a request", dialect="openai") as server:
        endpoint = Endpoint("made-up", server.address, key_from="A_KEY")
        with pytest.raises(ServiceError, match="offline, and its server was never probed"):
            load_served(endpoint, tmp_path, offline=True)
        online = load_served(endpoint, tmp_path)
        answered, asked = texts(online), len(server.received)
        close_sessions()
        monkeypatch.delenv("A_KEY")  # nothing is sent
        offline = load_served(replace(endpoint, in_flight=2), tmp_path, offline=True)
        assert offline.probe == online.probe
        assert "several" in offline.probe.failed
        assert texts(offline) == answered
        with pytest.raises(ServiceError, match="offline, and no cached response"):
            texts(offline, [{"role": "user", "content": "Where is Lima?"}])
        assert len(server.received) == asked
    close_sessions()


def test_a_server_moves(tmp_path: Path) -> None:
    """To another address, where what it answered is not paid again, and another server does not go unnoticed."""
    answered = []
    for misleads in ((), (), ("another version",)):
        forget_models()
        with made_up(*misleads, dialect="vllm") as server:
            model = load_served(Endpoint("made-up", server.address), tmp_path)
            before = len(server.received)
            answered.append(texts(model))
            assert len(server.received) == (before if len(answered) > 1 else len(server.received))
        close_sessions()
    assert answered[0] == answered[1]
    assert "version was 0.0.1 and is 0.0.2" in model.probe.failed["moved"]


def test_names_that_look_alike(tmp_path: Path) -> None:
    with made_up(dialect="openai") as server:
        for name in ("Org/m", "org-m", "模型", "型模"):
            model = load_served(Endpoint(name, server.address, served_as="made-up"), tmp_path)
            before = len(server.received)
            texts(model)
            assert len(server.received) > before, "an answer to another name was used"
    close_sessions()


def test_other_weights(tmp_path: Path) -> None:
    with made_up(dialect="openai") as server:
        asked = []
        for revision in ("", "June", "june", "June", ""):
            forget_models()
            model = load_served(Endpoint("made-up", server.address, revision=revision), tmp_path, revision=revision)
            before = len(server.received)
            texts(model)
            asked.append(len(server.received) > before)
            close_sessions()
    assert asked == [True, True, True, False, False], "answers of other weights were used"


@pytest.mark.parametrize(("rerun", "is_asked"), [(0, False), (1, True)])
def test_anew(rerun: int, is_asked: bool, tmp_path: Path) -> None:
    with made_up(dialect="openai") as server:
        texts(load_served(Endpoint("made-up", server.address), tmp_path))
        for asked in (is_asked, False):  # once for a request, however often the run begins
            again = load_served(Endpoint("made-up", server.address), tmp_path, rerun=rerun)
            before = len(server.received)
            texts(again)
            assert (len(server.received) > before) == asked
    close_sessions()


@pytest.mark.parametrize(("rates", "most"), [((600, 600), 14), ((600, 601), 28)])
def test_rate_of_an_address(rates: tuple[int, int], most: int, tmp_path: Path) -> None:
    with made_up(dialect="openai") as server:
        clients = [
            Client(Endpoint(name, server.address, requests_per_minute=rate), tmp_path)
            for name, rate in zip("ab", rates, strict=True)
        ]
        ends = time.monotonic() + 1.0

        def ask(client: Client) -> None:
            while time.monotonic() < ends:
                client.get("models")

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(ask, clients))
        assert len(server.received) <= most
    close_sessions()


def test_two_names(tmp_path: Path) -> None:
    with made_up(dialect="openai") as server:
        one, other = (
            load_served(Endpoint(name, server.address, served_as="made-up"), tmp_path) for name in ("one", "o n e")
        )
        assert texts(one) != texts(other), "their seeds are their own"
        before = len(server.received)
        assert (texts(one), texts(other)) == (texts(one), texts(other))
        assert len(server.received) == before
    close_sessions()
