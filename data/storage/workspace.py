"""Where the files of a study lie. The workspace is the truth: a thing is done when its file is there and verifies.

    facts/<table>-<subject>-<key>-<digest>.parquet         what a source holds of a relation, a class or a page
    prompts/<relation>/<table>-<key>-<digest>.parquet      queries and contexts, or questions, built from the facts
    scores/<relation>/<model>/<measure>-....parquet        scores; unfinished in parts, <measure>.part-<n>-...
    corpus/<table>-....parquet                             names to count in a corpus, and their counts, by file of it
    reliability/<relation>/<model>/....parquet             how far scores vary between seeds
    verdicts/<relation>/decided_answers-....parquet        verdicts of people and judges
    history/run-<number>-<digest>.parquet                  what each completed run was; cannot be made again
    study.duckdb, report/                                  views of the files, made again at any time
    studies/<study>/                                       history/, study.duckdb, report/ of another study
    failures/<step>-....json                               why a step failed: to be read, nothing depends on it
    downloads/                                             responses, loaded graphs, replies of applications and judges
    forced.json                                            numbers of artifacts that --force and --refresh made again
    workspace.json                                         the version of this layout, and the study that came first

`swaymeter.data.storage.artifact` says what a file's key and digest are, and when it is done.
"""

import json
import logging
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from swaymeter.data.digests import content_key
from swaymeter.data.errors import WorkspaceBusy, WorkspaceError, first_line
from swaymeter.data.records.table import Table
from swaymeter.data.storage.artifact import FilesArtifact, TableArtifact, is_joined
from swaymeter.data.storage.files import CHARACTERS
from swaymeter.data.storage.notes import NAME as HOLDER
from swaymeter.data.storage.notes import describe_holder, json_object, note_holder, note_of, unsealed, write_sealed
from swaymeter.data.storage.writing import TEMPORARY

DATABASE = "study.duckdb"
"""The file name of the database."""
log = logging.getLogger(__name__)

LAYOUT = 2
"""The version of the layout above; a workspace of another one is recognised and refused."""

_UNUSABLE = set("?*[\\\0") - {os.sep}
"""Characters of a path with which DuckDB would write elsewhere, or read the files of other folders, too."""

WAITING_SECONDS = 0.5
"""Between two looks whether another process has left the workspace."""

_memories: dict[Path, dict[Any, Any]] = {}
_holders: dict[Path, bytes] = {}
"""The note that this process holds it, of the workspaces that it holds."""
_first: dict[Path, str] = {}
"""The study that came first, of the workspaces that this process holds: it stays so also where a file server fails."""


def slug(name: str) -> str:
    """The name as part of a file name: lower-case letters, digits and dashes, never empty, never a path."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80] or "unnamed"


@dataclass(frozen=True)
class Workspace:
    """The folder of a study, which others may share.

    study: the name of the one whose statistics, database and report are meant; empty for the one that came first.
    """

    root: Path
    study: str = ""

    @property
    def of_study(self) -> tuple[str, ...]:
        """The folders, below the root, of what is made for this study alone; none for the one that came first.

        Raises:
            WorkspaceError: Which one that is cannot be read.
        """
        first = _first.get(self.root) or (self._noted() or {}).get("study")
        if not (first and self.study) or first == self.study:
            return ()
        folder = slug(self.study)
        if folder != self.study:  # another name has the same one
            folder = f"{folder[:64]}-{content_key({'study': self.study})[:CHARACTERS]}"
        return ("studies", folder)

    @property
    def database(self) -> Path:
        """The DuckDB file."""
        return self.root.joinpath(*self.of_study, DATABASE)

    @property
    def report(self) -> Path:
        """The report's folder."""
        return self.root.joinpath(*self.of_study, "report")

    @property
    def downloads(self) -> Path:
        """The folder of cached responses and loaded graphs."""
        return self.root / "downloads"

    @property
    def endpoints(self) -> Path:
        """What model servers answered."""
        return self.downloads / "endpoints"

    def table(self, folders: tuple[str, ...], name: str, table: Table, made_from: Mapping[str, Any]) -> TableArtifact:
        """The artifact of a table; any names will do, as they become slugs."""
        return TableArtifact(self.root.joinpath(*map(slug, folders)), slug(name), table, made_from)

    def database_artifact(self, made_from: Mapping[str, Any]) -> FilesArtifact:
        """The database with its manifest."""
        return FilesArtifact(self.database.with_name(f"{DATABASE}.manifest.json"), made_from)

    def history_artifact(self, made_from: Mapping[str, Any]) -> FilesArtifact:
        """The snapshots of completed runs with their manifest."""
        return FilesArtifact(self.root.joinpath(*self.of_study, "history", "manifest.json"), made_from)

    def report_artifact(self, made_from: Mapping[str, Any]) -> FilesArtifact:
        """The report with its manifest."""
        return FilesArtifact(self.report / "manifest.json", made_from)

    @contextmanager
    def lock(self, waiting: Callable[[str], object] | None = None) -> Iterator[dict[Any, Any]]:
        """Holds the workspace for one run, and removes what killed runs left.

        The lock dies with its process, and one process may take it again inside. It comes with a memory for how
        artifacts stand, the same one inside: nobody else writes here meanwhile.

        Args:
            waiting: Is called with who holds the workspace, and since when, where another process does; then the call
                waits for it. Without it, such a workspace is refused.

        Raises:
            WorkspaceBusy: Another process holds it.
            WorkspaceError: The folder cannot be written, or another version made it.
        """
        self.check_layout()
        lock = FileLock(self.root / ".lock", timeout=0, thread_local=False, is_singleton=True)
        with self._writing():
            self.root.mkdir(parents=True, exist_ok=True)
            self._acquire(lock, waiting)
        try:
            with self._writing():
                self._prepare()
                _first[self.root] = (self._noted() or {}).get("study", "")
                if lock.lock_counter == 1:
                    _memories.pop(self.root, None)
                    _holders[self.root] = note_holder(self.root)
                    self._say_place()
            yield _memories.setdefault(self.root, {})
        finally:
            if lock.lock_counter == 1:
                for of_the_held in (_memories, _holders, _first):
                    of_the_held.pop(self.root, None)
            try:
                lock.release()
            except OSError as error:  # what was written is whole, and what ended the run is said, whatever this is
                log.warning("the workspace %s could not be released: %s", self.root, error.strerror or error)

    def _acquire(self, lock: FileLock, waiting: Callable[[str], object] | None) -> None:
        try:
            lock.acquire()
        except Timeout:
            holder = describe_holder(self.root)
            if not waiting:
                raise WorkspaceBusy(f"{holder}; wait for it to end, or choose another --workspace") from None
            waiting(f"{holder}; waiting for it to end")
            lock.acquire(timeout=-1, poll_interval=WAITING_SECONDS)

    @property
    def is_writable(self) -> bool:
        """Whether a run can write there, as far as the system says; else it can only find everything done."""
        return os.access(self.root, os.W_OK) or not self.root.exists()

    def check_is_there(self) -> None:
        """WorkspaceError where the folder of a run cannot be seen, such as a shared one that is not mounted now.

        WorkspaceBusy as `check_is_held` raises it.
        """
        if not os.path.exists(self.root / "workspace.json"):  # Path.exists raises where a file server does not answer
            raise WorkspaceError(
                f"the workspace {self.root} is away: its workspace.json is not there; mount the folder again, or put "
                "it back, and run the same command again: what was stored is kept"
            )
        self.check_is_held()

    def check_is_held(self) -> None:
        """WorkspaceBusy where this process holds the workspace, and another run has begun in it.

        A file server that starts anew may have forgotten who holds the lock. Where that cannot be seen, all is well.
        """
        mine = _holders.get(self.root)
        with suppress(OSError, ValueError):
            if mine is not None and note_of(self.root / HOLDER) != mine:
                raise WorkspaceBusy(
                    f"the workspace {self.root} is held by two runs, as its file server did not keep the lock of this "
                    f"one: {describe_holder(self.root)}; once that has ended, run the same command again"
                )

    def check_layout(self) -> None:
        """WorkspaceError where the folder is of another layout, cannot be read, or has an unusable name."""
        if unusable := sorted(_UNUSABLE & set(str(self.root))):
            raise WorkspaceError(
                f"the workspace {str(self.root)!r} has {' and '.join(map(repr, unusable))} in its path, which DuckDB "
                "would read as a pattern or as options; choose another --workspace"
            )
        if os.path.lexists(self.root) and not self.root.is_dir():
            raise WorkspaceError(f"the workspace {self.root} is neither a folder nor a link to one")
        noted = self._noted()
        if noted is None and any((self.root / name).is_dir() for name in ("facts", "prompts", "scores")):
            raise WorkspaceError(
                f"{self.root / 'workspace.json'} is not there, beside files of a study; put it back, or write "
                f"{json.dumps({'layout': LAYOUT})} into it, and run first the study whose report is at its top"
            )
        if noted is not None and noted.get("layout") != LAYOUT:
            raise WorkspaceError(
                f"the workspace {self.root} was made by an earlier version; start a new workspace or run again with "
                "--workspace"
            )

    def _prepare(self) -> None:
        half_written = self.root.rglob(f".*{TEMPORARY}*")  # also of a database
        joined = filter(is_joined, self.root.glob("scores/**/*.part-*.parquet"))  # those of a seed are deeper
        for leftover in [*half_written, *joined]:
            if leftover.is_dir() and not leftover.is_symlink():
                shutil.rmtree(leftover)
            else:
                leftover.unlink(missing_ok=True)
        probe = self.root / f".writable.{os.getpid()}{TEMPORARY}"
        probe.touch()
        probe.unlink()
        file = self.root / "workspace.json"
        noted = self._noted()
        if noted is None or (self.study and not noted.get("study")):
            write_sealed(file, {"layout": LAYOUT, "study": self.study})

    def _noted(self) -> dict[str, Any] | None:
        """What workspace.json holds; None without one. WorkspaceError where it cannot be read, or has changed."""
        file = self.root / "workspace.json"
        try:
            text = note_of(file)
            content = json_object(text)
            return unsealed(text) if {"study", "sha256"} & content.keys() else content  # the last of a version before
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise WorkspaceError(
                f"{file} cannot be read: {error.strerror or error}; run the same command again once it can"
            ) from None
        except ValueError as error:
            raise WorkspaceError(
                f"{file} is damaged ({first_line(error)}); write {json.dumps({'layout': LAYOUT})} into it, and run "
                "first the study whose report is at the top of the folder"
            ) from None

    def _say_place(self) -> None:
        if place := self.of_study:
            log.warning(
                "study %s came first in %s: statistics, database and report of %s are in %s",
                _first[self.root], self.root, self.study, "/".join(place),
            )  # fmt: skip

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise WorkspaceError(
                f"the workspace {self.root} cannot be written: {error.strerror or error}; choose another --workspace"
            ) from error

    def _failure(self, step: str, key: str) -> Path:
        return self.root / "failures" / f"{slug(step)}-{content_key({'step': step, 'key': key})[:CHARACTERS]}.json"

    def note_failure(self, step: str, key: str, reason: str, detail: str = "") -> None:
        """Notes why a step failed with these inputs, for `status`; key: of its outputs."""
        write_sealed(self._failure(step, key), {"step": step, "key": key, "reason": reason, "detail": detail})

    def forget_failure(self, step: str, key: str) -> None:
        """Forgets the failure of a step that is done now with these inputs."""
        self._failure(step, key).unlink(missing_ok=True)

    def failure_reason(self, step: str, key: str) -> str | None:
        """Why a step failed the last time with these inputs; None where nothing is noted, or the note is damaged."""
        try:
            note = unsealed(note_of(self._failure(step, key)))
            return str(note["reason"]) if note["key"] == key else None
        except (OSError, ValueError, KeyError, TypeError):
            return None
