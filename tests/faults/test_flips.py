"""A flipped bit is noticed, costs a recomputation, or changes nothing that is read."""

import logging
import os
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from unittest import mock

import pytest
import requests

from swaymeter.data.digests import digest_once
from swaymeter.data.errors import MissingFile, SwaymeterError
from swaymeter.data.sources.graph.dump import Dump, dump_digest, shared_dump
from swaymeter.data.sources.http.answer import Answer
from swaymeter.data.sources.http.cache import HttpCache, key_of
from swaymeter.data.storage.artifact import Artifact, FilesArtifact, TableArtifact
from swaymeter.data.storage.stored_results import StoredResults
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.config.reading import read_study
from swaymeter.flows.graph.rerun import NO_NUMBERS, read_numbers, write_numbers
from swaymeter.flows.stages.plan import plan_of
from swaymeter.flows.study_graph import graph_of
from swaymeter.tasks.models.files import hub
from swaymeter.tasks.models.files.identity import identify_model
from tests.data.sources.graph.turtle import ALL, TURTLE, written
from tests.end_to_end.tiny_study import TinyStudy
from tests.tasks.models.tiny import save_language_model

FLIPS = 100
"""Flips of a kind of file in each draw."""
Content = Mapping[object, object]
"""Content of files by its name; content that is missing will be computed or fetched again."""


@dataclass(frozen=True)
class Files:
    """Files of a kind and the function that reads their content after a change of one of them."""

    paths: tuple[Path, ...]
    read: Callable[[Path], Content]

    def check(self, flips: int, generator: random.Random) -> None:
        """Flip random bits, one after another, and check what is read."""
        paths = [path for path in self.paths if path.stat().st_size]
        sound = {path: self.read(path) for path in paths}
        for _ in range(flips):
            path = generator.choice(paths)
            byte, bit = generator.randrange(path.stat().st_size), generator.randrange(8)
            with _flipped(path, byte, bit):
                try:
                    content = self.read(path)
                except (MissingFile, SwaymeterError):
                    continue
            changed = [part for part in content if part not in sound[path] or sound[path][part] != content[part]]
            assert not changed, f"{path.name}, bit {bit} of byte {byte}: {changed}"
        assert {path: self.read(path) for path in paths} == sound


@contextmanager
def _flipped(path: Path, byte: int, bit: int) -> Iterator[None]:
    handle = os.open(path, os.O_RDWR)
    try:
        (value,) = os.pread(handle, 1, byte)
        os.pwrite(handle, bytes([value ^ 1 << bit]), byte)
        yield
        os.pwrite(handle, bytes([value]), byte)
    finally:
        os.close(handle)


def _of_stage(folder: Path, finished: TinyStudy, *, stage: str) -> Files:
    """Return the artifacts of a stage."""
    study = finished.elsewhere(folder / "workspace")
    nodes = [node for node in graph_of(plan_of(read_study(study.file), Workspace(study.workspace))) if node.step]
    of_path: dict[Path, Artifact] = {}
    for node in nodes:
        for artifact in node.step.outputs.values() if node.step and node.id.stage == stage else ():
            of_path |= dict.fromkeys(_paths(artifact), artifact)
    return Files(tuple(of_path), lambda path: _content(of_path[path]))


def _paths(artifact: Artifact) -> list[Path]:
    if isinstance(artifact, TableArtifact):
        return artifact.files()
    assert isinstance(artifact, FilesArtifact)
    return [artifact.manifest, *(artifact.folder / name for name in artifact.digests())]


def _content(artifact: Artifact) -> Content:
    check = artifact.check()
    if check.state == "damaged":
        raise SwaymeterError(check.reason)
    if check.state == "missing":
        return {}
    return {check.path: (check, artifact.read() if isinstance(artifact, TableArtifact) else None)}


def _model_folder(folder: Path, finished: TinyStudy) -> Files:
    own = save_language_model(folder / "own-model")
    revision = identify_model(str(own), "language_model").revision

    def read(path: Path) -> Content:
        digest_once.cache_clear()  # as in the next process
        if identify_model(str(own), "language_model").revision != revision:
            raise SwaymeterError("another revision, whose scores have other keys")
        return {file.name: file.read_bytes() for file in own.iterdir()}

    return Files(tuple(sorted(own.iterdir())), read)


def _converted_model(folder: Path, finished: TinyStudy) -> Files:
    converted, digest = hub.cache_folder() / "models" / "some-0123456789abcdef-1", "0123456789abcdef" * 4
    with mock.patch.object(hub, "_convert", lambda gguf, into: save_language_model(into)):
        hub.converted_folder(Path("some.gguf"), digest)
    files = tuple(sorted(converted.iterdir()))

    def read(path: Path) -> Content:
        digest_once.cache_clear()
        with mock.patch.object(hub, "_convert", side_effect=OSError("converted again")):
            assert hub.converted_folder(Path("some.gguf"), digest) == converted
        return {file.name: file.read_bytes() for file in files if file.name != "manifest.json"}

    return Files(files, read)


def _cached_responses(folder: Path, finished: TinyStudy) -> Files:
    file = folder / "answers" / "yago.sqlite"
    keys = [key_of(requests.Request("GET", f"http://127.0.0.1/?{n}").prepare()) for n in range(30)]
    with closing(HttpCache(file)) as cache:
        for number, key in enumerate(keys):
            body = f'{{"rows": ["Zürich", {number}, "{"x" * 40 * number}"]}}'.encode()
            cache.put(key, Answer(200, body, datetime.now(UTC)))

    def read(path: Path) -> Content:
        with closing(HttpCache(file)) as cache:
            replies = {key: cache.get(key) for key in keys}
        return {key: reply for key, reply in replies.items() if reply is not None}

    return Files((file,), read)


def _loaded_graph(folder: Path, finished: TinyStudy) -> Files:
    dump, graphs = written(folder, "a.ttl", TURTLE), folder / "graphs"
    shared_dump([dump], graphs)
    (graph,) = graphs.glob("graph-*")
    return Files(tuple(graph.iterdir()), lambda path: {"rows": replace(Dump(graph).select(ALL), query="").rows})


def _dump_digests(folder: Path, finished: TinyStudy) -> Files:
    dump, graphs = written(folder, "a.ttl", TURTLE), folder / "graphs"
    shared_dump([dump], graphs)

    def read(path: Path) -> Content:
        digest_once.cache_clear()
        return {"digest": dump_digest([dump], graphs)}

    return Files((graphs / "digests.json",), read)


def _failures(folder: Path, finished: TinyStudy) -> Files:
    workspace = Workspace(folder)
    workspace.note_failure("fetch · capital", "0123", "YAGO is silent", "after 3 tries")
    (failure,) = (folder / "failures").iterdir()

    def read(path: Path) -> Content:
        reason = workspace.failure_reason("fetch · capital", "0123")
        return {} if reason is None else {"reason": reason}

    return Files((failure,), read)


def _stored_results(folder: Path, finished: TinyStudy) -> Files:
    def stored() -> StoredResults:
        return StoredResults(folder / "verdicts", {"name": "judge"})

    cases = [("When does it close?", f"Zürich, at {number}") for number in range(30)]
    stored().add({case: {"verdict": "context", "text": case[1]} for case in cases})
    (file,) = (folder / "verdicts").iterdir()

    def read(path: Path) -> Content:
        again = stored()
        return {case: result for case in cases if (result := again.get(case)) is not None}

    return Files((file,), read)


def _numbers(folder: Path, finished: TinyStudy) -> Files:
    file = folder / "forced.json"
    write_numbers(file, NO_NUMBERS.with_new("force", ["0123"]))
    return Files((file,), lambda path: dict(read_numbers(file).force))


KINDS: dict[str, Callable[[Path, TinyStudy], Files]] = {
    **{stage: partial(_of_stage, stage=stage) for stage in ("fetch", "build", "score", "aggregate", "report")},
    "folder of a model": _model_folder, "converted model": _converted_model, "cached responses": _cached_responses,
    "loaded graph": _loaded_graph, "digests of dumps": _dump_digests,
    "failures": _failures, "stored verdicts and replies": _stored_results, "numbers of forced artifacts": _numbers,
}  # fmt: skip


@pytest.mark.faults
@pytest.mark.parametrize("kind", KINDS)
def test_flipped_bits_are_never_silent(
    kind: str,
    draw: int,
    finished: tuple[TinyStudy, float],
    generator: random.Random,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.ERROR)
    monkeypatch.setenv("SWAYMETER_CACHE", str(tmp_path / "cache"))
    KINDS[kind](tmp_path, finished[0]).check(FLIPS, generator)


def test_a_silent_change_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "note"
    file.write_text("Oslo")
    with pytest.raises(AssertionError, match="note, bit"):
        Files((file,), lambda path: {"text": path.read_bytes()}).check(1, random.Random(0))
