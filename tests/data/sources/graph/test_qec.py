import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data import catalog
from swaymeter.data.catalog import ENTITY_CLASSES
from swaymeter.data.errors import InputError, WorkspaceError
from swaymeter.data.records import Fact
from swaymeter.data.sources.graph.qec import LICENCE, SOURCE, TOP_CLASS, read_qec, write_qec
from tests.data.dataset_samples import CAPITAL, KENYA, NORWAY, PERU, YAGO, fact, qec_content, qec_file


def qec_with(**values: Any) -> dict[str, Any]:
    """Return `qec_content` with other values of some keys of its predicate; None removes a key."""
    entry = qec_content()[CAPITAL] | values
    return {CAPITAL: {key: value for key, value in entry.items() if value is not None}}


def test_first_pair_of_entity_is_its_fact(tmp_path: Path) -> None:
    read = read_qec(qec_file(tmp_path, qec_content()))
    assert read.facts == {
        "capital": (
            Fact(
                relation="capital",
                subject="Norway",
                object="Oslo",
                subject_id=None,
                object_id=None,
                id_source=None,
                source=SOURCE,
                licence=LICENCE,
                subject_uri=f"{YAGO}Norway",
                object_uri=f"{YAGO}Oslo",
                other_objects=(),
                subject_degree=900,
                subject_relation_degree=1,
            ),
            Fact(
                relation="capital",
                subject="South Africa",
                object="Pretoria",
                subject_id=None,
                object_id=None,
                id_source=None,
                source=SOURCE,
                licence=LICENCE,
                subject_uri=f"{YAGO}South_Africa",
                object_uri=f"{YAGO}Pretoria",
                other_objects=("Cape Town",),
                subject_degree=700,
                subject_relation_degree=2,
            ),
        )
    }
    assert read.warnings == ()


@pytest.mark.parametrize(
    "missing", ["entity_uris", "answer_uris", "entity_uri_to_degree", "entity_uri_to_predicate_degree"]
)
def test_a_missing_column_leaves_a_field_unknown(missing: str, tmp_path: Path) -> None:
    complete = read_qec(qec_file(tmp_path, qec_content())).facts["capital"]
    field = {
        "entity_uris": "subject_uri",
        "answer_uris": "object_uri",
        "entity_uri_to_degree": "subject_degree",
        "entity_uri_to_predicate_degree": "subject_relation_degree",
    }[missing]
    read = read_qec(qec_file(tmp_path, qec_with(**{missing: None}))).facts["capital"]
    assert read == tuple(replace(record, **{field: None}) for record in complete)


def test_two_predicates_of_one_relation_are_read_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    relation = replace(catalog.relation("capital"), yago=(CAPITAL, "http://schema.org/capital"))
    monkeypatch.setattr(catalog, "relations", lambda: {"capital": relation})
    monkeypatch.setattr(catalog, "relation", {"capital": relation}.__getitem__)
    second_predicate = qec_with(
        entities=["Norway"],
        answers=["Bergen"],
        entity_uris=[f"{YAGO}Norway"],
        answer_uris=[f"{YAGO}Bergen"],
        entity_uri_to_degree=[1],
        entity_uri_to_predicate_degree=[1],
    )[CAPITAL]
    read = read_qec(qec_file(tmp_path, qec_content() | {"http://schema.org/capital": second_predicate}))
    assert [(record.object, record.other_objects) for record in read.facts["capital"]] == [
        ("Oslo", ("Bergen",)),
        ("Pretoria", ("Cape Town",)),
    ]


def test_predicates_outside_the_catalog_are_named(tmp_path: Path) -> None:
    read = read_qec(qec_file(tmp_path, qec_content() | {"http://schema.org/shoe\u202eSize": {"entities": 7}}))
    assert list(read.facts) == ["capital"]
    assert read.warnings == (
        r"keys left out, because the catalog has no relation for them: 'http://schema.org/shoe\u202eSize'",
    )


def test_pairs_without_name_are_left_out_and_counted(tmp_path: Path) -> None:
    read = read_qec(
        qec_file(tmp_path, qec_with(entities=["Norway", " ", "South Africa"], answers=["", "Lima", "Pretoria"]))
    )
    assert [(record.subject, record.object) for record in read.facts["capital"]] == [("South Africa", "Pretoria")]
    assert read.warnings == ("pairs left out, because the entity or the answer has no name: 2",)


def broken_key(key: str, value: Any, message: str) -> tuple[Any, str]:
    return qec_with(**{key: value}), f": {CAPITAL}{message}"


REFUSED: list[tuple[Any, str]] = [
    ("{", " is not JSON in UTF-8: Expecting property name"),
    ("[" * 100_000, " has JSON that is nested too deeply to be read"),
    ('{"a": ' + "9" * 5000 + "}", " is not JSON in UTF-8: Exceeds the limit"),
    ([1], r" must be a JSON object, not \[1\]"),
    ({"name": "Norway"}, " is not a yago_qec.json: none of its keys"),
    ({CAPITAL: ["Norway"]}, f": {CAPITAL}: Input should be a valid dictionary"),
    (f'{{"{CAPITAL}": {{"x": 1, "y": [], "y": []}}}}', ".*the key 'y' twice"),
    broken_key("entities", None, ": entities: Field required"),
    broken_key("answers", "Oslo", ": answers: Input should be a valid list \\(the value is 'Oslo'\\)"),
    broken_key("answers", ["Oslo", None, "Lima"], r": answers\[1\]: Input should be a valid string"),
    broken_key("entities", ["\ud83d", "Norway", "Peru"], r": entities\[0\]: .*surrogates not allowed"),
    broken_key("entity_uris", [1, 2, 3], r": entity_uris\[0\]: Input should be a valid string \(the value is 1\)"),
    broken_key("answers", ["Oslo", "Lima"], ": `answers` has 2 entries, but `entities` has 3; give both"),
    broken_key("answer_uris", [], ": `answer_uris` has 0 entries, but `entities` has 3; give both"),
    *(
        broken_key("entity_uri_to_degree", [1, number, 2], r": entity_uri_to_degree\[1\]: Input should be")
        for number in (math.nan, math.inf, True, "900", -1, 2**63, 1.0)
    ),
]


@pytest.mark.parametrize(("content", "message"), REFUSED, ids=range(len(REFUSED)))
def test_error_names_file_of_another_layout(content: Any, message: str, tmp_path: Path) -> None:
    file = qec_file(tmp_path, content)
    with pytest.raises(InputError, match=f"^{file}{message}"):
        read_qec(file)


def test_a_written_file_is_read_again(tmp_path: Path) -> None:
    facts = [
        fact("South Africa", "Pretoria", other_objects=("Bloemfontein", "Cape Town")),
        fact('Côte d\'Ivoire\n"{entity}"', "ياموسوكرو", subject_degree=None),
        fact("Atlantis", "nowhere", subject_uri=None, object_uri=None, subject_relation_degree=0),
    ]
    assert write_qec(tmp_path / "q.json", {"capital": facts}, {"capital": ["Orvania"]}, catalog.relations()) == ()
    read = read_qec(tmp_path / "q.json")
    unwritten = {
        "object_degree": None,
        "object_relation_degree": None,
        "address": None,
        "query": None,
        "retrieved_at": None,
    }
    assert read.facts == {"capital": tuple(replace(record, source=SOURCE, **unwritten) for record in facts)}
    assert read.warnings == ()


def test_a_written_file_has_the_published_layout(tmp_path: Path) -> None:
    peru = replace(PERU, other_objects=("Cusco",))
    write_qec(tmp_path / "q.json", {"capital": [NORWAY, peru]}, {"capital": ["Orvania"]}, catalog.relations())
    relation = catalog.relation("capital")
    assert json.loads((tmp_path / "q.json").read_text(encoding="utf-8")) == {
        CAPITAL: {
            "entities": ["Norway", "Peru", "Peru"],
            "answers": ["Oslo", "Lima", "Cusco"],
            "entity_uris": [f"{YAGO}Norway", f"{YAGO}Peru", f"{YAGO}Peru"],
            "answer_uris": [f"{YAGO}Oslo", f"{YAGO}Lima", None],
            "entity_uri_to_degree": [120, 120, 120],
            "entity_uri_to_predicate_degree": [1, 1, 1],
            "gpt_fake_entities": ["Orvania"],
            "query_forms": {"open": list(relation.open), "closed": list(relation.closed)},
            "context_templates": {kind: templates[0] for kind, templates in relation.contexts.items()},
            "entity_types": {"http://schema.org/Place": 1.0},
            "answer_types": {"http://schema.org/Place": 1.0},
        }
    }


def test_literal_is_written_in_place_of_iri(tmp_path: Path) -> None:
    dated = replace(catalog.relation("capital"), object_class="date")
    facts = [replace(NORWAY, object="17 May 1814", object_uri=None, other_objects=("7 June 1905",))]
    write_qec(tmp_path / "q.json", {"capital": facts}, {}, {"capital": dated})
    entry = json.loads((tmp_path / "q.json").read_text(encoding="utf-8"))[CAPITAL]
    assert entry["answers"] == entry["answer_uris"] == ["17 May 1814", "7 June 1905"]
    assert entry["answer_types"] == {}
    assert entry["gpt_fake_entities"] == []


def test_a_file_is_written_whole_or_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = qec_file(tmp_path, qec_content())
    before = file.read_bytes()

    def full_disk(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full_disk)
    with pytest.raises(WorkspaceError, match=r"yago_qec.json cannot be written: .*No space left.*; name another file"):
        write_qec(file, {"capital": [KENYA]}, {}, catalog.relations())
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


def test_every_entity_class_has_a_top_class() -> None:
    assert set(TOP_CLASS) == set(ENTITY_CLASSES)
    assert TOP_CLASS["film"] == "http://schema.org/CreativeWork"
