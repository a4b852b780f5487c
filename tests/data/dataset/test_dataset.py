import os
from dataclasses import replace
from pathlib import Path

import pytest

from data.dataset.dataset import Dataset
from data.errors import DamagedFile, InputError
from data.records import Fact, as_row
from data.records.tables import FACTS, INVENTED
from data.sources.graph.qec import SOURCE
from data.storage.workspace import Workspace
from tests.data.a_dataset import KENYA, NORWAY, PERU, fact, keep, published, workspace, write
from tests.data.warehouse.small_study import row

FATHER = fact("Ada Lovelace", "Lord Byron", "father")


def version(folder: Path, *facts: Fact) -> str:
    return Dataset.of(workspace(folder, *facts)).version


def test_a_workspace_s_facts_of_all_relations_are_a_dataset(tmp_path: Path) -> None:
    read = Dataset.of(str(workspace(tmp_path, NORWAY, PERU, FATHER)))
    assert set(read.facts) == {NORWAY, PERU, FATHER}
    assert read.relations == ("capital", "father")
    assert read.sources == ("YAGO",)
    assert read.retrieved == ("2026-03-01T12:00:00+00:00", "2026-03-01T12:00:00+00:00")
    assert read.warnings == ()


def test_invented_names_and_other_files_are_no_facts(tmp_path: Path) -> None:
    names = Workspace(workspace(tmp_path, NORWAY)).table(("facts",), "invented-country", INVENTED, {})
    names.write(INVENTED.of([row(INVENTED, name="Orvania")]))
    (tmp_path / "facts" / ".facts-capital.parquet.1-2.unfinished").write_bytes(b"PAR1")
    assert Dataset.of(tmp_path).facts == (NORWAY,)


def test_a_yago_qec_json_is_a_dataset(tmp_path: Path) -> None:
    read = Dataset.of(write(tmp_path, published() | {"http://schema.org/shoeSize": {}}))
    assert [one.subject for one in read.facts] == ["Norway", "South Africa"]
    assert read.sources == (SOURCE,)
    assert read.retrieved is None
    assert read.warnings == ("left out, since the catalog has no relation for them: 'http://schema.org/shoeSize'",)


def test_first_and_last_retrieval_are_known(tmp_path: Path) -> None:
    later = replace(PERU, retrieved_at="2026-03-02T09:30:00+00:00")
    unknown = replace(KENYA, retrieved_at=None)
    read = Dataset.of(workspace(tmp_path, later, NORWAY, unknown))
    assert read.retrieved == ("2026-03-01T12:00:00+00:00", "2026-03-02T09:30:00+00:00")


def test_a_version_depends_on_neither_order_nor_keys(tmp_path: Path) -> None:
    one = Dataset.of(workspace(tmp_path / "a", NORWAY, PERU, FATHER)).version
    keep(tmp_path / "b", [PERU, NORWAY], seed=5)
    keep(tmp_path / "b", [FATHER], seed=6)
    assert Dataset.of(tmp_path / "b").version == one
    assert len(one) == 16
    assert int(one, 16) >= 0


def test_when_and_where_facts_were_fetched_changes_no_version(tmp_path: Path) -> None:
    again = replace(NORWAY, address="file:yago.ttl", query=None, retrieved_at="2027-01-01T00:00:00+00:00")
    assert version(tmp_path / "a", NORWAY) == version(tmp_path / "b", again)


def test_the_order_of_further_objects_changes_no_version(tmp_path: Path) -> None:
    one, other = (replace(NORWAY, other_objects=names) for names in (("Bergen", "Tromsø"), ("Tromsø", "Bergen")))
    assert version(tmp_path / "a", one) == version(tmp_path / "b", other)
    assert version(tmp_path / "a", one) != version(tmp_path / "c", NORWAY)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("subject", "Noreg"), ("object", "Bergen"), ("subject_id", "Q20"), ("object_id", "Q585"), ("id_source", "yago"),
        ("source", "another"), ("licence", "another"), ("subject_uri", "http://x/"), ("object_uri", None),
        ("other_objects", ("Bergen",)), ("subject_degree", 121), ("subject_relation_degree", 2), ("object_degree", 1),
        ("object_relation_degree", None),
    ],
)  # fmt: skip
def test_whatever_else_a_fact_says_changes_the_version(field: str, value: object, tmp_path: Path) -> None:
    other = replace(NORWAY, **{field: value})
    assert version(tmp_path / "a", NORWAY, PERU) != version(tmp_path / "b", other, PERU)


def test_a_fact_more_is_another_version(tmp_path: Path) -> None:
    assert version(tmp_path / "a", NORWAY) != version(tmp_path / "b", NORWAY, PERU)


def test_the_newest_file_of_a_relation_counts(tmp_path: Path) -> None:
    old, new = keep(tmp_path, [NORWAY], seed=0), keep(tmp_path, [PERU], seed=1)
    keep(tmp_path, [FATHER])
    read = Dataset.of(tmp_path)
    assert set(read.facts) == {PERU, FATHER}
    assert read.warnings == (f"{tmp_path}: capital has 2 files of facts; the newest counts, {new.name}",)
    os.utime(old)  # a copied workspace has other modification times
    assert set(Dataset.of(tmp_path).facts) == {PERU, FATHER}


def test_anything_else_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"^{tmp_path}/missing is not there; name a workspace with fetched facts or"):
        Dataset.of(tmp_path / "missing")
    with pytest.raises(InputError, match=f"^{tmp_path} holds no facts and no questions; name a workspace"):
        Dataset.of(tmp_path)
    with pytest.raises(InputError, match="is not there"):
        Dataset.of("x" * 5000)
    with pytest.raises(InputError, match="is not there"):
        Dataset.of("nul\0byte")


def test_a_file_of_something_else_is_refused_by_name(tmp_path: Path) -> None:
    file = keep(tmp_path, [NORWAY])
    with pytest.raises(InputError, match=f"^{file} is not JSON in UTF-8"):
        Dataset.of(file)


def test_a_file_without_a_fact_is_no_dataset(tmp_path: Path) -> None:
    predicate, entry = next(iter(published().items()))
    nothing = {key: [] for key, value in entry.items() if isinstance(value, list)}
    file = write(tmp_path, {predicate: entry | nothing})
    with pytest.raises(InputError, match=f"^{file} holds no facts"):
        Dataset.of(file)


@pytest.mark.parametrize("flipped", [0, 300, -300, -1])
def test_a_damaged_file_of_facts_is_named(flipped: int, tmp_path: Path) -> None:
    file = keep(tmp_path, [NORWAY])
    content = bytearray(file.read_bytes())
    content[flipped] ^= 0x01
    file.write_bytes(content)
    with pytest.raises(DamagedFile, match=f"^{file} holds other bytes than were written"):
        Dataset.of(tmp_path)


@pytest.mark.parametrize("made_from", [{}, {"subject": ["capital", ""]}, {"step": ["fetch"], "subject": 7}])
def test_a_file_that_names_no_part_is_refused(made_from: dict[str, object], tmp_path: Path) -> None:
    rows = FACTS.of([as_row(NORWAY)])
    file = Workspace(tmp_path).table(("facts",), "facts", FACTS, made_from).write(rows)
    with pytest.raises(InputError, match=f"^{file} does not tell what it holds; remove it and fetch again"):
        Dataset.of(tmp_path)
