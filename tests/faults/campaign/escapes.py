"""Whatever a person, a file or a model writes stays text: on the terminal, on the page, in a publication, for CI.

Each case writes texts that act into places of a study, of a file of questions or of a command, and looks at all that
is shown and written.
"""

import csv
import io
import json
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml

from swaymeter.data.escaping import looks_like_formula
from tests.data.test_escaping import WRITTEN
from tests.end_to_end.tiny_study import Run, TinyStudy, new_study, prefect_server, started
from tests.faults.campaign.others import ACTS, ended
from tests.faults.campaign.record import Outcome

BINARY = (".png", ".pdf", ".parquet", ".duckdb")
MOST_TEXTS = 6


def outcomes(count: int, seed: int) -> Iterator[Outcome]:
    """An outcome for each study, file of questions or command with texts that act."""
    generator = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="swaymeter-escapes-") as name, prefect_server(Path(name)) as api:
        folder = Path(name)
        (folder / "study").mkdir()
        study = new_study(folder / "study", api).with_fewer_figures(folder / "few.yaml")
        for number in range(count):
            row, case = [*CASES.items()][number % len(CASES)]
            of_case = folder / f"case-{number}"
            of_case.mkdir()
            began = time.monotonic()
            run, written = case(replace(study, workspace=of_case / "workspace"), of_case, generator)
            verdict, detail = judged(run, written)
            yield Outcome(row, verdict, time.monotonic() - began, detail)


def judged(run: Run | None, written: Path) -> tuple[str, str]:
    """What comes of what was said and written."""
    if run is None:
        return "HUNG", ""
    if "Traceback" in run.said or run.code not in (0, 1, 2):
        return "CRASHED", run.said
    if ACTS.search(run.said):
        return "ACTED", repr(run.said)
    for path in written.rglob("*") if written.exists() else ():
        if path.is_file() and path.suffix not in BINARY:
            text = path.read_text(encoding="utf-8", errors="replace")
            if found := ACTS.search(text):
                return "ACTED", f"{path}: {found}"
            cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row] if path.suffix == ".csv" else []
            if any(map(looks_like_formula, filter(lambda cell: cell[:1] not in ("'", "-", ""), cells))):
                return "COMPUTED", str(path)
            if path.suffix in (".xml", ".svg"):
                ElementTree.fromstring(text)
    return ("went on" if run.code == 0 else "refused"), ""


SHOWN = [text for text in WRITTEN if not ACTS.search(text.replace("\r", ""))]
"""Those that a file of questions and the question of a study may hold."""


def _text(generator: random.Random, texts: Sequence[str] = WRITTEN) -> str:
    return "".join(generator.choice(texts) for _ in range(generator.randint(1, 3)))


def _study(study: TinyStudy, folder: Path, generator: random.Random) -> tuple[Run | None, Path]:
    """Keys and values of a study file."""
    content: dict[str, Any] = yaml.safe_load(study.file.read_text())
    content["asks"], content["models"][0]["label"] = _text(generator, SHOWN), " ".join(_text(generator, SHOWN).split())
    for _ in range(generator.randint(0, 2)):
        place = generator.choice([content, content["models"][0], content["facts"], content["contexts"]])
        key = generator.choice([*place, "asks", "label", _text(generator)])
        place[key] = _text(generator)
    named = replace(study, file=folder / "study.yaml")
    named.file.write_text(yaml.safe_dump(content, allow_unicode=False))
    with named.start("run") as running:
        return ended(running), _moved(study, folder)


def _questions(study: TinyStudy, folder: Path, generator: random.Random) -> tuple[Run | None, Path]:
    """The texts of a file of questions, on the page, in a publication and in JUnit XML."""
    some = partial(_text, generator, SHOWN)
    rows = [
        {
            "question": f"Where is it? {some()}", "answer": f"Oslo {some()}", "group": some(),
            "contexts": [{"text": f"Peru {some()}", "kind": "conflicting", "answer": f"Peru {some()}"}],
            "id": f"{number} {some()}", some() or "more": some(),
        }
        for number in range(MOST_TEXTS)
    ]  # fmt: skip
    generator.choice(rows)["question"] = _text(generator)
    file = folder / "questions.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    model = yaml.safe_load(study.file.read_text())["models"][0]["name"]
    command = ["audit", str(file), "--model", f"{model}:float32", "--samples", "2", "--max-new-tokens", "3"]
    options = ["--workspace", str(study.workspace), "--junit", str(folder / "written" / "junit.xml")]
    run = _ran([*command, *options], study)
    return run, _moved(study, folder)


def _command(study: TinyStudy, folder: Path, generator: random.Random) -> tuple[Run | None, Path]:
    """Names, paths and options of a command."""
    verb = generator.choice(["run", "status", "report", "publish", "compare", "diff", "audit", "label", "x"])
    words = [text for text in (_text(generator) for _ in range(generator.randint(1, 3))) if "\0" not in text]
    return _ran([verb, *words], study), folder / "nothing"


def _moved(study: TinyStudy, folder: Path) -> Path:
    """Where all lies that was written for readers."""
    (folder / "written").mkdir(exist_ok=True)
    for name in ("report", "rows-not-used.txt"):
        if (study.workspace / name).exists():
            (study.workspace / name).rename(folder / "written" / name)
    return folder / "written"


def _ran(command: list[str], study: TinyStudy) -> Run | None:
    with started(command, study.environment) as running:
        return ended(running)


CASES = {"a study file": _study, "a file of questions": _questions, "names and options of a command": _command}
