"""Applications that misbehave in the middle of an audit. The next audit repeats only the calls that failed."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from tests.end_to_end.tiny_study import TinyStudy
from tests.faults.case import Case

QUESTIONS = [f"When does hall {number} close?" for number in range(1, 9)]
CODE = """
from pathlib import Path

FOLDER = Path(__file__).parent


def answer(question, passages):
    with (FOLDER / "calls").open("a") as calls:
        calls.write(f"{question}\\n")
    names = {"question": question, "reply": passages[0].text if passages else "I do not know.", "file": Path(__file__)}
    exec((FOLDER / "fault").read_text(), names)
    return names["reply"]
"""


FAULTS = {
    "hangs": ("import time; time.sleep(60)", "no reply within 1 s", 0),
    "raises": ("raise KeyError(question)", "KeyError: ", 0),
    "ends the program": ("raise SystemExit(3)", "SystemExit: 3", 0),
    "gives no text": ("reply = None", "returned NoneType in place of a text", 0),
    "prints": ("print('\\x1b[2J' * 100_000)", "", 0),
    "forks": ("import os; os.fork()", "", 0),
    "enters another folder": ("import os; os.chdir('/')", "", 0),
    "is changed": ("file.write_text(file.read_text() + '# later')", "", 0),
    "is removed": ("file.unlink(missing_ok=True)", "", 0),
    "ends the process": ("import os; os._exit(3)", "", 3),
}
"""Statements before a reply or in place of it, the reason of failed replies, and the exit status of the audit."""


@pytest.fixture(scope="session")
def application_audit(tmp_path_factory: pytest.TempPathFactory, api: str) -> Case:
    folder = tmp_path_factory.mktemp("application")
    rows = [f"{text},{n} p.m.,It closes at {n} p.m.,supporting" for n, text in enumerate(QUESTIONS, 1)]
    (folder / "mine.csv").write_text("\n".join(["question,answer,context,kind", *rows]))
    study = replace(TinyStudy.of(folder / "unused.yaml", folder / "workspace", api, {}), file=folder / "mine.csv")
    write_application(folder)
    case = Case.of(study, "audit", "--model", f"{folder / 'my_app.py'}:answer", "--timeout", "1")
    assert call_count(folder) == 2 * len(QUESTIONS)
    return case


@pytest.mark.parametrize("case", ["application_audit"], indirect=True)
@pytest.mark.parametrize(("statements", "reason", "code"), FAULTS.values(), ids=FAULTS)
def test_an_application_misbehaves(
    case: Case, generator: random.Random, statements: str, reason: str, code: int
) -> None:
    folder = case.study.file.parent
    questions = generator.sample(QUESTIONS, generator.randint(1, 3))
    write_application(folder, f"if question in {questions}: {statements}")
    with case.start() as running:
        run = running.wait()
    assert (run.code, "Traceback" in run.output) == (code, False), run.output
    assert reason in run.output
    assert case.study.processes() == []
    calls = call_count(folder)
    write_application(folder)
    case.complete(old_files=1 if reason else 0)  # the file of the incomplete replies stays
    if code:  # only the call that ended the process is repeated
        assert calls + call_count(folder) == 2 * len(QUESTIONS) + 1
    else:  # failed calls are repeated, with and without a passage
        assert call_count(folder) == (2 * len(questions) if reason else 0)


def write_application(folder: Path, fault: str = "") -> None:
    """Write an application that runs the statements of a fault, and forget its calls."""
    (folder / "my_app.py").write_text(CODE)
    (folder / "fault").write_text(fault)
    (folder / "calls").write_text("")


def call_count(folder: Path) -> int:
    return len((folder / "calls").read_text().splitlines())
