"""Every server that misleads is found out, by the name of a check, and what cannot be trusted is taken away."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.errors import ModelError, ServiceError
from swaymeter.tasks.models.endpoints.client import Client
from swaymeter.tasks.models.endpoints.endpoint import Endpoint, Prompt
from swaymeter.tasks.models.endpoints.model import load_served
from swaymeter.tasks.models.endpoints.probe import ProbeResult, probe
from tests.data.sources.servers.faults import Say, ServedRequest, says
from tests.tasks.models.endpoints.made_up import made_up, tokens_of

WHOLE = {"next_token_logits", "answer_scores", "distributions"}


def write(text: str) -> Prompt:
    return Prompt(tokens=tokens_of(text))


def found(folder: Path, *misleads: str, dialect: str = "vllm") -> ProbeResult:
    with made_up(*misleads, dialect=dialect) as server:
        client = Client(Endpoint("made-up", server.address), folder)
        return probe(client, write if dialect == "vllm" else None)[1]


def test_honest(tmp_path: Path) -> None:
    honest = found(tmp_path)
    assert (honest.api, honest.failed, honest.missing) == ("vllm", {}, {})
    assert (honest.context_window, honest.description["version"]) == (512, "0.0.1")


@pytest.mark.parametrize(
    ("misleads", "check", "taken"),
    [
        ("ignores seed", "seed", set()),
        ("ignores sampling", "sampling", {"sampling"}),
        ("one answer a request", "several", set()),
        ("one answer a request, again and again", "several", set()),
        ("another greedy answer", "greedy", set()),
        ("no log-probabilities", "log_probs", {"token_log_probs"}),
        ("refuses log-probabilities", "log_probs", {"token_log_probs"}),
        ("zeros", "log_probs", {"token_log_probs"}),
        ("-9999", "log_probs", {"token_log_probs"}),
        ("more than 1", "log_probs", {"token_log_probs", "next_token_logits"}),
        ("after temperature", "temperature", {"token_log_probs"}),
        ("tokens fall together", "likeliest", {"likeliest_tokens"}),
        ("refuses whole distributions", "whole", WHOLE),
        ("another token than it says", "whole", WHOLE),
        ("adds a start token", "prompt", {"next_token_logits"}),
        ("cuts answers", "limit", set()),
    ],
)
def test_found_out(tmp_path: Path, misleads: str, check: str, taken: set[str]) -> None:
    of_server = found(tmp_path, misleads)
    assert check in of_server.failed, of_server
    assert taken <= of_server.missing.keys(), of_server
    if not taken:
        assert not of_server.missing, of_server


def test_advice(tmp_path: Path) -> None:
    assert "--max-logprobs -1" in found(tmp_path, "refuses whole distributions").failed["whole"]


@pytest.mark.parametrize(
    ("misleads", "message"), [("another model", "has no model 'made-up'"), ("other tokenizer", "uses other tokens")]
)
def test_refused(tmp_path: Path, misleads: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        found(tmp_path, misleads)


def test_chat(tmp_path: Path) -> None:
    of_chat: Any = found(tmp_path, "thinks", dialect="openai")
    assert (of_chat.api, of_chat.missing.keys()) == ("openai", WHOLE)
    assert of_chat.description["thoughts"]


@pytest.mark.parametrize("lasts", [False, True])
@pytest.mark.parametrize(("key", "value"), [("n", 3), ("logprobs", 5), ("logprobs", -1)])
def test_a_fault_that_passes_is_no_refusal(tmp_path: Path, key: str, value: int, lasts: bool) -> None:
    bodies = list[bytes]()

    def fault(asked: ServedRequest) -> Say | None:
        begins = asked.method == "POST" and json.loads(asked.body).get(key) == value
        if (begins and not bodies) or (lasts and bodies):
            bodies.append(asked.body)
            return Say("<html>Welcome</html>")
        return None

    with made_up(before=fault) as server:
        client = Client(Endpoint("made-up", server.address), tmp_path)
        if lasts:
            with pytest.raises(ServiceError, match="not JSON"):
                probe(client, write)
        else:
            assert probe(client, write)[1].failed == {}
    assert bodies


def test_error_in_place_of_models_is_said(tmp_path: Path) -> None:
    """Otherwise the server would be asked as if it were of another kind."""
    said = Say('{"error": {"message": "starting"}}')
    with (
        made_up(before=lambda asked: said if asked.method == "GET" else None) as server,
        pytest.raises(ServiceError, match="starting"),
    ):
        probe(Client(Endpoint("made-up", server.address), tmp_path), write)


def test_a_server_without_tokenize(tmp_path: Path) -> None:
    said = Say('{"detail": "Not Found"}', status=404)
    with made_up(before=lambda asked: said if asked.path.endswith("/tokenize") else None) as server:
        assert probe(Client(Endpoint("made-up", server.address), tmp_path), write)[1].failed == {}


def test_another_likeliest_token_than_a_chat_answers(tmp_path: Path) -> None:
    of_chat = found(tmp_path, "another token than it says", dialect="openai")
    assert "not the likeliest" in of_chat.failed["log_probs"]
    assert {"token_log_probs", "likeliest_tokens"} <= of_chat.missing.keys()


def test_what_a_template_adds_is_said(tmp_path: Path) -> None:
    with made_up("adds a start token") as server:
        words = probe(Client(Endpoint("made-up", server.address), tmp_path), None)[1].description
    read, sent = (int(number) for number in re.findall(r"\d+", words["template"]))
    assert read == sent + 1


def test_a_server_that_was_replaced_is_noticed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    versions = iter(["0.0.1", "0.0.1", "0.0.2", "0.0.2"])

    def version(asked: ServedRequest) -> Say | None:
        return says({"version": next(versions)}) if asked.path.endswith("/version") else None

    moved = []
    with made_up(before=version) as server:
        for run in range(4):
            model = load_served(Endpoint("made-up", server.address), tmp_path, rerun=run)
            moved.append("moved: version was 0.0.1 and is 0.0.2" in (model.reading or ""))
    assert moved == [False, False, True, False]
    assert sum("changed since the last run" in record.message for record in caplog.records) == 1
