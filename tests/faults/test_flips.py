"""A flipped bit is noticed, costs a recomputation, or changes nothing that is read.

Tests of cached responses, loaded graphs, files with a checksum line, converted models and packages are beside their
modules.
"""

import os
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from swaymeter.data.digests import digest_once
from swaymeter.data.errors import SwaymeterError
from swaymeter.data.storage.artifact import Artifact, FilesArtifact
from swaymeter.data.storage.stored_results import StoredResults
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.config.study import read_study
from swaymeter.flows.stages.plan import plan_of
from swaymeter.flows.study_graph import graph_of
from swaymeter.tasks.models.files.identity import identify_model
from tests.faults.case import Case
from tests.tasks.models.tiny import save_language_model

FLIPS = 100
"""Random flips in each test."""
Content = Mapping[object, object]
"""Parts of a content by name; a part that is missing will be computed again."""


def check_flips(read: Callable[[Path], Content], paths: list[Path], generator: random.Random) -> None:
    """Flip random bits of files, one after another, and check that no part of their content changes silently."""
    paths = [path for path in paths if path.stat().st_size]
    sound = {path: read(path) for path in paths}
    for _ in range(FLIPS):
        path = generator.choice(paths)
        byte, bit = generator.randrange(path.stat().st_size), generator.randrange(8)
        with flipped(path, byte, bit), suppress(SwaymeterError):
            assert read(path).items() <= sound[path].items(), f"{path.name}, bit {bit} of byte {byte}"
    assert {path: read(path) for path in paths} == sound


@contextmanager
def flipped(path: Path, byte: int, bit: int) -> Iterator[None]:
    with path.open("r+b", buffering=0) as file:
        (value,) = os.pread(file.fileno(), 1, byte)
        os.pwrite(file.fileno(), bytes([value ^ 1 << bit]), byte)
        try:
            yield
        finally:
            os.pwrite(file.fileno(), bytes([value]), byte)


@pytest.mark.parametrize("stage", ["fetch", "build", "score", "aggregate", "report"])
def test_flips_in_artifacts(stage: str, local_study: Case, generator: random.Random, tmp_path: Path) -> None:
    study = local_study.study.copy(tmp_path / "workspace")
    nodes = graph_of(plan_of(read_study(study.file), Workspace(study.workspace)))
    artifacts: dict[Path, Artifact] = {}
    steps = [node.step for node in nodes if node.step and node.id.stage == stage]
    for artifact in (output for step in steps for output in step.outputs.values()):
        if isinstance(artifact, FilesArtifact):
            paths = [artifact.manifest, *map(artifact.folder.joinpath, artifact.digests())]
        else:
            paths = artifact.files()
        artifacts |= dict.fromkeys(paths, artifact)

    def read(path: Path) -> Content:
        return {path: path.read_bytes()} if artifacts[path].check().state == "done" else {}

    assert all(map(read, artifacts))
    check_flips(read, [*artifacts], generator)


def test_flips_in_a_model(generator: random.Random, tmp_path: Path) -> None:
    folder = save_language_model(tmp_path / "own-model")
    revision = identify_model(str(folder), "language_model").revision

    def read(path: Path) -> Content:
        digest_once.cache_clear()  # as in the next process
        is_same = identify_model(str(folder), "language_model").revision == revision
        return {file.name: file.read_bytes() for file in folder.iterdir()} if is_same else {}

    check_flips(read, sorted(folder.iterdir()), generator)


def test_flips_in_stored_results(generator: random.Random, tmp_path: Path) -> None:
    results = {("When does it close?", f"Zürich, at {n}"): {"verdict": "context", "text": str(n)} for n in range(30)}
    StoredResults(tmp_path / "verdicts", {"name": "judge"}).add(results)

    def read(path: Path) -> Content:
        stored = StoredResults(tmp_path / "verdicts", {"name": "judge"})
        return {case: stored.get(case) for case in results if stored.get(case)}

    check_flips(read, [*(tmp_path / "verdicts").iterdir()], generator)


def test_a_silent_change_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "note"
    file.write_text("Oslo")
    with pytest.raises(AssertionError, match="note, bit"):
        check_flips(lambda path: {"text": path.read_bytes()}, [file], random.Random(0))
