"""Own facts and contexts: each row is used or named, and relations come from the catalog or an own file."""

import logging
import pickle
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from swaymeter.data import catalog
from swaymeter.data.errors import InputError, MissingFile
from swaymeter.data.sources.access import Access
from swaymeter.data.sources.own.facts import (
    OWN_FACTS,
    ContextRow,
    FactRow,
    OwnFacts,
    facts_of,
    rows_by_relation,
)
from swaymeter.data.sources.own.named_file import Origin
from tests.data.catalog.test_relation_rules import SOUND, yaml_of

LINES = ("relation,subject,object", "seat,Norvania,Tesk", "capital,Norway,Oslo", "seat,Bellamarca,Quorin")
# a relation of an own file; the predicate of SOUND in YAGO belongs to the catalog's relation `capital`
SEAT = {name: value for name, value in SOUND.items() if name != "yago"}


def options(folder: Path, lines: tuple[str, ...] = LINES, own: Any = None, **keys: Any) -> OwnFacts:
    """Write a table of facts and a file of own relations, and return options that name both files."""
    (folder / "mine.csv").write_text("\n".join(lines), encoding="utf-8")
    (folder / "mine.yaml").write_text(yaml_of(**(own or {"seat": SEAT})), encoding="utf-8")
    paths = {"file": "mine.csv", "relations_file": "mine.yaml", "relations": "all"}
    return OwnFacts.model_validate({**paths, **keys}, context={"folder": str(folder)})


def key(options: OwnFacts, relation: str) -> Any:
    return OWN_FACTS.key(options, relation, 0, Access(Path()))


def test_relations_are_those_of_file_or_list(tmp_path: Path) -> None:
    complete = options(tmp_path)
    assert complete.relations == ("seat", "capital")
    assert (complete.relation("seat").open[0], complete.relation("capital")) == (
        SEAT["open"][0],
        catalog.relation("capital"),
    )
    assert options(tmp_path, relations=["capital"]).relations == ("capital",)
    assert options(tmp_path, relations=["capital"], relations_file=None).own_relations == {}
    assert OWN_FACTS.fetch(complete, "seat", 0, Access(Path())).facts[1].object == "Quorin"


def test_pickled_options_contain_the_own_relations(tmp_path: Path) -> None:
    before = options(tmp_path)
    for path in tmp_path.iterdir():
        path.unlink()
    after = pickle.loads(pickle.dumps(before))
    assert after == before
    assert after.relation("seat").contexts["base"] == tuple(SEAT["contexts"]["base"])


@pytest.mark.parametrize(
    ("changes", "location", "problem"),
    [
        ({"relations": ["seatt"]}, "relations", "no relation is named 'seatt'; did you mean 'seat'?"),
        ({"relations": ["seat", "seat"]}, "relations", "a relation is named twice"),
        ({"relations": "seat"}, "relations", "expected a list of relations, or `all`"),
        ({"lines": LINES[:1]}, "relations", "mine.csv has no rows"),
        ({"lines": (*LINES[:1], "seta,A,B")}, "relations", "line 2: relation: no relation is named 'seta'"),
        ({"file": "gone.csv"}, "relations", "gone.csv cannot be read"),
        ({"relations_file": "gone.yaml"}, "relations_file", "gone.yaml cannot be read"),
        ({"relations_file": 5}, "relations_file", "expected the path of a YAML file"),
        ({"own": {"capital": SEAT}}, "relations_file", "relations.capital: the catalog already has a relation capital"),
        ({"own": {"static": SEAT}}, "relations_file", "relations.static: the name is reserved"),
        ({"own": {"seat": {**SEAT, "open": ["Q: Where?\nA:"]}}}, "relations_file", "relations.seat.open"),
        ({"own": {"../seat": SEAT}}, "relations_file", "relations.../seat.name"),
        ({"relations_file": "mine.csv"}, "relations_file", "mine.csv: the file must be a YAML mapping"),
    ],
)
def test_mistakes_are_named_with_their_key(
    changes: dict[str, Any], location: str, problem: str, tmp_path: Path
) -> None:
    with pytest.raises(ValidationError) as refused:
        options(tmp_path, **changes)
    (error,) = refused.value.errors()
    assert error["loc"] == (location,)
    assert problem in error["msg"]


def test_a_key_depends_on_own_rows_and_licence(tmp_path: Path) -> None:
    before = options(tmp_path)
    keys = {name: key(before, name) for name in before.relations}
    # another order of the rows, and a further column
    rearranged = tuple(f"{row},{number}" for number, row in enumerate((LINES[0], LINES[2], LINES[1], LINES[3])))
    after = options(tmp_path, rearranged)
    assert {name: key(after, name) for name in after.relations} == keys
    after = options(tmp_path, (*LINES, "seat,Hestonia,Sarrow"))
    assert [name for name in keys if key(after, name) != keys[name]] == ["seat"]
    assert key(options(tmp_path, licence="CC0 1.0"), "capital") != keys["capital"]


HEADER = "relation,subject,object,aliases,subject_id,note"
OSLO = "capital,Norway,Oslo,Christiania|Kristiania,Q20,north"
LIMA = "capital,Peru,Lima,,,"
ORIGIN = Origin("Atlas", "CC0 1.0")


def write_rows(folder: Path, *rows: str) -> Path:
    file = folder / "mine.csv"
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return file


def test_rows_become_facts(tmp_path: Path) -> None:
    file = write_rows(tmp_path, HEADER, OSLO, LIMA, "father,Ada,Byron,,,", "capital,Norway,Bergen,,,")
    rows = rows_by_relation(file, "facts.file", FactRow, {})
    assert list(rows) == ["capital", "father"]
    norway, peru = facts_of(rows["capital"], ORIGIN)
    assert (norway.subject, norway.object, norway.subject_id) == ("Norway", "Oslo", "Q20")
    assert norway.other_objects == ("Christiania", "Kristiania", "Bergen")
    assert (norway.source, norway.licence, norway.id_source) == ("Atlas", "CC0 1.0", "Atlas")
    assert (peru.other_objects, peru.subject_id, peru.id_source) == ((), None, None)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("capitol,Peru,Lima,,,", "relation: no relation is named 'capitol'; did you mean 'capital'?"),
        (",Peru,Lima,,,", "relation: is missing; add it"),
        ("capital,,Lima,,,", "subject: is missing; add it"),
        ("capital,Peru,Lima,[1,,", "aliases: is not a list"),
        ("capital,Peru,Lima,,20,", "subject_id: '20' is not a Wikidata id; write Q or P and a number"),
        ('capital,"Peru\nChile",Lima,,,', "subject: has a line break"),
        ("capital,Peru,Li\x07ma,,,", "object: has the control character U+0007"),
        ("capital,Peru", "has 2 cells, and the header 6"),
        (OSLO, "repeats line 2; delete the repetition"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(
    row: str, problem: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = write_rows(tmp_path, HEADER, OSLO, row, LIMA)
    with caplog.at_level(logging.WARNING):
        for _ in range(2):  # the second reading logs no warning
            rows = rows_by_relation(file, "facts.file", FactRow, {})
    assert [fact.subject for fact in rows["capital"]] == ["Norway", "Peru"]
    (message,) = caplog.messages
    assert message.startswith(f"{file}: 1 of 3 rows cannot be used: line 3: {problem}")


def test_a_file_without_a_usable_row_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"2 of 2 rows cannot be used: line 2: subject: .*; line 3: has 1 cells"):
        rows_by_relation(write_rows(tmp_path, HEADER, "capital,,Lima,,,", "capital"), "facts.file", FactRow, {})
    with pytest.raises(InputError, match="has no column relation; the file has subject, object"):
        rows_by_relation(write_rows(tmp_path, "subject,object", "Peru,Lima"), "facts.file", FactRow, {})
    with pytest.raises(MissingFile, match=r"facts.file: .*gone.csv cannot be read"):
        rows_by_relation(tmp_path / "gone.csv", "facts.file", FactRow, {})


def test_contexts_have_a_kind(tmp_path: Path) -> None:
    rows = ("capital,It is Lima.,,,", "capital,Not Oslo., NEGATION ,Norway,Oslo")
    file = write_rows(tmp_path, "relation,text,kind,entity,object", *rows)
    assert rows_by_relation(file, "contexts.file", ContextRow, {})["capital"] == (
        ContextRow(relation="capital", text="It is Lima."),
        ContextRow(relation="capital", text="Not Oslo.", kind="negation", entity="Norway", object="Oslo"),
    )
    wrong = write_rows(tmp_path, "relation,text,kind", "capital,It is Lima.,maybe", "capital,,base")
    with pytest.raises(InputError, match=r"line 2: kind: expected 'base', .*line 3: text: is missing"):
        rows_by_relation(wrong, "contexts.file", ContextRow, {})


def test_names_of_columns_may_have_capitals(tmp_path: Path) -> None:
    file = write_rows(tmp_path, "Relation, SUBJECT,Object", "capital,Peru,Lima")
    assert rows_by_relation(file, "facts.file", FactRow, {})["capital"][0].object == "Lima"
