"""Applications that misbehave in the middle of an audit, which asks for no reply twice."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.faults.case import Case, Disturbance

QUESTIONS = [f"When does hall {number} close?" for number in range(1, 9)]
_CODE = """
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


class Application:
    """An application in a file of a folder, with a table of questions."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.file, self.table = folder, folder / "my_app.py", folder / "mine.csv"
        rows = [f"{text},{n} p.m.,It closes at {n} p.m.,supporting" for n, text in enumerate(QUESTIONS, 1)]
        self.table.write_text("\n".join(["question,answer,context,kind", *rows]))
        self.write()

    def write(self, fault: str = "", questions: list[str] | None = None) -> None:
        """Write the application, which runs the statements of a fault at some questions, and forget its calls."""
        for name, text in {
            "calls": "",
            "fault": fault,
            "questions": "\n".join(questions or []),
            "my_app.py": _CODE,
        }.items():
            (self._folder / name).write_text(text)

    @property
    def calls(self) -> int:
        """Number of calls."""
        return len((self._folder / "calls").read_text().splitlines())


@contextmanager
def misbehaving(case: Case, body: str, reason: str = "", code: int = 0) -> Iterator[None]:
    """Let the application misbehave at up to three questions.

    Args:
        body: the statements that the application runs in place of a reply, or before it.
        reason: the reason of failed replies, which the audit prints; empty if the replies are right.
        code: the exit status of the audit.
    """
    application = Application(case.undisturbed.study.file.parent)
    questions = case.generator.sample(QUESTIONS, case.generator.randint(1, 3))
    application.write(body, questions)
    with case.start() as running:
        run = running.ended()
    assert (run.code, "Traceback" in run.said) == (code, False), run.said
    assert reason in run.said
    assert case.study.processes() == []
    calls = application.calls
    application.write()
    case.superseded = int(bool(reason))
    yield
    if code:  # the call that ended the process is repeated, and no other
        assert calls + application.calls == 2 * len(QUESTIONS) + 1
    else:  # failed replies, with and without a passage
        assert application.calls == (2 * len(questions) if reason else 0)


APPLICATIONS: dict[str, Disturbance] = {
    "hangs": partial(misbehaving, body="import time; time.sleep(60)", reason="no reply within 1 s"),
    "raises": partial(misbehaving, body="raise KeyError(question)", reason="KeyError: "),
    "ends the program": partial(misbehaving, body="raise SystemExit(3)", reason="SystemExit: 3"),
    "gives no text": partial(misbehaving, body="reply = None", reason="returned NoneType in place of a text"),
    "prints": partial(misbehaving, body="print('\\x1b[2J' * 100_000)"),
    "forks": partial(misbehaving, body="import os; os.fork()"),
    "enters another folder": partial(misbehaving, body="import os; os.chdir('/')"),
    "is changed": partial(misbehaving, body="file.write_text(file.read_text() + '# later')"),
    "is removed": partial(misbehaving, body="file.unlink(missing_ok=True)"),
    "ends the process": partial(misbehaving, body="import os; os._exit(3)", code=3),
}
