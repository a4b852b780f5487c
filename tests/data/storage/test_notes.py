"""Damaged notes: small JSON files of a workspace with unexpected content."""

from contextlib import closing
from pathlib import Path

import pytest

from swaymeter.data.errors import WorkspaceError
from swaymeter.data.sources.http.cache import HttpCache
from swaymeter.data.storage.artifact import FilesArtifact
from swaymeter.data.storage.notes import HOLDER_NOTE, describe_holder, unseal
from swaymeter.data.storage.remembered import remembered_digests
from swaymeter.data.storage.workspace import Workspace

BROKEN = ["5", "null", "[]", '"text"', "[" * 100_000, '{"sha256": ' + "[" * 100_000, "", "\x00", '{"process": 1e999}']


@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_broken_notes_are_damaged_or_ignored(text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"JSON|checksum|deeply|Expecting"):
        unseal(text)
    manifest, root = tmp_path / "manifest.json", tmp_path / "workspace"
    manifest.write_text(text)
    assert FilesArtifact(manifest, {"step": "report"}).check().state == "damaged"
    root.mkdir()
    (root / HOLDER_NOTE).write_text(text)
    assert describe_holder(root) == f"another run uses the workspace {root}"
    (tmp_path / "digests.json").write_text(text)
    assert len(remembered_digests([manifest], tmp_path)) == 1


# The last text is a JSON object without a layout, which counts as the note of another version.
@pytest.mark.parametrize("text", BROKEN[:-1], ids=range(len(BROKEN) - 1))
def test_error_names_the_damaged_workspace_note(text: str, tmp_path: Path) -> None:
    (tmp_path / "workspace.json").write_text(text)
    with pytest.raises(WorkspaceError, match=r"workspace\.json is damaged"):
        Workspace(tmp_path).check_layout()


@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_malformed_cached_response_is_ignored(text: str, tmp_path: Path) -> None:
    with closing(HttpCache(tmp_path / "a.sqlite")) as cache:
        cache._database.execute("INSERT INTO cached_responses VALUES ('k', ?)", (text.encode(),))
        assert cache.get("k") is None
