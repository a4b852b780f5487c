"""The source `groups`: entities with labels, or pairs, and sets of contexts."""

import logging
import pickle
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from swaymeter.data.errors import InputError, MissingFile
from swaymeter.data.sources.access import Access
from swaymeter.data.sources.own.groups import GROUPS, Groups
from tests.data.catalog.test_group_texts import SOUND

ENTITIES = ("entity,label", "Ann,old", "Anna,old", "Bo,young", "Cy,young", "Di,young")
PAIRS = ("entity1,entity2,label,type", "Ann,Anna,friend,x", "Bo,Cy,enemy,", "Bo,Di,enemy,x", "Cy,Di,friend,")
TEXTS_OF_PAIRS = SOUND | {"open": ["{entity1} and {entity2} are"], "contexts": {"pair": {"sentences": ["Nobody."]}}}


def groups_section(folder: Path, lines: tuple[str, ...] = ENTITIES, content: Any = SOUND, **keys: Any) -> Groups:
    (folder / "mine.csv").write_text("\n".join(lines), encoding="utf-8")
    (folder / "texts.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    paths = {"file": "mine.csv", "texts": "texts.yaml", "relations": "all"}
    return Groups.model_validate({**paths, **keys}, context={"folder": str(folder)})


def names(section: Groups, seed: int = 0) -> list[str]:
    group = section.group(section.relations[0], seed)
    assert group is not None
    return [entity.name for entity in group.entities]


def test_each_set_is_a_relation_about_all_entities(tmp_path: Path) -> None:
    section = groups_section(tmp_path)
    assert section.relations == ("one", "two")
    assert names(section) == ["Ann", "Anna", "Bo", "Cy", "Di"]
    facts = GROUPS.fetch(section, "two", 0, Access(Path())).facts
    assert [(fact.relation, fact.subject, fact.object) for fact in facts[:3]] == [
        ("two", "Ann", "old"),
        ("two", "Anna", "old"),
        ("two", "Bo", "young"),
    ]
    group = section.group("one", 0)
    assert group.context_count == 6
    assert group.sentences_per_entity == 1  # five sentences about one entity each, and a sentence about nobody


def test_the_seed_draws_entities_of_each_label(tmp_path: Path) -> None:
    drawn = [names(groups_section(tmp_path, per_label=2), seed) for seed in range(8)]
    assert {tuple(sample[:2]) for sample in drawn} == {("Ann", "Anna")}
    assert {len(sample) for sample in drawn} == {4}
    assert len({tuple(sample) for sample in drawn}) > 1


def test_bundled_files_are_read_by_name(tmp_path: Path) -> None:
    section = Groups.model_validate({"file": "friends-and-enemies", "texts": "friends-and-enemies", "relations": "all"})
    labels = [entity.label for entity in section.entities]
    assert (len(labels), labels.count("friend"), section.relations) == (73, 25, ("pair",))
    assert pickle.loads(pickle.dumps(section)) == section
    by_gender = Groups.model_validate({"file": "names-by-gender", "texts": "gender", "relations": ["feminine"]})
    assert [entity.label for entity in by_gender.entities] == ["female"] * 20 + ["male"] * 20


def test_bundled_files_come_before_folders_of_their_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here" / "gender").mkdir(parents=True)
    (tmp_path / "names-by-gender").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    keys = {"file": "names-by-gender", "texts": "gender", "relations": ["feminine"]}
    assert len(Groups.model_validate(keys, context={"folder": str(tmp_path)}).entities) == 40
    with pytest.raises(MissingFile, match="bundled files: friends-and-enemies, names-by-gender"):
        _ = Groups.model_validate(keys | {"file": "names"}).entities


def test_names_of_columns_may_have_capitals(tmp_path: Path) -> None:
    section = groups_section(tmp_path, ("Entity, LABEL,Type", "Ann,old,x", "Bo,young,y"))
    assert [(entity.label, entity.type) for entity in section.entities] == [("old", "x"), ("young", "y")]
    with pytest.raises(InputError, match="two columns whose names differ only in capitals"):
        names(groups_section(tmp_path, ("entity,label,type,Type", "Ann,old,x,x", "Bo,young,y,y")))


@pytest.mark.parametrize(
    ("lines", "count", "problem"),
    [
        ((*PAIRS, "Ann,,friend,"), 4, "line 6: entity2: is missing"),
        ((*PAIRS, "Ann,Ann,friend,"), 4, "line 6: entity1, entity2: are both Ann"),
        ((*PAIRS, "Ann,ANN,friend,"), 4, "line 6: entity1, entity2: are both ANN"),
        ((*PAIRS, "Anna,Ann,enemy,"), 4, "line 6: has Anna and Ann, and so has line 2"),
        ((*PAIRS, "Ann,Bo,,"), 4, "line 6: label: is missing"),
        ((*PAIRS, "Ann,Bo,all,"), 4, "line 6: label, type: 'all' already means every label and every"),
        ((*PAIRS, "Ann,Bo"), 4, "line 6: has 2 cells, and the header 4"),
        ((*ENTITIES, "ANN,Old"), 6, "label old, Old differ only in capitals"),
        ((*ENTITIES, "ANN,Old"), 6, "entity Ann, ANN differ only in capitals"),
        (ENTITIES[:4], 3, "label young has one entity, which no test can compare"),
    ],
)
def test_problems_of_single_rows_are_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, lines: tuple[str, ...], count: int, problem: str
) -> None:
    with caplog.at_level(logging.WARNING):
        assert len(names(groups_section(tmp_path, lines, TEXTS_OF_PAIRS if lines[0] == PAIRS[0] else SOUND))) == count
    assert problem in caplog.text


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (ENTITIES[:3], "has only the label old; the entities need at least two different labels"),
        (ENTITIES[:1], "has no row; the entities need"),
        (("entity,label", ",old"), "entity: is missing"),
        (PAIRS, "has no column entity"),
    ],
)
def test_a_file_without_comparable_groups_is_refused(tmp_path: Path, lines: tuple[str, ...], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        names(groups_section(tmp_path, lines))


@pytest.mark.parametrize(
    ("keys", "key", "problem"),
    [
        ({"relations": ["three"]}, "relations", "no set of contexts is named 'three'"),
        ({"relations": ["one", "one"]}, "relations", "a set is named twice"),
        ({"relations": "one"}, "relations", "expected a list with names of sets of contexts, or `all`"),
        ({"texts": "gone.yaml"}, "texts", "gone.yaml cannot be read"),
        ({"texts": "sex"}, "texts", "bundled texts: friends-and-enemies, gender"),
        ({"texts": 5}, "texts", "expected the path of a YAML file"),
        ({"real_entities": 3}, "real_entities", "limit the entities by `per_label`"),
        ({"invented_entities": 2}, "invented_entities", "expected 0"),
        ({"per_label": 0}, "per_label", "must be at least 1"),
    ],
)
def test_impossible_keys_are_refused(tmp_path: Path, keys: dict[str, Any], key: str, problem: str) -> None:
    with pytest.raises(ValidationError) as raised:
        groups_section(tmp_path, **keys)
    (error,) = raised.value.errors()
    assert error["loc"] == (key,)
    assert problem in error["msg"]
