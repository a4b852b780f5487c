import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data.errors import DamagedFile, WorkspaceBusy, WorkspaceError
from data.records.tables import FACTS
from data.storage.workspace import Stored, Workspace, read_metadata, slug, write_parquet, written_whole
from tests.data.warehouse.small_study import row

ROWS = FACTS.of([row(FACTS, subject=f"subject {number}", object="Oslo") for number in range(3)])
OTHER_ROWS = FACTS.of([row(FACTS, subject="another")])

HOLD = """
import sys, time
from pathlib import Path
from data.storage.workspace import Workspace
with Workspace(Path(sys.argv[1])).conducted():
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "study")


@pytest.fixture
def stored(workspace: Workspace) -> Stored:
    made = workspace.facts("capital", FACTS, {"relation": "capital", "seed": 0})
    made.write(ROWS, {"seconds": 1.5})
    return made


@pytest.fixture
def below_a_file(tmp_path: Path) -> Path:
    """A folder that nobody can make, not even root: it lies below a regular file."""
    (tmp_path / "file").write_text("in the way")
    return tmp_path / "file" / "study"


def everything(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_what_was_written_is_read_again(stored: Stored) -> None:
    assert stored.is_done()
    assert stored.read().equals(ROWS)
    assert read_metadata(stored.path)["about"] == {"seconds": 1.5}
    assert read_metadata(stored.path)["made_from"] == {"relation": "capital", "seed": 0}


def test_the_digest_tells_rows_apart_and_not_when_they_were_written(workspace: Workspace, stored: Stored) -> None:
    before = stored.digest()
    stored.write(ROWS, {"seconds": 99})
    assert stored.digest() == before
    stored.write(OTHER_ROWS)
    assert stored.digest() != before


def test_two_dtypes_lie_side_by_side(workspace: Workspace) -> None:
    files = [workspace.scores("capital", "m", FACTS, {"dtype": dtype}) for dtype in ("float32", "bfloat16")]
    files[0].write(ROWS)
    assert not files[1].exists()
    files[1].write(OTHER_ROWS)
    assert files[0].path.parent == files[1].path.parent
    assert files[0].read().equals(ROWS)
    assert files[1].read().equals(OTHER_ROWS)


def test_parts_are_told_apart_from_each_other_and_from_the_whole(workspace: Workspace, stored: Stored) -> None:
    parts = [workspace.part(stored, number) for number in (0, 1)]
    assert len({stored.key, parts[0].key, parts[1].key}) == 3
    assert len({stored.path, parts[0].path, parts[1].path}) == 3


def test_a_write_that_fails_leaves_nothing(workspace: Workspace) -> None:
    def write_half() -> None:
        with written_whole(workspace.root / "a.txt") as temporary:
            temporary.write_text("half")
            raise RuntimeError("that is all")

    with pytest.raises(RuntimeError, match="that is all"):
        write_half()
    assert everything(workspace.root) == set()


def test_a_write_that_fails_keeps_the_old_file(stored: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(rows: pa.Table, path: Path, **options: object) -> None:
        path.write_bytes(b"half of it")
        raise OSError(28, "No space left on device")

    before = everything(stored.path.parent)
    monkeypatch.setattr(pq, "write_table", full)
    with pytest.raises(WorkspaceError, match="cannot be written: No space left on device; choose another --workspace"):
        stored.write(OTHER_ROWS)
    assert everything(stored.path.parent) == before
    assert stored.read().equals(ROWS)


def test_rows_of_another_table_are_not_written(stored: Stored) -> None:
    with pytest.raises(ValueError, match="not those of table facts"):
        stored.write(ROWS.drop_columns(["licence"]))
    assert stored.read().equals(ROWS)


def test_a_reader_never_sees_half_a_file(stored: Stored) -> None:
    stop, seen = threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            seen.append(stored.read().num_rows)

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(20):
        stored.write(OTHER_ROWS if number % 2 else ROWS)
    stop.set()
    reader.join()
    assert set(seen) <= {1, 3}
    assert seen


def _cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def _cut_to_a_start(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:7])


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _text(path: Path) -> None:
    path.write_text("no Parquet at all, though long enough to look for a footer in it")


def _without_metadata(path: Path) -> None:
    pq.write_table(ROWS, path)


def _metadata_is_no_mapping(path: Path) -> None:
    pq.write_table(ROWS.replace_schema_metadata({"swaymeter": "7"}), path)


def _metadata_is_no_json(path: Path) -> None:
    pq.write_table(ROWS.replace_schema_metadata({"swaymeter": "{"}), path)


def _without_a_key(path: Path) -> None:
    write_parquet(path, ROWS, {"table": "facts"})


def _another_key(path: Path) -> None:
    write_parquet(path, ROWS, {**read_metadata(path), "key": "0" * 64})


def _other_columns(path: Path) -> None:
    write_parquet(path, ROWS.drop_columns(["licence"]), read_metadata(path))


def _other_types(path: Path) -> None:
    rows = ROWS.drop_columns(["licence"]).append_column("licence", pa.array([[1], [2], [3]]))
    write_parquet(path, rows, read_metadata(path))


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES = [
    _cut_short, _cut_to_a_start, _emptied, _text, _without_metadata, _metadata_is_no_mapping, _metadata_is_no_json,
    _without_a_key, _another_key, _other_columns, _other_types, _folder,
]  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__.strip("_"))
def test_a_damaged_file_is_named_and_not_done(stored: Stored, damage: Callable[[Path], None]) -> None:
    damage(stored.path)
    assert stored.exists()
    assert not stored.is_done()
    with pytest.raises(DamagedFile, match=f"{stored.path.name}.*remove it and run again"):
        stored.read()


def test_no_flipped_byte_ever_gives_other_rows(stored: Stored) -> None:
    good, found = stored.path.read_bytes(), 0
    for place in range(0, len(good), 7):
        broken = bytearray(good)
        broken[place] ^= 0x01
        stored.path.write_bytes(broken)
        try:
            assert stored.read().equals(ROWS)
            stored.digest()
        except DamagedFile:
            found += 1
    assert found > len(good) / 21


def test_a_file_that_is_not_there_says_what_makes_it(stored: Stored) -> None:
    stored.remove()
    assert not stored.is_done()
    with pytest.raises(DamagedFile, match="is not there; run the step that makes it"):
        stored.read()
    stored.remove()


def test_a_file_without_a_digest_is_damaged(stored: Stored) -> None:
    write_parquet(stored.path, ROWS, {"key": stored.key})
    with pytest.raises(DamagedFile, match="lacks the digest"):
        stored.digest()


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/", ".", "..", "", "a/b\\c", "C:\\x", "\x00", "模型", "a" * 500, " - ", "NUL\n"]
)
def test_a_slug_is_never_a_path(name: str) -> None:
    made = slug(name)
    assert 0 < len(made) <= 80
    assert set(made) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


def test_whatever_a_model_is_called_its_scores_stay_in_the_workspace(workspace: Workspace) -> None:
    for model in ("../../x", "/root/model", "org/model", "~"):
        stored = workspace.scores("capital", model, FACTS, {"model": model})
        assert stored.path.resolve().is_relative_to((workspace.root / "scores").resolve())
        assert len(stored.path.relative_to(workspace.root).parts) == 4


def test_a_workspace_below_a_file_cannot_be_written(below_a_file: Path) -> None:
    workspace = Workspace(below_a_file)
    told = "cannot be written: .*choose another --workspace"
    with pytest.raises(WorkspaceError, match=told):
        workspace.prepare()
    with pytest.raises(WorkspaceError, match=told), workspace.conducted():
        pass
    with pytest.raises(WorkspaceError, match=told):
        workspace.facts("capital", FACTS, {}).write(ROWS)
    with pytest.raises(WorkspaceError, match=told):
        workspace.note_failure("score", "why")


def test_what_killed_runs_left_is_removed_and_nothing_else(workspace: Workspace, stored: Stored) -> None:
    leftover = stored.path.with_name(f".{stored.path.name}.4711-1.unfinished")
    leftover.write_bytes(b"half")
    (workspace.root / ".notes").write_text("mine")
    with workspace.conducted():
        assert not leftover.exists()
    assert stored.read().equals(ROWS)
    assert (workspace.root / ".notes").exists()


def test_a_run_may_hold_its_workspace_twice(workspace: Workspace) -> None:
    with workspace.conducted(), workspace.conducted():
        workspace.facts("capital", FACTS, {}).write(ROWS)


def test_a_run_that_failed_gives_its_workspace_back(workspace: Workspace) -> None:
    with pytest.raises(RuntimeError), workspace.conducted():
        raise RuntimeError
    with workspace.conducted():
        pass


def test_another_run_is_refused_until_the_first_one_dies(workspace: Workspace) -> None:
    first = subprocess.Popen([sys.executable, "-c", HOLD, str(workspace.root)], stdout=subprocess.PIPE, text=True)
    try:
        assert first.stdout is not None
        assert first.stdout.readline() == "held\n"
        with pytest.raises(WorkspaceBusy, match=r"another run conducts .*wait for it to end"), workspace.conducted():
            pass
        first.send_signal(signal.SIGKILL)
        first.wait()
        with workspace.conducted():
            pass
    finally:
        first.kill()
        first.communicate()


def test_two_studies_are_conducted_at_once(tmp_path: Path) -> None:
    with Workspace(tmp_path / "one").conducted(), Workspace(tmp_path / "two").conducted():
        pass


def test_a_failure_is_remembered_until_it_is_mended(workspace: Workspace) -> None:
    assert workspace.failure_reason("m x capital") is None
    workspace.note_failure("m x capital", "no weights – ☂", detail="where")
    assert workspace.failure_reason("m x capital") == "no weights – ☂"
    workspace.forget_failure("m x capital")
    assert workspace.failure_reason("m x capital") is None
    workspace.forget_failure("m x capital")


def test_failures_of_two_relations_are_told_apart_however_long_the_model_is_called(workspace: Workspace) -> None:
    model = "/models/" + "deep/" * 30
    workspace.note_failure(f"{model} x capital", "no weights")
    assert workspace.failure_reason(f"{model} x father") is None
    workspace.forget_failure(f"{model} x father")
    assert workspace.failure_reason(f"{model} x capital") == "no weights"


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", json.dumps("text")])
def test_a_damaged_note_of_a_failure_says_nothing(workspace: Workspace, content: str) -> None:
    workspace.note_failure("m", "why")
    workspace.failure("m").write_text(content)
    assert workspace.failure_reason("m") is None
