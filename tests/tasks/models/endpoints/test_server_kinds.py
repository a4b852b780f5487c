"""Audits of the imitated chat servers: the verdict and the state of every reply."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.errors import ModelError, ServiceError
from swaymeter.data.sources.http.session import close_sessions
from swaymeter.flows.api import Study
from swaymeter.flows.cli.views.audit import AuditOptions, write_study
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.study_graph import graph_of
from swaymeter.tasks.models.endpoints.client import Client
from swaymeter.tasks.models.endpoints.endpoint import Endpoint, Prompt
from swaymeter.tasks.models.endpoints.model import load_served
from swaymeter.tasks.models.endpoints.probe import ProbeResult, probe
from swaymeter.tasks.models.pretrained import forget_models
from tests.data.sources.servers.faults import ServedRequest, ServedResponse, json_response, serving
from tests.flows.small_study import PREPARED, run
from tests.tasks.models.endpoints.fake_servers import QUESTIONS, REFUSED_PARAMETERS, SERVERS, ChatServer

TURNS = Prompt(turns=[{"role": "user", "content": "When does the library close?"}])


def greedy_replies(kind: str, folder: Path, model: str = "", path: str = "/v1", **options: Any) -> list[dict[str, Any]]:
    """Return the rows of an audit's greedy replies to prompts with a context, each with its verdict."""
    (folder / "mine.csv").write_text(QUESTIONS)
    server, settings = SERVERS[kind], {"samples": 2, **options}
    forget_models()
    with serving(play=server.answer) as running:
        address = running.address.removesuffix("/ask") + path
        model_at_address = f"{model or server.names[0]}@{address}"
        audit = AuditOptions(str(folder / "mine.csv"), folder / "audit", models=[model_at_address], **settings)
        study = Study.load(str(write_study(audit)))
        graph = run(lambda: graph_of(study.plan, {}), Selection(stages=(*PREPARED, "score")))
    close_sessions()
    assert not [node.reason for node in graph if node.state == "failed"]
    steps = [node.step for node in graph if node.id.stage == "score" and node.step]
    tables = {role: step.table(role).read().to_pylist() for step in steps for role in step.outputs}
    verdicts = {
        (row["question_id"], row["context_id"]): row["verdict"]
        for row in tables["whose_answer"]
        if row["sample"] is None
    }
    replies = (row for row in tables["answers"] if row["sample"] is None and row["condition"] != "none")
    return [{**row, "verdict": verdicts.get((row["question_id"], row["context_id"]))} for row in replies]


def probe_server(server: ChatServer, folder: Path) -> ProbeResult:
    with serving(play=server.answer) as running:
        address = running.address.removesuffix("/ask") + "/v1"
        return probe(Client(Endpoint(server.names[0], address), folder), None)[1]


@pytest.mark.parametrize(
    ("kind", "model", "path"),
    [
        ("Ollama", "qwen3:4b", "/v1"),
        ("Gemini", "models/gemini-flash", "/v1beta/openai"),
        ("short list of models", "openai/gpt-4o", "/v1"),
        ("short list of models", "qwen/qwen-2.5-7b-instruct:free", "/v1"),
        ("no finish_reason", "fake-1", "/v1"),
        ("null log-probabilities", "fake-1", "/v1"),
        ("always greedy", "fake-1", "/v1"),
    ],
)
def test_audit_finds_that_replies_follow_passages(kind: str, model: str, path: str, tmp_path: Path) -> None:
    replies = greedy_replies(kind, tmp_path, model, path)
    assert {row["state"] for row in replies} == {"complete"}
    assert [row["verdict"] for row in replies] == ["context"] * 4


@pytest.mark.parametrize(
    ("kind", "states"),
    [
        ("null replies", {"lib": "empty", "pay": "empty"}),
        ("calls of tools", {"lib": "tool_call", "pay": "tool_call"}),
        ("content filter", {"lib": "withheld", "pay": "complete"}),
        ("endless thoughts", {"lib": "unfinished_thoughts", "pay": "unfinished_thoughts"}),
    ],
)
def test_reply_without_answer_has_a_state(kind: str, states: dict[str, str], tmp_path: Path) -> None:
    replies = greedy_replies(kind, tmp_path)
    assert {row["question_id"]: row["state"] for row in replies} == states
    with_verdict = {row["question_id"] for row in replies if row["verdict"]}
    assert with_verdict == {name for name, state in states.items() if state not in ("withheld", "unfinished_thoughts")}


@pytest.mark.parametrize(
    ("kind", "thinks", "switch"),
    [
        ("without thoughts", False, ""),
        ("Ollama", True, ""),
        ("hidden thoughts", True, ""),
        ("Ollama with a switch", True, "reasoning_effort"),
        ("vLLM or SGLang with a reasoning parser", True, "enable_thinking"),
    ],
)
def test_probe_finds_the_switch_of_thinking(kind: str, thinks: bool, switch: str, tmp_path: Path) -> None:
    result = probe_server(SERVERS[kind], tmp_path)
    assert (result.thinks, result.switch) == (thinks, switch)
    assert "samples" not in result.missing
    assert not {"sampling", "seed", "greedy", "thoughts", "limit"} & result.failed.keys(), result.failed


@pytest.mark.parametrize("thinking", ["off", "on"])
def test_thinking_reaches_the_server(thinking: str, tmp_path: Path) -> None:
    replies = greedy_replies("Ollama with a switch", tmp_path, thinking=thinking)
    assert {(row["state"], bool(row["thoughts"])) for row in replies} == {("complete", thinking == "on")}


@pytest.mark.parametrize("kind", ["Gemini", "errors as strings", "errors of pydantic", "errors as pages"])
def test_refused_parameters_are_read_from_errors(kind: str, tmp_path: Path) -> None:
    assert probe_server(SERVERS[kind], tmp_path).settings.refused == sorted(REFUSED_PARAMETERS)


def test_error_quotes_the_server(tmp_path: Path) -> None:
    page = ServedResponse("<html><script>x()</script><h1>Closed\x1b[2J on Sundays</h1></html>", status=400)
    with pytest.raises(ServiceError, match=r"answered 400 Bad Request: 'Closed \[2J on Sundays'$"):
        probe_server(ChatServer(refused=REFUSED_PARAMETERS, error=lambda names: page), tmp_path)


def test_unlisted_refused_model_gets_a_suggestion(tmp_path: Path) -> None:
    refusal = ServedResponse('{"error": {"message": "no endpoints"}}', status=404)
    # Every request has messages, so that every request is refused.
    strict = replace(SERVERS["short list of models"], refused=("messages",), error=lambda names: refusal)
    message = r"did you mean 'qwen/.*no endpoints"
    with serving(play=strict.answer) as running, pytest.raises(ModelError, match=message):
        probe(Client(Endpoint("qwen/qwen-2.5-7b", running.address), tmp_path), None)


def test_deployment_gets_its_query_and_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deployment of Azure has no list of models, and its key is in the header api-key."""
    monkeypatch.setenv("AZURE_KEY", "made-up-azure-key")

    def answer(request: ServedRequest) -> ServedResponse:
        if request.headers.get("api-key") != "made-up-azure-key" or "authorization" in request.headers:
            return json_response({"error": {"code": "401", "message": "Access denied"}}, status=401)
        return ServedResponse(status=404) if request.method == "GET" else SERVERS["without thoughts"].answer(request)

    with serving(play=answer) as running:
        address = f"{running.address}/openai/deployments/gpt?api-version=2026-06-01"
        model = load_served(Endpoint("gpt", address, key_from="api-key: AZURE_KEY"), tmp_path)
        assert "samples" not in model.probe.missing
        assert {request.path for request in running.received if request.method == "POST"} <= {
            "/ask/openai/deployments/gpt/chat/completions",
            "/ask/openai/deployments/gpt/completions",
        }
        assert {request.form["api-version"] for request in running.received} == {"2026-06-01"}
    close_sessions()


def test_missing_certificates_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "missing.pem"))
    with pytest.raises(ServiceError, match=r"missing\.pem; correct REQUESTS_CA_BUNDLE"):
        probe(Client(Endpoint("m", "https://127.0.0.1:1/v1"), tmp_path), None)
    close_sessions()


def test_key_in_the_address_is_refused(tmp_path: Path) -> None:
    from pydantic import ValidationError

    from swaymeter.flows.config.sections import ModelPart

    with pytest.raises(ValidationError, match="has a secret in the parameter 'api_key'; remove the parameter"):
        ModelPart(name="m", endpoint="http://127.0.0.1:1/v1?api_key=made-up")
