"""The campaign tells what is noticed from what is silently different, and what was not hit from what went well."""

import json
import random
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import duckdb
import psutil
import pytest

from tests.data.sources.servers.faults import Asked
from tests.end_to_end.tiny_study import Command, Run, TinyStudy
from tests.faults.campaign import escapes, on_dask, others
from tests.faults.campaign.case import SAID, WENT_ON, BrokenError, Case, group, judged
from tests.faults.campaign.endpoints import FAULTS, Plan, of_study, of_texts
from tests.faults.campaign.flips import Kept, _flipped, _notes
from tests.faults.campaign.folders import workspace_away
from tests.faults.campaign.record import NOT_HIT, Outcome, Record
from tests.mounts import can_mount
from tests.tasks.models.endpoints.made_up import MadeUp


def test_a_silent_difference_breaks_a_guarantee(tmp_path: Path) -> None:
    file = tmp_path / "note"
    file.write_text("Oslo")
    record = Record()
    record.add("flips", _flipped(Kept("note", (file,), lambda path: {"text": path.read_bytes()}), 5, random.Random(0)))
    assert record.broken == 5
    assert "| note | 5 | DIFFERENT 5 | < 0.1 s |" in record.markdown()
    assert file.read_text() == "Oslo"


def test_flips_in_notes_are_never_silent(tmp_path: Path) -> None:
    record = Record()
    for kept in _notes(tmp_path):
        record.add(kept.kind, _flipped(kept, 40, random.Random(0)))
    assert (len(record.parts), record.broken) == (3, 0)


def test_slow_runs_and_rows_never_hit_are_broken(capsys: pytest.CaptureFixture[str]) -> None:
    record = Record()
    record.add("outages", [Outcome("a", NOT_HIT), Outcome("a", NOT_HIT), Outcome("b", NOT_HIT), Outcome("b", WENT_ON)])
    assert record.broken == 2
    assert "NEVER HIT 2" in capsys.readouterr().out
    record.add("kills", [Outcome("c", "equal", 119.0), Outcome("c", "equal", 121.0)])
    assert record.broken == 3
    assert [*record.markdown()][-1] == "| c | 2 | HUNG 1, equal 1 | 121.0 s |"


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
    return Command(SimpleNamespace(exitcode=status), said)


@pytest.mark.parametrize(
    ("scored", "status", "verdict"),
    [
        (["a-1", "b-1"], None, NOT_HIT),
        (["a-1"], 0, NOT_HIT),
        (["a-1"], 1, "CRASHED"),
        (["a-1", "b.part-00000-1"], None, WENT_ON),
    ],
)
def test_what_comes_too_late_is_not_hit(scored: list[str], status: int | None, verdict: str, tmp_path: Path) -> None:
    def happens(case: Case) -> str:
        case.happened_to_scoring(a_run(tmp_path, status))
        return WENT_ON

    assert judged(a_case(tmp_path, scored), happens)[0] == verdict


@pytest.mark.skipif(not can_mount(), reason="mounting takes root")
def test_a_broken_folder_is_not_called_not_hit(tmp_path: Path) -> None:
    class GoesOn(Case):
        def through(self, stage: object, happen: Callable[[], None], *sentences: str, study: object = None) -> str:
            happen()
            return WENT_ON

        def complete(self, *options: str, before: object = None) -> None:
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


def test_a_model_server_fails(tmp_path: Path, api: str) -> None:
    (fault,) = of_study(tmp_path, api, 1, 0, random.Random(10), partial(of_texts, questions=2))
    assert (fault.row, fault.verdict) == ("no JSON object", SAID), fault


def test_an_answer_that_is_asked_for_again_is_counted() -> None:
    answers, body = MadeUp(frozenset(), "openai"), json.dumps(
        {"model": "made-up", "messages": [{"content": "Where?"}], "seed": 0, "temperature": 0.0, "max_tokens": 1}
    ).encode()
    plan, asked = Plan(FAULTS[0], first=1, left=1), Asked("POST", "/ask/chat/completions", {}, {}, body, 0.0)
    said = [plan.say(asked, answers) for _ in range(3)]
    assert [say and say.status for say in said] == [None, 429, None]
    assert (plan.repeats, plan.again) == (2, [body, body])


@pytest.mark.parametrize(
    ("run", "written", "verdict"),
    [
        (Run(0, "found: Oslo"), "a,b\n'=1+1,-2\n", "went on"), (Run(2, r"error  \x1b is not known"), "", "refused"),
        (Run(0, "found: \x1b[2J"), "", "ACTED"), (Run(0, ""), "a,\x07\n", "ACTED"),
        (Run(0, ""), "a, =1+1\n", "COMPUTED"),
        (Run(1, "Traceback (most recent call last)"), "", "CRASHED"), (None, "", "HUNG"),
    ],
)  # fmt: skip
def test_what_acts_breaks_a_guarantee(run: Run | None, written: str, verdict: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(written)
    assert escapes.judged(run, tmp_path)[0] == verdict


def test_a_secret_that_is_told_is_found(tmp_path: Path) -> None:
    assert not others._tells(tmp_path)
    duckdb.sql(f"COPY (SELECT '{others.SECRET}' AS text) TO '{tmp_path / 'a.parquet'}' (COMPRESSION zstd)")
    assert others._tells(tmp_path)
