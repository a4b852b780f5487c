"""A workspace that somebody else made: whatever it holds is read as data, or refused by name, in bounded time.

Somebody puts something into a finished workspace, with a digest that fits it where there is one. Then commands open it.
None may run what it holds, read or change a file outside of it, wait for ever, or show what a terminal obeys.
"""

import os
import random
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb

from swaymeter.data.digests import digest_of_large
from swaymeter.data.storage.notes import unsealed, write_sealed
from tests.end_to_end.tiny_study import Command, Run, TinyStudy, new_study, prefect_server, started
from tests.faults.campaign.record import LONGEST_SECONDS, Outcome

SECRET = "what nobody else may read"
ACTS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
COMMANDS = ("status", "run", "report", "publish", "compare", "diff")
Puts = Callable[[Path, Path, random.Random], str]
"""Puts something into a workspace that may lead to a folder of the user's; gives what it was."""


def outcomes(count: int, seed: int) -> Iterator[Outcome]:
    """An outcome for each workspace of somebody else, of every kind in turn."""
    generator = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="swaymeter-others-") as name, prefect_server(Path(name)) as api:
        folder = Path(name)
        (folder / "study").mkdir()
        sound = new_study(folder / "study", api).with_fewer_figures(folder / "few.yaml")
        run = sound.run("run")
        assert run.code == 0, run.said
        for number in range(count):
            row, put = [*PUT.items()][number % len(PUT)]
            theirs, user = sound.elsewhere(folder / f"theirs-{number}"), folder / f"user-{number}"
            user.mkdir()
            (user / "secret").write_text(SECRET)
            what = put(theirs.workspace, user, generator)
            command = generator.choice(COMMANDS)
            began = time.monotonic()
            verdict, detail = judged(theirs, sound, user, command)
            yield Outcome(row, verdict, time.monotonic() - began, f"{what}, {command}{detail}")
            for of_case in (theirs.workspace, user):
                shutil.rmtree(of_case)


def judged(theirs: TinyStudy, sound: TinyStudy, user: Path, command: str) -> tuple[str, str]:
    """What comes of a command on a workspace, and what to look at."""
    paper = theirs.workspace.with_name(f"{theirs.workspace.name}-paper")
    before = {path: path.read_bytes() for path in user.rglob("*") if path.is_file()}
    try:
        with _started(theirs, sound, command, paper) as running:
            run = ended(running)
        if run is None:
            return "HUNG", ""
        if "Traceback" in run.said or run.code not in (0, 1, 2):
            return "CRASHED", f": exit status {run.code}: {run.said}"
        if ACTS.search(run.said):
            return "ACTED", f": {run.said!r}"
        if _tells(paper) or SECRET in run.said:
            return "READ", ": the secret"
        if any(not path.is_file() or path.read_bytes() != content for path, content in before.items()):
            return "CHANGED", f": {[*user.rglob('*')]}"
        return ("went on" if run.code == 0 else "refused"), ""
    finally:
        shutil.rmtree(paper, ignore_errors=True)


def ended(running: Command) -> Run | None:
    """How a command ended; None where it does not."""
    running.process.join(LONGEST_SECONDS)
    return running.ended() if running.poll() is not None else None


def _started(theirs: TinyStudy, sound: TinyStudy, command: str, paper: Path) -> Command:
    if command in ("compare", "diff"):
        return started([command, str(theirs.workspace), str(sound.workspace)], theirs.environment)
    return theirs.start(command, *((str(paper),) if command == "publish" else ()))


def _tells(paper: Path) -> bool:
    """Whether a file that was written tells the secret."""
    files = [path for path in paper.rglob("*") if path.is_file()]
    parquet = [path for path in files if path.suffix == ".parquet"]
    texts = [duckdb.sql(f"FROM '{path}'").fetchall() for path in parquet]
    return any(SECRET.encode() in path.read_bytes() for path in files) or SECRET in str(texts)


def _database(workspace: Path, user: Path, generator: random.Random) -> str:
    """Views and functions that are run when they are read, with a manifest that fits."""
    secret = f"(SELECT content FROM read_text('{user / 'secret'}'))"
    with duckdb.connect(workspace / "study.duckdb") as database:
        views = database.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY ALL").fetchall()
        ((view,),) = generator.sample(views, 1)
        sql = generator.choice(
            [
                f"CREATE OR REPLACE VIEW \"{view}\" AS SELECT {secret} AS model, 'float32' AS dtype",
                f'CREATE OR REPLACE VIEW "{view}" AS SELECT count(*) AS n FROM range(1000000000000) a, range(1000) b',
                "CREATE MACRO duckdb_tables() AS TABLE SELECT 'about' AS table_name, '' AS sql",
                f"CREATE MACRO duckdb_views() AS TABLE SELECT {secret} AS view_name, '' AS sql",
                f"CREATE MACRO coalesce_(a) AS {secret}",
                "CREATE MACRO isfinite(number) AS true",
                f"DROP TABLE about; CREATE VIEW about AS SELECT {secret} AS schema_version",
            ]
        )
        database.execute(sql)
    _sign(workspace)
    return sql


def _values(workspace: Path, user: Path, generator: random.Random) -> str:
    """Texts in the tables of the database that act where they are shown."""
    texts = ("\x1b]0;title\x07\x1b[2J\x9b31m", "=1+1|a", "<script>alert(1)</script>", "[red]a[/red]", "[" * 100_000, "")
    with duckdb.connect(workspace / "study.duckdb") as database:
        columns = database.execute(
            "SELECT table_name, column_name FROM duckdb_columns() JOIN duckdb_tables() USING (table_name) "
            "WHERE data_type = 'VARCHAR' AND column_name NOT IN ('schema_version') AND estimated_size > 0"
        ).fetchall()
        table, column = generator.choice(sorted(columns))
        text = generator.choice(texts)
        try:
            database.execute(f'UPDATE "{table}" SET "{column}" = ?', [text])
        except duckdb.ConstraintException:  # a key, of which each is there once
            database.execute(f'UPDATE "{table}" SET "{column}" = "{column}" || ?', [text])
    _sign(workspace)
    return f"{table}.{column} is {text[:20]!r}"


def _sign(workspace: Path) -> None:
    """Writes a manifest that fits the database."""
    manifest = workspace / "study.duckdb.manifest.json"
    content = unsealed(manifest.read_bytes())
    content["files"]["study.duckdb"] = digest_of_large(workspace / "study.duckdb")
    write_sealed(manifest, content)


def _files(workspace: Path, user: Path, generator: random.Random) -> str:
    """A pipe, a device, a link to the user's file or a text without end in place of a file, or beside it."""
    notes = (".holder.json", "forced.json", "failures/a.json", "study.duckdb.wal", ".lock", "downloads/a.sqlite")
    there = [path for path in sorted(workspace.rglob("*")) if path.is_file()]
    path = generator.choice([generator.choice(there), workspace / generator.choice(notes)])
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    kind = generator.choice(["pipe", "device", "link", "deep", "folder"])
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "link":
        path.symlink_to(user / "secret")
    elif kind == "deep":
        path.write_text("[" * 1_000_000)
    else:
        path.mkdir()
    return f"{kind} in place of {path.relative_to(workspace)}"


def _links(workspace: Path, user: Path, generator: random.Random) -> str:
    """A folder that is a link to one of the user's, which looks like one of a workspace."""
    name = generator.choice(["report", "facts", "scores", "statistics", "downloads", ".x.unfinished", "annotations"])
    (user / "index.html").write_text(SECRET)
    (user / "manifest.json").write_text(generator.choice(["{}", '{"key": "", "files": {}}', "no JSON"]))
    (user / "a.part-00000-0123456789ab-0123456789ab.parquet").write_text(SECRET)
    if (workspace / name).exists():
        shutil.rmtree(workspace / name)
    (workspace / name).symlink_to(user)
    return f"{name} is a link"


def _manifests(workspace: Path, user: Path, generator: random.Random) -> str:
    """A manifest that names files elsewhere."""
    manifest = workspace / generator.choice(["study.duckdb.manifest.json", "report/manifest.json"])
    content = unsealed(manifest.read_bytes())
    names = (str(user / "secret"), "../secret", "/dev/zero", "../" * 9 + "etc/passwd", "\x1b[2J", "a\0b")
    name = generator.choice(names)
    content["files"][name] = digest_of_large(user / "secret")
    write_sealed(manifest, content)
    return f"{manifest.name} names {name!r}"


PUT: dict[str, Puts] = {
    "views and functions in the database": _database, "texts in the database": _values,
    "no file where one is read": _files, "folders that are links": _links, "manifests that name others": _manifests,
}  # fmt: skip
