"""The page docs/application.md as it stands: its log, its assistant, and both audited from Python."""

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
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the page's files as the current one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text(block("csv"))
    (tmp_path / "my_app.py").write_text(block("python"))
    return tmp_path


def shares(table: Any, model: str) -> Mapping[str, float]:
    return {row.name: row.mean for row in table[table["model"].str.startswith(model)].itertuples(index=False)}


def test_the_page_audits_a_log_and_a_function(place: Path) -> None:
    names: dict[str, Any] = {"__name__": "notebook"}
    exec(compile(block("python"), "my_app.py", "exec"), names)
    (place / "questions.csv").write_text(block("csv"))
    exec(compile(block("python", 1), "application.md", "exec"), names)
    audit: swaymeter.Audit = names["audit"]
    assert audit.passed, audit.failures
    assert audit.page.is_file()
    log, function = shares(audit.table, "response"), shares(audit.table, "python:answer")
    assert log["follow.supporting"] == function["follow.supporting"] == 1
    assert log["follow.conflicting"] == function["follow.conflicting"] == 1


def test_the_command_judges_a_log(place: Path, swaymeter: Command) -> None:
    gate = ("audit", "log.csv", "--replies", "response", "--junit", "a.xml")
    assert swaymeter(*gate, "--fail-under", "follow.supporting=0.9").code == 0
    ended = swaymeter(*gate, "--fail-under", "resist_wrong.all=0.9")
    assert (ended.code, "resist_wrong.all of response (recorded) is 0" in ended.error) == (1, True)
    assert ElementTree.parse(place / "a.xml").getroot().get("failures") == "1"
    wrong = swaymeter("audit", "log.csv", "--replies", "responses", "--workspace", "other")
    assert (wrong.code, "has no column responses of replies" in wrong.error) == (2, True)
    assert wrong.error.endswith("--replies response (in a study file, replies: response)")
    assert swaymeter("audit", "log.csv").error.startswith("nothing replies")
    assert "samples" in swaymeter("audit", "log.csv", "--replies", "response", "--samples", "5").error


FAILS = """
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
OPENS = """question,answer,context,kind
When does it open?,9 a.m.,It opens at 9 a.m.,supporting
Where is it?,Bergen,It is in Bergen.,supporting
"""


def test_failed_replies_do_not_meet_a_threshold(place: Path, swaymeter: Command) -> None:
    (place / "my_app.py").write_text(FAILS)
    (place / "opens.csv").write_text(OPENS)
    command, calls = ("audit", "opens.csv", "--model", "my_app.py:fails"), place / "calls"
    ended = swaymeter(*command, "--fail-under", "follow.supporting=0.9")
    assert (ended.code, "only because replies state nothing (1 missing)" in ended.err) == (1, True)
    printed = " ".join(ended.out.split())
    assert "1 of 4 replies is not judged, for which the application failed" in printed
    assert "failed replies: my_app.py:fails (application): KeyError: 'Where is it?' (1)" in printed
    assert calls.read_text().count("?") == 4
    (place / "repaired").touch()
    for repeated in (1, 0):  # the failed reply alone is requested again, once
        calls.write_text("")
        again = swaymeter(*command, "--json")
        assert again.code == 0, again.err
        measured = {f"{row['quantity']}.{row['group']}": row for row in json.loads(again.out)["measured"]}
        assert (measured["follow.supporting"]["missing"], calls.read_text().count("?")) == (0, repeated)


def test_missing_replies_do_not_meet_a_threshold(place: Path, swaymeter: Command) -> None:
    (place / "log.csv").write_text(
        "question,answer,context,kind,response\n"
        "When does it open?,9 a.m.,It opens at 9 a.m.,supporting,At 9 a.m.\n"
        "Where is it?,Bergen,It is in Bergen.,supporting,\n"
    )
    ended = swaymeter("audit", "log.csv", "--replies", "response", "--fail-under", "follow.supporting=0.9")
    assert (ended.code, "only because replies state nothing (1 missing)" in ended.err) == (1, True)
    assert "1 of 2 replies is not judged, which the file lacks" in " ".join(ended.out.split())


def test_replies_are_judged_by_their_answer(place: Path, swaymeter: Command) -> None:
    passage = "Not available in Ireland or on islands without a bridge."
    opens = {"question": "When does it open?", "answer": "9 a.m.", "context": "It opens at 9 a.m."}
    rows = [
        {**opens, "response": '{"reasoning": "The passage says 9, or 10?", "answer": "9 a.m."}'},
        {**opens, "question": "When does it open on Mondays?", "response": '{"answer": null}'},
        {"question": "Is the service available in Ireland?", "answer": "No", "context": passage, "response": passage},
    ]
    (place / "log.jsonl").write_text("\n".join(json.dumps({**row, "kind": "supporting"}) for row in rows))
    ended = swaymeter("audit", "log.jsonl", "--replies", "response", "--json")
    measured = {f"{row['quantity']}.{row['group']}": row["mean"] for row in json.loads(ended.out)["measured"]}
    assert (measured["follow.supporting"], measured["refuse.supporting"]) == pytest.approx((2 / 3, 1 / 3))


PRINTS = """
import os
def prints(question, passages):
    print("thinking")
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    return passages[0].text if passages else "I do not know."
"""


def test_what_application_prints_is_not_in_json(place: Path, swaymeter: Command) -> None:
    (place / "my_app.py").write_text(PRINTS)
    (place / "opens.csv").write_text(OPENS)
    ended = swaymeter("audit", "opens.csv", "--model", "my_app.py:prints", "--json")
    assert (ended.code, "thinking" in ended.err) == (0, True)
    assert {row["group"] for row in json.loads(ended.out)["measured"]} >= {"none", "supporting"}
