import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from swaymeter.data.errors import DamagedFile
from swaymeter.data.storage.notes import sealed
from swaymeter.flows.cli.pipeline import Selected
from swaymeter.flows.execution.flow import _request, _settle
from swaymeter.flows.graph.rerun import EXPIRES, Rerun, Reruns, read_reruns, write_reruns
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.graph.step import StepId
from swaymeter.flows.stages.resolve import reruns_of
from tests.flows.small_study import again, prepare, run, selected

NOW = datetime.now(UTC)
FACTS, QUESTIONS = StepId("fetch", "capital", "facts"), StepId("fetch", "static", "questions")
WHOLE = Selection().as_json()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "reruns.json"


def test_requests_are_read_as_they_were_written(file: Path) -> None:
    requests = [Rerun(NOW, "force", WHOLE), Rerun(NOW, "refresh", WHOLE)]
    write_reruns(file, requests)
    assert read_reruns(file) == requests
    write_reruns(file, [])
    assert not file.exists()
    write_reruns(file, [])


def test_a_request_expires(file: Path) -> None:
    write_reruns(file, [Rerun(NOW - EXPIRES - timedelta(minutes=1), "force", WHOLE)])
    assert read_reruns(file) == []


SOUND = {"since": NOW.isoformat(), "kind": "force", "selection": WHOLE}
DAMAGED = [
    "", "{", "7", "{}", "[7]", json.dumps([SOUND]), sealed({"requests": [7]}), sealed({"requests": SOUND}),
    sealed({"requests": [SOUND]}).replace("force", "refresh"),
    *(sealed({"requests": [SOUND | change]}) for change in ({"since": "2026-01-01T00:00:00"}, {"kind": "x"})),
]  # fmt: skip


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_file_says_to_ask_again(content: str, file: Path) -> None:
    file.write_text(content)
    with pytest.raises(
        DamagedFile, match=r"reruns\.json, which notes .* cannot be read .*; remove it, and ask again by"
    ):
        read_reruns(file)


def test_a_request_of_another_selection_is_none(file: Path) -> None:
    file.write_text(sealed({"requests": [SOUND]}))
    assert len(read_reruns(file)) == 1
    file.write_text(sealed({"requests": [SOUND | {"selection": {}}]}))
    assert read_reruns(file) == []


def test_every_matching_request_counts() -> None:
    both = (Rerun(NOW - timedelta(hours=1), "force", {}), Rerun(NOW, "force", {}))
    reruns = Reruns(both, lambda request, step: step == FACTS)
    assert reruns.of(FACTS, "force") == {request.name for request in both}
    assert reruns.of(FACTS, "refresh") == reruns.of(QUESTIONS, "force") == frozenset()


def test_a_refresh_asks_for_questions_and_disputes_alone(tmp_path: Path) -> None:
    study = prepare(selected(tmp_path))
    write_reruns(reruns_of(study.workspace), [Rerun(datetime.now(UTC), "refresh", WHOLE)])
    asked = {node.id for node in again(study).graph if node.state == "missing" and node.id.stage == "fetch"}
    assert asked == {QUESTIONS}
    ran: list[StepId] = []
    run(lambda: again(study).graph, Selection(stages=("fetch", "build")), lambda step: ran.append(step.id))
    assert ran == [QUESTIONS]  # its content is the same


def test_a_request_is_for_its_own_study(tmp_path: Path) -> None:
    names = ("first", "second")
    first, second = (prepare(selected(tmp_path, name=name, measures={"persuasion": {}})) for name in names)
    file, whole = reruns_of(first.workspace), Selection()

    def asked(study: Selected) -> bool:
        return any("asked for on" in node.reason for node in again(study).graph)

    for study in (first, second, first):
        _request(study.workspace, whole, {"force": True})
    assert [request.study for request in read_reruns(file)] == ["first", "second"]
    write_reruns(file, read_reruns(file)[:1])
    assert [asked(study) for study in (first, second)] == [True, False]
    _settle(second.workspace, again(second).graph)
    assert asked(first)
    write_reruns(file, [Rerun(NOW, "force", WHOLE)])  # of a version before
    assert [asked(study) for study in (first, second)] == [True, True]
