"""The layout of a workspace. Its files alone decide what is done: an artifact is done if its file exists unchanged.

    facts/<table>-<subject>-<key>-<digest>.parquet         rows of a source on a relation, a class or a page
    prompts/<relation>/<table>-<key>-<digest>.parquet      queries and contexts, or questions, built from the facts
    scores/<relation>/<model>/<measure>-....parquet        scores; <measure>.part-<n>-... for unfinished scores
    corpus/<table>-....parquet                             names to count in a corpus; their counts in each corpus file
    reliability/<relation>/<model>/....parquet             variance of scores between seeds
    verdicts/<relation>/decided-answers-....parquet        verdicts of people and judges
    history/run-<number>-<digest>.parquet                  snapshots of completed runs; cannot be computed again
    study.duckdb, report/                                  database and report, which can be made again
    studies/<study>/                                       history/, study.duckdb, report/ of another study
    failures/<step>-....json                               reasons of failed steps, for people; no step depends on them
    downloads/                                             responses, loaded graphs, replies of applications and judges
    forced.json                                            when --force and --refresh last selected each artifact
    workspace.json                                         the version of this layout, and the first study

The first study is the study that made the workspace; its history, database and report are not in `studies/`.
`swaymeter.data.storage.artifact` defines the key and the digest of a file, and when an artifact is done.
"""

import json
import logging
import math
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from swaymeter.data.digests import content_key
from swaymeter.data.errors import WorkspaceBusy, WorkspaceError, first_line
from swaymeter.data.records.table import Table
from swaymeter.data.storage.artifact import FilesArtifact, TableArtifact, is_in_whole_table
from swaymeter.data.storage.files import DIGEST_CHARACTERS
from swaymeter.data.storage.notes import (
    HOLDER_NOTE,
    describe_holder,
    json_object,
    note_holder,
    read_note,
    unseal,
    write_sealed,
)
from swaymeter.data.storage.writing import TEMPORARY

DATABASE = "study.duckdb"
log = logging.getLogger(__name__)

LAYOUT = 2
"""The version of the layout above; a workspace with another version is refused."""

_UNUSABLE = set("?*[\\\0") - {os.sep}
"""Characters of a path that DuckDB would read as a pattern or as options."""

WAITING_SECONDS = 0.5
"""Interval between two checks whether another process still holds the workspace."""

LOCK_CHECK_SECONDS = 1.0
"""Least interval between two reads of the file `HOLDER_NOTE`, because thousands of short steps check the lock."""

_holder_notes: dict[Path, bytes] = {}
"""The bytes that this process wrote into the file `HOLDER_NOTE`, for each workspace that this process holds."""
_lock_checks: dict[Path, float] = {}
"""The time (`time.monotonic`) of the last read of `HOLDER_NOTE`, for each workspace that this process holds."""
_first_studies: dict[Path, str] = {}
"""The first study of each workspace that this process holds; read once, because a file server may fail later."""


@lru_cache(maxsize=4096)
def slug(name: str) -> str:
    """Return the name as part of a file name: lower-case letters, digits and dashes, never empty, never a path."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80] or "unnamed"


@lru_cache(maxsize=4096)
def _failure_name(step: str, key: str) -> str:
    return f"{slug(step)}-{content_key({'step': step, 'key': key})[:DIGEST_CHARACTERS]}.json"


@dataclass(frozen=True)
class Workspace:
    """The folder of a study, which other studies may share.

    Attributes:
        root: the folder.
        study: the name of the study whose database and report are used; empty for the first study.
    """

    root: Path
    study: str = ""

    @property
    def study_path_parts(self) -> tuple[str, ...]:
        """The path, in parts, from the root to the results of this study; empty for the first study.

        Raises:
            WorkspaceError: the first study cannot be read.
        """
        first_study = _first_studies.get(self.root) or (self._description() or {}).get("study")
        if not first_study or not self.study or first_study == self.study:
            return ()
        folder = slug(self.study)
        if folder != self.study:  # another name may have the same slug
            folder = f"{folder[:64]}-{content_key({'study': self.study})[:DIGEST_CHARACTERS]}"
        return ("studies", folder)

    @property
    def database(self) -> Path:
        """The DuckDB file."""
        return self.root.joinpath(*self.study_path_parts, DATABASE)

    @property
    def report(self) -> Path:
        """The report's folder."""
        return self.root.joinpath(*self.study_path_parts, "report")

    @property
    def downloads(self) -> Path:
        """The folder of cached responses and loaded graphs."""
        return self.root / "downloads"

    @property
    def endpoints(self) -> Path:
        """The folder of responses of model servers."""
        return self.downloads / "endpoints"

    def table(self, folders: tuple[str, ...], name: str, table: Table, key_inputs: Mapping[str, Any]) -> TableArtifact:
        """Return the artifact of a table; names become slugs."""
        return TableArtifact(self.root.joinpath(*map(slug, folders)), slug(name), table, key_inputs)

    def database_artifact(self, key_inputs: Mapping[str, Any]) -> FilesArtifact:
        """Return the artifact of the database."""
        return FilesArtifact(self.database.with_name(f"{DATABASE}.manifest.json"), key_inputs)

    def history_artifact(self, key_inputs: Mapping[str, Any]) -> FilesArtifact:
        """Return the artifact of the snapshots of completed runs."""
        return FilesArtifact(self.root.joinpath(*self.study_path_parts, "history", "manifest.json"), key_inputs)

    def report_artifact(self, key_inputs: Mapping[str, Any]) -> FilesArtifact:
        """Return the artifact of the report."""
        return FilesArtifact(self.report / "manifest.json", key_inputs)

    @contextmanager
    def lock(self, on_wait: Callable[[str], object] | None = None) -> Iterator[None]:
        """Hold the workspace for one run, and remove the leftovers of killed runs.

        The lock ends with its process. The process that holds a workspace may lock it again.

        Args:
            on_wait: a function that is called with a sentence about another process that holds the workspace, before
                `lock` waits for this process to end. None raises WorkspaceBusy instead.

        Raises:
            WorkspaceBusy: another process holds the workspace, and `on_wait` is None.
            WorkspaceError: the folder cannot be written, or another version made it.
        """
        self.check_layout()
        lock = FileLock(self.root / ".lock", timeout=0, thread_local=False, is_singleton=True)
        with self._writing():
            self.root.mkdir(parents=True, exist_ok=True)
            self._acquire(lock, on_wait)
        try:
            with self._writing():
                self._prepare()
                _first_studies[self.root] = (self._description() or {}).get("study", "")
                if lock.lock_counter == 1:  # the process did not hold the workspace already
                    _holder_notes[self.root] = note_holder(self.root)
                    self._log_folders()
            yield
        finally:
            if lock.lock_counter == 1:
                _holder_notes.pop(self.root, None)
                _lock_checks.pop(self.root, None)
                _first_studies.pop(self.root, None)
            try:
                lock.release()
            except OSError as error:  # all files are whole, and the run has reported its own error
                log.warning("the workspace %s could not be released: %s", self.root, error.strerror or error)

    def _acquire(self, lock: FileLock, on_wait: Callable[[str], object] | None) -> None:
        try:
            lock.acquire()
        except Timeout:
            holder = describe_holder(self.root)
            if not on_wait:
                raise WorkspaceBusy(
                    f"{holder}; wait until the workspace is free, or choose another --workspace"
                ) from None
            on_wait(f"{holder}; waiting until the workspace is free")
            lock.acquire(timeout=-1, poll_interval=WAITING_SECONDS)

    @property
    def is_writable(self) -> bool:
        """True if the folder does not exist yet, or the operating system permits writing.

        In a folder that is not writable, only a run whose artifacts are all done succeeds.
        """
        return os.access(self.root, os.W_OK) or not self.root.exists()

    def check_mounted(self) -> None:
        """Raise WorkspaceError if the workspace has disappeared, such as a shared folder that is no longer mounted.

        Raises:
            WorkspaceBusy: another run has begun in the workspace; see `check_lock`.
        """
        # Path.exists raises if a file server does not answer
        if not os.path.exists(os.path.join(self.root, "workspace.json")):
            raise WorkspaceError(
                f"the workspace {self.root} has no workspace.json, so its folder may be unmounted or moved; mount the "
                "folder or move it back, and run the same command again"
            )
        self.check_lock()

    def check_lock(self) -> None:
        """Raise WorkspaceBusy if this process holds the workspace, but another run has begun in the workspace.

        A restarted file server may lose locks. If the note of the holder cannot be read, the lock counts as valid.
        """
        own_note, now = _holder_notes.get(self.root), time.monotonic()
        if own_note is None or now - _lock_checks.get(self.root, -math.inf) < LOCK_CHECK_SECONDS:
            return
        with suppress(OSError, ValueError):
            if read_note(self.root / HOLDER_NOTE) != own_note:
                raise WorkspaceBusy(
                    f"the workspace {self.root} is used by two runs, because its file server lost the lock of this "
                    f"run: {describe_holder(self.root)}; run the same command again after the end of the other run"
                )
        _lock_checks[self.root] = now

    def check_layout(self) -> None:
        """Raise WorkspaceError for another layout, an unreadable folder, or a path that DuckDB would misread."""
        if unusable := sorted(_UNUSABLE & set(str(self.root))):
            raise WorkspaceError(
                f"the workspace {str(self.root)!r} has {' and '.join(map(repr, unusable))} in its path, which DuckDB "
                "would read as a pattern or as options; choose another --workspace"
            )
        if os.path.lexists(self.root) and not self.root.is_dir():
            raise WorkspaceError(
                f"the workspace {self.root} is neither a folder nor a link to a folder; choose another --workspace"
            )
        description = self._description()
        if description is None and any((self.root / name).is_dir() for name in ("facts", "prompts", "scores")):
            raise WorkspaceError(
                f"{self.root / 'workspace.json'} is missing, but the folder has the files of a study; restore "
                f"workspace.json from a backup, or create the file with the content {json.dumps({'layout': LAYOUT})}. "
                f"Then run the study that wrote {self.root / 'report'} before any other study"
            )
        if description is not None and description.get("layout") != LAYOUT:
            raise WorkspaceError(
                f"the workspace {self.root} was made by another version of Swaymeter; choose another --workspace"
            )

    def _prepare(self) -> None:
        """Remove leftovers of killed runs, check that files can be written, and write workspace.json."""
        temporary = self.root.rglob(f".*{TEMPORARY}*")  # files, and folders of a database
        # "**", because the parts of a further seed are in a deeper folder
        needless_parts = filter(is_in_whole_table, self.root.glob("scores/**/*.part-*.parquet"))
        for leftover in [*temporary, *needless_parts]:
            if leftover.is_dir() and not leftover.is_symlink():
                shutil.rmtree(leftover)
            else:
                leftover.unlink(missing_ok=True)
        empty_file = self.root / f".writable.{os.getpid()}{TEMPORARY}"
        empty_file.touch()
        empty_file.unlink()
        file = self.root / "workspace.json"
        description = self._description()
        if description is None or (self.study and not description.get("study")):
            write_sealed(file, {"layout": LAYOUT, "study": self.study})

    def _description(self) -> dict[str, Any] | None:
        """Return the content of workspace.json; None without the file, WorkspaceError if it cannot be read."""
        file = self.root / "workspace.json"
        try:
            text = read_note(file)
            content = json_object(text)
            is_sealed = bool({"study", "sha256"} & content.keys())  # a user may write the layout alone
            return unseal(text) if is_sealed else content
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise WorkspaceError(
                f"{file} cannot be read: {error.strerror or error}; make it readable, and run the same command again"
            ) from None
        except ValueError as error:
            raise WorkspaceError(
                f"{file} is damaged ({first_line(error)}); replace the content of the file by "
                f"{json.dumps({'layout': LAYOUT})}. Then run the study that wrote {self.root / 'report'} before any "
                "other study"
            ) from None

    def _log_folders(self) -> None:
        if folders := self.study_path_parts:
            log.warning(
                "the workspace %s was made for study %s: history, database and report of %s are in the subfolder %s",
                self.root,
                _first_studies[self.root],
                self.study,
                "/".join(folders),
            )

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise WorkspaceError(
                f"the workspace {self.root} cannot be written: {error.strerror or error}; choose another --workspace"
            ) from error

    def _failure(self, step: str, key: str) -> Path:
        return self.root / "failures" / _failure_name(step, key)

    def note_failure(self, step: str, key: str, reason: str, detail: str = "") -> None:
        """Write the reason why a step failed, for `swaymeter status`; `key` is the key of the step's outputs."""
        write_sealed(self._failure(step, key), {"step": step, "key": key, "reason": reason, "detail": detail})

    def forget_failure(self, step: str, key: str) -> None:
        """Remove the reason of an earlier failure of a step whose outputs with this key are now done."""
        self._failure(step, key).unlink(missing_ok=True)

    def failure_reason(self, step: str, key: str) -> str | None:
        """Return the reason why a step last failed to make outputs with this key; None without a readable reason."""
        try:
            note = unseal(read_note(self._failure(step, key)))
            return str(note["reason"]) if note["key"] == key else None
        except (OSError, ValueError, KeyError, TypeError):
            return None
