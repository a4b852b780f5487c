from pathlib import Path
from typing import Any

import pytest

from data.errors import StudyFileError
from data.measures import MEASURES
from flows.plan import resolved_dtype
from flows.study.study_file import STUDIES, read_study
from tests.flows.small_plan import small_study, write_study


def refused(folder: Path, **changes: Any) -> str:
    """What is said of a study with these changes."""
    file = write_study(folder, small_study(folder, **changes))
    with pytest.raises(StudyFileError) as raised:
        read_study(file)
    said = str(raised.value)
    assert said.startswith(file)
    assert "\n" not in said
    return said.removeprefix(f"{file}: ")


def test_a_sound_study_is_read(tmp_path: Path) -> None:
    study = read_study(write_study(tmp_path, small_study(tmp_path)))
    assert study.facts is not None
    assert study.facts.relations == ("capital", "father")
    assert study.contexts.per_kind() == {"base": 1, "assertive": 1, "negation": 0}
    assert study.parameters("answers")["samples"] == 2


@pytest.mark.parametrize("name", [path.stem for path in STUDIES.glob("*.yaml")])
def test_a_bundled_study_is_read_by_its_name(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_study(name).name == name


def test_a_file_comes_before_a_bundled_study_of_the_same_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(write_study(tmp_path, small_study(tmp_path))).rename(tmp_path / "quickstart")
    assert read_study("quickstart").name == "small"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"measurs": {}}, "unknown key measurs (did you mean 'measures'?)"),
        ({"facts": {"relation": ["capital"]}}, "unknown key facts.relation (did you mean 'relations'?)"),
        ({"contexts": {"assertiv": 1}}, "unknown key contexts.assertiv (did you mean 'assertive'?)"),
        ({"questions": {"per_partitoin": 1}}, "unknown key questions.per_partitoin (did you mean 'per_partition'?)"),
        ({"models": [{"name": "m", "dtpe": "auto"}]}, "unknown key models.0.dtpe (did you mean 'dtype'?)"),
        ({"measures": {"answers": {"samplez": 3}}}, "answers: unknown key samplez (did you mean 'samples'?)"),
        ({"measures": {"persuasion": {"samples": 3}}}, "persuasion: unknown key samples"),
        ({"measures": {"fisher_susceptibility": {"draw": 3}}}, "unknown key draw (did you mean 'draws'?)"),
        (
            {"measures": {"memorization_ratio": {"max_new_tokens": 3}}},
            "unknown key max_new_tokens; max_new_tokens is a parameter of greedy_answers",
        ),
    ],
)
def test_an_unknown_key_is_answered_with_the_nearest_one(changes: dict[str, Any], said: str, tmp_path: Path) -> None:
    assert said in refused(tmp_path, **changes)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"name": "../up"}, "name: "),
        ({"name": 7}, "name: "),
        ({"seed": -1}, "seed: "),
        ({"seed": 2**63}, "seed: "),
        ({"seed": "often"}, "seed: "),
        ({"facts": {"relations": ["capital"], "real_entities": -1}}, "facts.real_entities: "),
        ({"facts": {"relations": ["capital"], "source": "web"}}, "facts.source: "),
        ({"facts": {"relations": "capital"}}, "facts.relations: expected a list"),
        ({"facts": {"relations": ["capital", "capital"]}}, "facts: a relation is named twice"),
        ({"facts": {"relations": ["capital"], "real_entities": 0, "invented_entities": 0}}, "facts: real_entities"),
        ({"contexts": {"base": 0, "assertive": 0, "negation": 0}}, "contexts: every kind is 0"),
        ({"contexts": {"base": 1.5}}, "contexts.base: "),
        ({"questions": {"partitions": ["statik"]}}, "questions.partitions.0: "),
        ({"questions": {"partitions": ["static", "static"]}}, "questions: a partition is named twice"),
        ({"questions": {"partitions": []}}, "questions: no partition is named"),
        ({"questions": {"per_partition": 0}}, "questions.per_partition: "),
        ({"questions": {"folder": "here"}}, "questions: `folder` is for source dynamicqa"),
        ({"models": []}, "models: "),
        ({"models": ["gpt2"]}, "models.0: "),
        ({"models": [{"name": ""}]}, "models.0.name: "),
        ({"models": [{"name": "gpt2", "dtype": "float8"}]}, "models.0.dtype: "),
        ({"models": [{"name": "gpt2", "device": "tpu"}]}, "models.0.device: "),
        ({"models": [{"name": "gpt2", "dtype": "8bit", "device": "cpu"}]}, "models.0.device: dtype 8bit is for GPUs"),
        ({"models": [{"name": "gpt2", "dtype": "4bit"}] * 2}, "models: a model is named twice in the same dtype"),
        ({"measures": {}}, "measures: "),
        ({"measures": "persuasion"}, "measures: expected measures with their parameters"),
        ({"measures": ["persuasion", {"answers": {}}]}, "measures: expected measures with their parameters"),
        ({"measures": {"answers": {"temperature": 0}}}, "measures: answers: temperature: "),
        ({"measures": {"answers": {"temperature": float("nan")}}}, "measures: answers: temperature: "),
        ({"measures": {"answers": {"threshold": -0.5}}}, "measures: answers: threshold: "),
        ({"measures": {"accuracy": {"rouge_threshold": 1}}}, "measures: accuracy: rouge_threshold: "),
        ({"measures": {"persuasion": 3}}, "measures: persuasion: "),
        ({"measures": {"fisher_susceptibility": {"draws": 5}}},
         "measures: fisher_susceptibility: draws: 5 are too few to tell how far they scatter; use at least 32, or 0"),
        ({"measures": {"fisher_susceptibility": {"top_k": 0}}}, "measures: fisher_susceptibility: top_k: "),
        ({"measures": {"greedy_answers": {"max_new_tokens": 0}}}, "measures: greedy_answers: max_new_tokens: "),
        ({"measures": {"answer_set_persuasion": {"terminators": [""]}}},
         "measures: answer_set_persuasion: terminators: expected different texts, none of them empty"),
        ({"measures": {"precision": {"reference": "8bit"}}}, "measures: precision: reference: "),
        ({"workspace": ["here"]}, "workspace: "),
    ],
)  # fmt: skip
def test_an_impossible_value_is_said_with_its_key(changes: dict[str, Any], key: str, tmp_path: Path) -> None:
    assert key in refused(tmp_path, **changes)


def test_a_model_may_be_asked_in_every_number_format(tmp_path: Path) -> None:
    formats = ["float32", "bfloat16", "float16", "8bit", "4bit"]
    models = [{"name": "gpt2", "dtype": dtype, "device": "balanced"} for dtype in formats]
    study = read_study(write_study(tmp_path, small_study(tmp_path, models=models)))
    assert [resolved_dtype(model) for model in study.models] == formats


def test_everything_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    said = refused(tmp_path, seed=-1, contexts={"base": -1})
    assert "seed: " in said
    assert "contexts.base: " in said


@pytest.mark.parametrize("key", ["name", "models", "measures"])
def test_a_key_that_is_missing_is_named(key: str, tmp_path: Path) -> None:
    study = small_study(tmp_path)
    del study[key]
    with pytest.raises(StudyFileError, match=f"study.yaml: {key}: Field required"):
        read_study(write_study(tmp_path, study))


def test_published_questions_without_a_folder_are_to_be_downloaded(tmp_path: Path) -> None:
    study = read_study(write_study(tmp_path, small_study(tmp_path, questions={"source": "dynamicqa"})))
    assert study.questions is not None
    assert study.questions.folder is None


def test_an_unknown_relation_is_answered_with_the_nearest_one(tmp_path: Path) -> None:
    said = refused(tmp_path, facts={"relations": ["capitol"]})
    assert said == "no relation is named 'capitol'; did you mean 'capital'?"


def test_an_unknown_measure_is_answered_with_the_nearest_one(tmp_path: Path) -> None:
    said = refused(tmp_path, measures={"persuation": {}})
    assert said == "no measure is named 'persuation'; did you mean 'persuasion'?"


@pytest.mark.parametrize("name", [name for name, one in MEASURES.items() if one.inputs != "questions"])
@pytest.mark.parametrize("facts", [None, {"relations": []}])
def test_a_measure_without_the_facts_that_it_needs_is_named(name: str, facts: Any, tmp_path: Path) -> None:
    assert refused(tmp_path, facts=facts, measures={name: {}}) == (
        f"measure {name} needs facts: name relations under `facts`"
    )


@pytest.mark.parametrize("name", [name for name, one in MEASURES.items() if one.inputs == "questions"])
def test_a_measure_without_the_questions_that_it_needs_is_named(name: str, tmp_path: Path) -> None:
    assert refused(tmp_path, questions=None, measures={name: {}}) == f"measure {name} needs `questions`"


@pytest.mark.parametrize(
    "content",
    [b"name: [", b"name:\t- a", b"\xff\xfe\x00", b"name: \x00", b"? [a]\n: b", b"[" * 3000, b"!!python/tuple []"],
    ids=["open list", "tab", "no UTF-8", "NUL", "list as key", "deep", "object"],
)  # fmt: skip
def test_what_is_no_yaml_is_said_with_the_file(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_bytes(content)
    with pytest.raises(StudyFileError, match=r"study.yaml is no YAML: ") as raised:
        read_study(file)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("content", ["", "just words", "- a\n- list", "7", "null"])
def test_yaml_that_is_no_study_is_said_with_the_file(content: str, tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_text(content)
    with pytest.raises(StudyFileError, match=r"study.yaml holds no study: expected keys such as name"):
        read_study(file)


@pytest.mark.parametrize("name", ["missing.yaml", "", "x" * 300, "."])
def test_a_file_that_cannot_be_read_is_answered_with_the_bundled_studies(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StudyFileError, match=r"cannot be read: .*; bundled studies: .*quickstart"):
        read_study(name)


def test_a_list_of_measures_takes_their_defaults(tmp_path: Path) -> None:
    study = read_study(write_study(tmp_path, small_study(tmp_path, measures=["persuasion", "answers"])))
    assert study.parameters("answers") == MEASURES["answers"].parameters().model_dump()


def test_a_measure_brings_those_it_rests_on(tmp_path: Path) -> None:
    study = read_study(write_study(tmp_path, small_study(tmp_path, measures={"persuaded": {}, "semantic_entropy": {}})))
    assert list(study.wanted()) == ["answers", "semantic_entropy", "persuaded"]
    assert study.parameters("answers")["samples"] == 10
    study = read_study(write_study(tmp_path, small_study(tmp_path, measures=["entity_independent_susceptibility"])))
    assert list(study.wanted()) == ["persuasion", "entity_independent_susceptibility"]
