import fcntl
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from swaymeter.data.digests import digest_of_large
from swaymeter.data.errors import DamagedFile, WorkspaceBusy, WorkspaceError
from swaymeter.data.records.findings import read_findings
from swaymeter.data.records.tables import FACTS
from swaymeter.data.storage.artifact import TableArtifact
from swaymeter.data.storage.files import write_parquet
from swaymeter.data.storage.notes import describe_holder, unseal, write_sealed
from swaymeter.data.storage.workspace import LAYOUT, Workspace, slug
from tests.data.warehouse.small_study import row

ROWS = FACTS.of([row(FACTS)])

HOLD = """
import sys, time
from pathlib import Path
from swaymeter.data.storage.workspace import Workspace
with Workspace(Path(sys.argv[1])).lock():
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "study")


@pytest.mark.parametrize("character", ["?", "*", "[", "\\", "\0"])
def test_paths_with_special_characters_are_refused(character: str, tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / f"a{character}b")
    with pytest.raises(WorkspaceError, match=r"in its path, which DuckDB.*another --workspace"), workspace.lock():
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/", ".", "..", "", "a/b\\c", "C:\\x", "\x00", "模型", "a" * 500, " - ", "NUL\n"]
)
def test_a_slug_is_never_a_path(name: str) -> None:
    result = slug(name)
    assert 0 < len(result) <= 80
    assert set(result) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


@pytest.mark.parametrize("model", ["../../x", "/root/model", "org/model", "~"])
def test_no_model_name_leads_out_of_the_workspace(model: str, workspace: Workspace) -> None:
    path = workspace.table(("scores", "capital", model), "persuasion", FACTS, {"model": model}).write(ROWS)
    assert path.resolve().is_relative_to((workspace.root / "scores").resolve())
    assert len(path.relative_to(workspace.root).parts) == 4


# ---- lock ------------------------------------------------------------------------------------------------------------


def test_a_workspace_below_a_file_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")  # even root cannot write below a file
    workspace = Workspace(tmp_path / "file" / "study")
    message = "cannot be written: .*choose another --workspace"
    with pytest.raises(WorkspaceError, match=message), workspace.lock():
        pass
    with pytest.raises(WorkspaceError, match=message):
        workspace.table(("facts",), "capital", FACTS, {}).write(ROWS)
    with pytest.raises(WorkspaceError, match=message):
        workspace.note_failure("score", "key", "why")


def test_only_leftovers_of_killed_runs_are_removed(workspace: Workspace) -> None:
    path = workspace.table(("facts",), "capital", FACTS, {}).write(ROWS)
    leftover = path.with_name(f".{path.name}.4711-1.unfinished")
    leftover.write_bytes(b"half")
    log = workspace.root / ".study.duckdb.4711.unfinished.wal"
    log.write_bytes(b"half")
    (workspace.root / ".notes").write_text("mine")
    (workspace.root / "workspace.json").write_text(json.dumps({"layout": LAYOUT}))
    with workspace.lock():
        assert not leftover.exists()
        assert not log.exists()
    assert path.exists()
    assert (workspace.root / ".notes").exists()


def test_joined_parts_are_removed(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def scores(relation: str) -> TableArtifact:
        return workspace.table(("scores", relation, "model"), "persuasion", FACTS, {})

    joined, unfinished = scores("capital"), scores("father")
    seed_scores = workspace.table(("scores", "capital", "model", "seed-2"), "persuasion", FACTS, {})
    joined.part(0).write(ROWS)
    late_clock = SimpleNamespace(now=lambda zone: datetime.now(UTC) - timedelta(minutes=5))
    # a worker whose clock is five minutes behind writes all later files
    monkeypatch.setattr("swaymeter.data.storage.artifact.datetime", late_clock)
    unfinished.part(0).write(ROWS)
    joined.write(ROWS)
    seed_scores.part(0).write(ROWS)
    seed_scores.write(ROWS)
    (workspace.root / "workspace.json").write_text(json.dumps({"layout": LAYOUT}))
    with workspace.lock():
        assert {artifact.part(0).check().state for artifact in (joined, seed_scores)} == {"missing"}
    assert {artifact.check().state for artifact in (joined, unfinished.part(0))} == {"done"}


def test_parts_stay_beside_whole_with_other_columns(workspace: Workspace) -> None:
    whole = workspace.table(("scores", "capital", "model"), "persuasion", FACTS, {})
    write_parquet(whole.folder, whole.stem, ROWS.drop_columns(["licence"]), {"key": whole.key, "columns": ["x"]})
    whole.part(0).write(ROWS)
    (workspace.root / "workspace.json").write_text(json.dumps({"layout": LAYOUT}))
    with workspace.lock():
        assert (whole.check().state, whole.part(0).check().state) == ("missing", "done")


def test_one_process_may_lock_twice_and_after_failure(workspace: Workspace) -> None:
    with pytest.raises(RuntimeError), workspace.lock(), workspace.lock():
        raise RuntimeError
    with workspace.lock():
        pass


def test_lost_lock_hides_no_error(workspace: Workspace, caplog: pytest.LogCaptureFixture) -> None:
    def lose_lock() -> None:
        links = Path("/proc/self/fd").iterdir()
        (descriptor,) = (link.name for link in links if _leads_to(link, workspace.root / ".lock"))
        os.close(int(descriptor))  # a restart of a file server has the same effect
        raise RuntimeError("the error of the run")

    with pytest.raises(RuntimeError, match="the error of the run"), workspace.lock():
        lose_lock()
    assert f"the workspace {workspace.root} could not be released" in caplog.text
    with workspace.lock(), (workspace.root / ".lock").open() as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _leads_to(link: Path, file: Path) -> bool:
    try:
        return link.readlink() == file
    except FileNotFoundError:
        return False


def test_error_names_second_run_in_locked_workspace(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swaymeter.data.storage.workspace.LOCK_CHECK_SECONDS", 0.0)
    with workspace.lock():
        workspace.check_mounted()
        note = workspace.root / ".holder.json"
        note.write_text(note.read_text().replace(f'"process": {os.getpid()}', '"process": 1'))
        with pytest.raises(WorkspaceBusy, match=r"used by two runs.*: process 1 on .*; run"):
            workspace.check_mounted()
        note.unlink()
        workspace.check_mounted()
    workspace.check_mounted()


@pytest.fixture
def holder(workspace: Workspace) -> Iterator[subprocess.Popen[str]]:
    """Another process, which has locked the workspace."""
    with subprocess.Popen([sys.executable, "-c", HOLD, str(workspace.root)], stdout=subprocess.PIPE, text=True) as peer:
        assert peer.stdout is not None
        assert peer.stdout.readline() == "held\n"
        try:
            yield peer
        finally:
            peer.kill()


def test_another_process_is_refused_until_the_first_dies(workspace: Workspace, holder: subprocess.Popen[str]) -> None:
    command = re.escape(f"(-c {workspace.root})")
    message = (
        rf"process {holder.pid} on \S+ {command} has used .* since \d{{4}}-\d\d-\d\d .*wait until the workspace is free"
    )
    with pytest.raises(WorkspaceBusy, match=message), workspace.lock():
        pass
    (workspace.root / ".holder.json").write_text('{"process": "x"}')
    with pytest.raises(WorkspaceBusy, match=r"^another run uses"), workspace.lock():
        pass
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with workspace.lock():
        pass


def test_second_process_waits_and_names_the_first(workspace: Workspace, holder: subprocess.Popen[str]) -> None:
    messages: list[str] = []

    def stop_holder(message: str) -> None:
        messages.append(message)
        holder.kill()

    with workspace.lock(stop_holder):
        (message,) = messages
    assert message.startswith(f"process {holder.pid} on ")
    assert message.endswith("; waiting until the workspace is free")


# ---- layout ----------------------------------------------------------------------------------------------------------


def test_new_workspace_stores_its_layout(workspace: Workspace) -> None:
    (workspace.root / "notes").mkdir(parents=True)  # a folder of the user
    with workspace.lock():
        assert unseal((workspace.root / "workspace.json").read_text()) == {"layout": LAYOUT, "study": ""}
    workspace.check_layout()


def test_first_study_uses_the_top_folder(workspace: Workspace, caplog: pytest.LogCaptureFixture) -> None:
    first, second = (Workspace(workspace.root, name) for name in ("first", "second"))
    assert first.study_path_parts == second.study_path_parts == ()
    workspace.root.mkdir()
    (workspace.root / "workspace.json").write_text(json.dumps({"layout": LAYOUT}))  # from an earlier version
    for shared in (workspace, first, second, workspace):
        with shared.lock():
            pass
    assert [shared.study_path_parts for shared in (workspace, first, second)] == [(), (), ("studies", "second")]
    (message,) = [record.getMessage() for record in caplog.records]
    assert " was made for study first: " in message
    assert message.endswith(": history, database and report of second are in the subfolder studies/second")


def test_first_study_is_never_guessed(workspace: Workspace) -> None:
    first, second = (Workspace(workspace.root, name) for name in ("first", "second"))
    with first.lock():
        pass
    file = workspace.root / "workspace.json"
    with second.lock():
        file.unlink()
        file.mkdir()  # exists and cannot be read, like a file of a failing server
        assert second.study_path_parts == ("studies", "second")
    for read in (second.check_layout, lambda: second.database):
        with pytest.raises(WorkspaceError, match=r"workspace\.json cannot be read: Is a directory; make it readable"):
            read()


def test_damaged_note_can_be_repaired_by_hand(workspace: Workspace) -> None:
    first, second = (Workspace(workspace.root, name) for name in ("first", "second"))
    with first.lock():
        pass
    file = workspace.root / "workspace.json"
    file.write_text(file.read_text().replace("first", "fIrst"))
    with pytest.raises(WorkspaceError, match=r'is damaged \(its checksum .* by {"layout": 2}\. Then') as raised:
        second.check_layout()
    file.write_text(str(raised.value).partition(" of the file by ")[2].partition(". Then")[0])
    for shared in (first, second):
        with shared.lock():
            pass
    assert [shared.study_path_parts for shared in (first, second)] == [(), ("studies", "second")]


def test_studies_of_similar_names_have_own_folders(workspace: Workspace) -> None:
    with Workspace(workspace.root, "first").lock():
        pass
    names = ("a-b", "a--b", "a-b-", 64 * "a", 63 * "a" + "-")
    folders = [Workspace(workspace.root, name).study_path_parts for name in names]
    assert len({*folders}) == len(folders)
    assert folders[0] == ("studies", "a-b")
    assert all(slug(name) == name for _, name in folders)


def test_device_or_dangling_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere" / "else")
    for path in (Path("/dev/null"), tmp_path / "link"):
        with pytest.raises(WorkspaceError, match=r"is neither a folder nor a link to a folder"):
            Workspace(path).check_layout()


def test_workspace_without_its_note_is_refused(workspace: Workspace) -> None:
    (workspace.root / "scores").mkdir(parents=True)
    with pytest.raises(WorkspaceError, match=r"workspace\.json is missing, but the folder has the files of a study"):
        workspace.check_layout()


@pytest.mark.parametrize("content", ["{}", '{"layout": 1}', '{"layout": 3}'])
def test_another_layout_is_refused_and_unchanged(content: str, workspace: Workspace) -> None:
    (workspace.root / "scores").mkdir(parents=True)
    (workspace.root / "workspace.json").write_text(content)
    with pytest.raises(WorkspaceError, match="another version of Swaymeter; choose another --workspace"):
        workspace.check_layout()
    with pytest.raises(WorkspaceError), workspace.lock():
        pass
    assert not (workspace.root / ".lock").exists()


# ---- failures --------------------------------------------------------------------------------------------------------


def test_a_failure_is_noted_until_it_is_forgotten(workspace: Workspace) -> None:
    assert workspace.failure_reason("score · capital", "key") is None
    workspace.note_failure("score · capital", "key", "no weights – ☂", detail="where")
    assert workspace.failure_reason("score · capital", "key") == "no weights – ☂"
    for _ in range(2):
        workspace.forget_failure("score · capital", "key")
        assert workspace.failure_reason("score · capital", "key") is None


MODEL = "/models/" + "deep/" * 30
"""A name so long that the slugs of its steps are cut, and therefore equal."""


@pytest.mark.parametrize(
    ("first", "second"),
    [(("step", "of one study"), ("step", "of another")), ((f"{MODEL} · capital", "k"), (f"{MODEL} · father", "k"))],
)
def test_failures_belong_to_their_step_and_inputs(
    first: tuple[str, str], second: tuple[str, str], workspace: Workspace
) -> None:
    workspace.note_failure(*first, "no weights")
    assert workspace.failure_reason(*second) is None
    workspace.note_failure(*second, "no disk")
    workspace.forget_failure(*second)
    assert (workspace.failure_reason(*first), workspace.failure_reason(*second)) == ("no weights", None)


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '"text"'])
def test_a_damaged_note_of_a_failure_is_ignored(content: str, workspace: Workspace) -> None:
    workspace.note_failure("score", "key", "why")
    (note,) = (workspace.root / "failures").iterdir()
    note.write_text(content)
    assert workspace.failure_reason("score", "key") is None


def replace_file(path: Path, kind: str) -> None:
    """Put a pipe, an endless device or deeply nested JSON in place of a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.write_text("[" * 100_000)


@pytest.mark.parametrize("kind", ["pipe", "device", "depth"])
def test_hostile_files_do_not_block_reading(kind: str, workspace: Workspace) -> None:
    artifact = workspace.table(("facts",), "facts", FACTS, {"seed": 1})
    path = artifact.write(ROWS)
    for file in (".holder.json", "report/findings.json", "report/manifest.json"):
        replace_file(workspace.root / file, kind)
    replace_file(path, kind)
    assert artifact.check().state == "damaged"
    assert describe_holder(workspace.root) == f"another run uses the workspace {workspace.root}"
    assert workspace.report_artifact({}).check().state == "damaged"
    with pytest.raises(DamagedFile, match="findings"):
        read_findings(workspace.report)
    replace_file(workspace.root / "workspace.json", kind)
    with pytest.raises(WorkspaceError, match=r"workspace\.json"), workspace.lock():
        pass


@pytest.mark.parametrize("name", ["../secret", "{}/secret", "a/../../secret"])
def test_manifest_with_path_outside_is_damaged(name: str, workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "secret").touch()
    artifact = workspace.database_artifact({})
    path = name.format(tmp_path)
    digest = digest_of_large(tmp_path / "secret")
    write_sealed(artifact.manifest, {"key": artifact.key, "answers": [], "files": {path: digest}})
    assert artifact.check().state == "damaged"


def test_removal_of_leftovers_follows_no_links(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    workspace.root.mkdir()
    (workspace.root / ".x.unfinished").symlink_to(tmp_path / "work")
    with workspace.lock():
        assert (tmp_path / "work").is_dir()
        assert not os.path.lexists(workspace.root / ".x.unfinished")
