import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from swaymeter.data import digests
from swaymeter.data.digests import sha256_of_file
from swaymeter.data.errors import DamagedFile, MissingFile, WorkspaceError
from swaymeter.data.records.tables import FACTS
from swaymeter.data.storage.files import read_parquet, verify, write_parquet
from swaymeter.data.storage.writing import (
    TEMPORARY,
    move_to_target,
    remove_leftovers,
    replacing_file,
    temporary_beside,
    temporary_file,
)
from tests.data.warehouse.small_study import row

ROWS = FACTS.of([row(FACTS, subject=f"subject {number}", object="Oslo") for number in range(3)])
METADATA = {"table": "facts", "name": "Zoë"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_parquet(tmp_path, "facts", ROWS, METADATA)


def test_rows_and_metadata_are_read_back(file: Path) -> None:
    assert file.name == f"facts-{sha256_of_file(file)[:12]}.parquet"
    assert verify(file) == METADATA
    rows, metadata = read_parquet(file)
    assert rows.equals(ROWS)
    assert metadata == METADATA


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old")

    def write_half() -> None:
        with replacing_file(file) as temporary:
            temporary.write_text("half")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        write_half()
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.txt", "old")]


def test_a_full_disk_is_named_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write_half(path: Path, content: memoryview) -> None:
        path.write_text("half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", write_half)
    with pytest.raises(WorkspaceError, match="cannot be written: No space left on device; choose another --workspace"):
        write_parquet(tmp_path, "facts", ROWS, METADATA)
    assert list(tmp_path.iterdir()) == []


def test_threads_write_one_file_without_conflict(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    both_written = threading.Barrier(2, timeout=10)

    def write(text: str) -> None:
        with temporary_file(file) as temporary:
            temporary.write_text(text)
            both_written.wait()
            move_to_target(temporary, file)

    threads = [threading.Thread(target=write, args=(letter * 1000,)) for letter in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert file.read_text() in ("a" * 1000, "b" * 1000)
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("has_hard_links", [True, False])
def test_a_new_file_never_replaces_another(
    has_hard_links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*paths: object) -> None:
        raise PermissionError

    if not has_hard_links:
        monkeypatch.setattr(os, "link", refuse)
    for text in ("first", "second"):
        with suppress(FileExistsError), temporary_beside(tmp_path / "a.txt") as temporary:
            temporary.write_text(text)
            move_to_target(temporary, tmp_path / "a.txt", new=True)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.txt", "first")]


def test_leftovers_of_names_with_brackets_are_removed(tmp_path: Path) -> None:
    for path in (tmp_path / "a[1].txt", tmp_path / "a1.txt"):
        path.with_name(f".{path.name}.0{TEMPORARY}").touch()
    remove_leftovers(tmp_path / "a[1].txt")
    assert [path.name for path in tmp_path.iterdir()] == [f".a1.txt.0{TEMPORARY}"]


@pytest.mark.parametrize("read", [verify, read_parquet])
@pytest.mark.parametrize("content", ["text", "folder", "no metadata", "nothing"])
def test_foreign_file_is_damaged_or_missing(content: str, read: Callable[[Path], object], tmp_path: Path) -> None:
    file = tmp_path / "foreign.parquet"
    if content == "folder":
        file.mkdir()
    elif content == "no metadata":
        pq.write_table(ROWS, file)
    elif content == "text":
        file.write_text("text")
    if file.is_file():  # only the content is wrong: the name has its digest
        file = file.rename(tmp_path / f"facts-{sha256_of_file(file)[:12]}.parquet")
    error, message = (
        (MissingFile, "does not exist") if content == "nothing" else (DamagedFile, "cannot be read .*; the next run")
    )
    with pytest.raises(error, match=message) as raised:
        read(file)
    assert isinstance(raised.value, MissingFile) == (content == "nothing")


def test_copy_in_pieces_has_the_digested_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digests, "_PIECE", 10)
    path, copy = tmp_path / "file", tmp_path / "copy"
    path.write_bytes(os.urandom(95))
    assert digests.digest_of_large(path, copy) == digests.digest_of_large(path) == digests.digest_of_large(copy)
    assert copy.read_bytes() == path.read_bytes()
