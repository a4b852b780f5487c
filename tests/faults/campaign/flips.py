"""One random bit at a time is flipped in each kind of file that the program keeps, which is then read as by a run.

What the program notices, it refuses or makes again. What it does not notice has to be equal to what was written.
"""

import logging
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock

import requests
from huggingface_hub.utils.sha import git_hash

from swaymeter.data.digests import digest_once
from swaymeter.data.errors import MissingFile, SwaymeterError
from swaymeter.data.records import Annotation, as_row
from swaymeter.data.records.tables import ANNOTATIONS
from swaymeter.data.sources.graph.dump import Dump, dump_digest, shared_dump
from swaymeter.data.sources.http.answer import Reply
from swaymeter.data.sources.http.cache import HttpCache, key_of
from swaymeter.data.storage.artifact import Artifact, FilesArtifact, TableArtifact
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.graph.graph import Node
from swaymeter.flows.graph.rerun import NO_NUMBERS, read_numbers, write_numbers
from swaymeter.flows.stages.plan import plan_of
from swaymeter.flows.stages.resolve import graph_of
from swaymeter.flows.study.reading import read_study
from swaymeter.tasks.contexts.annotation.judging import read_annotations
from swaymeter.tasks.models.files import hub
from swaymeter.tasks.models.files.identity import identify_model
from tests.data.sources.graph.turtle import ALL, TURTLE, written
from tests.end_to_end.tiny_study import new_study
from tests.faults.campaign.record import Outcome
from tests.tasks.models.tiny import save_language_model

PARQUET = {"fetch": "facts and questions", "build": "prompts", "score": "scores", "aggregate": "statistics"}
"""What the Parquet files of a stage hold."""
Parts = Mapping[object, object]
"""What is read from files, by what it is; a part that is not there is made again, or asked for again."""


@dataclass(frozen=True)
class Kept:
    """Files of a kind, and what the program reads after one of them, which is named, has changed.

    It raises where the program notices the change.
    """

    kind: str
    files: tuple[Path, ...]
    read: Callable[[Path], Parts]


def outcomes(flips: int, seed: int) -> Iterator[Outcome]:
    """An outcome for each flipped bit, the same number for each kind of file."""
    generator = random.Random(seed)
    logging.disable(logging.WARNING)
    try:
        with (
            tempfile.TemporaryDirectory(prefix="swaymeter-flips-") as name,
            mock.patch.dict(os.environ, {"SWAYMETER_CACHE": f"{name}/cache"}),
        ):
            kinds = _kinds(Path(name))
            for number, kept in enumerate(kinds):
                yield from _flipped(kept, flips // len(kinds) + (number < flips % len(kinds)), generator)
    finally:
        logging.disable(logging.NOTSET)


def _flipped(kept: Kept, flips: int, generator: random.Random) -> Iterator[Outcome]:
    files = [path for path in kept.files if path.stat().st_size]
    sound = {path: kept.read(path) for path in files}
    for _ in range(flips):
        path = generator.choice(files)
        place, bit = generator.randrange(path.stat().st_size), generator.randrange(8)
        began = time.monotonic()
        with _flipped_bit(path, place, bit):
            verdict, detail = _judged(kept, path, sound[path])
        where = f"{path.name}, bit {bit} of byte {place}{detail}"
        yield Outcome(kept.kind, verdict, time.monotonic() - began, where)
    assert {path: kept.read(path) for path in files} == sound, kept.kind


@contextmanager
def _flipped_bit(path: Path, place: int, bit: int) -> Iterator[None]:
    handle = os.open(path, os.O_RDWR)
    try:
        (byte,) = os.pread(handle, 1, place)
        os.pwrite(handle, bytes([byte ^ 1 << bit]), place)
        yield
        os.pwrite(handle, bytes([byte]), place)
    finally:
        os.close(handle)


def _judged(kept: Kept, path: Path, sound: Parts) -> tuple[str, str]:
    try:
        found = kept.read(path)
    except MissingFile:
        return "made again", ""
    except SwaymeterError:
        return "noticed", ""
    except Exception as error:
        return "CRASHED", f": {error!r}"
    different = [part for part, content in found.items() if part not in sound or sound[part] != content]
    if different:
        return "DIFFERENT", f": {different}"
    return ("equal" if found == sound else "made again"), ""


def _kinds(folder: Path) -> list[Kept]:
    return [*_of_a_study(folder / "study"), *_of_models(folder), *_of_downloads(folder), *_notes(folder / "notes")]


def _of_a_study(folder: Path) -> Iterator[Kept]:
    """The artifacts of a tiny study by their stage, and what its database and its report need."""
    folder.mkdir()
    study = new_study(folder, "")
    run = study.run("run")
    assert run.code == 0, run.said
    workspace = Workspace(study.workspace)
    nodes = [*graph_of(plan_of(read_study(study.file), workspace))]
    artifacts = {
        node.id.stage: [a for n in nodes if n.id.stage == node.id.stage for a in _outputs(n)] for node in nodes
    }
    scores = [artifact for artifact in artifacts["score"] if isinstance(artifact, TableArtifact)]
    for artifact in scores:
        artifact.part(1).write(artifact.read())
    tables = {PARQUET[stage]: of_stage for stage, of_stage in artifacts.items() if stage in PARQUET}
    for name, of_name in {**tables, "unfinished scores": [artifact.part(1) for artifact in scores]}.items():
        of_path = {path: one for one in of_name if isinstance(one, TableArtifact) for path in one.files()}
        yield Kept(f"Parquet: {name}", tuple(of_path), lambda path, of_path=of_path: _artifact(of_path[path]))
    stored = [one for one in artifacts["aggregate"] if isinstance(one, FilesArtifact)]
    history, database = sorted(stored, key=lambda one: workspace.database.name in one.written())
    (report,) = artifacts["report"]
    assert isinstance(report, FilesArtifact)
    pages = [path for path in workspace.report.rglob("*") if path.is_file() and path != report.manifest]
    yield Kept("database", (workspace.database,), lambda path: _artifact(database))
    yield Kept("page and figures", tuple(pages), lambda path: _artifact(report))
    snapshots = [path for path in history.folder.iterdir() if path != history.manifest]
    yield Kept("history", tuple(snapshots), lambda path: _artifact(history))
    manifests = {one.manifest: one for one in (history, database, report)}
    yield Kept("manifests of history, database and page", tuple(manifests), lambda path: _artifact(manifests[path]))
    layout = workspace.root / "workspace.json"
    yield Kept("workspace.json", (layout,), lambda path: {"layout": workspace.check_layout()})


def _outputs(node: Node) -> list[Artifact]:
    assert node.step is not None, node.id
    return [*node.step.outputs.values()]


def _artifact(artifact: Artifact) -> dict[object, object]:
    """How it stands, and its rows where it is a table."""
    check = artifact.check()
    if check.state == "damaged":
        raise SwaymeterError(check.reason)
    if check.state == "missing":
        return {}
    rows = artifact.read() if isinstance(artifact, TableArtifact) else None
    return {check.path: (check, rows)}


def _of_models(folder: Path) -> Iterator[Kept]:
    """A converted folder, a folder of the user's, and the hub's cache."""
    converted, digest = hub.cache_folder() / "models" / "some-0123456789abcdef-1", "0123456789abcdef" * 4

    def convert(gguf: Path, into: Path) -> None:
        save_language_model(into)

    def of_converted(path: Path) -> Parts:
        digest_once.cache_clear()  # as in the next process
        with mock.patch.object(hub, "_convert", _refused):
            assert hub.converted_folder(Path("some.gguf"), digest) == converted
        return {file.name: file.read_bytes() for file in files if file.name != "manifest.json"}

    with mock.patch.object(hub, "_convert", convert):
        hub.converted_folder(Path("some.gguf"), digest)
    files = tuple(sorted(converted.iterdir()))
    yield Kept("model: converted weights and tokenizer", files, of_converted)

    own = save_language_model(folder / "own-model")
    revision = identify_model(str(own), "language_model").revision

    def of_own(path: Path) -> Parts:
        digest_once.cache_clear()
        if identify_model(str(own), "language_model").revision != revision:
            raise SwaymeterError("another revision, whose scores have other keys")
        return {file.name: file.read_bytes() for file in own.iterdir()}

    yield Kept("model: a folder", tuple(sorted(own.iterdir())), of_own)

    snapshot, blobs = folder / "hub" / "snapshots" / "0123", folder / "hub" / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for file in own.iterdir():
        is_large = file.suffix == ".safetensors"
        blob = blobs / (hub.sha256_of(file) if is_large else git_hash(file.read_bytes()))
        blob.write_bytes(file.read_bytes())
        (snapshot / file.name).symlink_to(blob)

    def of_hub(path: Path) -> Parts:
        digest_once.cache_clear()
        with mock.patch.object(hub, "write_file"):  # what was verified is not read again while it seems unchanged
            hub.verify_snapshot("somebody/some-model", snapshot)
        return {file.name: file.read_bytes() for file in snapshot.iterdir()}

    yield Kept("model: the hub's cache", tuple(sorted(blobs.iterdir())), of_hub)


def _refused(gguf: Path, folder: Path) -> None:
    raise OSError("converted again")


def _of_downloads(folder: Path) -> Iterator[Kept]:
    """Cached responses, and a loaded graph."""
    file = folder / "answers" / "yago.sqlite"
    keys = [key_of(requests.Request("GET", f"http://127.0.0.1/?{n}").prepare()) for n in range(30)]
    with closing(HttpCache(file)) as cache:
        for number, key in enumerate(keys):
            body = f'{{"rows": ["Zürich", {number}, "{"x" * 40 * number}"]}}'.encode()
            cache.put(key, Reply(200, body, datetime.now(UTC)), "http://127.0.0.1/")

    def of_cache(path: Path) -> Parts:
        with closing(HttpCache(file)) as cache:
            found = {key: cache.get(key) for key in keys}
        return {key: reply for key, reply in found.items() if reply is not None}

    yield Kept("cached responses", (file,), of_cache)

    dump, graphs = written(folder, "a.ttl", TURTLE), folder / "graphs"
    shared_dump([dump], graphs)
    (place,) = graphs.glob("graph-*")

    def of_graph(path: Path) -> Parts:
        return {"rows": replace(Dump(place).select(ALL), query="").rows}

    yield Kept("a loaded graph", tuple(place.iterdir()), of_graph)

    def of_digests(path: Path) -> Parts:
        digest_once.cache_clear()
        return {"digest": dump_digest([dump], graphs)}

    yield Kept("digests of dumps", (graphs / "digests.json",), of_digests)


def _notes(folder: Path) -> Iterator[Kept]:
    """What a run notes, and what people decided."""
    workspace = Workspace(folder)
    rows = [
        Annotation(f"q{n}", "digest", "ann", "accept", None, None, None, None, "Zürich" * n, "a.xlsx", "2026-01-01")
        for n in range(20)
    ]
    made_from = {"step": "annotate", "annotator": "ann", "imported_at": "2026-01-01", "rows": ""}
    artifact = workspace.table(("annotations",), "ann", ANNOTATIONS, made_from)
    imported = artifact.write(ANNOTATIONS.of([as_row(row) for row in rows]))

    def of_annotations(path: Path) -> Parts:
        return {row.question_id: row for row in read_annotations(workspace)}

    yield Kept("annotations", (imported,), of_annotations)

    workspace.note_failure("fetch · capital", "0123", "YAGO is silent", "after 3 tries")
    (failure,) = (folder / "failures").iterdir()

    def of_failure(path: Path) -> Parts:
        reason = workspace.failure_reason("fetch · capital", "0123")
        return {} if reason is None else {"reason": reason}

    yield Kept("noted failures", (failure,), of_failure)

    numbers = folder / "forced.json"
    write_numbers(numbers, NO_NUMBERS.raised("force", ["0123"]))

    def of_numbers(path: Path) -> Parts:
        return dict(read_numbers(numbers).force)

    yield Kept("numbers of forced artifacts", (numbers,), of_numbers)
