"""A study night after night, as commands: what changed is said, and a bound that is not held ends with exit code 1."""

import json
import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end import preloaded
from tests.end_to_end.asking_model import save_asking_model
from tests.end_to_end.tiny_study import Run, TinyStudy, started

RIGHT, WRONG = " Bern", " Nobody can tell"
NIGHTLY = ("run", *(word for stage in ("fetch", "build", "score", "aggregate") for word in ("--stage", stage)))
"""A run without a report, which takes as long as the rest."""
BACKFILL = """
import sys
from swaymeter.flows.study import backfill

study, workspace, *models = sys.argv[1:]
state = backfill(study, "models.0.name", models, workspace, return_state=True)
print(state.name, state.message)
"""


@dataclass(frozen=True)
class Scene:
    """A study of a model that says RIGHT, and what its commands said, until that says WRONG instead."""

    study: TinyStudy
    questions: Path
    same: Run
    worse: Run
    folder: Path


def changes(study: TinyStudy) -> dict[str, Any]:
    """What `history` says of the last run."""
    found: dict[str, Any] = json.loads(study.run("history", "--json").said)["changes"]
    return found


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
    save_asking_model(folder / "model", RIGHT)
    save_asking_model(folder / "other", WRONG)
    study = TinyStudy.of(folder / "study.yaml", folder / "workspace", api, content)
    first = study.run(*NIGHTLY)
    assert first.code == 0, first.said
    assert study.run(*NIGHTLY, "--force").code == 0
    same = study.run("history")
    shutil.copytree(study.workspace, folder / "before")
    shutil.rmtree(folder / "model")
    shutil.copytree(folder / "other", folder / "model")
    return Scene(study, questions, same, study.run(*NIGHTLY), folder)


def test_a_night_without_a_change_reports_none(scene: Scene) -> None:
    assert scene.same.code == 0
    assert "nothing has changed" in scene.same.said
    assert scene.same.said.count("nothing changed") == len(re.findall(r"(?m)^│ \w+\.\w+ ", scene.same.said)) > 0
    assert ", mine (float32)" in scene.same.said


def test_an_unmet_threshold_ends_with_1(scene: Scene) -> None:
    assert scene.worse.code == 1
    assert "follow.supporting of model (float32) is 0.0%" in scene.worse.said
    assert "it has to be at least 90.0%" in scene.worse.said


def test_a_changed_model_is_named_with_its_flips(scene: Scene) -> None:
    found = changes(scene.study)
    assert [change["name"] for change in found["settings"]] == ["revision of mine (float32)"]
    assert not any(relation["changed"] for relation in found["questions"]["relations"].values())
    assert {(flip["reply_before"], flip["reply"]) for flip in found["flipped_replies"]} == {
        (RIGHT.strip(), WRONG.strip())
    }
    assert any((row["quantity"], row["direction"]) == ("follows", "smaller") for row in found["numbers"])


@pytest.mark.parametrize(("model", "code"), [("model", 1), ("before", 0)])
def test_audit_fails_where_it_is_worse_than_before(model: str, code: int, scene: Scene, tmp_path: Path) -> None:
    if model == "before":
        save_asking_model(scene.folder / "before-model", RIGHT)
        model = "before-model"
    audit = replace(scene.study, file=scene.questions, workspace=tmp_path / "audit", api="")
    how = ("--samples", "1", "--max-new-tokens", "2", "--baseline", str(scene.folder / "before"))
    ended = audit.run("audit", "--model", f"{scene.folder / model}:float32", *how)
    assert ended.code == code, ended.said
    assert ("worse than before: " in ended.said) == bool(code)


def test_other_questions_are_named_in_the_junit_file(scene: Scene, tmp_path: Path) -> None:
    others, junit = tmp_path / "others.csv", tmp_path / "audit.xml"
    others.write_text("question,answer,context,kind\nWho wrote Emma?,Austen,Austen wrote Emma.,supporting\n")
    audit = replace(scene.study, file=others, workspace=tmp_path / "audit", api="")
    how = ("--samples", "1", "--max-new-tokens", "2", "--baseline", str(scene.folder / "before"))
    ended = audit.run("audit", "--model", f"{scene.folder / 'other'}:float32", "--junit", str(junit), *how)
    assert ended.code == 2, ended.said
    assert "the runs have no question with the same texts" in junit.read_text()


def test_a_backfill_leaves_a_run_for_each_value(scene: Scene, tmp_path: Path) -> None:
    script = tmp_path / "backfill.py"
    script.write_text(BACKFILL)
    save_asking_model(scene.folder / "earlier", RIGHT)
    study = replace(scene.study, workspace=tmp_path / "backfilled")
    arguments = [str(script), str(study.file), str(study.workspace), "earlier", "other"]
    with started(arguments, study.environment, program=preloaded.script) as running:
        assert "Completed" in running.ended().said
    settings = {change["name"]: (change["before"], change["after"]) for change in changes(study)["settings"]}
    assert settings.keys() == {"model called mine (float32)", "revision of mine (float32)"}
    assert settings["model called mine (float32)"] == ("earlier", "other")
