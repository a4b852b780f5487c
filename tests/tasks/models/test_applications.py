"""Applications: calls of a user's function, their errors, and the import of its module."""

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.errors import ModelError
from swaymeter.data.records import ALONE, Passage, Question, QuestionContext
from swaymeter.data.storage.stored_results import StoredResults
from swaymeter.tasks.models import applications
from swaymeter.tasks.models.applications import Application, function_revision, load_application, load_function

PASSAGE = Passage("It closes at 8.", "conflicting", ("8",), title="News")
CONTEXT = QuestionContext("c", "conflicting", (PASSAGE,), ("8",))


def cases(count: int = 1) -> list[applications.Case]:
    return [(question(f"When {number}?"), CONTEXT) for number in range(count)]


def question(text: str) -> Question:
    return Question(
        question_id=text,
        relation="r",
        partition="own",
        subject="",
        subject_id=None,
        property_id=None,
        object="6",
        object_id=None,
        answers=("6",),
        replacement="",
        question=text,
        contexts=(CONTEXT,),
        edits=None,
        subject_popularity=None,
        object_popularity=None,
        id_source=None,
        source="s",
        licence="l",
        flags=(),
    )  # type: ignore[arg-type]


def application(function: Callable[..., Any], folder: Path | None = None, **options: Any) -> Application:
    return Application("app", "1", "my_app.py:answer", function, StoredResults(folder, {"function": "1"}), **options)


def test_an_application_gets_passages_without_kinds() -> None:
    received = []
    app = application(lambda text, passages: received.append((text, passages)) or " 6 \n")
    answers = app.replies([(question("When?"), CONTEXT), (question("When?"), ALONE)])
    assert [(answer.text, answer.state) for answer in answers] == [("6", "complete")] * 2
    assert received == [("When?", [applications.Passage("It closes at 8.", id="1", title="News")]), ("When?", [])]


@pytest.mark.parametrize("is_async", [False, True])
def test_calls_run_at_the_same_time(is_async: bool) -> None:
    running, highest, lock = 0, 0, threading.Lock()

    def count(step: int) -> None:
        nonlocal running, highest
        with lock:
            running += step
            highest = max(highest, running)

    def synchronous(text: str, passages: Any) -> str:
        count(1)
        time.sleep(0.05)
        count(-1)
        return text

    async def asynchronous(text: str, passages: Any) -> str:
        count(1)
        await asyncio.sleep(0.05)
        count(-1)
        return text

    app = application(asynchronous if is_async else synchronous, concurrency=3)
    assert [answer.text for answer in app.replies(cases(9))] == [f"When {number}?" for number in range(9)]
    assert highest == 3


class Refused(Exception):
    status_code = 429


@pytest.mark.parametrize(
    ("error", "calls"),
    [(TimeoutError(), 3), (ConnectionResetError(), 3), (Refused(), 3), (KeyError("x"), 1), (SystemExit(2), 1)],
)
def test_only_transient_errors_are_retried(error: BaseException, calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenacity.nap.time.sleep", lambda seconds: None)
    texts = []

    def answer(text: str, passages: Any) -> str:
        texts.append(text)
        if text == "When 0?":
            raise error
        return "6"

    failed, good = application(answer).replies(cases(2))
    assert (failed.state, good.state) == ("failed", "complete")
    assert failed.error is not None
    assert failed.error.startswith("my_app.py:answer failed: ")
    assert failed.error.endswith(" (question 'When 0?')")
    assert type(error).__name__ in failed.error
    assert texts.count("When 0?") == calls


@pytest.mark.parametrize("is_async", [False, True])
def test_a_call_that_hangs_times_out(is_async: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(applications, "TRIES", 1)

    def synchronous(text: str, passages: Any) -> str:
        time.sleep(5 if text == "When 0?" else 0)
        return "6"

    async def asynchronous(text: str, passages: Any) -> str:
        await asyncio.sleep(5 if text == "When 0?" else 0)
        return "6"

    start = time.monotonic()
    failed, good = application(asynchronous if is_async else synchronous, timeout_s=0.1).replies(cases(2))
    assert (failed.state, good.text) == ("failed", "6")
    assert "no reply within 0.1 s" in str(failed.error)
    assert time.monotonic() - start < 3


def test_reply_without_text_has_failed() -> None:
    failed, empty = application(lambda text, passages: None if text == "When 0?" else "").replies(cases(2))
    assert failed.error == "my_app.py:answer returned NoneType in place of a text (question 'When 0?')"
    assert empty.state == "empty"


def test_an_application_that_always_fails_ends_the_pass() -> None:
    with pytest.raises(ModelError, match=r"every reply failed; the first error is: my_app\.py:answer failed: KeyError"):
        application(lambda text, passages: {}["x"]).replies(cases(3))


@pytest.mark.parametrize(("error", "is_outage"), [(KeyError("x"), False), (ConnectionRefusedError(), True)])
def test_only_outages_end_passes_with_replies(
    error: Exception, is_outage: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tenacity.nap.time.sleep", lambda seconds: None)

    def answer(text: str, passages: Any) -> str:
        if text == "When 0?":
            return "6"
        raise error

    app, all_cases = application(answer), cases(9)
    app.replies(all_cases[:1])
    if is_outage:
        with pytest.raises(
            ModelError, match=r"6 questions in a row failed; the first error is: .*ConnectionRefusedError"
        ):
            app.replies(all_cases[1:])
    else:
        assert {reply.state for reply in app.replies(all_cases[1:])} == {"failed"}


def test_errors_before_any_reply_end_the_pass() -> None:
    calls = []

    def answer(text: str, passages: Any) -> str:
        calls.append(text)
        raise KeyError("x")

    app = application(answer)
    with pytest.raises(
        ModelError, match=r"6 questions in a row failed; the first error is: my_app\.py:answer failed: KeyError"
    ):
        app.replies(cases(500))
    assert len(calls) < 20


def test_stored_replies_are_not_requested_again(tmp_path: Path) -> None:
    texts = []

    def answer(text: str, passages: Any) -> str:
        texts.append(text)
        if len(texts) == 2:
            raise KeyError
        return "6"

    assert [answer.state for answer in application(answer, tmp_path).replies(cases(3))].count("failed") == 1
    assert {answer.state for answer in application(answer, tmp_path).replies(cases(3))} == {"complete"}
    assert len(texts) == 4


MODULE = """
import pathlib
pathlib.Path({mark!r}).touch()
VERSION = "{version}"
def answer(question, passages): return "6"
"""


def test_revision_needs_no_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark, package = tmp_path / "imported", tmp_path / "pack"
    package.mkdir()
    (package / "__init__.py").write_text("raise AssertionError")
    file = package / "app.py"
    monkeypatch.syspath_prepend(tmp_path)
    revisions = []
    for version in "12":
        file.write_text(MODULE.format(mark=str(mark), version=version))
        revisions.append(function_revision(f"{file}:answer"))
        assert function_revision("pack.app:answer") == revisions[-1]
    assert [revision[:2] for revision in revisions] == ["1 ", "2 "]
    assert not mark.exists()
    with pytest.raises(ModelError, match="has changed since the run began"):
        load_application("app", f"{file}:answer", revisions[0], None)
    assert load_application("app", f"{file}:answer", revisions[1], None).replies(cases())[0].text == "6"
    assert mark.exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def answer(question): return question", "does not take a question and passages"),
        ("def answers(question, passages): return question", "has no function answer; did you mean 'answers'?"),
        ("import nowhere_at_all", "cannot be imported: ModuleNotFoundError"),
    ],
)
def test_unusable_function_is_refused(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "my_app.py"
    file.write_text(text)
    with pytest.raises(ModelError) as error:
        load_function(f"{file}:answer")
    assert message in str(error.value)
    assert f"function {file}:answer" in str(error.value)


def test_function_named_by_workspace_is_not_imported(tmp_path: Path) -> None:
    mark, file = tmp_path / "imported", tmp_path / "my_app.py"
    file.write_text(MODULE.format(mark=str(mark), version="1"))
    with pytest.raises(ModelError, match="whose code may be somebody else's; to run the function, add --model"):
        load_function(f"{file}:answer", is_in_workspace=True)
    assert not mark.exists()
    applications.trust_function(f"{file}:answer")  # as --model does
    load_function(f"{file}:answer", is_in_workspace=True)
    assert mark.exists()
