"""The campaign tells what is noticed from what is silently different, and finds nothing in the notes of a run."""

import random
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from swaymeter.data.storage.sealed import sealed, unsealed
from tests.end_to_end.tiny_study import Command, TinyStudy
from tests.faults.campaign import on_dask
from tests.faults.campaign.case import WENT_ON, BrokenError, Case, group, judged
from tests.faults.campaign.flips import Kept, _flipped, _notes
from tests.faults.campaign.folders import can_mount, workspace_away
from tests.faults.campaign.interrupts import interrupted
from tests.faults.campaign.record import NOT_HIT, Outcome, Record

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


def a_case(folder: Path, scored: list[str]) -> Case:
    """A case with these files of scores, of two that an undisturbed run has."""
    undisturbed, study = (TinyStudy(folder, folder / name, folder, name) for name in ("undisturbed", "study"))
    for one, names in ((undisturbed, ["a-1", "b-1"]), (study, scored)):
        scores = one.workspace / "scores" / "capital" / "model"
        scores.mkdir(parents=True)
        for name in names:
            (scores / f"{name}.parquet").touch()
    return Case(study, undisturbed, folder, random.Random(0))


def a_run(folder: Path, status: int | None) -> Command:
    """A run that has ended with this status, or goes on."""
    said = folder / "said"
    said.touch()
    return Command(SimpleNamespace(exitcode=status, join=lambda seconds: None), said)


@pytest.mark.parametrize(("scored", "status", "verdict"), [
    (["a-1", "b-1"], None, NOT_HIT), (["a-1", "b-1"], 0, NOT_HIT), (["a-1"], 0, NOT_HIT),
    (["a-1"], 1, "CRASHED"), (["a-1", "b.part-00000-1"], None, "went on"),
])  # fmt: skip
def test_what_comes_too_late_is_not_hit(scored: list[str], status: int | None, verdict: str, tmp_path: Path) -> None:
    def happens(case: Case) -> str:
        case.happened_to_scoring(a_run(tmp_path, status))
        return "went on"

    assert judged(a_case(tmp_path, scored), happens)[0] == verdict


def test_a_row_that_nothing_hit_breaks_the_campaign(capsys: pytest.CaptureFixture[str]) -> None:
    record = Record()
    record.add("outages", [Outcome("a", NOT_HIT), Outcome("a", NOT_HIT), Outcome("b", NOT_HIT), Outcome("b", WENT_ON)])
    assert record.broken == 2
    assert "NEVER HIT 2" in capsys.readouterr().out
    assert "| b | 2 | not hit 1, went on 1 |" in record.markdown()


def test_a_crash_before_an_interrupt_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, model = tmp_path / "study.yaml", tmp_path / "model"
    file.write_text(f"models: [{{name: {model}}}]\n")
    model.mkdir()
    (model / "a.safetensors").touch()
    case = replace(a_case(tmp_path, []), study=TinyStudy(file, tmp_path / "workspace", tmp_path, "crashes"))
    monkeypatch.setattr("tests.faults.campaign.interrupts._with_slow_model", lambda case: case.study)
    monkeypatch.setattr("sys.executable", "/bin/false")
    assert judged(case, lambda case: interrupted(case, "threads"))[0] == "CRASHED"


@pytest.mark.skipif(not can_mount(), reason="mounting takes root")
def test_a_broken_folder_is_not_called_not_hit(tmp_path: Path) -> None:
    class GoesOn(Case):
        def through(self, stage: object, happen: Callable[[], None], *sentences: str, study: object = None) -> str:
            happen()
            return WENT_ON

        def complete(self, *options: str) -> None:
            raise BrokenError("DIFFERENT", "a file")

    study = TinyStudy(tmp_path, tmp_path / "study", tmp_path, "study")
    case = GoesOn(study, study, tmp_path, random.Random(0))
    assert judged(case, lambda case: workspace_away(case, 0.0))[0] == "DIFFERENT"


def test_a_worker_that_never_comes_back_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_dask, "MOST_SECONDS", 0.1)
    with pytest.raises(BrokenError, match="HUNG"):
        on_dask._kill_one(a_case(tmp_path, ["a-1"]), [], a_run(tmp_path, None))


def test_a_case_that_fails_leaves_no_process() -> None:
    process = subprocess.Popen(["/bin/sh", "-c", "sleep 60 & sleep 60"], start_new_session=True)
    with suppress(ZeroDivisionError), group(process):
        while len(children := psutil.Process(process.pid).children()) < 2:
            time.sleep(0.01)
        raise ZeroDivisionError
    _, alive = psutil.wait_procs(children, timeout=2)
    assert [one for one in alive if one.status() != psutil.STATUS_ZOMBIE] == []
