"""The campaign tells what is noticed from what is silently different, and finds nothing in the notes of a run."""

import random
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from data.storage.sealed import sealed, unsealed
from tests.end_to_end.tiny_study import Command, TinyStudy
from tests.faults.campaign.case import NOT_HIT, Case, group, judged
from tests.faults.campaign.flips import Kept, _flipped, _notes
from tests.faults.campaign.record import Outcome, Record

FLIPS = 40


def test_a_silent_difference_breaks_a_guarantee(tmp_path: Path) -> None:
    file = tmp_path / "note"
    file.write_text("Oslo")
    record = Record()
    record.add("flips", _flipped(Kept("note", (file,), lambda path: {"text": path.read_bytes()}), 5, random.Random(0)))
    assert record.broken == 5
    assert "| note | 5 | DIFFERENT 5 |" in record.markdown()
    assert file.read_text() == "Oslo"


@pytest.mark.parametrize(
    ("outcome", "broken"),
    [(Outcome("a", "equal", 119.0), 0), (Outcome("a", "equal", 121.0), 1), (Outcome("a", "refused", mib=2049.0), 1)],
)
def test_time_and_memory_are_bounded(outcome: Outcome, broken: int) -> None:
    record = Record()
    record.add("services", [outcome])
    assert record.broken == broken


def test_flips_in_notes_are_never_silent(tmp_path: Path) -> None:
    record, generator = Record(), random.Random(0)
    for kept in _notes(tmp_path):
        record.add(kept.kind, _flipped(kept, FLIPS, generator))
    assert (len(record.parts), record.broken) == (3, 0)


def test_sealed_notes_are_read_as_written_or_refused() -> None:
    content = {"step": "fetch · Zürich", "sha256 of": ["x", 1.5, None]}
    text = sealed(content)
    assert unsealed(text) == content
    for place, character in enumerate(text):
        changed = text[:place] + chr(ord(character) ^ 1) + text[place + 1 :]
        try:
            assert unsealed(changed) == content
        except ValueError:
            continue


@pytest.mark.parametrize(("scored", "status", "verdict"), [
    (["a-1", "b-1"], None, NOT_HIT), (["a-1", "b-1"], 0, NOT_HIT), (["a-1"], 0, NOT_HIT),
    (["a-1"], 1, "CRASHED"), (["a-1", "b.part-00000-1"], None, "went on"),
])  # fmt: skip
def test_what_comes_too_late_is_not_hit(scored: list[str], status: int | None, verdict: str, tmp_path: Path) -> None:
    undisturbed, study = (TinyStudy(tmp_path, tmp_path / name, tmp_path, name) for name in ("undisturbed", "study"))
    for one, names in ((undisturbed, ["a-1", "b-1"]), (study, scored)):
        folder = one.workspace / "scores" / "capital" / "model"
        folder.mkdir(parents=True)
        for name in names:
            (folder / f"{name}.parquet").touch()
    said = tmp_path / "said"
    said.touch()
    running = Command(SimpleNamespace(exitcode=status, join=lambda seconds: None), said)

    def happens(case: Case) -> str:
        case.happened_to_scoring(running)
        return "went on"

    assert judged(Case(study, undisturbed, tmp_path, random.Random(0)), happens)[0] == verdict


def test_a_case_that_fails_leaves_no_process() -> None:
    process = subprocess.Popen(["/bin/sh", "-c", "sleep 60 & sleep 60"], start_new_session=True)
    with suppress(ZeroDivisionError), group(process):
        while len(children := psutil.Process(process.pid).children()) < 2:
            time.sleep(0.01)
        raise ZeroDivisionError
    _, alive = psutil.wait_procs(children, timeout=2)
    assert [one for one in alive if one.status() != psutil.STATUS_ZOMBIE] == []
