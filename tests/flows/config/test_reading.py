import re
import time
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from swaymeter.data.errors import StudyFileError
from swaymeter.data.named import Registry
from swaymeter.data.sources.registry import FACT_SOURCES, QUESTION_SOURCES
from swaymeter.flows.config.sections import ContextsPart, ModelPart, ServiceOptions, ServicesPart
from swaymeter.flows.config.study import STUDIES, StudyFile, read_study
from swaymeter.flows.stages.plan import workspace_of
from swaymeter.tasks.frequency import FREQUENCY_SOURCES
from swaymeter.tasks.measures import MEASURES
from tests.flows.small_study import SOUND, error_message, write_study


@pytest.mark.parametrize("name", [path.stem for path in STUDIES.glob("*.yaml")])
def test_bundled_studies_are_read_by_name(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_study(name).name == name


def test_a_file_comes_before_a_bundled_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(write_study(tmp_path, SOUND)).rename(tmp_path / "quickstart")
    assert read_study("quickstart").name == "small"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"name: [", "is not valid YAML: "),
        (b"\xff\xfe\x00", "is not valid YAML: "),
        (b"name: \x00", "is not valid YAML: "),
        (b"!!python/tuple []", "is not valid YAML: "),
        (b"name: x\nseed: 1\nseed: 2\n", "is not valid YAML: line 3, column 1: the key 'seed' is there twice; correct"),
        (b"facts:\n\tsource: sample", "is not valid YAML: line 2, column 1: .*; indent with spaces, not with tabs"),
        (b"", "has no keys of a study; write keys such as name"),
        (b"- a\n- list", "has no keys of a study"),
    ],
    ids=["unclosed list", "encoding", "NUL", "Python object", "key twice", "tab", "empty", "list"],
)
def test_files_without_a_study_are_refused(content: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_bytes(content)
    with pytest.raises(StudyFileError, match=f"study.yaml {message}") as raised:
        read_study(file)
    assert "\n" not in str(raised.value)


def bomb(template: str) -> str:
    """Return YAML with nine levels of anchors; each level has nine aliases of the level below."""
    aliases_by_level = {level: ", ".join([f"*a{level - 1}"] * 9) for level in range(1, 10)}
    return "\n".join(
        ["a0: &a0 {x: 1}", *(template.format(level=level, aliases=names) for level, names in aliases_by_level.items())]
    )


HOSTILE = {
    "deep list": ("[" * 100_000, r"line 1, column 101: more than 100 levels deep"),
    "deep blocks": ("- " * 100_000, r"line 1, column 201: more than 100 levels deep"),
    "aliases": (bomb("a{level}: &a{level} [{aliases}]"), r"line 6, column 5: it stands for more than 100,000 values"),
    "merges": (bomb("a{level}: &a{level} {{<<: [{aliases}]}}"), "it stands for more than 100,000 values"),
    "circle": ("name: &a [*a]", "line 1, column 7: it stands for more than"),
    "number": ("seed: " + "7" * 5_000, r"line 1, column 7: '7{40}' is not a valid number or date: it has 5,000 char"),
    "base 60": ("seed: 1" + ":11" * 300_000, "line 1, column 7: .* is not a valid number or date: it has 900,001 char"),
    "date": ("name: 2001-99-99", "line 1, column 7: '2001-99-99' is not a valid number or date: month must be in 1"),
    "truth value": ("name: !!bool maybe", "line 1, column 7: 'maybe' is not a valid number or date"),
    "empty number": ("seed: !!int ''", "line 1, column 7: '' is not a valid number or date"),
    "no date": ("name: !!timestamp today", "line 1, column 7: 'today' is not a valid number or date"),
    "surrogate": ('name: "\\ud800"', "line 1, column 10: found invalid Unicode character escape code"),
    "size": ("# " + "x" * 2**21, "it has more than 1 MiB"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_within_a_second(name: str, tmp_path: Path) -> None:
    text, message = HOSTILE[name]
    (tmp_path / "study.yaml").write_text(text)
    began = time.process_time()
    with pytest.raises(StudyFileError, match=f"study.yaml is not valid YAML: .*{message}"):
        read_study(tmp_path / "study.yaml")
    assert time.process_time() - began < 1


def test_ten_thousand_models_are_read_within_seconds(tmp_path: Path) -> None:
    models = [{"name": f"model-{number}"} for number in range(10_000)]
    began = time.process_time()
    assert len(read_study(write_study(tmp_path, SOUND | {"models": models})).models) == len(models)
    assert time.process_time() - began < 20


@pytest.mark.parametrize("name", ["missing.yaml", "", "x" * 300, "."])
def test_unreadable_files_name_the_bundled_studies(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StudyFileError, match=r"cannot be read: .*; bundled studies: .*quickstart"):
        read_study(name)


def test_all_problems_are_named_at_once(tmp_path: Path) -> None:
    message = error_message(tmp_path, seed=-1, contexts={"base": -1}, measures={"answers": {"samplez": 1, "top_p": 2}})
    for key in ("seed: ", "contexts.base: ", "measures.answers.samplez (", "measures.answers.top_p: "):
        assert key in message


@pytest.mark.parametrize("key", ["name", "models", "measures"])
def test_missing_keys_are_named(key: str, tmp_path: Path) -> None:
    content = {name: value for name, value in SOUND.items() if name != key}
    with pytest.raises(StudyFileError, match=f"study.yaml: {key}: is missing; add it"):
        read_study(write_study(tmp_path, content))


REGISTRIES: dict[str, Registry[Any]] = {
    "facts": FACT_SOURCES,
    "questions": QUESTION_SOURCES,
    "frequency": FREQUENCY_SOURCES,
}
# A key is the path of a section. A source has a section of its own: "facts yago" is `facts` with `source: yago`.
SECTIONS: dict[str, type[BaseModel]] = {
    "": StudyFile,
    "services": ServicesPart,
    "services.yago": ServiceOptions,
    "contexts": ContextsPart,
    "models": ModelPart,
    **{f"measures.{name}": measure.parameters for name, measure in MEASURES.items()},
    **{
        f"{section} {name}": source.options
        for section, sources in REGISTRIES.items()
        for name, source in sources.items()
    },
}


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("value", [None, [], {}, -1, "", [[]], {"a": 1}], ids=str)
def test_no_message_has_words_of_pydantic(section: str, value: Any, tmp_path: Path) -> None:
    for key in SECTIONS[section].model_fields:
        path, _, source = section.partition(" ")
        content: Any = {"source": source, key: value} if source else {key: value}
        for outer_key in reversed(path.split(".") if path else []):
            content = {outer_key: [content] if outer_key == "models" else content}
        assert not re.search("should|Field|required|Input|[Tt]uple|<class|pattern", message_of(tmp_path, content))


def message_of(folder: Path, changes: Any) -> str:
    """Return the message that refuses the changed study; "" if the study is valid."""
    try:
        read_study(write_study(folder, SOUND | changes))
    except StudyFileError as error:
        return str(error)
    return ""


def test_all_paths_are_relative_to_the_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study_folder, other_folder = tmp_path / "there", tmp_path / "elsewhere"
    for folder in (study_folder / "tiny", study_folder / "judge", other_folder / "judge"):
        folder.mkdir(parents=True)
    for folder in (study_folder, other_folder):
        (folder / "mine.csv").write_text("question,answer\nWhich?,This\n")
    content = {
        "name": "beside",
        "questions": {"source": "file", "file": "mine.csv"},
        "workspace": "made/here",
        "services": {"cache": "responses"},
        "models": [{"name": "tiny"}, {"name": "org/at-the-hub"}],
        "measures": {"answers": {}, "clusters": {"entailment": "judge"}, "judged_answers": {"judge": "judge"}},
    }
    file = write_study(study_folder, content)
    studies = []
    # The files of the same names in `other_folder` must not be used.
    for folder, name in ((study_folder, Path(file).name), (other_folder, file)):
        monkeypatch.chdir(folder)
        studies.append(read_study(name))
    for study in studies:
        assert [(model.name, model.source) for model in study.models] == [
            ("tiny", str(study_folder / "tiny")),
            ("org/at-the-hub", "org/at-the-hub"),
        ]
        assert study.measures["clusters"]["entailment"] == str(study_folder / "judge")
        assert study.measures["judged_answers"]["judge"] == str(study_folder / "judge")
    read_elsewhere = studies[1]
    assert Path(read_elsewhere.questions.path) == study_folder / "mine.csv"
    assert workspace_of(read_elsewhere).root == study_folder / "made" / "here"
    assert read_elsewhere.access(other_folder).cache == study_folder / "responses"


@pytest.mark.parametrize("key", ["workspace", "services.cache", "judgements"])
def test_paths_only_in_the_current_folder_are_refused(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "studies").mkdir()
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path)
    section, _, name = key.rpartition(".")
    study = SOUND | ({section: {name: "mine"}} if section else {name: "mine"})
    message = f"{key}[^:]*: 'mine' is not in the folder of the study file.* write '../mine'"
    with pytest.raises(StudyFileError, match=message):
        read_study(write_study(tmp_path / "studies", study))


def test_changes_replace_values_of_the_file(tmp_path: Path) -> None:
    file = write_study(tmp_path, SOUND)
    assert read_study(file, {"models.0.name": "another/model", "seed": 9}).models[0].name == "another/model"
    with pytest.raises(StudyFileError, match=r"no section for the key models\.7\.name"):
        read_study(file, {"models.7.name": "x"})


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"follow.supporting": "0.9"}, "is not a bound; write a bound such as '>= 0.9'"),
        ({"followed.supporting": ">= 0.9"}, "no quantity is named 'followed'"),
        ({"refuse": "<= 2"}, "is a share"),
    ],
)
def test_an_impossible_bound_is_refused(bounds: dict[str, str], message: str, tmp_path: Path) -> None:
    assert message in message_of(tmp_path, {"thresholds": bounds})
