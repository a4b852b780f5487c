"""A workspace that somebody made to harm: its commands end, read nothing outside it, and run and show nothing of it."""

import json
import os
import random
import resource
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from tests.data.warehouse.test_loading import NOT_RUN, REFUSED
from tests.end_to_end.tiny_study import TinyStudy, started
from tests.faults.case import LONGEST_SECONDS

pytestmark = pytest.mark.faults
SECRET = "a-secret-of-this-machine"
MARKUP = "<script>alert(1)</script>"
CONTROLS = "\x1b[2J"
SQL = [*REFUSED, *NOT_RUN]
CHANGES_AT_MOST = 4
MEMORY = 2 * 2**30
"""Bytes that a command may take beside its imports."""


def limit_memory() -> None:
    """Limit the memory of a command."""
    (used,) = (line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmData" in line)
    resource.setrlimit(resource.RLIMIT_DATA, (int(used) * 1024 + MEMORY,) * 2)


@dataclass
class Foreign:
    """A workspace that others change.

    Attributes:
        workspace: the workspace.
        outside: a folder with a secret; code that runs would leave the file `executed` there.
        generator: the draws.
    """

    workspace: Path
    outside: Path
    generator: random.Random

    def file(self, pattern: str = "*") -> Path:
        """Draw a file."""
        files = [path for path in self.workspace.rglob(pattern) if path.is_file() and not path.is_symlink()]
        return self.generator.choice(sorted(files))

    def in_place_of_a_file(self, make: Callable[[Path], object]) -> None:
        """Put something in the place of a file."""
        path = self.file()
        path.unlink()
        make(path)

    @property
    def code(self) -> str:
        """Python that leaves a file."""
        return f"__import__('pathlib').Path({str(self.outside / 'executed')!r}).touch()"


def sql(foreign: Foreign) -> None:
    """Run a statement in the database, if a change before has not ended it."""
    statement = foreign.generator.choice([*SQL, f"UPDATE facts SET subject = '{CONTROLS}{MARKUP}' || subject"])
    try:
        with duckdb.connect(foreign.workspace / "study.duckdb") as database:
            database.execute(statement)
    except (duckdb.Error, OSError):
        return


def replaced(foreign: Foreign) -> None:
    """Put a file in the place of another one."""
    content = foreign.file().read_bytes()
    foreign.in_place_of_a_file(lambda path: path.write_bytes(content))


def nested(foreign: Foreign) -> None:
    """Nest the content of a manifest more deeply than a parser can follow."""
    foreign.file("*.json").write_text("[" * 200_000)


def with_paths(foreign: Foreign) -> None:
    """Name files outside the workspace in a manifest."""
    path, secret = foreign.file("*.json"), str(foreign.outside / "secret")
    content = json.dumps({"key": "0", "files": {secret: "0" * 64, "../" * 9 + secret: "0" * 64}, "digest": "0"})
    path.write_text(content)


def with_code(foreign: Foreign) -> None:
    """Add study files whose reading would run code."""
    tag = f"!!python/object/apply:eval [{json.dumps(foreign.code)}]\n"
    (foreign.workspace / "audit.yaml").write_text(f"name: {tag}")
    for name in ("sitecustomize.py", "my_app.py", "swaymeter.py", "conftest.py"):
        (foreign.workspace / name).write_text(foreign.code)


CHANGES: dict[str, Callable[[Foreign], None]] = {
    "a link to a secret": lambda of: of.in_place_of_a_file(lambda path: path.symlink_to(of.outside / "secret")),
    "a link to itself": lambda of: of.in_place_of_a_file(lambda path: path.symlink_to(path)),
    "a pipe": lambda of: of.in_place_of_a_file(os.mkfifo),
    "a folder": lambda of: of.in_place_of_a_file(Path.mkdir),
    "an endless device": lambda of: of.in_place_of_a_file(lambda path: path.symlink_to("/dev/zero")),
    "a text": lambda of: of.in_place_of_a_file(lambda path: path.write_text(f"{CONTROLS}{MARKUP}")),
    "random bytes": lambda of: of.in_place_of_a_file(lambda path: path.write_bytes(of.generator.randbytes(5_000))),
    "three GiB": lambda of: of.in_place_of_a_file(lambda path: (path.touch(), os.truncate(path, 3 * 2**30))),
    "another file": replaced,
    "SQL": sql,
    "nested JSON": nested,
    "paths": with_paths,
    "code": with_code,
}


@pytest.mark.parametrize("change", CHANGES)
def test_foreign_workspaces_are_data(
    change: str, draw: int, finished: tuple[TinyStudy, float], tmp_path: Path, generator: random.Random
) -> None:
    study = finished[0].elsewhere(tmp_path / "theirs")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text(SECRET)
    foreign = Foreign(study.workspace, outside, generator)
    CHANGES[change](foreign)
    for further in generator.choices([*CHANGES], k=generator.randrange(CHANGES_AT_MOST)):
        CHANGES[further](foreign)
    own, theirs, page = str(finished[0].workspace), str(study.workspace), tmp_path / "page.html"
    for command in (
        ["compare", own, theirs, "--page", str(page)],
        ["compare", theirs, own, "--page", str(page), "--json"],
        ["diff", own, theirs],
        ["status", str(study.file), "--workspace", theirs, "--all"],
    ):
        with started(command, study.environment, limit_memory) as running:
            running.process.join(LONGEST_SECONDS)
            assert running.poll() is not None, f"{command[0]} hangs"
            said = running.ended()
        assert said.code in (0, 1, 2), said.said
        shown = said.said + (page.read_text() if page.exists() else "")
        assert not [text for text in ("Traceback", SECRET, CONTROLS) if text in shown], shown
        assert MARKUP not in (page.read_text() if page.exists() else "")
    assert [path.name for path in outside.iterdir()] == ["secret"]
    assert (outside / "secret").read_text() == SECRET
    assert study.processes() == []
    shutil.rmtree(study.workspace)
