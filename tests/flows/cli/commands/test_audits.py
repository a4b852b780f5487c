"""The command `audit` in a pipeline: its results belong to the given file and the given model."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from swaymeter.data.errors import WorkspaceError
from tests.data.sources.servers.faults import ServedRequest, ServedResponse, json_response, serving
from tests.flows.conftest import Command, CommandResult

VALUE = re.compile(r"(?:closes at|lifts up to|is) (\d+ (?:[ap]\.m\.|kg|people))")
ROWS = (
    ("When does the library close?", "6 p.m.", "The library closes at 6 p.m.", "supporting", ""),
    ("When does the library close?", "6 p.m.", "Since May, the library closes at 8 p.m.", "conflicting", "8 p.m."),
    ("What is the payload of the Fennock 2?", "8 kg", "The Fennock 2 lifts up to 8 kg.", "supporting", ""),
    ("What is the payload of the Fennock 2?", "8 kg", "Owners say that it lifts up to 5 kg.", "conflicting", "5 kg"),
)
PROBE_WORD = "goat"
"""A word that only the prompts of a probe have."""
PROBE_REPLY = "A goat looked at the map."


class Application:
    """A deterministic application.

    Attributes:
        reply: Function that returns the reply to a prompt.
        request_count: Number of requests with a question of the file; requests of a probe are not counted.
        is_broken: True if requests with a question are refused.
    """

    def __init__(self, reply: Callable[[str], str | None]) -> None:
        self.reply = reply
        self.request_count = 0
        self.is_broken = False

    def play(self, request: ServedRequest) -> ServedResponse:
        if request.method == "GET":
            return (
                json_response({"data": [{"id": "app", "owned_by": "us"}]})
                if "models" in request.path
                else ServedResponse(status=404)
            )
        body = json.loads(request.body)
        if "messages" not in body:
            return ServedResponse(status=404)
        prompt = "\n".join(turn["content"] for turn in body["messages"])
        is_probe = PROBE_WORD in prompt
        self.request_count += not is_probe
        if self.is_broken and not is_probe:
            return ServedResponse(status=400)
        choice = {"index": 0, "message": {"content": self.reply(prompt)}, "finish_reason": "stop", "logprobs": None}
        usage = {"prompt_tokens": 20, "completion_tokens": 8}
        return json_response(
            {
                "model": "app",
                "choices": [choice | {"index": index} for index in range(body.get("n", 1))],
                "usage": usage,
            }
        )


def reply_from_passage(prompt: str) -> str:
    """Return the value in the passage of a prompt, or a reply without a value."""
    value = VALUE.search(prompt)
    if value:
        return value[1]
    return PROBE_REPLY if PROBE_WORD in prompt else "I do not know."


@pytest.fixture
def application() -> Iterator[tuple[Application, str]]:
    """Yield a running application, and its name and address for `--model`."""
    app = Application(reply_from_passage)
    with serving(play=app.play) as server:
        yield app, f"app@{server.address.removesuffix('/ask')}/v1"


def write_questions(file: Path, rows: Any = ROWS) -> str:
    """Write a file of questions with passages, and return its path."""
    lines = [
        ",".join(f'"{cell}"' for cell in row)
        for row in (("question", "answer", "context", "kind", "context_answer"), *rows)
    ]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines) + "\n")
    return str(file)


def shares(result: CommandResult) -> dict[str, float]:
    """Return the measured shares in the JSON of an audit, by name of a threshold."""
    assert result.code == 0, result.err
    return {f"{row['quantity']}.{row['group']}": row["mean"] for row in json.loads(result.out)["measured"]}


def test_another_file_in_the_workspace_is_refused(
    application: tuple[Application, str], swaymeter: Command, tmp_path: Path
) -> None:
    options = ("--workspace", str(tmp_path / "ws"), "--model", application[1], "--json")
    first = shares(swaymeter("audit", write_questions(tmp_path / "first.csv"), *options))
    assert first["follow.conflicting"] == 1
    second = write_questions(tmp_path / "second.csv", [(*ROWS[0][:2], "The library has a garden.", "supporting", "")])
    refused = swaymeter("audit", second, *options)
    assert (refused.code, refused.out) == (2, "")
    assert f"the workspace {tmp_path / 'ws'} holds the audit of " in refused.error
    assert shares(swaymeter("audit", str(tmp_path / "first.csv"), *options)) == first


def test_a_replaced_model_is_asked_again(
    application: tuple[Application, str], swaymeter: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, model = application
    monkeypatch.delenv("CI", raising=False)
    junit = tmp_path / "a.xml"
    arguments = (write_questions(tmp_path / "mine.csv"), "--model", model, "--workspace", str(tmp_path / "ws"))
    assert shares(swaymeter("audit", *arguments, "--json"))["resist_wrong.all"] == 0
    app.reply = lambda prompt: PROBE_REPLY if PROBE_WORD in prompt else ""
    for options in ((), ("--revision", "2"), ("--force",), ("--max-age", "0m")):
        before = app.request_count
        result = swaymeter("audit", *arguments, *options, "--fail-under", "resist_wrong.all=0.9", "--junit", str(junit))
        assert (app.request_count > before) == bool(options), (options, result)
        assert result.code == 1
    assert "6 of 6 replies are empty, which counts as declined." in result.out
    assert "only because replies state nothing (2 empty)" in result.error
    suite = ElementTree.parse(junit).getroot()
    assert suite.get("failures") == "1"
    assert "Empty: 6 of 6" in str(suite.findtext("system-out"))


def test_the_table_comes_before_the_page(swaymeter: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise WorkspaceError("the disk is full")

    monkeypatch.setattr("swaymeter.reports.report._fill", refuse)
    log = tmp_path / "log.csv"
    log.write_text("question,answer,context,kind,reply\nWhen?,6 p.m.,At 6 p.m.,supporting,6 p.m.\n")
    result = swaymeter("audit", str(log), "--replies", "reply", "--workspace", str(tmp_path / "ws"))
    assert result.code == 1
    assert "the disk is full" in result.err
    assert result.out.index("aggregate 1 of 1") < result.out.index("=> Too few") < result.out.index("report 1 of 1")


def test_a_failed_audit_keeps_the_page(swaymeter: Command, tmp_path: Path) -> None:
    apps = [Application(reply_from_passage), Application(reply_from_passage)]
    with serving(play=apps[0].play) as one, serving(play=apps[1].play) as two:
        models = [f"app@{server.address.removesuffix('/ask')}/v1" for server in (one, two)]
        workspace = tmp_path / "ws"
        file = write_questions(tmp_path / "mine.csv")
        arguments = ("audit", file, "--model", models[0], "--model", models[1], "--workspace", str(workspace))
        assert swaymeter(*arguments).code == 0
        page = (workspace / "report" / "index.html").read_bytes()
        unwanted = (b"because scores are missing", b"How to cite", b"Published")
        assert not [text for text in unwanted if text in page]
        apps[0].is_broken = True
        result = swaymeter(*arguments, "--revision", "2")
    assert result.code == 1
    assert (workspace / "report" / "index.html").read_bytes() == page


def test_a_missing_judge_keeps_page_and_study(
    application: tuple[Application, str], swaymeter: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("swaymeter.tasks.models.files.hub._IS_OFFLINE", True)  # a new process sets it with --offline
    workspace = tmp_path / "ws"
    arguments = (
        "audit",
        write_questions(tmp_path / "mine.csv"),
        "--model",
        application[1],
        "--workspace",
        str(workspace),
    )
    assert swaymeter(*arguments).code == 0
    paths = (workspace / "report" / "index.html", *workspace.glob("*.yaml"), *workspace.glob("*.duckdb"))
    contents = {file: file.read_bytes() for file in paths}
    assert len(contents) == 3
    options = set(re.findall(r"--[a-z][a-z-]+", swaymeter("audit", "--help").out))
    for judge in ("microsoft/deberta-large-mnli", "all-minilm-l6-v2"):
        result = swaymeter(*arguments, "--judge", judge, "--offline")
        assert (result.code, result.out) == (2, "")
        assert {file: file.read_bytes() for file in contents} == contents
        assert "stand-in" not in result.error
        assert set(re.findall(r"(?<!\S)--[a-z][a-z-]+", result.error)) <= options


def test_warnings_name_the_question(application: tuple[Application, str], swaymeter: Command, tmp_path: Path) -> None:
    rows = [*ROWS, (*ROWS[0][:2], "The library has a garden.", "supporting", "")]
    arguments = ("--model", application[1], "--workspace", str(tmp_path / "ws"))
    result = swaymeter("audit", write_questions(tmp_path / "mine.csv", rows), *arguments)
    output = " ".join(f"{result.out} {result.err}".split())
    assert "passages without the answer that the file gives for them (1): 'When does the library" in output
    assert not re.search(r"\b[0-9a-f]{8,}\b", output)


@pytest.mark.parametrize(
    ("command", "file", "hint"),
    [("audit", "study.yaml", "swaymeter run"), ("run", "mine.jsonl", "swaymeter audit")],
)
def test_the_other_command_is_named(command: str, file: str, hint: str, swaymeter: Command, tmp_path: Path) -> None:
    path = tmp_path / file
    path.write_text("{}\n")
    result = swaymeter(command, str(path), *(("--model", "m") if command == "audit" else ()))
    assert result.code == 2
    assert f"{hint} {path}" in result.error


def test_an_equal_run_passes_and_states_its_power(
    application: tuple[Application, str], swaymeter: Command, tmp_path: Path
) -> None:
    names = [f"{word} hall" for word in ("north", "south", "east", "west", "old", "new", "long", "small")]
    rows = [(f"When does {name} close?", "6 p.m.", f"The {name} closes at 6 p.m.", "supporting", "") for name in names]
    arguments = ("audit", write_questions(tmp_path / "mine.csv", rows), "--model", application[1], "--samples", "0")
    assert swaymeter(*arguments, "--workspace", str(tmp_path / "before")).code == 0
    baseline = str(tmp_path / "before" / "study.duckdb")
    result = swaymeter(*arguments, "--workspace", str(tmp_path / "after"), "--fail-if-worse-than", baseline)
    assert result.code == 0, result.err
    assert "8 questions can show a fall of" in " ".join(result.out.split())


def test_matched_answers_decide_missing_kinds(
    application: tuple[Application, str], swaymeter: Command, tmp_path: Path
) -> None:
    app, model = application
    rows = [
        ("What is the payload?", "25 kg", "Its payload is 25kg.", "", ""),
        ("What does it cost?", "49 euros", "It is for sale for 49 €.", "", ""),
        ("Who sells it?", "Fennock", "It is for sale in Oslo.", "", ""),
    ]
    arguments = ("--model", model, "--workspace", str(tmp_path / "ws"))
    first = swaymeter("audit", write_questions(tmp_path / "mine.csv", rows), *arguments)
    assert "3 contexts have no kind: 2 count as supporting" in " ".join(first.out.split())
    before = app.request_count
    rows[2] = (*rows[2][:3], "neutral", "")
    result = swaymeter("audit", write_questions(tmp_path / "mine.csv", rows), *arguments)
    assert (result.code, app.request_count) == (0, before)


def test_a_deterministic_application_causes_no_warning(
    application: tuple[Application, str], swaymeter: Command, tmp_path: Path
) -> None:
    arguments = ("audit", write_questions(tmp_path / "mine.csv", ROWS), "--model", application[1], "--fail-under")
    result = swaymeter(*arguments, "follow.supporting=0.9", "--samples", "5", "--workspace", str(tmp_path / "ws"))
    assert (result.code, result.err) == (0, "")
    page = (tmp_path / "ws" / "report" / "index.html").read_text(encoding="utf-8")
    assert "three seeds give one reply" in page  # a note: persuasion needs samples that differ
