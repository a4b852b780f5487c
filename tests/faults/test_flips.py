"""A flipped bit is noticed, costs a recomputation, or changes nothing that is read.

Tests of cached responses, loaded graphs, sealed notes, converted models and packages are beside their modules.
"""

import logging
import os
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from swaymeter.data.digests import digest_once
from swaymeter.data.errors import MissingFile, SwaymeterError
from swaymeter.data.storage.artifact import Artifact, FilesArtifact, TableArtifact
from swaymeter.data.storage.stored_results import StoredResults
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.config.study import read_study
from swaymeter.flows.stages.plan import plan_of
from swaymeter.flows.study_graph import graph_of
from swaymeter.tasks.models.files.identity import identify_model
from tests.end_to_end.tiny_study import TinyStudy
from tests.faults.case import Undisturbed
from tests.tasks.models.tiny import save_language_model

FLIPS = 100
"""Flips of a kind of file in each draw."""


@dataclass(frozen=True)
class Files:
    """Files of a kind, and the function that reads their content by its name after a change of one of them.

    Content that the function leaves out will be computed or fetched again.
    """

    paths: tuple[Path, ...]
    read: Callable[[Path], Mapping[object, object]]

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


def _artifacts(folder: Path, finished: TinyStudy, *, stage: str) -> Files:
    """Return the files of a stage's artifacts."""
    study = finished.elsewhere(folder / "workspace")
    nodes = graph_of(plan_of(read_study(study.file), Workspace(study.workspace)))
    artifacts: dict[Path, Artifact] = {}
    for step in (node.step for node in nodes if node.step and node.id.stage == stage):
        for artifact in step.outputs.values():
            if isinstance(artifact, FilesArtifact):
                paths = [artifact.manifest, *(artifact.folder / name for name in artifact.digests())]
            else:
                paths = artifact.files()
            artifacts |= dict.fromkeys(paths, artifact)

    def read(path: Path) -> Mapping[object, object]:
        artifact = artifacts[path]
        check = artifact.check()
        if check.state == "damaged":
            raise SwaymeterError(check.reason)
        if check.state == "missing":
            return {}
        if isinstance(artifact, TableArtifact):
            return {check.path: artifact.read()}
        return {} if path == artifact.manifest else {path: path.read_bytes()}

    return Files(tuple(artifacts), read)


def _model_folder(folder: Path, finished: TinyStudy) -> Files:
    own = save_language_model(folder / "own-model")
    revision = identify_model(str(own), "language_model").revision

    def read(path: Path) -> Mapping[object, object]:
        digest_once.cache_clear()  # as in the next process
        if identify_model(str(own), "language_model").revision != revision:
            raise SwaymeterError("another revision, whose scores have other keys")
        return {file.name: file.read_bytes() for file in own.iterdir()}

    return Files(tuple(sorted(own.iterdir())), read)


def _stored_results(folder: Path, finished: TinyStudy) -> Files:
    def stored() -> StoredResults:
        return StoredResults(folder / "verdicts", {"name": "judge"})

    cases = [("When does it close?", f"Zürich, at {number}") for number in range(30)]
    stored().add({case: {"verdict": "context", "text": case[1]} for case in cases})

    def read(path: Path) -> Mapping[object, object]:
        again = stored()
        return {case: result for case in cases if (result := again.get(case)) is not None}

    return Files(tuple((folder / "verdicts").iterdir()), read)


KINDS: dict[str, Callable[[Path, TinyStudy], Files]] = {
    **{stage: partial(_artifacts, stage=stage) for stage in ("fetch", "build", "score", "aggregate", "report")},
    "folder of a model": _model_folder,
    "stored verdicts and replies": _stored_results,
}


@pytest.mark.faults
@pytest.mark.parametrize("kind", KINDS)
def test_flipped_bits_are_never_silent(
    kind: str,
    draw: int,
    undisturbed_study: Undisturbed,
    generator: random.Random,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.ERROR)
    KINDS[kind](tmp_path, undisturbed_study.study).check(FLIPS, generator)


def test_a_silent_change_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "note"
    file.write_text("Oslo")
    with pytest.raises(AssertionError, match="note, bit"):
        Files((file,), lambda path: {"text": path.read_bytes()}).check(1, random.Random(0))
