"""Hostile workspaces: commands end, read no file outside, and neither run nor show hostile content."""

import json
import os
import random
import resource
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from tests.data.warehouse.test_loading import NOT_RUN, REFUSED
from tests.end_to_end.tiny_study import start_command
from tests.faults.case import LONGEST_SECONDS, Case

SECRET = "a-secret-of-this-machine"
MARKUP = "<script>alert(1)</script>"
CONTROLS = "\x1b[2J"
SQL = [*REFUSED, *NOT_RUN, f"UPDATE facts SET subject = '{CONTROLS}{MARKUP}' || subject"]
MAX_CHANGES = 4
MEMORY = 2 * 2**30
"""Bytes that a command may take beside its imports."""


def limit_memory() -> None:
    (used,) = (line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmData" in line)
    resource.setrlimit(resource.RLIMIT_DATA, (int(used) * 1024 + MEMORY,) * 2)


@dataclass
class Foreign:
    """A workspace that others change, and a folder outside with a secret, where executed code would leave a file."""

    workspace: Path
    outside: Path
    generator: random.Random

    def file(self, pattern: str = "*") -> Path:
        """Draw a file."""
        files = [path for path in self.workspace.rglob(pattern) if path.is_file() and not path.is_symlink()]
        return self.generator.choice(sorted(files))

    def free_path(self) -> Path:
        """Remove a file and return its path."""
        path = self.file()
        path.unlink()
        return path


def change_database(foreign: Foreign) -> None:
    with suppress(duckdb.Error, OSError), duckdb.connect(foreign.workspace / "study.duckdb") as database:
        database.execute(foreign.generator.choice(SQL))  # fails if an earlier change has destroyed the database


def write_manifest(foreign: Foreign) -> None:
    secret = str(foreign.outside / "secret")
    content = {"key": "0", "files": {secret: "0" * 64, "../" * 9 + secret: "0" * 64}, "digest": "0"}
    foreign.file("*.json").write_text(json.dumps(content))


def write_code(foreign: Foreign) -> None:
    python = f"__import__('pathlib').Path({str(foreign.outside / 'executed')!r}).touch()"
    (foreign.workspace / "audit.yaml").write_text(f"name: !!python/object/apply:eval [{json.dumps(python)}]\n")
    for name in ("sitecustomize.py", "my_app.py", "swaymeter.py", "conftest.py"):
        (foreign.workspace / name).write_text(python)


CHANGES: dict[str, Callable[[Foreign], object]] = {
    "a link to a secret": lambda foreign: foreign.free_path().symlink_to(foreign.outside / "secret"),
    "a link to itself": lambda foreign: (path := foreign.free_path()).symlink_to(path),
    "a pipe": lambda foreign: os.mkfifo(foreign.free_path()),
    "a folder": lambda foreign: foreign.free_path().mkdir(),
    "an endless device": lambda foreign: foreign.free_path().symlink_to("/dev/zero"),
    "a text": lambda foreign: foreign.file().write_text(f"{CONTROLS}{MARKUP}"),
    "random bytes": lambda foreign: foreign.file().write_bytes(foreign.generator.randbytes(5_000)),
    "three GiB": lambda foreign: os.truncate(foreign.file(), 3 * 2**30),
    "another file": lambda foreign: foreign.file().write_bytes(foreign.file().read_bytes()),
    "nested JSON": lambda foreign: foreign.file("*.json").write_text("[" * 200_000),
    "hostile SQL in the database": change_database,
    "paths outside the workspace in a manifest": write_manifest,
    "study files and modules with code": write_code,
}


@pytest.mark.parametrize("change", CHANGES)
def test_foreign_workspaces_are_data(change: str, local_study: Case, tmp_path: Path, generator: random.Random) -> None:
    study, outside = local_study.study.copy(tmp_path / "theirs"), tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text(SECRET)
    further_changes = generator.choices([*CHANGES], k=generator.randrange(MAX_CHANGES))
    for name in (change, *further_changes):
        CHANGES[name](Foreign(study.workspace, outside, generator))
    own, theirs, page = str(local_study.study.workspace), str(study.workspace), tmp_path / "page.html"
    for command in (
        ["compare", own, theirs, "--page", str(page)],
        ["compare", theirs, own, "--page", str(page), "--json"],
        ["diff", own, theirs],
        ["status", str(study.file), "--workspace", theirs, "--all"],
    ):
        with start_command(command, study.environment, limit_memory) as running:
            running.process.join(LONGEST_SECONDS)
            assert running.poll() is not None, f"{command[0]} hangs"
            run = running.wait()
        assert run.code in (0, 1, 2), run.output
        html = page.read_text() if page.exists() else ""
        assert not [text for text in ("Traceback", SECRET, CONTROLS) if text in run.output + html], run.output + html
        assert MARKUP not in html
    assert [path.name for path in outside.iterdir()] == ["secret"]
    assert (outside / "secret").read_text() == SECRET
    assert study.processes() == []
