"""What is done in a process of its own, whose memory is measured: each imports what it needs and no more.

The first argument names the case. What is given is the verdict; an error that says what to do refuses.
"""

from pathlib import Path


def ask(name: str, address: str, expected: list[object]) -> str:
    """Asks a service once, as a source does."""
    import tempfile
    from contextlib import closing

    from swaymeter.data.sources.http.session import Service, Session
    from tests.data.sources.http.asking import CONTACT, maxlag

    service = Service("YAGO", address, requests_per_minute=60_000, timeout_s=2.0, max_minutes=5, tries=2)
    with (
        tempfile.TemporaryDirectory(prefix="swaymeter-services-") as folder,
        closing(Session(service, contact=CONTACT, cache=Path(folder))) as session,
    ):
        content = session.ask({}, error_of=maxlag).content
    return "equal" if content in expected else "DIFFERENT"


def study(name: str, file: Path) -> str:
    """Reads a study file that is to be refused."""
    from swaymeter.flows.study.reading import read_study

    read_study(file)
    return "ACCEPTED"


def sheet(name: str, file: Path) -> str:
    """Reads a spreadsheet of an annotator that is to be refused."""
    from swaymeter.tasks.contexts.annotation.spreadsheet import read_sheet
    from tests.tasks.contexts.annotation.sheets import COLUMNS

    read_sheet(file, COLUMNS)
    return "ACCEPTED"


def own_questions(name: str, file: Path) -> str:
    """Reads questions of the user's own, of which one is sound and every other one is rejected by its line."""
    from swaymeter.data.sources.own.files import read_file
    from swaymeter.data.sources.own.named_file import Origin
    from swaymeter.data.sources.own.rows import questions_of

    read = questions_of(read_file(file, "question"), Origin("a book", "not stated"), {})
    return "rejected by line" if len(read.questions) == 1 and read.rejected else "ACCEPTED"


def graph(name: str, file: Path) -> str:
    """Loads an RDF dump that is to be refused."""
    from swaymeter.data.sources.graph.dump import shared_dump

    shared_dump([file], file.parent / "graphs")
    return "ACCEPTED"


def model(name: str, folder: Path, mark: Path) -> str:
    """Loads a model and asks it; what it brings along would write the mark."""
    from swaymeter.data.errors import ModelError
    from swaymeter.tasks.models import load_language_model
    from swaymeter.tasks.models.prompts.answer_prompts import answer_prompt

    try:
        loaded = load_language_model(str(folder), dtype="float32", device="cpu")
        answer_prompt(loaded, "Where is Lima?")
    except ModelError:
        return "EXECUTED" if mark.exists() else "refused"
    return "EXECUTED" if mark.exists() else "loaded without its code"


def page(name: str, folder: Path, text: str) -> str:
    """Draws the page of answers with a text in every place, and opens it in a browser."""
    from swaymeter.reports.answers import write_answers
    from tests.reports.browser import started
    from tests.reports.frames_of_answers import frames_of_answers
    from tests.reports.study import CARD

    frames = frames_of_answers(questions=3)
    asked = ["subject", "object", "replacement", "question", "accepted", "relation", "partition"]
    frames["questions_to_read"][[*asked, "subject_id"]] = text
    frames["contexts_to_read"]["text"] = text
    frames["answers_to_read"]["text"] = text
    frames["answers_of_questions"]["stand_in"] = text
    file = folder / write_answers(frames, folder, CARD)
    home = folder / "browser"
    home.mkdir()
    with started(home) as browser:
        browser.open(file, "#open=q0")
        is_shown = browser.ask("document.querySelector('.answer .words').textContent") == text
        elements = browser.ask("[document.images.length, document.scripts.length, typeof executed]")
        trouble = browser.trouble()
    if trouble or elements != [0, 5, "undefined"]:
        return "EXECUTED"
    return "shown as text" if is_shown else "DIFFERENT"
