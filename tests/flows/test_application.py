"""The examples of docs/application.md: its log, its application, and the audit of both from Python."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import swaymeter
from tests.flows.conftest import Command

PAGE = (Path(__file__).resolve().parents[2] / "docs/application.md").read_text(encoding="utf-8")


def block(language: str, number: int = 0) -> str:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[number]


@pytest.fixture
def page_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Enter a folder with the files of the page."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text(block("csv"))
    (tmp_path / "my_app.py").write_text(block("python"))
    return tmp_path


def shares(table: Any, model: str) -> Mapping[str, float]:
    return {row.name: row.mean for row in table[table["model"].str.startswith(model)].itertuples(index=False)}


def test_the_page_audits_a_log_and_a_function(page_folder: Path) -> None:
    names: dict[str, Any] = {"__name__": "notebook"}
    exec(compile(block("python"), "my_app.py", "exec"), names)
    (page_folder / "questions.csv").write_text(block("csv"))
    exec(compile(block("python", 1), "application.md", "exec"), names)
    audit: swaymeter.Audit = names["audit"]
    assert audit.passed, audit.failures
    assert audit.page.is_file()
    log, function = shares(audit.table, "response"), shares(audit.table, "python:answer")
    assert log["follow.supporting"] == function["follow.supporting"] == 1
    assert log["follow.conflicting"] == function["follow.conflicting"] == 1


def test_the_command_judges_a_log(page_folder: Path, swaymeter: Command) -> None:
    command = ("audit", "log.csv", "--replies", "response", "--junit", "a.xml")
    assert swaymeter(*command, "--fail-under", "follow.supporting=0.9").code == 0
    result = swaymeter(*command, "--fail-under", "resist_wrong.all=0.9")
    assert (result.code, "resist_wrong.all of response (recorded) is 0" in result.error) == (1, True)
    assert ElementTree.parse(page_folder / "a.xml").getroot().get("failures") == "1"
    wrong = swaymeter("audit", "log.csv", "--replies", "responses", "--workspace", "other")
    assert (wrong.code, "has no column responses of replies" in wrong.error) == (2, True)
    assert wrong.error.endswith("--replies response (in a study file, replies: response)")
    assert swaymeter("audit", "log.csv").error.startswith("the audit has neither a model nor recorded replies")
    assert "samples" in swaymeter("audit", "log.csv", "--replies", "response", "--samples", "5").error


FAILING_APPLICATION = """
from pathlib import Path


def fails(question, passages):
    with open("calls", "a") as calls:
        calls.write(question)
    if not passages:
        return "I do not know."
    if question == "Where is it?" and not Path("repaired").exists():
        raise KeyError(question)
    return passages[0].text
"""
OPENING_HOURS = """question,answer,context,kind
When does it open?,9 a.m.,It opens at 9 a.m.,supporting
Where is it?,Bergen,It is in Bergen.,supporting
"""


def test_failed_replies_do_not_meet_a_threshold(page_folder: Path, swaymeter: Command) -> None:
    (page_folder / "my_app.py").write_text(FAILING_APPLICATION)
    (page_folder / "opens.csv").write_text(OPENING_HOURS)
    command, calls = ("audit", "opens.csv", "--model", "my_app.py:fails"), page_folder / "calls"
    result = swaymeter(*command, "--fail-under", "follow.supporting=0.9")
    assert (result.code, "only because replies state nothing (1 missing)" in result.err) == (1, True)
    printed = " ".join(result.out.split())
    assert "1 of 4 replies is not judged, because the application failed" in printed
    assert "failed replies: my_app.py:fails (application): KeyError: 'Where is it?' (1)" in printed
    assert calls.read_text().count("?") == 4  # each of two questions, closed-book and with its context
    (page_folder / "repaired").touch()
    for requests in (1, 0):  # only the first rerun requests the failed reply
        calls.write_text("")
        rerun = swaymeter(*command, "--json")
        assert rerun.code == 0, rerun.err
        measured = {f"{row['quantity']}.{row['group']}": row for row in json.loads(rerun.out)["measured"]}
        assert (measured["follow.supporting"]["missing"], calls.read_text().count("?")) == (0, requests)


def test_missing_replies_do_not_meet_a_threshold(page_folder: Path, swaymeter: Command) -> None:
    (page_folder / "log.csv").write_text(
        "question,answer,context,kind,response\n"
        "When does it open?,9 a.m.,It opens at 9 a.m.,supporting,At 9 a.m.\n"
        "Where is it?,Bergen,It is in Bergen.,supporting,\n"
    )
    result = swaymeter("audit", "log.csv", "--replies", "response", "--fail-under", "follow.supporting=0.9")
    assert (result.code, "only because replies state nothing (1 missing)" in result.err) == (1, True)
    assert "1 of 2 replies is not judged, because the file has no reply" in " ".join(result.out.split())


def test_replies_are_judged_by_their_answer(page_folder: Path, swaymeter: Command) -> None:
    passage = "Not available in Ireland or on islands without a bridge."
    question = {"question": "When does it open?", "answer": "9 a.m.", "context": "It opens at 9 a.m."}
    rows = [
        {**question, "response": '{"reasoning": "The passage says 9, or 10?", "answer": "9 a.m."}'},
        {**question, "question": "When does it open on Mondays?", "response": '{"answer": null}'},
        {"question": "Is the service available in Ireland?", "answer": "No", "context": passage, "response": passage},
    ]
    (page_folder / "log.jsonl").write_text("\n".join(json.dumps({**row, "kind": "supporting"}) for row in rows))
    result = swaymeter("audit", "log.jsonl", "--replies", "response", "--json")
    measured = {f"{row['quantity']}.{row['group']}": row["mean"] for row in json.loads(result.out)["measured"]}
    assert (measured["follow.supporting"], measured["refuse.supporting"]) == pytest.approx((2 / 3, 1 / 3))


PRINTING_APPLICATION = """
import os
def prints(question, passages):
    print("thinking")
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    return passages[0].text if passages else "I do not know."
"""


def test_json_omits_the_output_of_the_application(page_folder: Path, swaymeter: Command) -> None:
    (page_folder / "my_app.py").write_text(PRINTING_APPLICATION)
    (page_folder / "opens.csv").write_text(OPENING_HOURS)
    result = swaymeter("audit", "opens.csv", "--model", "my_app.py:prints", "--json")
    assert (result.code, "thinking" in result.err) == (0, True)
    assert {row["group"] for row in json.loads(result.out)["measured"]} >= {"none", "supporting"}
