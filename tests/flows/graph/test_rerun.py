import json
from pathlib import Path

import pytest

from swaymeter.data.errors import DamagedFile
from swaymeter.data.storage.notes import seal
from swaymeter.flows.graph.graph import StepId
from swaymeter.flows.graph.rerun import NO_NUMBERS, numbers_file, read_numbers, write_numbers
from swaymeter.flows.graph.selection import Selection
from tests.flows.small_study import load_study, prepare, renew, run

QUESTIONS = StepId("fetch", "static", "questions")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "forced.json"


def test_rerun_numbers_are_read_as_written(file: Path) -> None:
    numbers = NO_NUMBERS.with_new("force", ["a", "b"]).with_new("refresh", ["b"])
    write_numbers(file, numbers)
    assert read_numbers(file) == numbers
    assert numbers.of("a") == (numbers.force["a"], 0)
    assert numbers.of("b") == (numbers.force["b"], numbers.refresh["b"])
    assert numbers.of("c") == (0, 0)
    assert numbers.refresh["b"] > numbers.force["b"]


VALID = {"force": {"a": 7}, "refresh": {}}
DAMAGED = [
    "",
    "{",
    "7",
    "{}",
    json.dumps(VALID),
    seal({"force": {"a": 7}}),
    seal(VALID).replace("7", "8"),
    seal({"force": 7, "refresh": {}}),
    seal({"force": {"a": "x"}, "refresh": {}}),
]


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_file_is_named(content: str, file: Path) -> None:
    file.write_text(content)
    with pytest.raises(
        DamagedFile, match=r"forced\.json of the artifacts .* cannot be read .*; remove the file and run again"
    ):
        read_numbers(file)


def test_a_refresh_fetches_only_the_questions(tmp_path: Path) -> None:
    study = prepare(load_study(tmp_path))
    write_numbers(numbers_file(study.workspace), Selection().rerun_numbers(study.graph, {"refresh": True}))
    missing = {node.id for node in renew(study).graph if node.state == "missing" and node.id.stage == "fetch"}
    assert missing == {QUESTIONS}  # only the source of questions changes daily
    ran: list[StepId] = []
    run(lambda: renew(study).graph, Selection(stages=("fetch", "build")), lambda step: ran.append(step.id))
    assert ran == [QUESTIONS]  # the content is the same, so later steps stay done


def test_studies_share_the_forced_artifacts(tmp_path: Path) -> None:
    names = ("first", "second")
    first, second = (prepare(load_study(tmp_path, name=name, measures={"persuasion": {}})) for name in names)
    chosen = Selection(relations=("capital",), stages=("build",))
    write_numbers(numbers_file(first.workspace), chosen.rerun_numbers(first.graph, {"force": True}))
    run(lambda: renew(first).graph, Selection(stages=("fetch", "build")))
    assert {node.state for node in renew(second).graph if node.id.stage == "build"} == {"done"}
