"""Impossible runs are refused with one clear message, and no stored file is lost."""

import time
from dataclasses import replace
from pathlib import Path

import yaml

from tests.end_to_end.tiny_study import TinyStudy

UNREACHABLE = ("nobody/unreachable", "nobody/gone")
"""Models that cannot be reached, before and after the study's model."""


def with_models(study: TinyStudy, folder: Path, *names: str) -> TinyStudy:
    """Return the study with other models, in the same workspace."""
    content = yaml.safe_load(study.file.read_text())
    content["models"] = [{"name": name, "dtype": "float32", "device": "cpu"} for name in names]
    file = folder / "other.yaml"
    file.write_text(yaml.safe_dump(content))
    return replace(study, file=file)


def test_second_of_two_runs_at_once_is_refused(study: TinyStudy) -> None:
    scores, prompts = study.scores(), study.stored_prompts("capital")
    study.delete_scores("capital")
    lock = study.workspace / ".lock"
    lock.unlink(missing_ok=True)
    with study.start("run", "--stage", "score") as first:
        while not lock.exists():
            assert first.poll() is None, "the first run ended early"
            time.sleep(0.01)
        second = study.run("run", "--stage", "score")
        assert first.poll() is None, "the first run ended before the second"
        run = first.wait()
    assert second.code == 1
    assert second.output.startswith(f"error  process {first.pid} on "), second.output
    assert f"has used the workspace {study.workspace} since " in second.output
    assert second.output.strip().endswith("; wait until the workspace is free, or choose another --workspace")
    assert (run.code, run.prompts) == (0, prompts), run.output
    assert study.scores() == scores


def test_error_names_the_folder_without_a_model(study: TinyStudy, tmp_path: Path) -> None:
    no_model = tmp_path / "no-model"
    no_model.mkdir()
    before = study.write_times()
    refused = with_models(study, tmp_path, str(no_model)).run("run", "--stage", "score")
    assert refused.code == 2
    assert f"model '{no_model}': the folder has no config.json" in refused.output
    assert "Traceback" not in refused.output
    assert study.write_times() == before


def test_unreachable_models_stop_no_other_model(study: TinyStudy, tmp_path: Path) -> None:
    (model,) = (row["name"] for row in yaml.safe_load(study.file.read_text())["models"])
    several = with_models(study, tmp_path, UNREACHABLE[0], model, UNREACHABLE[1])
    prompts = study.stored_prompts("capital")
    study.delete_scores("capital")
    run = several.run("run")
    assert (run.code, run.prompts) == (1, prompts), run.output
    assert "Traceback" not in run.output
    page = (study.workspace / "report" / "index.html").read_text()
    for name in UNREACHABLE:
        assert name in run.output
        assert page.count(name) > 1
    assert several.run("run", "--stage", "report").code == 0
    status = several.run("status")
    assert status.code == 1
    assert "failed" in status.output
