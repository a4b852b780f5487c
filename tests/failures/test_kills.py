"""A kill costs at most the chunk in progress and leaves no process, and the next run goes on."""

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import psutil
import pytest

from tests.end_to_end.tiny_study import Run, TinyStudy


class PromptCount(int):
    """A number of prompts. For a measure without prompts, the same argument is a number of items, a plain `int`."""


@dataclass(frozen=True)
class Kill:
    """A function that a command calls first, and that lets the command kill itself.

    Attributes:
        moment: the event before which the command dies: a layer of the model computes in the nth chunk, the nth file of
            a part of the scores is renamed, or the nth table is loaded into the database.
        nth: the number of the chunk or event, from 1.
        prompt_log: a file that grows by one byte for each prompt of a chunk that begins.
    """

    moment: Literal["layer", "rename", "load"]
    nth: int
    prompt_log: Path

    def __call__(self) -> None:
        from transformers.models.llama.modeling_llama import LlamaMLP

        from swaymeter.data.warehouse.loading import Building
        from swaymeter.tasks.measures import stored_chunks

        log = os.open(self.prompt_log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        report, count_prompts = stored_chunks._chunk_reporter, stored_chunks.count_prompts
        chunks = events = 0

        def report_and_count(progress: Any, done: int, amount: int, total: int) -> Any:
            nonlocal chunks
            if isinstance(amount, PromptCount) and amount:
                chunks += 1
                os.write(log, b"." * amount)
            return report(progress, done, amount, total)

        def die_at_moment(subject: Any) -> None:
            nonlocal events
            if self.moment == "rename" and ".part-" not in subject.name:
                return
            events += 1
            count = chunks if self.moment == "layer" else events
            if count == self.nth:
                os.kill(os.getpid(), signal.SIGKILL)

        stored_chunks._chunk_reporter = report_and_count  # is called when a chunk begins
        stored_chunks.count_prompts = lambda *arguments: PromptCount(count_prompts(*arguments))
        methods = {"layer": (LlamaMLP, "forward"), "rename": (Path, "replace"), "load": (Building, "_insert")}
        _call_before(*methods[self.moment], die_at_moment)


def _call_before(owner: type, method: str, function: Callable[[Any], None]) -> None:
    original = getattr(owner, method)

    def function_and_method(self: Any, *arguments: Any, **options: Any) -> Any:
        function(self)
        return original(self, *arguments, **options)

    setattr(owner, method, function_and_method)


SECONDS_TO_DIE = 5


@pytest.fixture
def fresh(undisturbed: tuple[TinyStudy, Run], tmp_path: Path) -> Iterator[TinyStudy]:
    """Yield the study in an empty workspace, and kill its processes at the end."""
    study = undisturbed[0].copy(tmp_path / "workspace", with_files=False)
    yield study
    for process in study.processes():
        process.kill()


def kill(study: TinyStudy, moment: Literal["layer", "rename", "load"], nth: int) -> int:
    """Kill a run at a moment, check that no process survives, and return the prompts of the begun chunks."""
    prompt_log = study.workspace.parent / "prompts"
    run = study.run("run", before=Kill(moment, nth, prompt_log))
    assert run.code == -signal.SIGKILL, run.output
    _, alive = psutil.wait_procs(study.processes(), timeout=SECONDS_TO_DIE)
    assert alive == []
    return prompt_log.stat().st_size


def test_run_killed_at_three_moments_ends_as_undisturbed(undisturbed: tuple[TinyStudy, Run], fresh: TinyStudy) -> None:
    finished, run = undisturbed
    total_prompts, relation_prompts = run.prompts, finished.stored_prompts("capital", "persuasion")
    first_chunk = relation_prompts * 2 // 3  # 8 of the relation's 12 queries
    assert finished.stored_prompts() == total_prompts

    # in a forward pass of the second chunk: the first chunk is stored, and no file is half-written
    assert kill(fresh, "layer", 2) == relation_prompts
    assert fresh.stored_prompts() == first_chunk

    # before the rename of a temporary file: at most the chunk of this file is lost
    second_chunk = relation_prompts - first_chunk
    begun = kill(fresh, "rename", 2)
    assert begun >= second_chunk
    assert len(fresh.temporary_files()) == 1
    stored = fresh.stored_prompts()
    assert 0 <= first_chunk + begun - stored <= max(first_chunk, second_chunk)

    # while the database is loaded: the run has computed the missing scores and no others
    assert kill(fresh, "load", 4) == total_prompts - stored
    assert fresh.temporary_files() != []
    assert not (fresh.workspace / "study.duckdb").exists()

    # without a kill: all scores are stored already, and do not change
    before = fresh.write_times()
    last = fresh.run("run")
    assert fresh.write_times() == before
    assert (last.code, last.prompts) == (0, 0), last.output
    assert fresh.processes() == []
    assert fresh.temporary_files() == []
    assert fresh.scores() == finished.scores()
    assert fresh.results() == finished.results()
    assert {name for name, *_ in fresh.results()["runs"]} >= {"persuasion", "susceptibility", "answers", "persuaded"}
