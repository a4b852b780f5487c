"""What cannot be done is refused with one clear message, and nothing that is there is lost."""

import time
from pathlib import Path

import yaml

from tests.end_to_end.tiny_study import TinyStudy


def test_of_two_runs_at_once_the_second_is_refused_and_the_first_loses_nothing(study: TinyStudy) -> None:
    scores, prompts = study.scores(), study.stored_prompts("capital")
    study.forget_scores("capital")
    lock = study.workspace / ".lock"
    lock.unlink(missing_ok=True)
    with study.start("score") as first:
        while not lock.exists():
            assert first.poll() is None, "the first run ended early"
            time.sleep(0.05)
        second = study.run("score")
        assert first.poll() is None, "the first run was over too soon"
        said, _ = first.communicate()
    assert second.code == 1
    busy = f"another run conducts the workspace {study.workspace}; wait for it to end, or choose another --workspace"
    assert second.said.strip() == f"error  {busy}"
    assert first.returncode == 0, said
    assert f"computed now: {prompts} prompts" in said
    assert study.scores() == scores


def test_a_workspace_that_cannot_be_written_is_refused(study: TinyStudy) -> None:
    below_a_file = study.file / "workspace"
    refused = TinyStudy(study.file, below_a_file, study.prefect_home, study.mark).run("run")
    assert refused.code == 1
    assert refused.said.strip() == (
        f"error  the workspace {below_a_file} cannot be written: Not a directory; choose another --workspace"
    )


def test_a_folder_that_holds_no_model_is_named_and_loses_nothing(study: TinyStudy, tmp_path: Path) -> None:
    no_model = tmp_path / "no-model"
    no_model.mkdir()
    other = yaml.safe_load(study.file.read_text()) | {"models": [{"name": str(no_model), "dtype": "float32"}]}
    file = tmp_path / "other.yaml"
    file.write_text(yaml.safe_dump(other))
    before = study.written()

    refused = TinyStudy(file, study.workspace, study.prefect_home, study.mark).run("score")
    assert refused.code == 1
    assert f"model '{no_model}': the folder has no config.json, so it is no model of transformers" in refused.said
    assert "Traceback" not in refused.said
    assert study.written() == before
