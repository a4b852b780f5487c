"""An application that misbehaves in the middle of an audit: the audit ends, and no reply is asked for twice."""

import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from tests.end_to_end.tiny_study import Run, TinyStudy

pytestmark = pytest.mark.faults
QUESTIONS = [f"When does hall {number} close?" for number in range(1, 9)]
APPLICATION = """
from pathlib import Path

FOLDER = Path(__file__).parent


def answer(question, passages):
    with (FOLDER / "calls").open("a") as calls:
        calls.write(f"{question} {len(passages)}\\n")
    names = {"file": Path(__file__), "question": question}
    if question in (FOLDER / "questions").read_text().splitlines():
        exec((FOLDER / "fault").read_text(), names)
    return names["reply"] if "reply" in names else passages[0].text if passages else "I do not know."
"""


@dataclass(frozen=True)
class Fault:
    """A fault of an application.

    Attributes:
        body: the statements that the application runs in place of a reply, or before it.
        code: the exit status of the audit.
        reason: the reason of failed replies, which the audit prints; empty if the replies are right.
    """

    body: str
    code: int = 0
    reason: str = ""


FAULTS = {
    "hangs": Fault("import time; time.sleep(60)", reason="no reply within 1 s"),
    "raises": Fault("raise KeyError(question)", reason="KeyError: "),
    "ends the program": Fault("raise SystemExit(3)", reason="SystemExit: 3"),
    "gives no text": Fault("reply = None", reason="returned NoneType in place of a text"),
    "prints": Fault("print('\\x1b[2J' * 100_000)"),
    "forks": Fault("import os; os.fork()"),
    "enters another folder": Fault("import os; os.chdir('/')"),
    "is changed": Fault("file.write_text(file.read_text() + '# later')"),
    "is removed": Fault("file.unlink(missing_ok=True)"),
    "ends the process": Fault("import os; os._exit(3)", code=3),
}


class Audit:
    """An audit of the application in a folder of its own."""

    def __init__(self, folder: Path, api: str) -> None:
        self.folder = folder
        rows = [f"{text},{n} p.m.,It closes at {n} p.m.,supporting" for n, text in enumerate(QUESTIONS, 1)]
        (folder / "mine.csv").write_text("\n".join(["question,answer,context,kind", *rows]))
        self.application = folder / "my_app.py"
        self.application.write_text(APPLICATION)
        self.study = TinyStudy(folder / "mine.csv", folder / "space", folder.parent / "prefect", uuid.uuid4().hex, api)

    def run(self, body: str, questions: list[str], *options: str) -> Run:
        """Audit the application, which runs statements at some questions."""
        (self.folder / "fault").write_text(body)
        (self.folder / "questions").write_text("\n".join(questions))
        run = self.study.run("audit", "--model", f"{self.application}:answer", "--timeout", "1", *options)
        assert "Traceback" not in run.said
        assert "\x1b[2J" not in run.said.replace("\x1b[2J" * 100_000, "")
        return run

    @property
    def calls(self) -> list[str]:
        """The calls of the application."""
        return (self.folder / "calls").read_text().splitlines()

    @property
    def replies(self) -> list[tuple[object, ...]]:
        """The replies and verdicts in the database."""
        columns, keys = "question_id, context_id, text, state, verdict", "question_id, context_id"
        query = f"SELECT {columns} FROM answers JOIN whose_answer USING ({keys})"
        with duckdb.connect(self.study.workspace / "study.duckdb", read_only=True) as database:
            return database.execute(f"{query} ORDER BY ALL").fetchall()


@pytest.fixture(scope="module")
def undisturbed_audit(tmp_path_factory: pytest.TempPathFactory, api: str) -> Audit:
    """An audit of the application without a fault."""
    audit = Audit(tmp_path_factory.mktemp("application"), api)
    run = audit.run("", [])
    assert (run.code, len(audit.calls)) == (0, 2 * len(QUESTIONS)), run.said
    return audit


@pytest.fixture
def audit(tmp_path: Path, api: str) -> Iterator[Audit]:
    """The audit in an empty workspace; processes that a failed test leaves are killed."""
    audit = Audit(tmp_path, api)
    yield audit
    for process in audit.study.processes():
        process.kill()


@pytest.mark.parametrize("fault", FAULTS)
def test_an_audit_outlasts_its_application(
    fault: str, draw: int, audit: Audit, undisturbed_audit: Audit, generator: random.Random
) -> None:
    faulty, drawn = FAULTS[fault], generator.sample(QUESTIONS, generator.randint(1, 3))
    run = audit.run(faulty.body, drawn)
    assert run.code == faulty.code, run.said
    assert faulty.reason in run.said
    assert audit.study.processes() == []
    calls = len(audit.calls)
    audit.application.write_text(APPLICATION)
    again = audit.run("", [], *(["--force"] if faulty.reason else []))
    assert again.code == 0, again.said
    assert audit.replies == undisturbed_audit.replies
    assert audit.study.temporary_files() == audit.study.processes() == []
    if faulty.code:  # the call that ended the process is repeated, and no other
        assert len(audit.calls) == 2 * len(QUESTIONS) + 1
    elif not faulty.reason:
        assert len(audit.calls) == calls == 2 * len(QUESTIONS)
