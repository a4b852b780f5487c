"""Nightly runs of a study: changes are listed, and an unmet threshold gives exit code 1."""

import json
import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end import forked_programs
from tests.end_to_end.constant_model import save_constant_model
from tests.end_to_end.tiny_study import Run, TinyStudy, start_command

RIGHT, WRONG = " Bern", " Nobody can tell"
NIGHTLY = ("run", *(word for stage in ("fetch", "build", "score", "aggregate") for word in ("--stage", stage)))
"""A run without a report. A report takes as long as all other stages."""
BACKFILL_SCRIPT = """
import sys
from swaymeter.flows.study import backfill

study, workspace, *models = sys.argv[1:]
state = backfill(study, "models.0.name", models, workspace, return_state=True)
print(state.name, state.message)
"""


@dataclass(frozen=True)
class Scene:
    """A study whose model replies RIGHT, and WRONG in the last run.

    Attributes:
        study: the study.
        questions: the file of its questions.
        same: the command `history` after a run without a change.
        worse: the last run.
        folder: the folder of models and of `before`, the workspace before the last run.
    """

    study: TinyStudy
    questions: Path
    same: Run
    worse: Run
    folder: Path


def changes(study: TinyStudy) -> dict[str, Any]:
    """Return the changes of the last run that `history` lists."""
    listed: dict[str, Any] = json.loads(study.run("history", "--json").output)["changes"]
    return listed


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory, api: str) -> Scene:
    folder = tmp_path_factory.mktemp("nights")
    questions = folder / "questions.jsonl"
    questions.write_text(
        "\n".join(
            json.dumps(
                {
                    "question": f"What is the capital of country {number}?",
                    "answer": "Bern",
                    "kind": "supporting",
                    "context": f"The capital of country {number} is Bern.",
                }
            )
            for number in range(12)
        )
    )
    content = {
        "name": "nights",
        "questions": {"source": "file", "file": "questions.jsonl"},
        "models": [{"name": "model", "dtype": "float32", "device": "cpu", "label": "mine"}],
        "measures": {"answers": {"samples": 1, "max_new_tokens": 2}, "whose_answer": {}},
        "thresholds": {"follow.supporting": ">= 0.9"},
    }
    save_constant_model(folder / "model", RIGHT)
    save_constant_model(folder / "other", WRONG)
    study = TinyStudy.of(folder / "study.yaml", folder / "workspace", api, content)
    first = study.run(*NIGHTLY)
    assert first.code == 0, first.output
    assert study.run(*NIGHTLY, "--force").code == 0
    same = study.run("history")
    shutil.copytree(study.workspace, folder / "before")
    shutil.rmtree(folder / "model")
    shutil.copytree(folder / "other", folder / "model")
    return Scene(study, questions, same, study.run(*NIGHTLY), folder)


def test_run_without_a_change_reports_no_change(scene: Scene) -> None:
    assert scene.same.code == 0
    assert "nothing has changed" in scene.same.output
    headline_numbers = re.findall(r"(?m)^│ \w+\.\w+ ", scene.same.output)
    assert scene.same.output.count("nothing changed") == len(headline_numbers) > 0
    assert ", mine (float32)" in scene.same.output


def test_unmet_threshold_gives_exit_code_1(scene: Scene) -> None:
    assert scene.worse.code == 1
    assert "follow.supporting of model (float32) is 0.0%" in scene.worse.output
    assert "it has to be at least 90.0%" in scene.worse.output


def test_a_changed_model_is_named_with_its_flips(scene: Scene) -> None:
    listed = changes(scene.study)
    assert [change["name"] for change in listed["settings"]] == ["revision of mine (float32)"]
    assert not any(relation["changed"] for relation in listed["questions"]["relations"].values())
    assert {(flip["reply_before"], flip["reply"]) for flip in listed["flipped_replies"]} == {
        (RIGHT.strip(), WRONG.strip())
    }
    assert any((row["quantity"], row["direction"]) == ("follows", "smaller") for row in listed["numbers"])


@pytest.mark.parametrize(("reply", "code"), [(WRONG, 1), (RIGHT, 0)])
def test_audit_worse_than_its_baseline_fails(reply: str, code: int, scene: Scene, tmp_path: Path) -> None:
    model = tmp_path / "model"
    save_constant_model(model, reply)
    audit = replace(scene.study, file=scene.questions, workspace=tmp_path / "audit", api="")
    options = ("--samples", "1", "--max-new-tokens", "2", "--baseline", str(scene.folder / "before"))
    run = audit.run("audit", "--model", f"{model}:float32", *options)
    assert run.code == code, run.output
    assert ("worse than before: " in run.output) == bool(code)


def test_junit_file_tells_that_baseline_questions_differ(scene: Scene, tmp_path: Path) -> None:
    others, junit = tmp_path / "others.csv", tmp_path / "audit.xml"
    others.write_text("question,answer,context,kind\nWho wrote Emma?,Austen,Austen wrote Emma.,supporting\n")
    audit = replace(scene.study, file=others, workspace=tmp_path / "audit", api="")
    options = ("--samples", "1", "--max-new-tokens", "2", "--baseline", str(scene.folder / "before"))
    run = audit.run("audit", "--model", f"{scene.folder / 'other'}:float32", "--junit", str(junit), *options)
    assert run.code == 2, run.output
    assert "no question has the same texts in both runs" in junit.read_text()


def test_a_backfill_runs_once_for_each_model(scene: Scene, tmp_path: Path) -> None:
    script = tmp_path / "backfill.py"
    script.write_text(BACKFILL_SCRIPT)
    save_constant_model(scene.folder / "earlier", RIGHT)
    study = replace(scene.study, workspace=tmp_path / "backfilled")
    arguments = [str(script), str(study.file), str(study.workspace), "earlier", "other"]
    with start_command(arguments, study.environment, program=forked_programs.script) as running:
        assert "Completed" in running.wait().output
    settings = {change["name"]: (change["before"], change["after"]) for change in changes(study)["settings"]}
    assert settings.keys() == {"model called mine (float32)", "revision of mine (float32)"}
    assert settings["model called mine (float32)"] == ("earlier", "other")
