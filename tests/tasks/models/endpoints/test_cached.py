"""Cached responses and probes: they serve runs without a network, and belong to one model, server and revision."""

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
from tests.tasks.models.endpoints.letter_server import letter_server

QUESTION = [{"role": "user", "content": "Where is Oslo?"}]


def texts(model: ServedModel, question: Any = QUESTION) -> list[str]:
    prompt = model.tokenizer.apply_chat_template(question, chat_template=model.tokenizer.chat_template)
    (answers,) = model.sample_answers([prompt], [("q", "none")], samples=3)
    return [answer.text for answer in (*answers.samples, answers.greedy)]


def test_cached_responses_serve_a_run_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "a key of this test")
    with letter_server("no log-probabilities", "one answer per request", dialect="openai") as server:
        endpoint = Endpoint("made-up", server.address, key_from="A_KEY")
        with pytest.raises(ServiceError, match="its server was never probed, and this run is offline"):
            load_served(endpoint, tmp_path, offline=True)
        online = load_served(endpoint, tmp_path)
        expected, requests = texts(online), len(server.received)
        close_sessions()
        monkeypatch.delenv("A_KEY")  # no request is sent, so no key is needed
        offline = load_served(replace(endpoint, in_flight=2), tmp_path, offline=True)
        assert offline.probe == online.probe
        assert "several" in offline.probe.failed
        assert texts(offline) == expected
        with pytest.raises(ServiceError, match="offline, and no cached response"):
            texts(offline, [{"role": "user", "content": "Where is Lima?"}])
        assert len(server.received) == requests
    close_sessions()


def test_cached_responses_outlive_a_change_of_address(tmp_path: Path) -> None:
    """The third server has another version; the probe reports the change."""
    replies = []
    for faults in ((), (), ("another version",)):
        forget_models()
        with letter_server(*faults, dialect="vllm") as server:
            model = load_served(Endpoint("made-up", server.address), tmp_path)
            before = len(server.received)
            replies.append(texts(model))
            if len(replies) > 1:
                assert len(server.received) == before
        close_sessions()
    assert replies[0] == replies[1]
    assert "version was 0.0.1 and is 0.0.2" in model.probe.failed["moved"]


def test_similar_names_share_no_cached_responses(tmp_path: Path) -> None:
    with letter_server(dialect="openai") as server:
        for name in ("Org/m", "org-m", "模型", "型模"):
            model = load_served(Endpoint(name, server.address, served_as="made-up"), tmp_path)
            before = len(server.received)
            texts(model)
            assert len(server.received) > before, "a response to another name was used"
    close_sessions()


def test_revisions_share_no_cached_responses(tmp_path: Path) -> None:
    with letter_server(dialect="openai") as server:
        sends_requests = []
        for revision in ("", "June", "june", "June", ""):
            forget_models()
            model = load_served(Endpoint("made-up", server.address, revision=revision), tmp_path, revision=revision)
            before = len(server.received)
            texts(model)
            sends_requests.append(len(server.received) > before)
            close_sessions()
    assert sends_requests == [True, True, True, False, False], "responses of another revision were used"


@pytest.mark.parametrize(("rerun", "sends_requests"), [(0, False), (1, True)])
def test_rerun_requests_each_response_once(rerun: int, sends_requests: bool, tmp_path: Path) -> None:
    with letter_server(dialect="openai") as server:
        texts(load_served(Endpoint("made-up", server.address), tmp_path))
        for expected in (sends_requests, False):  # a resumed rerun uses the responses of its first start
            rerun_model = load_served(Endpoint("made-up", server.address), tmp_path, rerun=rerun)
            before = len(server.received)
            texts(rerun_model)
            assert (len(server.received) > before) == expected
    close_sessions()


# A limit of 600 requests a minute lets 10 requests pass in a second; 4 more are tolerated for each limit.
@pytest.mark.parametrize(("rates", "max_requests"), [((600, 600), 14), ((600, 601), 28)])
def test_clients_with_equal_rates_share_a_limit(rates: tuple[int, int], max_requests: int, tmp_path: Path) -> None:
    with letter_server(dialect="openai") as server:
        clients = [
            Client(Endpoint(name, server.address, requests_per_minute=rate), tmp_path)
            for name, rate in zip("ab", rates, strict=True)
        ]
        end = time.monotonic() + 1.0

        def send(client: Client) -> None:
            while time.monotonic() < end:
                client.get("models")

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(send, clients))
        assert len(server.received) <= max_requests
    close_sessions()


def test_seeds_depend_on_the_models_name(tmp_path: Path) -> None:
    with letter_server(dialect="openai") as server:
        first, second = (
            load_served(Endpoint(name, server.address, served_as="made-up"), tmp_path) for name in ("one", "o n e")
        )
        assert texts(first) != texts(second), "both names have the same seeds"
        before = len(server.received)
        assert (texts(first), texts(second)) == (texts(first), texts(second))
        assert len(server.received) == before
    close_sessions()
