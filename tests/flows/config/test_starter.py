from pathlib import Path

import pytest
import yaml

from swaymeter.flows.config.places import SCHEMA, write_starter
from swaymeter.flows.config.study import StudyFile, read_study


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "study.yaml"


def test_starter_has_a_comment_on_every_key(file: Path) -> None:
    write_starter(file)
    text = file.read_text(encoding="utf-8")
    # `seeds` replaces `seed`, and the other omitted keys have defaults.
    omitted = {"seeds", "prompts", "decodings", "frequency", "thresholds", "judgements", "whole_only"}
    assert {*yaml.safe_load(text), *omitted} == set(StudyFile.model_fields)
    assert read_study(file).name == "study"
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert len(lines) > 30
    assert [line for line in lines if not line.rpartition(" # ")[2].endswith(".")] == []


@pytest.mark.parametrize(("name", "study"), [("My Study (2).yaml", "my-study-2"), ("λ.yaml", "study")])
def test_a_study_is_named_after_its_file(name: str, study: str, tmp_path: Path) -> None:
    write_starter(tmp_path / name)
    assert read_study(tmp_path / name).name == study


def test_a_schema_beside_the_file_is_named(file: Path) -> None:
    (file.parent / SCHEMA).touch()
    write_starter(file)
    assert file.read_text(encoding="utf-8").startswith(f"# yaml-language-server: $schema={SCHEMA}\n")
