"""Texts about entities in groups; the refusal of a broken file names the key."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from swaymeter.data.catalog.group_texts import FOLDER, GroupTexts, group_texts
from swaymeter.data.errors import InputError

SOUND = {
    "source": "A test.",
    "licence": "None.",
    "open": ["{entity} works as"],
    "contexts": {
        "one": {"sentences": ["He works.", {"text": "{entity} works.", "label": "own label", "strength": 2}]},
        "two": {"exchanged": "one"},
    },
    "exchange": [["he", "she"], ["works", "rests"]],
}


def read(folder: Path, **changes: Any) -> GroupTexts:
    (folder / "texts.yaml").write_text(yaml.safe_dump(SOUND | changes), encoding="utf-8")
    return group_texts(folder / "texts.yaml")


def test_a_set_has_labels_and_may_be_exchanged(tmp_path: Path) -> None:
    first_set = {**SOUND["contexts"]["one"], "label": "label of the set"}  # type: ignore[index]
    sets = read(tmp_path, contexts={"one": first_set, "two": {"exchanged": "one"}}).sets
    assert [(sentence.text, sentence.label, sentence.strength) for sentence in sets["two"]] == [
        ("She rests.", "label of the set", None),
        ("{entity} rests.", "own label", 2),
    ]


def test_an_exchanged_set_may_have_another_label(tmp_path: Path) -> None:
    second_set = {"exchanged": "one", "label": "label of two"}
    sets = read(tmp_path, contexts={**SOUND["contexts"], "two": second_set}).sets  # type: ignore[dict-item]
    assert [sentence.label for sentence in sets["two"]] == ["label of two", "own label"]


def test_bundled_texts_have_as_many_sentences_as_published() -> None:
    gender, pairs = (group_texts(FOLDER / f"{name}.yaml") for name in ("gender", "friends-and-enemies"))
    assert {name: len(sentences) for name, sentences in gender.sets.items()} == dict.fromkeys(gender.contexts, 20)
    assert (len(gender.open), len(gender.contexts), len(pairs.sets["pair"])) == (20, 4, 11)
    assert {sentence.label for sentences in gender.sets.values() for sentence in sentences} == {"stereotype"}
    strengths = [(sentence.label, sentence.strength) for sentence in pairs.sets["pair"]]
    assert strengths == [
        *(("negative", strength) for strength in (4, 3, 2, 1)),
        *[("neutral", 0)] * 3,
        *(("positive", strength) for strength in (1, 2, 3, 4)),
    ]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"open": []}, "open: may not be empty"),
        ({"open": ["Who works"]}, "open.0: must have {entity} once and no other slot; the text has none"),
        ({"open": ["The {entity} is"]}, "open.0: has an article directly before a slot"),
        ({"open": ["{entity} is"] * 2}, "open: '{entity} is' occurs twice in `open` and `closed`"),
        ({"open": ["{entity1} is"]}, "open.0: must have {entity1} once and {entity2} once"),
        ({"closed": ["{entity} works"]}, "closed.0: must begin with 'Q: '"),
        ({"contexts": {}}, "contexts: may not be empty"),
        ({"contexts": {"a b": {"sentences": ["He works."]}}}, "contexts.a b"),
        ({"contexts": {"one": {}}}, "contexts.one: must have either `sentences`, or `exchanged` with"),
        ({"contexts": {"one": {"sentences": ["{entity2} works."]}}}, "one.sentences.0: must have {entity} once"),
        ({"contexts": {"one": {"sentences": ["He works.", "he works."]}}}, "contexts.one: has 'he works.' twice"),
        ({"contexts": {"one": {"sentences": ["He works.\n", "He works."]}}}, "one.sentences.0: has a line break"),
        ({"contexts": {"one": {"sentences": ["Does he?\nA:"]}}}, "one.sentences.0: has a line break"),
        (
            {"contexts": {"one": {"sentences": ["x", {"text": "He works.", "strength": 3}]}}},
            "contexts.one.sentences.1.strength: needs a label; add `label`",
        ),
        ({"contexts": {"one": {"sentences": [{"text": "x", "strength": -1}]}}}, "strength: must be at least 0"),
        ({"contexts": {"one": {"sentences": ["x"]}, "two": {"exchanged": "on"}}}, "two.exchanged: 'on' is not a set"),
        (
            {"contexts": {"one": {"sentences": ["Nobody."]}, "two": {"exchanged": "one"}}},
            "contexts.two.exchanged: `exchange` has no word of 'Nobody.'",
        ),
        ({"exchange": None}, "contexts.two.exchanged: needs the key `exchange`"),
        ({"exchange": "sex"}, "exchange: no exchange rule is named 'sex'"),
        ({"context": {}}, "unknown key context (did you mean 'contexts'?)"),
    ],
)
def test_a_refusal_names_the_file_and_key(tmp_path: Path, changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as refused:
        read(tmp_path, **changes)
    assert problem in str(refused.value)
    assert str(refused.value).startswith(f"{tmp_path / 'texts.yaml'}: ")
