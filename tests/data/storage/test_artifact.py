import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from swaymeter.data.digests import digest_of_large
from swaymeter.data.errors import DamagedFile, MissingFile
from swaymeter.data.records.tables import FACTS
from swaymeter.data.storage.artifact import FORCED, FilesArtifact, TableArtifact, write_manifest
from swaymeter.data.storage.files import metadata_of, write_parquet
from swaymeter.data.storage.workspace import Workspace
from tests.data.warehouse.small_study import row

ROWS = FACTS.of([row(FACTS, subject=f"subject {number}", object="Oslo") for number in range(3)])
OTHER_ROWS = FACTS.of([row(FACTS, subject="another")])
KEY_INPUTS = {"relation": "capital", "seed": 0}


@pytest.fixture
def artifact(tmp_path: Path) -> TableArtifact:
    table = Workspace(tmp_path).table(("facts",), "facts capital", FACTS, KEY_INPUTS)
    table.write(ROWS, {"seconds": 1.5})
    return table


# ---- tables ----------------------------------------------------------------------------------------------------------


def test_a_written_table_is_done_and_read_again(artifact: TableArtifact) -> None:
    check = artifact.check()
    assert (check.state, check.rows, check.about) == ("done", 3, {"seconds": 1.5})
    assert [check.path] == artifact.files()
    assert artifact.read().equals(ROWS)


def test_digest_depends_only_on_the_rows(artifact: TableArtifact) -> None:
    before = artifact.check()
    artifact.write(ROWS, {"seconds": 99})
    after = artifact.check()
    assert after.digest == before.digest == FACTS.digest(ROWS)
    assert after.path != before.path  # the digest in the file's name covers the metadata, too
    artifact.write(OTHER_ROWS)
    assert artifact.check().digest != before.digest
    assert len(artifact.files()) == 1


def test_forced_table_replaces_the_earlier_table(artifact: TableArtifact) -> None:
    other = replace(artifact, key_inputs={**artifact.key_inputs, "seed": 8})
    other.write(ROWS)
    for milliseconds in (5, 7):  # the times of two runs with --force
        forced = replace(artifact, key_inputs={**artifact.key_inputs, FORCED: milliseconds})
        assert forced.check().state == "missing"
        forced.write(OTHER_ROWS)
        assert (forced.check().state, artifact.check().state, other.check().state) == ("done", "missing", "done")
    assert len(list(artifact.folder.iterdir())) == 2


def test_error_of_missing_table_advises_a_run(artifact: TableArtifact) -> None:
    artifact.discard()
    assert artifact.check().state == "missing"
    with pytest.raises(MissingFile, match="does not exist; run the study again to make the file"):
        artifact.read()
    artifact.discard()  # a missing table may be discarded, too


def test_rows_of_another_table_are_not_written(artifact: TableArtifact) -> None:
    with pytest.raises(ValueError, match=r"the columns are \[.*; table facts has \[.*'licence'"):
        artifact.write(ROWS.drop_columns(["licence"]))
    assert artifact.read().equals(ROWS)


def bit_flip(percent: int, mask: int) -> Callable[[bytes], bytes]:
    """Return a function that flips the bits of `mask` in the byte at `percent` of the content; 100 is the last byte."""

    def flip(content: bytes) -> bytes:
        index = min(percent * len(content) // 100, len(content) - 1)
        return content[:index] + bytes([content[index] ^ mask]) + content[index + 1 :]

    return flip


# The flips hit magic numbers, pages, the footer and its length.
FLIPS = [bit_flip(percent, mask) for percent in (*range(0, 100, 9), 97, 98, 99, 100) for mask in (0x01, 0x80)]
CUTS = [lambda content, length=length: content[:length] for length in (0, 7, -40, -1)]


@pytest.mark.parametrize("damage", [*FLIPS, *CUTS])
def test_a_flipped_bit_or_a_cut_is_damage(damage: Callable[[bytes], bytes], artifact: TableArtifact) -> None:
    (file,) = artifact.files()
    file.write_bytes(damage(file.read_bytes()))
    check = artifact.check()
    assert (check.state, check.digest) == ("damaged", "")
    assert check.reason == f"{file} holds other bytes than were written; the next run makes the file again"
    with pytest.raises(DamagedFile, match="holds other bytes than were written"):
        artifact.read()


def test_a_table_with_another_key_inside_is_damaged(artifact: TableArtifact) -> None:
    other = replace(artifact, key_inputs={})
    (file,) = artifact.files()
    moved = other.folder / file.name.replace(artifact.key[:12], other.key[:12])
    file.rename(moved)
    assert "has different keys in the metadata and in the file name" in other.check().reason
    with pytest.raises(DamagedFile, match="has different keys in the metadata and in the file name"):
        other.read()


def test_incomplete_metadata_is_damage(artifact: TableArtifact) -> None:
    artifact.discard()
    write_parquet(artifact.folder, artifact.stem, ROWS, {"key": artifact.key})
    assert artifact.check().state == "damaged"


def test_a_table_with_other_columns_is_not_read(artifact: TableArtifact) -> None:
    metadata = json.loads(pq.read_schema(artifact.files()[0]).metadata[b"swaymeter"])
    artifact.discard()
    write_parquet(artifact.folder, artifact.stem, ROWS.drop_columns(["licence"]), metadata)
    with pytest.raises(DamagedFile, match="does not hold table facts"):
        artifact.read()


def test_a_later_table_has_a_higher_number(artifact: TableArtifact) -> None:
    other = replace(artifact, key_inputs={**artifact.key_inputs, "seed": 9})
    assert [metadata_of(table.write(ROWS))["number"] for table in (artifact, other, artifact)] == [2, 3, 4]


def test_two_files_of_one_key_are_done(artifact: TableArtifact) -> None:
    (first,) = artifact.files()
    content = first.read_bytes()
    artifact.write(OTHER_ROWS)  # as if another machine ran the step, too
    first.write_bytes(content)
    assert len(artifact.files()) == 2
    assert artifact.check().state == "done"
    artifact.files()[0].write_bytes(b"damaged")
    assert artifact.check().state == "done"
    assert artifact.read().num_rows in (1, 3)
    artifact.write(ROWS)
    assert [path.read_bytes()[:4] for path in artifact.files()] == [b"PAR1"]


def test_parts_have_own_keys_and_are_discarded_together(artifact: TableArtifact) -> None:
    parts = [artifact.part(number) for number in (0, 1)]
    for number, part in enumerate(parts):
        part.write(ROWS.slice(number, 1))
    assert len({artifact.key, *(part.key for part in parts)}) == 3
    assert [part.read()["subject"].to_pylist() for part in parts] == [["subject 0"], ["subject 1"]]
    other = replace(artifact, key_inputs={**KEY_INPUTS, "seed": 1})
    assert other.check().state == "missing"
    for table in (other, other.part(0)):
        table.write(OTHER_ROWS)
    assert artifact.read().equals(ROWS)
    artifact.discard()
    assert {*artifact.folder.iterdir()} == {*other.files(), *other.part(0).files()}


def test_table_with_columns_of_another_version_is_missing(artifact: TableArtifact) -> None:
    fewer = replace(artifact, table=replace(artifact.table, columns=artifact.table.columns[:-1]))
    fewer.write(fewer.table.of([]))
    assert fewer.check().state == "done"
    assert artifact.check().state == "missing"
    with pytest.raises(MissingFile):
        artifact.read()


# ---- files with a manifest -------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> FilesArtifact:
    report = Workspace(tmp_path).report_artifact(KEY_INPUTS)
    (report.folder / "figures").mkdir(parents=True)
    names = ("index.html", "figures/one.svg")
    for name in names:
        (report.folder / name).write_text(f"the file {name}")
    write_manifest(report.manifest, report.key, [report.folder / name for name in names])
    return report


def test_files_are_done_with_manifest_of_their_key(files: FilesArtifact) -> None:
    check = files.check()
    assert (check.state, check.digest, check.path) == ("done", files.key, files.manifest)
    assert replace(files, key_inputs={}).check().state == "missing"
    files.manifest.unlink()
    assert files.check().state == "missing"
    assert not files.digests()


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda file: file.write_text("another"), "holds other bytes"),
        (Path.unlink, "is missing"),
    ],
)
def test_changed_or_missing_file_is_damage(damage: Callable[[Path], None], problem: str, files: FilesArtifact) -> None:
    file = files.folder / "figures" / "one.svg"
    another_key = replace(files, key_inputs={})  # the digests in a manifest are read whatever its key
    assert another_key.digests()["figures/one.svg"] == digest_of_large(file)
    damage(file)
    check = files.check()
    assert check.state == "damaged"
    assert check.reason.startswith(f"{file} {problem}")


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"key": "x", "files": 3}', '"text"'])
def test_unreadable_manifest_is_damage(content: str, files: FilesArtifact) -> None:
    files.manifest.write_text(content)
    check = files.check()
    assert check.state == "damaged"
    assert check.reason.startswith(f"{files.manifest} cannot be read")
    assert not files.digests()


def test_flipped_bit_of_manifest_is_damage_or_harmless(files: FilesArtifact) -> None:
    intact, manifest = files.check(), files.manifest.read_bytes()
    for index in range(len(manifest)):
        content = bytearray(manifest)
        content[index] ^= 0x04
        files.manifest.write_bytes(content)
        assert (check := files.check()) == intact or check.state == "damaged"
