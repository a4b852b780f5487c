"""The probe: a fault of the server fails a named check, and removes the capabilities that need the check."""

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
from tests.data.sources.servers.faults import ServedRequest, ServedResponse, json_response
from tests.tasks.models.endpoints.letter_server import letter_server, tokens_of

WHOLE_DISTRIBUTION = {"next_token_logits", "answer_scores", "distributions"}


def token_prompt(text: str) -> Prompt:
    return Prompt(tokens=tokens_of(text))


def probe_result(folder: Path, *faults: str, dialect: str = "vllm") -> ProbeResult:
    with letter_server(*faults, dialect=dialect) as server:
        client = Client(Endpoint("made-up", server.address), folder)
        return probe(client, token_prompt if dialect == "vllm" else None)[1]


def test_server_without_faults_passes_all_checks(tmp_path: Path) -> None:
    result = probe_result(tmp_path)
    assert (result.api, result.failed, result.missing) == ("vllm", {}, {})
    assert (result.context_window, result.description["version"]) == (512, "0.0.1")


@pytest.mark.parametrize(
    ("fault", "check", "missing"),
    [
        ("ignores seed", "seed", set()),
        ("ignores sampling", "sampling", {"sampling"}),
        ("one answer per request", "several", set()),
        ("identical answers", "several", set()),
        ("changing greedy answer", "greedy", set()),
        ("no log-probabilities", "log_probs", {"token_log_probs"}),
        ("refuses log-probabilities", "log_probs", {"token_log_probs"}),
        ("log-probabilities of 0", "log_probs", {"token_log_probs"}),
        ("log-probabilities of -9999", "log_probs", {"token_log_probs"}),
        ("probabilities above 1", "log_probs", {"token_log_probs", "next_token_logits"}),
        ("log-probabilities after temperature", "temperature", {"token_log_probs"}),
        ("merges tokens", "likeliest", {"likeliest_tokens"}),
        ("refuses whole distributions", "whole", WHOLE_DISTRIBUTION),
        ("names wrong tokens", "whole", WHOLE_DISTRIBUTION),
        ("adds a start token", "prompt", {"next_token_logits"}),
        ("cuts answers", "limit", set()),
    ],
)
def test_fault_fails_its_check(tmp_path: Path, fault: str, check: str, missing: set[str]) -> None:
    result = probe_result(tmp_path, fault)
    assert check in result.failed, result
    assert missing <= result.missing.keys(), result
    if not missing:
        assert not result.missing, result


def test_failed_check_gives_advice(tmp_path: Path) -> None:
    assert "--max-logprobs -1" in probe_result(tmp_path, "refuses whole distributions").failed["whole"]


@pytest.mark.parametrize(
    ("fault", "message"), [("another model", "has no model 'made-up'"), ("another tokenizer", "uses other tokens")]
)
def test_another_model_or_tokenizer_is_refused(tmp_path: Path, fault: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        probe_result(tmp_path, fault)


def test_chat_server_has_no_whole_distribution(tmp_path: Path) -> None:
    result: Any = probe_result(tmp_path, "thinks", dialect="openai")
    assert (result.api, result.missing.keys()) == ("openai", WHOLE_DISTRIBUTION)
    assert result.description["thoughts"]


@pytest.mark.parametrize("is_permanent", [False, True])
@pytest.mark.parametrize(("key", "value"), [("n", 3), ("logprobs", 5), ("logprobs", -1)])
def test_page_instead_of_json_is_no_refusal(tmp_path: Path, key: str, value: int, is_permanent: bool) -> None:
    bodies = list[bytes]()

    def fault(request: ServedRequest) -> ServedResponse | None:
        has_value = request.method == "POST" and json.loads(request.body).get(key) == value
        if (has_value and not bodies) or (is_permanent and bodies):
            bodies.append(request.body)
            return ServedResponse("<html>Welcome</html>")
        return None

    with letter_server(override=fault) as server:
        client = Client(Endpoint("made-up", server.address), tmp_path)
        if is_permanent:
            with pytest.raises(ServiceError, match="not JSON"):
                probe(client, token_prompt)
        else:
            assert probe(client, token_prompt)[1].failed == {}
    assert bodies


def test_error_instead_of_list_of_models_is_raised(tmp_path: Path) -> None:
    """If the probe ignored the error, the probe would take the server for another kind."""
    error = ServedResponse('{"error": {"message": "starting"}}')
    with (
        letter_server(override=lambda request: error if request.method == "GET" else None) as server,
        pytest.raises(ServiceError, match="starting"),
    ):
        probe(Client(Endpoint("made-up", server.address), tmp_path), token_prompt)


def test_server_without_tokenize_passes_all_checks(tmp_path: Path) -> None:
    not_found = ServedResponse('{"detail": "Not Found"}', status=404)
    with letter_server(override=lambda request: not_found if request.path.endswith("/tokenize") else None) as server:
        assert probe(Client(Endpoint("made-up", server.address), tmp_path), token_prompt)[1].failed == {}


def test_chat_with_wrong_tokens_fails_a_check(tmp_path: Path) -> None:
    result = probe_result(tmp_path, "names wrong tokens", dialect="openai")
    assert "not the likeliest" in result.failed["log_probs"]
    assert {"token_log_probs", "likeliest_tokens"} <= result.missing.keys()


def test_tokens_of_the_template_are_counted(tmp_path: Path) -> None:
    with letter_server("adds a start token") as server:
        description = probe(Client(Endpoint("made-up", server.address), tmp_path), None)[1].description
    read_tokens, sent_tokens = (int(number) for number in re.findall(r"\d+", description["template"]))
    assert read_tokens == sent_tokens + 1


def test_replaced_server_is_noticed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    versions = iter(["0.0.1", "0.0.1", "0.0.2", "0.0.2"])

    def version(request: ServedRequest) -> ServedResponse | None:
        return json_response({"version": next(versions)}) if request.path.endswith("/version") else None

    is_reported = []
    with letter_server(override=version) as server:
        for run in range(4):
            model = load_served(Endpoint("made-up", server.address), tmp_path, rerun=run)
            is_reported.append("moved: version was 0.0.1 and is 0.0.2" in (model.reading or ""))
    assert is_reported == [False, False, True, False]
    assert sum("changed since the last run" in record.message for record in caplog.records) == 1
