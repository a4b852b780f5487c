"""A judge of an audit decides undecided replies, and its failure leaves the verdicts of the rule."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from swaymeter.data.warehouse.warehouse import opened
from swaymeter.flows.stages.aggregate import schema
from swaymeter.reports.frames import records
from tests.end_to_end.constant_model import save_constant_model
from tests.end_to_end.tiny_study import TinyStudy

JUDGE = "def decide(*, question, context, original, reply):\n    {}\n"


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> TinyStudy:
    """An audit of a model that always replies " The usual place": undecided for one question, right for the other."""
    folder = tmp_path_factory.mktemp("judged")
    rows = [("Where does the fair take place?", "Harbour hall"), ("Where do they meet?", "The usual place")]
    (folder / "mine.jsonl").write_text(
        "\n".join(
            json.dumps({"question": question, "answer": answer, "kind": "supporting", "context": f"It is {answer}."})
            for question, answer in rows
        )
    )
    save_constant_model(folder / "model", " The usual place")
    study = TinyStudy.of(folder / "study.yaml", folder / "workspace", "", {})
    return replace(study, file=folder / "mine.jsonl")


def verdicts(audit: TinyStudy) -> dict[str, tuple[str, str | None]]:
    """Return, by question, the verdict on the reply after the context, and what decided the verdict."""
    with opened(audit.workspace / "study.duckdb", schema()) as warehouse:
        frame = warehouse.frame("answers_of_questions")
    rows = records(frame[frame["condition"] == "supporting"])
    return {
        row["question"]: (row["verdict"], None if pd.isna(row["decided_by"]) else row["decided_by"]) for row in rows
    }


def test_judge_failing_in_first_run_leaves_a_page(audit: TinyStudy, tmp_path: Path) -> None:
    new_audit, judge = replace(audit, workspace=tmp_path / "workspace"), tmp_path / "judges.py"
    judge.write_text(JUDGE.format("raise ValueError('gone')"))
    options = ("--model", f"{audit.file.parent / 'model'}:float32", "--samples", "1", "--max-new-tokens", "2")
    failed = new_audit.run("audit", *options, "--judge", f"{judge}:decide")
    assert failed.code == 1, failed.output
    assert "missing (judged_answers): the page and the database show the other scores; verdicts come" in failed.output
    assert "The usual place" in (new_audit.workspace / "report" / "answers.html").read_text()
    assert verdicts(new_audit)["Where do they meet?"] == ("context", "rule")


def test_judge_that_fails_leaves_verdicts_of_rule(audit: TinyStudy, tmp_path: Path) -> None:
    options = ("--model", f"{audit.file.parent / 'model'}:float32", "--samples", "1", "--max-new-tokens", "2")
    unjudged, page = audit.run("audit", *options), audit.workspace / "report" / "index.html"
    assert "a judge decides them (audit: --judge NAME)" in unjudged.output
    before, judge = page.read_bytes(), tmp_path / "judges.py"
    judge.write_text(JUDGE.format("raise ValueError('gone')"))
    failed = audit.run("audit", *options, "--judge", f"{judge}:decide")
    assert failed.code == 1, failed.output
    assert "judge judges.py:decide failed on 'The usual place': ValueError: gone" in failed.output
    by_rule = {"Where does the fair take place?": ("neither", None), "Where do they meet?": ("context", "rule")}
    assert verdicts(audit) == by_rule
    assert page.read_bytes() == before
    judge.write_text(JUDGE.format("return 'context' if context else 'neither'"))
    decided = audit.run("audit", *options, "--judge", f"{judge}:decide")
    assert decided.code == 0, decided.output
    assert decided.prompts == 0
    assert verdicts(audit) == by_rule | {"Where does the fair take place?": ("context", "judge")}
    # the replies to one question, without and with its context
    assert "The judge judges.py:decide decided 2 of 2 undecided answers" in decided.output
    assert page.read_bytes() != before
