from pathlib import Path

import pytest

from data.errors import StudyFileError
from flows.study.reading import STUDIES, read_study
from tests.flows.study.study_files import SOUND, refusal, write_study


@pytest.mark.parametrize("name", [path.stem for path in STUDIES.glob("*.yaml")])
def test_bundled_studies_are_read_by_name(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_study(name).name == name


def test_a_file_comes_before_a_bundled_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_study(tmp_path, SOUND).rename(tmp_path / "quickstart")
    assert read_study("quickstart").name == "small"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"name: [", "is not valid YAML: "),
        (b"\xff\xfe\x00", "is not valid YAML: "),
        (b"name: \x00", "is not valid YAML: "),
        (b"[" * 3000, "is not valid YAML: "),
        (b"!!python/tuple []", "is not valid YAML: "),
        (b"", "does not hold a study; expected keys such as name"),
        (b"- a\n- list", "does not hold a study"),
    ],
    ids=["list", "encoding", "NUL", "deep", "object", "empty", "items"],
)
def test_files_without_a_study_are_refused(content: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_bytes(content)
    with pytest.raises(StudyFileError, match=f"study.yaml {message}") as raised:
        read_study(file)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", ["missing.yaml", "", "x" * 300, "."])
def test_unreadable_files_name_the_bundled_studies(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StudyFileError, match=r"cannot be read: .*; bundled studies: .*quickstart"):
        read_study(name)


def test_all_problems_are_named_at_once(tmp_path: Path) -> None:
    message = refusal(tmp_path, seed=-1, contexts={"base": -1}, measures={"answers": {"samplez": 1, "top_p": 2}})
    for key in ("seed: ", "contexts.base: ", "measures.answers.samplez (", "measures.answers.top_p: "):
        assert key in message


@pytest.mark.parametrize("key", ["name", "models", "measures"])
def test_missing_keys_are_named(key: str, tmp_path: Path) -> None:
    content = {name: value for name, value in SOUND.items() if name != key}
    with pytest.raises(StudyFileError, match=f"study.yaml: {key}: Field required"):
        read_study(write_study(tmp_path, content))
