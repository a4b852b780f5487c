"""Audits of the imitated chat servers: the verdict and the state of every reply."""

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
from tests.data.sources.servers.faults import ServedResponse, serving
from tests.flows.small_study import PREPARED, run
from tests.tasks.models.endpoints import fake_servers as fake

TURNS = Prompt(turns=[{"role": "user", "content": "When does the library close?"}])


def greedy_replies(
    server: fake.ChatServer, folder: Path, model: str = "", path: str = "/v1", **options: Any
) -> list[dict[str, Any]]:
    """Return the rows of an audit's greedy replies to prompts with a context, each with its verdict."""
    (folder / "mine.csv").write_text(fake.QUESTIONS)
    settings = {"samples": 2, **options}
    forget_models()
    with serving(play=server.answer) as running:
        address = running.address.removesuffix("/ask") + path
        model_at_address = f"{model or server.model_names[0]}@{address}"
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


def probe_server(server: fake.ChatServer, folder: Path, **options: Any) -> ProbeResult:
    with serving(play=server.answer) as running:
        address = running.address.removesuffix("/ask") + "/v1"
        return probe(Client(Endpoint(server.model_names[0], address, **options), folder), None)[1]


@pytest.mark.parametrize(
    ("server", "model", "path"),
    [
        (fake.Ollama(), "qwen3:4b", "/v1"),
        (fake.GeminiErrors(), "models/gemini-flash", "/v1beta/openai"),
        (fake.Unlisted(), "openai/gpt-4o", "/v1"),
        (fake.Unlisted(), "qwen/qwen-2.5-7b-instruct:free", "/v1"),
        (fake.NoFinish(), "fake-1", "/v1"),
        (fake.NullLogProbs(), "fake-1", "/v1"),
        (fake.Deterministic(), "fake-1", "/v1"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, fake.ChatServer) else None,
)
def test_audit_finds_that_replies_follow_passages(
    server: fake.ChatServer, model: str, path: str, tmp_path: Path
) -> None:
    replies = greedy_replies(server, tmp_path, model, path)
    assert {row["state"] for row in replies} == {"complete"}
    assert [row["verdict"] for row in replies] == ["context"] * 4


@pytest.mark.parametrize(
    ("server", "states"),
    [
        (fake.Empty(), {"lib": "empty", "pay": "empty"}),
        (fake.ToolCalls(), {"lib": "tool_call", "pay": "tool_call"}),
        (fake.NullMessage(), {"lib": "withheld", "pay": "complete"}),
        (fake.EndlessThoughts(), {"lib": "unfinished_thoughts", "pay": "unfinished_thoughts"}),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, fake.ChatServer) else None,
)
def test_reply_without_answer_has_a_state(server: fake.ChatServer, states: dict[str, str], tmp_path: Path) -> None:
    replies = greedy_replies(server, tmp_path)
    assert {row["question_id"]: row["state"] for row in replies} == states
    with_verdict = {row["question_id"] for row in replies if row["verdict"]}
    assert with_verdict == {name for name, state in states.items() if state not in ("withheld", "unfinished_thoughts")}


@pytest.mark.parametrize(
    ("server", "switch"),
    [
        (fake.ChatServer(), ""),
        (fake.Ollama(), ""),
        (fake.HiddenThoughts(), ""),
        (fake.OllamaSwitch(), "reasoning_effort"),
        (fake.ReasoningParser(), "enable_thinking"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, fake.ChatServer) else None,
)
def test_probe_finds_the_switch_of_thinking(server: fake.ChatServer, switch: str, tmp_path: Path) -> None:
    result = probe_server(server, tmp_path)
    assert (result.thinks, result.switch) == (isinstance(server, fake.Ollama), switch)
    assert "samples" not in result.missing
    assert not {"sampling", "seed", "greedy", "thoughts", "limit"} & result.failed.keys(), result.failed


@pytest.mark.parametrize("thinking", ["off", "on"])
def test_thinking_reaches_the_server(thinking: str, tmp_path: Path) -> None:
    replies = greedy_replies(fake.OllamaSwitch(), tmp_path, thinking=thinking)
    assert {(row["state"], bool(row["thoughts"])) for row in replies} == {("complete", thinking == "on")}


@pytest.mark.parametrize(
    "server",
    [fake.GeminiErrors(), fake.TextErrors(), fake.PydanticErrors(), fake.HtmlErrors()],
    ids=lambda server: type(server).__name__,
)
def test_refused_parameters_are_read_from_errors(server: fake.GeminiErrors, tmp_path: Path) -> None:
    assert probe_server(server, tmp_path).settings.refused == sorted(server.refused_parameters)


def test_error_quotes_the_server(tmp_path: Path) -> None:
    class Closed(fake.HtmlErrors):
        def error(self, names: list[str]) -> ServedResponse:
            return ServedResponse("<html><script>x()</script><h1>Closed\x1b[2J on Sundays</h1></html>", status=400)

    with pytest.raises(ServiceError, match=r"answered 400 Bad Request: 'Closed \[2J on Sundays'$"):
        probe_server(Closed(), tmp_path)


def test_unlisted_refused_model_gets_a_suggestion(tmp_path: Path) -> None:
    class Strict(fake.Unlisted):
        def reply(self, body: fake.Body) -> ServedResponse:
            return ServedResponse('{"error": {"message": "no endpoints"}}', status=404)

    message = r"did you mean 'qwen/.*no endpoints"
    with serving(play=Strict().answer) as running, pytest.raises(ModelError, match=message):
        probe(Client(Endpoint("qwen/qwen-2.5-7b", running.address), tmp_path), None)


def test_deployment_gets_its_query_and_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_KEY", "made-up-azure-key")
    with serving(play=fake.Azure().answer) as running:
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

    with pytest.raises(ValidationError, match="has a secret as its parameter 'api_key'; remove it"):
        ModelPart(name="m", endpoint="http://127.0.0.1:1/v1?api_key=made-up")
